// Exponentials and logarithms on f32v: split off the power of two, a polynomial for the rest.
// Coefficients: tools/fit_polynomials.py, which says what each minimises.
#pragma once
#include "hone/cpu/arithmetic.h"

namespace hone {

namespace detail {

inline constexpr float kInf = __builtin_inff();
inline constexpr float kNan = __builtin_nanf("");
inline constexpr float kLog2E = 0x1.715476p+0f;
/// ln 2 in two parts: a whole number below 2^8 times the first one is exact even without FMA.
inline constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;

/// c0 + c1 x + c2 x^2 + ...
template <class V, class... C>
HONE_INLINE V polynomial(V x, Lane<V> c0, C... rest) {
  if constexpr (sizeof...(rest) == 0) return splat<V>(c0);
  else return fma(polynomial(x, rest...), x, c0);
}

/// The whole number nearest to x, for |x| < 2^21.
HONE_INLINE f32v nearest(f32v x) {
#if defined(HONE_AVX512)
  return round(x);
#else
  return (x + 0x1.8p23f) - 0x1.8p23f;  // beyond 2^23 floats are whole numbers: the sum rounds x
#endif
}

/// x = n ln 2 + r with n a whole number and |r| <= ln 2 / 2, for |x| < 2^7.
struct Reduced {
  f32v n, r;
};
HONE_INLINE Reduced reduce_by_ln2(f32v x) {
  const f32v n = nearest(x * kLog2E);
  return {n, fma(n, -kLn2Low, fma(n, -kLn2High, x))};
}

/// (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2; exp(r) is within 0.06 x 2^-24.
HONE_INLINE f32v exp_tail(f32v r) {
  return polynomial(r, 0x1.fffff8p-2f, 0x1.55548ep-3f, 0x1.555b96p-5f, 0x1.123bcep-7f, 0x1.685342p-10f);
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

/// exp(r) on |r| <= ln 2 / 2.
HONE_INLINE f32v exp_near_zero(f32v r) { return fma(fma(exp_tail(r), r, 1), r, 1); }

/// exp(x) for x in [-87, 88], where neither overflow nor denormals occur.
HONE_INLINE f32v exp_in_range(f32v x) {
  const Reduced a = reduce_by_ln2(x);
#if defined(HONE_AVX512)
  return scale(exp_near_zero(a.r), a.n);
#else
  return exp_near_zero(a.r) * power_of_two(a.n);
#endif
}

/// exp(x) for x <= 89; beyond -104 it is zero.
HONE_INLINE f32v exp_below_89(f32v x) {
  const Reduced a = reduce_by_ln2(max_num(splat<f32v>(-104), x));
  return scale(exp_near_zero(a.r), a.n);
}

/// x = 2^e (1 + r) with -0.25 <= r < 0.5. Zero gives e = -inf, r = 0; infinity e = inf, r = 0;
/// NaN and negative numbers r = NaN.
struct Split {
  f32v e, r;
};
HONE_INLINE Split split_float(f32v x) {
#if defined(HONE_AVX512)
  constexpr int kNanIfNegative = 2 << 2, kFrom3Quarters = 3;
  const f32v e = __builtin_ia32_getexpps512_mask(x, x, 0xffff, 4);
  const f32v m = __builtin_ia32_getmantps512_mask(x, kNanIfNegative | kFrom3Quarters, x, 0xffff, 4);
  return {m < 1 ? e + 1 : e, m - 1};
#else
  const Mask<f32v> tiny = x < 0x1p-126f;
  const u32v bits = bit_cast<u32v>(tiny ? x * 0x1p23f : x);
  const i32v e = bit_cast<i32v>(bits - 0x3f400000u) >> 23;  // 0x3f400000 is 0.75
  const f32v m = bit_cast<f32v>(bits - bit_cast<u32v>(e << 23));
  const f32v exponent = convert<f32v>(e) - (tiny ? splat<f32v>(23) : f32v{});
  const Mask<f32v> special = (x == 0) | (x == kInf);
  return {special ? (x == 0 ? splat<f32v>(-kInf) : x) : exponent,
          special ? f32v{} : (x >= 0 ? m - 1 : splat<f32v>(kNan))};
#endif
}

/// log(1 + r) - r, for r in [-0.25, 0.5); the polynomial is within 0.1 x 2^-24.
HONE_INLINE f32v log_tail(f32v r) {
  const f32v p = polynomial(r, 0x1.5555a8p-2f, -0x1.000026p-2f, 0x1.9967bap-3f, -0x1.54f68cp-3f,
                            0x1.28ad54p-3f, -0x1.0d684ap-3f, 0x1.aa0f68p-4f, -0x1.6c1ba4p-5f);
  return (p * r - 0.5f) * (r * r);
}

/// e ln 2 + log(1 + r).
HONE_INLINE f32v log_of(Split x) { return x.e * kLn2High + (x.r + (x.e * kLn2Low + log_tail(x.r))); }

}  // namespace detail

HONE_INLINE f32v exp(f32v x) {
  return detail::exp_below_89(min_num(splat<f32v>(89), x));  // exp(89) is infinite
}

HONE_INLINE f32v exp2(f32v x) {
  const f32v y = clamp(x, -151.0f, 129.0f), n = detail::nearest(y), r = y - n;
  const f32v p = detail::polynomial(r, 0x1.62e43p-1f, 0x1.ebfbd8p-3f, 0x1.c6af78p-5f, 0x1.3b30bp-7f,
                                    0x1.5f0a68p-10f, 0x1.3f907ap-13f);
  return detail::scale(p * r + 1, n);
}

/// exp(x) - 1, accurate near zero.
HONE_INLINE f32v expm1(f32v x) {
  // (2^n - 1) + 2^n (exp(r) - 1), halved until the end: 2^128 is no float.
  const detail::Reduced a = detail::reduce_by_ln2(clamp(x, -18.0f, 89.0f));
  const f32v half = detail::power_of_two(a.n - 1);
  const f32v y = (detail::exp_tail(a.r) * (a.r * a.r) + a.r) * half + (half - 0.5f);
  return abs(x) < 0x1p-24f ? x : y + y;
}

HONE_INLINE f32v log(f32v x) { return detail::log_of(detail::split_float(x)); }

HONE_INLINE f32v log2(f32v x) {
  const detail::Split a = detail::split_float(x);
  // log2(1 + r) = r + r p, of which r is exact.
  const f32v p = detail::polynomial(a.r, 0x1.c551d8p-2f, -0x1.715478p-1f, 0x1.ec71ap-2f, -0x1.715464p-2f,
                                    0x1.2743p-2f, -0x1.ebce7ep-3f, 0x1.ad2f42p-3f, -0x1.86a8a4p-3f,
                                    0x1.31b592p-3f, -0x1.ff096ep-5f);
  return a.e + (p * a.r + a.r);
}

HONE_INLINE f32v log10(f32v x) {
  // e log10(2) + log(1 + r) log10(e), both constants in two parts; r too, so that the product of the high ones is exact.
  const detail::Split a = detail::split_float(x);
  const f32v high = bit_cast<f32v>(bit_cast<i32v>(a.r) & ~0xfff), low = a.r - high;
  const f32v small = low * 0x1.bcap-2f + a.r * 0x1.7b1526p-14f + detail::log_tail(a.r) * 0x1.bcb7b2p-2f + a.e * 0x1.3509f8p-18f;
  return a.e * 0x1.344p-2f + (high * 0x1.bcap-2f + small);
}

/// log(1 + x), accurate near zero.
HONE_INLINE f32v log1p(f32v x) {
  // With 2^e taken from the rounded sum, r = 2^-e (1 + x) - 1 is recovered from x itself. Where x is
  // huge or no number above -1, the sum serves as it is.
  detail::Split a = detail::split_float(1 + x);
  const Mask<f32v> ordinary = (x > -1) & (x < 0x1p60f);
  const f32v down = detail::power_of_two(ordinary ? -a.e : f32v{});
  a.r = ordinary ? x * down + (down - 1) : a.r;
  return copysign(detail::log_of(a), x);
}

}  // namespace hone
