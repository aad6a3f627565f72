// Arithmetic of one thread that a device has in one instruction and C++ does not say.
#pragma once
#include "hone/gpu.h"

namespace hone::prim {

/// The larger and the smaller of two; NaN where either is: one instruction from sm_80 on.
HONE_DEVICE float max(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(HONE_SIMT_WAVE)
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
#else
  return a != a || a > b ? a : b;
#endif
}
HONE_DEVICE float min(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(HONE_SIMT_WAVE)
  float smaller;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
  return smaller;
#else
  return a != a || a < b ? a : b;
#endif
}

/// x rounded to bf16: one instruction at the full rate, as one of a pair with zero, whose two halves are the float. One number by itself would go
/// through the unit of exponentials, at a quarter of it.
HONE_DEVICE float rounded_to_bf16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(HONE_SIMT_WAVE)
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(x), "f"(0.0f));
  return __uint_as_float(pair);
#else
  return static_cast<float>(static_cast<bf16>(x));
#endif
}

/// 2^x for x of at most 127, where what is below the smallest normal float may be 0: one instruction.
HONE_DEVICE float exp2_of_small(float x) {
#if defined(__CUDA_ARCH__) && !defined(HONE_SIMT_WAVE)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

/// 2^x within 2^-22 of itself, the smallest floats too.
HONE_DEVICE float exp2_nearly(float x) {
#if defined(__CUDA_ARCH__) && !defined(HONE_SIMT_WAVE)
  float power;
  asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

/// 1 / x within a unit of the last place for x between 2^-126 and 2^126 in size; of zero infinity: one instruction.
HONE_DEVICE float reciprocal(float x) {
#if defined(__CUDA_ARCH__) && !defined(HONE_SIMT_WAVE)
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
#elif defined(__HIP_DEVICE_COMPILE__) && !defined(HONE_SIMT_WAVE)
  return __builtin_amdgcn_rcpf(x);
#else
  return 1.0f / x;
#endif
}

}  // namespace hone::prim
