// CUDA's 8-bit floats as the emulator has them: storage of one byte, converted as hone/float8.h says (CUDA's constructors saturate).
#pragma once
#include "hone/gpu.h"

#define HONE_INLINE HONE_DEVICE
#include "hone/float8.h"

typedef unsigned char __nv_fp8_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

#define HONE_FP8(name, type)                                                                      \
  struct name {                                                                                   \
    __nv_fp8_storage_t __x;                                                                       \
    name() = default;                                                                             \
    HONE_DEVICE explicit name(float v) : __x(hone::type(v).bits) {}                               \
    HONE_DEVICE explicit name(double v) : name(static_cast<float>(v)) {}                          \
    HONE_DEVICE explicit name(__half v) : name(static_cast<float>(v)) {}                          \
    HONE_DEVICE explicit name(__nv_bfloat16 v) : name(static_cast<float>(v)) {}                   \
    HONE_DEVICE explicit operator float() const { return static_cast<float>(__builtin_bit_cast(hone::type, __x)); } \
    HONE_DEVICE explicit operator __half() const { return __half(static_cast<float>(*this)); }    \
    HONE_DEVICE explicit operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); } \
  };
HONE_FP8(__nv_fp8_e4m3, f8e4m3)
HONE_FP8(__nv_fp8_e5m2, f8e5m2)
#undef HONE_FP8

HONE_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t as) {
  const __nv_fp8_storage_t held = as == __NV_E4M3 ? __nv_fp8_e4m3(x).__x : __nv_fp8_e5m2(x).__x;
  // Not saturated: what rounds to more than the largest number is NaN in E4M3 and infinite in E5M2.
  const float least = as == __NV_E4M3 ? 464.0f : 61440.0f;
  const bool beyond = as == __NV_E4M3 ? x > least || x < -least : x >= least || x <= -least;
  return saturation == __NV_NOSAT && beyond ? static_cast<__nv_fp8_storage_t>((held & 0x80) | (as == __NV_E4M3 ? 0x7f : 0x7c)) : held;
}
