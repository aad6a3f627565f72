// Mathematics on f32v within two units in the last place over all floats: infinities, NaN and
// denormals included (cpu_header_test.cc measures it). Scalars and f64v use the C library.
// Coefficients: scripts/fit_polynomials.py, which also says what each one minimises.
#pragma once
#include "hone/cpu/arithmetic.h"

namespace hone {

namespace detail {

inline constexpr float kInf = __builtin_inff();
inline constexpr float kNan = __builtin_nanf("");
inline constexpr float kLog2E = 0x1.715476p+0f;
/// ln 2 in two parts: an exponent times the first one is exact even without fused multiply-add.
inline constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;

/// c[0] + c[1] x + c[2] x^2 + ...
template <class V, class... C>
HONE_INLINE V polynomial(V x, Lane<V> c0, C... rest) {
  if constexpr (sizeof...(rest) == 0) return splat<V>(c0);
  else return polynomial(x, rest...) * x + c0;
}

/// x = n ln 2 + r with n a whole number and |r| <= ln 2 / 2; for |x| < 2^21.
struct Reduced {
  f32v n, r;
};
HONE_INLINE Reduced reduce_by_ln2(f32v x) {
#if defined(HONE_AVX512)
  const f32v n = round(x * kLog2E);
#else
  const f32v n = (x * kLog2E + 0x1.8p23f) - 0x1.8p23f;  // adding 1.5 * 2^23 rounds to whole numbers
#endif
  return {n, (x - n * kLn2High) - n * kLn2Low};
}

/// (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2; exp(r) is within 0.06 x 2^-24.
HONE_INLINE f32v exp_tail(f32v r) {
  return polynomial(r, 0x1.fffffcp-2f, 0x1.55548cp-3f, 0x1.555858p-5f, 0x1.123dep-7f, 0x1.6ac74ep-10f);
}

/// 2^n for a whole number n in [-126, 127].
HONE_INLINE f32v power_of_two(f32v n) { return bit_cast<f32v>((convert<i32v>(n) + 127) << 23); }

/// x 2^n for a whole number n in [-252, 254], rounded once.
HONE_INLINE f32v scale(f32v x, f32v n) {
#if defined(HONE_AVX512)
  return __builtin_ia32_scalefps512_mask(x, n, x, 0xffff, 4);
#else
  const i32v whole = convert<i32v>(n), half = whole >> 1;
  return x * bit_cast<f32v>((half + 127) << 23) * bit_cast<f32v>((whole - half + 127) << 23);
#endif
}

/// exp(x) for x in [-87, 88]: no overflow, no denormals, no NaN guarantee.
HONE_INLINE f32v exp_in_range(f32v x) {
  const Reduced a = reduce_by_ln2(x);
  return ((exp_tail(a.r) * a.r + 1) * a.r + 1) * power_of_two(a.n);
}

/// x = 2^e (1 + r) with -0.25 <= r < 0.5. Zero gives e = -inf, r = 0; infinity e = inf, r = 0;
/// NaN and negative numbers r = NaN.
struct Split {
  f32v e, r;
};
HONE_INLINE Split split_float(f32v x) {
#if defined(HONE_AVX512)
  const f32v e = __builtin_ia32_getexpps512_mask(x, x, 0xffff, 4);
  const f32v m = __builtin_ia32_getmantps512_mask(x, 2 << 2 | 3, x, 0xffff, 4);
  return {m < 1 ? e + 1 : e, m - 1};
#else
  const Mask<f32v> tiny = x < 0x1p-126f;
  const f32v normal = tiny ? x * 0x1p23f : x;
  const i32v bits = bit_cast<i32v>(normal);
  const i32v e = (bits - 0x3f400000) >> 23;  // 0x3f400000 is 0.75
  const f32v m = bit_cast<f32v>(bits - (e << 23));
  const Split split{convert<f32v>(e) - (tiny ? splat<f32v>(23) : f32v{}), m - 1};
  const Mask<f32v> special = (x == 0) | (x == kInf);
  return {special ? (x == 0 ? splat<f32v>(-kInf) : x) : split.e,
          special ? f32v{} : (x >= 0 ? split.r : splat<f32v>(kNan))};
#endif
}

/// log(1 + r) - r for r in [-0.25, 0.5); log(1 + r) is within 0.12 x 2^-24.
HONE_INLINE f32v log1p_tail(f32v r) {
  const f32v p = polynomial(r, 0x1.5555a4p-2f, -0x1.00002cp-2f, 0x1.9968c6p-3f, -0x1.54f5bp-3f,
                            0x1.28a19ap-3f, -0x1.0d6758p-3f, 0x1.aa831ap-4f, -0x1.6d25c8p-5f);
  return (p * r - 0.5f) * (r * r);
}

}  // namespace detail

HONE_INLINE f32v exp(f32v x) {
  // Beyond these bounds the result is infinite or zero anyhow.
  const detail::Reduced a = detail::reduce_by_ln2(clamp(x, -104.0f, 89.0f));
  return detail::scale((detail::exp_tail(a.r) * a.r + 1) * a.r + 1, a.n);
}

HONE_INLINE f32v log(f32v x) {
  const detail::Split a = detail::split_float(x);
  return a.e * detail::kLn2High + (a.r + (a.e * detail::kLn2Low + detail::log1p_tail(a.r)));
}

/// 1 / (1 + exp(-x)), accurate in both tails.
HONE_INLINE f32v sigmoid(f32v x) {
  const f32v z = exp(-abs(x));
  return (x < 0 ? z : splat<f32v>(1)) / (1 + z);
}

HONE_INLINE f32v tanh(f32v x) {
  const f32v t = abs(x), s = x * x;
  const f32v near = detail::polynomial(s, -0x1.555532p-2f, 0x1.1106f6p-3f, -0x1.b835a4p-5f, 0x1.51f8cep-6f, -0x1.750ce4p-8f) * (s * t) + t;
  const f32v far = 1 - 2 / (detail::exp_in_range(2 * min_num(splat<f32v>(9.25f), t)) + 1);
  return copysign(t < 0.625f ? near : far, x);
}

HONE_INLINE f32v erf(f32v x) {
  const f32v t = abs(x), s = x * x;
  const f32v near = detail::polynomial(s, 0x1.06eba6p-3f, -0x1.8126dcp-2f, 0x1.ce1856p-4f,
                                       -0x1.b6698ep-6f, 0x1.466a9p-8f, -0x1.36aa94p-11f) * x + x;
  // The rest is 1 - exp(-P(t)), which has rounded to 1 by 3.9375.
  const f32v p = detail::polynomial(min_num(splat<f32v>(3.9375f), t), -0x1.5c7cdcp-13f, 0x1.21253p+0f,
                                    0x1.44510ep-1f, 0x1.bb2246p-4f, -0x1.9a904ep-6f, 0x1.0fd6a8p-8f,
                                    -0x1.c28ba8p-12f, 0x1.5af834p-16f);
  return t < 0.9375f ? near : copysign(1 - detail::exp_in_range(-p), x);
}

#define HONE_FROM_LIBRARY(name)                                          \
  HONE_INLINE float name(float x) { return __builtin_##name##f(x); }     \
  HONE_INLINE double name(double x) { return __builtin_##name(x); }      \
  HONE_INLINE f64v name(f64v x) {                                        \
    return map([](double lane) { return __builtin_##name(lane); }, x);   \
  }
HONE_FROM_LIBRARY(exp)
HONE_FROM_LIBRARY(log)
HONE_FROM_LIBRARY(tanh)
HONE_FROM_LIBRARY(erf)
#undef HONE_FROM_LIBRARY

HONE_INLINE float sigmoid(float x) {
  const float z = __builtin_expf(-abs(x));
  return (x < 0 ? z : 1.0f) / (1 + z);
}
HONE_INLINE double sigmoid(double x) {
  const double z = __builtin_exp(-abs(x));
  return (x < 0 ? z : 1.0) / (1 + z);
}
HONE_INLINE f64v sigmoid(f64v x) {
  return map([](double lane) { return sigmoid(lane); }, x);
}

}  // namespace hone
