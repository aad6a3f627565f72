// Mathematics on f64v, after the pattern of hone/cpu/exp_log.h: exp, log, tanh and sigmoid.
// Coefficients: tools/fit_polynomials.py.
#pragma once
#include "hone/cpu/exp_log.h"

namespace hone {

namespace detail {

inline constexpr double kInf64 = __builtin_inf();
inline constexpr double kNan64 = __builtin_nan("");
/// ln 2 in two parts; 11 bits times the first one is exact.
inline constexpr double kLn2High64 = 0x1.62e42fefa38p-1, kLn2Low64 = 0x1.ef35793c7673p-45;

/// 2^n for a whole number n in [-1022, 1023]. Adding 1.5 * 2^52 leaves n in the sum's last bits,
/// where instruction sets without conversions to 64-bit integers can have it.
HONE_INLINE f64v power_of_two(f64v n) {
  return bit_cast<f64v>(bit_cast<i64v>(n + (0x1.8p52 + 1023)) << 52);
}

/// x 2^n for a whole number n in [-2044, 2046], rounded once.
HONE_INLINE f64v scale(f64v x, f64v n) {
#if defined(HONE_AVX512)
  return __builtin_ia32_scalefpd512_mask(x, n, x, 0xff, 4);
#else
  const f64v half = (n * 0.5 + 0x1.8p52) - 0x1.8p52;
  return x * power_of_two(half) * power_of_two(n - half);
#endif
}

struct Reduced64 {
  f64v n, r;
};
HONE_INLINE Reduced64 reduce_by_ln2(f64v x) {
  const f64v n = (x * 0x1.71547652b82fep+0 + 0x1.8p52) - 0x1.8p52;
  return {n, fma(n, -kLn2Low64, fma(n, -kLn2High64, x))};
}

/// (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2; exp(r) is within 0.15 x 2^-53.
HONE_INLINE f64v exp_tail(f64v r) {
  return polynomial(r, 0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d68p-5,
                    0x1.11111111109b5p-7, 0x1.6c16c17889ef1p-10, 0x1.a01a01a7c2efep-13,
                    0x1.a019b9149a41cp-16, 0x1.71de0db2f6b19p-19, 0x1.28917c89a43a7p-22,
                    0x1.af389ecfc4b9cp-26);
}

/// x = 2^e (1 + r), with split_float()'s special values.
struct Split64 {
  f64v e, r;
};
HONE_INLINE Split64 split_double(f64v x) {
#if defined(HONE_AVX512)
  constexpr int kNanIfNegative = 2 << 2, kFrom3Quarters = 3;
  const f64v e = __builtin_ia32_getexppd512_mask(x, x, 0xff, 4);
  const f64v m = __builtin_ia32_getmantpd512_mask(x, kNanIfNegative | kFrom3Quarters, x, 0xff, 4);
  return {m < 1 ? e + 1 : e, m - 1};
#else
  const Mask<f64v> tiny = x < 0x1p-1022;
  const u64v bits = bit_cast<u64v>(tiny ? x * 0x1p52 : x);
  const u64v offset = bits - 0x3fe8000000000000u;  // 0.75; the exponent is biased by 2048 to stay positive
  const u64v biased = (offset + 0x8000000000000000u) >> 52;
  const f64v m = bit_cast<f64v>(bits - (biased << 52) + 0x8000000000000000u);
  const f64v e = bit_cast<f64v>(biased | 0x4330000000000000u) - (0x1p52 + 2048);
  const Mask<f64v> special = (x == 0) | (x == kInf64);
  return {special ? (x == 0 ? splat<f64v>(-kInf64) : x) : e - (tiny ? splat<f64v>(52) : f64v{}),
          special ? f64v{} : (x >= 0 ? m - 1 : splat<f64v>(kNan64))};
#endif
}

}  // namespace detail

HONE_INLINE f64v exp(f64v x) {
  const detail::Reduced64 a = detail::reduce_by_ln2(clamp(x, -746.0, 710.0));
  return detail::scale(fma(fma(detail::exp_tail(a.r), a.r, 1), a.r, 1), a.n);
}

HONE_INLINE f64v log(f64v x) {
  const detail::Split64 a = detail::split_double(x);
  // 1 + r = (1 + s) / (1 - s), whose logarithm 2 s + s^3 p(s^2) equals r - r^2/2 + s (r^2/2 + s^2 p).
  const f64v r = a.r, s = r / (2 + r), z = s * s, h = r * r * 0.5;
  const f64v p = detail::polynomial(z, 0x1.5555555555555p-1, 0x1.9999999999f17p-2, 0x1.24924923de6edp-2,
                                    0x1.c71c72df580fcp-3, 0x1.745cac43cc003p-3, 0x1.3b29d0452d426p-3,
                                    0x1.0e8c55b42945fp-3, 0x1.169c38cc826bep-3);
  return a.e * detail::kLn2High64 + (r - (h - (s * (h + z * p) + a.e * detail::kLn2Low64)));
}

HONE_INLINE f64v tanh(f64v x) {
  // With m = exp(2|x|) - 1 = (2^n - 1) + 2^n (exp(r) - 1): tanh|x| = m / (m + 2), which is 1 beyond 20.
  const detail::Reduced64 a = detail::reduce_by_ln2(2 * min_num(splat<f64v>(20.0), abs(x)));
  const f64v power = detail::power_of_two(a.n);
  const f64v m = (detail::exp_tail(a.r) * (a.r * a.r) + a.r) * power + (power - 1);
  return copysign(m / (m + 2), x);
}

HONE_INLINE f64v sigmoid(f64v x) {
  const f64v z = exp(-abs(x));
  return (x < 0 ? z : splat<f64v>(1)) / (1 + z);
}

}  // namespace hone
