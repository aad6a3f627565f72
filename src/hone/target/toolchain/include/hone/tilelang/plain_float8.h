// TileLang's 8-bit floats for the emulator's CUDA, one to 32 in a row, and what its lowering calls to convert them. TileLang's HIP has another kind
// (fnuz), whose bits are not those of hone's tensors: it has no such header. Part of plain.h.
#pragma once
#include <cuda_fp8.h>

#define HONE_TILE_8(NAME, OF)                                                             \
  struct NAME##_t : OF {                                                                  \
    NAME##_t() = default;                                                                 \
    template <class T>                                                                    \
    __device__ explicit NAME##_t(T v) : OF(static_cast<float>(v)) {}                      \
    __device__ static NAME##_t bitcast(unsigned char bits) {                              \
      NAME##_t out;                                                                       \
      out.__x = bits;                                                                     \
      return out;                                                                         \
    }                                                                                     \
  };                                                                                      \
  struct alignas(2) NAME##_2_t { NAME##_t x, y; };                                        \
  struct alignas(4) NAME##_4_t { NAME##_t x, y, z, w; };                                  \
  struct alignas(8) NAME##_8_t { NAME##_4_t x, y; };                                      \
  struct alignas(16) NAME##_16_t { NAME##_8_t x, y; };                                    \
  struct alignas(32) NAME##_32_t { NAME##_16_t x, y; };
HONE_TILE_8(fp8_e4, __nv_fp8_e4m3)
HONE_TILE_8(fp8_e5, __nv_fp8_e5m2)
#undef HONE_TILE_8

using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;

__device__ inline float hone_of_fp8(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t as) {
  return as == __NV_E4M3 ? static_cast<float>(fp8_e4_t::bitcast(bits)) : static_cast<float>(fp8_e5_t::bitcast(bits));
}
__device__ inline __nv_fp8_storage_t hone_to_fp8(float x, __nv_fp8_interpretation_t as) { return as == __NV_E4M3 ? fp8_e4_t(x).__x : fp8_e5_t(x).__x; }
__device__ inline __nv_fp8x2_storage_t hone_to_fp8x2(float x, float y, __nv_fp8_interpretation_t as) {
  return static_cast<__nv_fp8x2_storage_t>(hone_to_fp8(x, as) | hone_to_fp8(y, as) << 8);
}
__device__ inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t, __nv_fp8_interpretation_t as) { return hone_to_fp8x2(x.x, x.y, as); }
__device__ inline float2 __tl_cvt_fp8x2_to_float2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t as) {
  return make_float2(hone_of_fp8(static_cast<__nv_fp8_storage_t>(x & 255), as), hone_of_fp8(static_cast<__nv_fp8_storage_t>(x >> 8), as));
}
__device__ inline half_t __tl_cvt_fp8_to_half(__nv_fp8_storage_t x, __nv_fp8_interpretation_t as) { return half_t(hone_of_fp8(x, as)); }
__device__ inline bfloat16_t __tl_cvt_fp8_to_bfloat16(__nv_fp8_storage_t x, __nv_fp8_interpretation_t as) { return bfloat16_t(hone_of_fp8(x, as)); }
__device__ inline __nv_fp8_storage_t __tl_cvt_half_to_fp8(half_t x, __nv_fp8_interpretation_t as) { return hone_to_fp8(static_cast<float>(x), as); }
__device__ inline __nv_fp8_storage_t __tl_cvt_bfloat16_to_fp8(bfloat16_t x, __nv_fp8_interpretation_t as) { return hone_to_fp8(static_cast<float>(x), as); }
