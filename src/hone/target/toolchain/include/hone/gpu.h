// hone's portability header for GPU kernels: what CUDA and HIP call by different names, and mathematics that
// means the same on both (NaN, infinity and rounding as in hone/cpu.h). Functions of doubles compute in double.
// Everything is inline and keeps no state.
#pragma once

#define HONE_DEVICE __device__ inline __attribute__((always_inline))

/// Before a loop: its body as often as it turns, so that arrays become registers. The emulator has no use for it, and its
/// sanitized builds would take minutes.
#if defined(HONE_SIMT_WAVE)
#define HONE_UNROLL
#define HONE_UNROLL_BY(count)
#else
#define HONE_PRAGMA(text) _Pragma(#text)
#define HONE_UNROLL HONE_PRAGMA(unroll)
#define HONE_UNROLL_BY(count) HONE_PRAGMA(unroll count)
#endif

namespace hone {

/// Threads of a warp (32) or wave (64).
#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
constexpr int kWave = 64;
using bf16 = __hip_bfloat16;
#else
constexpr int kWave = 32;
using bf16 = __nv_bfloat16;
#endif
using f16 = __half;

HONE_DEVICE int lane() { return static_cast<int>(threadIdx.x) % kWave; }

/// Shuffles of the whole wave; every lane must come.
template <class T>
HONE_DEVICE T shuffle_xor(T v, int lanes, int line = __builtin_LINE()) {
#if defined(HONE_SIMT_WAVE)
  return __shfl_xor_sync(hone::simt::kAllLanes, v, lanes, kWave, line);
#elif defined(__HIP__)
  return (void)line, __shfl_xor(v, lanes);
#else
  return (void)line, __shfl_xor_sync(0xffffffffu, v, lanes);
#endif
}
template <class T>
HONE_DEVICE T wave_sum(T v, int line = __builtin_LINE()) {
  for (int step = kWave / 2; step > 0; step /= 2) v += shuffle_xor(v, step, line);
  return v;
}

HONE_DEVICE double abs(double x) { return ::fabs(x); }
HONE_DEVICE int64_t abs(int64_t x) { return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x; }
HONE_DEVICE double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
HONE_DEVICE int64_t sign(int64_t x) { return (x > 0) - (x < 0); }
HONE_DEVICE double exp(double x) { return ::exp(x); }
HONE_DEVICE double exp2(double x) { return ::exp2(x); }
HONE_DEVICE double expm1(double x) { return ::expm1(x); }
HONE_DEVICE double log(double x) { return ::log(x); }
HONE_DEVICE double log2(double x) { return ::log2(x); }
HONE_DEVICE double log10(double x) { return ::log10(x); }
HONE_DEVICE double log1p(double x) { return ::log1p(x); }
HONE_DEVICE double sqrt(double x) { return ::sqrt(x); }
HONE_DEVICE double rsqrt(double x) { return 1 / ::sqrt(x); }
HONE_DEVICE double reciprocal(double x) { return 1 / x; }
HONE_DEVICE double sin(double x) { return ::sin(x); }
HONE_DEVICE double cos(double x) { return ::cos(x); }
HONE_DEVICE double tan(double x) { return ::tan(x); }
HONE_DEVICE double asin(double x) { return ::asin(x); }
HONE_DEVICE double acos(double x) { return ::acos(x); }
HONE_DEVICE double atan(double x) { return ::atan(x); }
HONE_DEVICE double sinh(double x) { return ::sinh(x); }
HONE_DEVICE double cosh(double x) { return ::cosh(x); }
HONE_DEVICE double tanh(double x) { return ::tanh(x); }
HONE_DEVICE double erf(double x) { return ::erf(x); }
HONE_DEVICE double floor(double x) { return ::floor(x); }
HONE_DEVICE double ceil(double x) { return ::ceil(x); }
/// To the nearest, ties to even.
HONE_DEVICE double round(double x) { return ::rint(x); }
HONE_DEVICE double trunc(double x) { return ::trunc(x); }
HONE_DEVICE bool is_nan(double x) { return x != x; }
HONE_DEVICE bool is_inf(double x) { return ::fabs(x) == __builtin_inf(); }
HONE_DEVICE double pow(double x, double y) { return ::pow(x, y); }
HONE_DEVICE double atan2(double y, double x) { return ::atan2(y, x); }
/// NaN goes through, as in NumPy.
HONE_DEVICE double max(double a, double b) { return a != a || a > b ? a : b; }
HONE_DEVICE double min(double a, double b) { return a != a || a < b ? a : b; }
HONE_DEVICE int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
HONE_DEVICE int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
template <class T>
HONE_DEVICE T select(bool which, T a, T b) {
  return which ? a : b;
}

}  // namespace hone
