// Mathematics under CUDA's and HIP's names. What the processor's compiler has is taken from it (exp, log and roots of
// floats, rounding); the rest is hone's own (math_double.h, math_trig.h, math_float.h). Fast forms are the exact ones.
#pragma once
#include "hone/hip/math_float.h"

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_inf()
#define HUGE_VALF __builtin_inff()
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.785398163397448309616
#define M_1_PI 0.318309886183790671538
#define M_2_PI 0.636619772367581343076
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.707106781186547524401
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402

// Of both types from the compiler: name(double), name(float), namef(float).
#define HONE_BUILTIN(NAME)                                              \
  HONE_HIP double NAME(double x) { return __builtin_##NAME(x); }        \
  HONE_HIP float NAME(float x) { return __builtin_##NAME##f(x); }       \
  HONE_HIP float NAME##f(float x) { return __builtin_##NAME##f(x); }
HONE_BUILTIN(fabs) HONE_BUILTIN(sqrt) HONE_BUILTIN(floor) HONE_BUILTIN(ceil) HONE_BUILTIN(trunc) HONE_BUILTIN(round) HONE_BUILTIN(rint)
HONE_BUILTIN(nearbyint)
#undef HONE_BUILTIN
#define HONE_BUILTIN(NAME)                                                              \
  HONE_HIP double NAME(double x, double y) { return __builtin_##NAME(x, y); }           \
  HONE_HIP float NAME(float x, float y) { return __builtin_##NAME##f(x, y); }           \
  HONE_HIP float NAME##f(float x, float y) { return __builtin_##NAME##f(x, y); }
HONE_BUILTIN(fmax) HONE_BUILTIN(fmin) HONE_BUILTIN(copysign) HONE_BUILTIN(fmod)
#undef HONE_BUILTIN
HONE_HIP double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HONE_HIP float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HONE_HIP float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HONE_HIP double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
HONE_HIP float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
HONE_HIP float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
HONE_HIP double scalbn(double x, int n) { return __builtin_ldexp(x, n); }
HONE_HIP float scalbnf(float x, int n) { return __builtin_ldexpf(x, n); }
HONE_HIP double frexp(double x, int* n) { return __builtin_frexp(x, n); }
HONE_HIP float frexpf(float x, int* n) { return __builtin_frexpf(x, n); }
HONE_HIP double fdim(double x, double y) { return x > y ? x - y : x <= y ? 0 : x + y; }
HONE_HIP float fdimf(float x, float y) { return x > y ? x - y : x <= y ? 0 : x + y; }
HONE_HIP long lrint(double x) { return static_cast<long>(__builtin_rint(x)); }
HONE_HIP long lrintf(float x) { return static_cast<long>(__builtin_rintf(x)); }
HONE_HIP long lround(double x) { return static_cast<long>(__builtin_round(x)); }
HONE_HIP long lroundf(float x) { return static_cast<long>(__builtin_roundf(x)); }
HONE_HIP long long llrint(double x) { return static_cast<long long>(__builtin_rint(x)); }
HONE_HIP long long llrintf(float x) { return static_cast<long long>(__builtin_rintf(x)); }

// Floats from the compiler, doubles from hone.
#define HONE_FLOATS(NAME)                                                          \
  HONE_HIP double NAME(double x) { return hone::device_math::NAME(x); }            \
  HONE_HIP float NAME(float x) { return __builtin_##NAME##f(x); }                  \
  HONE_HIP float NAME##f(float x) { return __builtin_##NAME##f(x); }
HONE_FLOATS(exp) HONE_FLOATS(exp2) HONE_FLOATS(log) HONE_FLOATS(log2) HONE_FLOATS(log10)
#undef HONE_FLOATS
// Both of hone's own, and floats by way of doubles.
#define HONE_OWN(NAME)                                                             \
  HONE_HIP double NAME(double x) { return hone::device_math::NAME(x); }            \
  HONE_HIP float NAME(float x) { return hone::device_math::NAME(x); }              \
  HONE_HIP float NAME##f(float x) { return hone::device_math::NAME(x); }
HONE_OWN(sin) HONE_OWN(cos) HONE_OWN(tan) HONE_OWN(tanh) HONE_OWN(erf)
#undef HONE_OWN
#define HONE_WIDE(NAME)                                                                                                    \
  HONE_HIP double NAME(double x) { return hone::device_math::NAME(x); }                                                    \
  HONE_HIP float NAME(float x) { return static_cast<float>(hone::device_math::NAME(static_cast<double>(x))); }             \
  HONE_HIP float NAME##f(float x) { return static_cast<float>(hone::device_math::NAME(static_cast<double>(x))); }
HONE_WIDE(expm1) HONE_WIDE(log1p) HONE_WIDE(cbrt) HONE_WIDE(asin) HONE_WIDE(acos) HONE_WIDE(atan) HONE_WIDE(sinh) HONE_WIDE(cosh)
HONE_WIDE(asinh) HONE_WIDE(acosh) HONE_WIDE(atanh) HONE_WIDE(erfc)
#undef HONE_WIDE
#define HONE_WIDE(NAME)                                                                                                                          \
  HONE_HIP double NAME(double x, double y) { return hone::device_math::NAME(x, y); }                                                             \
  HONE_HIP float NAME(float x, float y) { return static_cast<float>(hone::device_math::NAME(static_cast<double>(x), static_cast<double>(y))); }  \
  HONE_HIP float NAME##f(float x, float y) { return NAME(x, y); }
HONE_WIDE(pow) HONE_WIDE(atan2) HONE_WIDE(hypot)
#undef HONE_WIDE
HONE_HIP void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
HONE_HIP void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
HONE_HIP void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
HONE_HIP bool isnan(double x) { return x != x; }
HONE_HIP bool isnan(float x) { return x != x; }
HONE_HIP bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
HONE_HIP bool isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
HONE_HIP bool isfinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }
HONE_HIP bool isfinite(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
HONE_HIP bool signbit(double x) { return __builtin_signbit(x); }
HONE_HIP bool signbit(float x) { return __builtin_signbitf(x); }
// Integers, and two types mixed, count as double.
#define HONE_MIXED(NAME)                        \
  template <class T>                            \
    requires std::is_integral_v<T>              \
  HONE_HIP double NAME(T x) { return NAME(static_cast<double>(x)); }
HONE_MIXED(sqrt) HONE_MIXED(floor) HONE_MIXED(ceil) HONE_MIXED(exp) HONE_MIXED(exp2) HONE_MIXED(log) HONE_MIXED(log2) HONE_MIXED(log10) HONE_MIXED(sin)
HONE_MIXED(cos) HONE_MIXED(tan) HONE_MIXED(tanh) HONE_MIXED(fabs) HONE_MIXED(isnan) HONE_MIXED(isinf)
#undef HONE_MIXED
#define HONE_MIXED(NAME)                                                                           \
  template <class A, class B>                                                                      \
    requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, B>)          \
  HONE_HIP double NAME(A x, B y) { return NAME(static_cast<double>(x), static_cast<double>(y)); }
HONE_MIXED(pow) HONE_MIXED(atan2) HONE_MIXED(hypot) HONE_MIXED(fmax) HONE_MIXED(fmin) HONE_MIXED(fmod) HONE_MIXED(copysign)
#undef HONE_MIXED
HONE_HIP int abs(int x) { return x < 0 ? -x : x; }
HONE_HIP long abs(long x) { return x < 0 ? -x : x; }
HONE_HIP long long abs(long long x) { return x < 0 ? -x : x; }
HONE_HIP long long llabs(long long x) { return x < 0 ? -x : x; }
HONE_HIP double abs(double x) { return __builtin_fabs(x); }
HONE_HIP float abs(float x) { return __builtin_fabsf(x); }

// What the compiler would call in a library for its own builtins of these names.
#define __builtin_exp(x) hone::device_math::exp(x)
#define __builtin_log(x) hone::device_math::log(x)
#define __builtin_log1p(x) hone::device_math::log1p(x)
#define __builtin_pow(x, y) hone::device_math::pow(x, y)

#pragma clang force_cuda_host_device begin
#include "hone/simt/math.h"
#include "hone/simt/half.h"
#pragma clang force_cuda_host_device end
