// The floats of one byte and what hardware does with them: conversions from sm_89 on.
#pragma once
#include "hone/gpu.h"

#define HONE_INLINE HONE_DEVICE
#include "hone/float8.h"

namespace hone::prim {

/// The byte of x, rounded to nearest even and saturated, as hone/float8.h has it: one instruction where there is one.
template <class T>
HONE_DEVICE T to_f8(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && !defined(HONE_SIMT_WAVE)
  uint16_t two;  // the second operand's byte is the lower one
  if constexpr (T::Format::kMantissa == 3) asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0f), "f"(x));
  else asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0f), "f"(x));
  T result;
  result.bits = static_cast<uint8_t>(two);
  return result;
#else
  return T(x);
#endif
}

/// Exact: f16 holds all of both types.
template <class T>
HONE_DEVICE float from_f8(T x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && !defined(HONE_SIMT_WAVE)
  uint32_t two;
  if constexpr (T::Format::kMantissa == 3) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"(static_cast<uint16_t>(x.bits)));
  else asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(two) : "h"(static_cast<uint16_t>(x.bits)));
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(static_cast<uint16_t>(two)));
  return result;
#else
  return static_cast<float>(x);
#endif
}

/// Two of them as f16, the first in the low half: one instruction where there is one.
template <class T>
HONE_DEVICE uint32_t f16_pair(T first, T second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && !defined(HONE_SIMT_WAVE)
  const auto both = static_cast<uint16_t>(first.bits | second.bits << 8);
  uint32_t two;
  if constexpr (T::Format::kMantissa == 3) asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(two) : "h"(both));
  else asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(two) : "h"(both));
  return two;
#else
  struct alignas(4) Pair {
    f16 low, high;
  } pair = {static_cast<f16>(from_f8(first)), static_cast<f16>(from_f8(second))};
  uint32_t two;
  __builtin_memcpy(&two, &pair, 4);
  return two;
#endif
}

/// Any number as a float, by the hardware's way for floats of one byte.
template <class T>
HONE_DEVICE float as_float(T x) {
  if constexpr (requires { typename T::Format; }) return from_f8(x);
  else return static_cast<float>(x);
}

}  // namespace hone::prim
