// Mathematics in double for processors whose compiler links no library: CUDA's and HIP's names, C's special values.
// Within a few units in the last place (hip_math_test.cc measures it on the CPU). Own approximations: exp, log and
// tanh after hone/cpu/double_math.h; the rest are series on reduced arguments. Scalar code, no state, no tables in
// memory but 2/pi and erfc's.
#pragma once
#include <stdint.h>

#if !defined(HONE_MATH)
#define HONE_MATH __device__ inline
#endif

namespace hone::device_math {

constexpr double kInf = __builtin_inf(), kNan = __builtin_nan("");
constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;  // 11 bits times the first is exact
constexpr double kLog2E = 0x1.71547652b82fep+0, kLog10E = 0x1.bcb7b1526e50ep-2;
constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;

HONE_MATH uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
HONE_MATH double from_bits(uint64_t b) { return __builtin_bit_cast(double, b); }
HONE_MATH double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HONE_MATH double abs(double x) { return __builtin_fabs(x); }
HONE_MATH double with_sign(double x, double s) { return __builtin_copysign(x, s); }

/// c0 + c1 x + c2 x^2 + …
HONE_MATH double polynomial(double, double c) { return c; }
template <class... C>
HONE_MATH double polynomial(double x, double c0, double c1, C... rest) {
  return fma(polynomial(x, c1, rest...), x, c0);
}

// ---- exponentials ---------------------------------------------------------------------------------------------
/// (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2.
HONE_MATH double exp_tail(double r) {
  return polynomial(r, 0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d68p-5, 0x1.11111111109b5p-7, 0x1.6c16c17889ef1p-10,
                    0x1.a01a01a7c2efep-13, 0x1.a019b9149a41cp-16, 0x1.71de0db2f6b19p-19, 0x1.28917c89a43a7p-22, 0x1.af389ecfc4b9cp-26);
}
HONE_MATH double exp_of(double n, double r) {
  return __builtin_ldexp(fma(fma(exp_tail(r), r, 1), r, 1), static_cast<int>(n));
}
HONE_MATH double exp(double x) {
  if (x != x) return x;
  const double held = x < -746 ? -746 : x > 710 ? 710 : x;
  const double n = __builtin_rint(held * kLog2E);
  return exp_of(n, fma(n, -kLn2Low, fma(n, -kLn2High, held)));
}
HONE_MATH double exp2(double x) {
  if (x != x) return x;
  const double held = x < -1076 ? -1076 : x > 1025 ? 1025 : x;
  const double n = __builtin_rint(held), f = held - n;
  return exp_of(n, fma(f, 0x1.abc9e3b39803fp-56, f * 0x1.62e42fefa39efp-1));
}
HONE_MATH double expm1(double x) {
  if (x != x || abs(x) < 0x1p-54) return x;
  const double held = x < -40 ? -40 : x > 710 ? 710 : x;
  const double n = __builtin_rint(held * kLog2E), r = fma(n, -kLn2Low, fma(n, -kLn2High, held));
  const double half = __builtin_ldexp(0.5, static_cast<int>(n));  // 2^1024 is no double
  const double y = fma(exp_tail(r) * r, r, r) * half + (half - 0.5);
  return y + y;
}

// ---- logarithms -----------------------------------------------------------------------------------------------
/// x = 2^e (1 + r) with -0.25 <= r < 0.5, for x > 0 and finite.
struct Split {
  double e, r;
};
HONE_MATH Split split(double x) {
  const bool tiny = x < 0x1p-1022;
  const uint64_t bits = bits_of(tiny ? x * 0x1p52 : x);
  const int64_t e = static_cast<int64_t>(bits - 0x3fe8000000000000u) >> 52;  // 0.75
  return {static_cast<double>(e - (tiny ? 52 : 0)), from_bits(bits - (static_cast<uint64_t>(e) << 52)) - 1};
}
/// s^3 times it is log((1 + s) / (1 - s)) - 2 s; z = s^2.
HONE_MATH double log_tail(double z) {
  return polynomial(z, 0x1.5555555555555p-1, 0x1.9999999999f17p-2, 0x1.24924923de6edp-2, 0x1.c71c72df580fcp-3, 0x1.745cac43cc003p-3,
                    0x1.3b29d0452d426p-3, 0x1.0e8c55b42945fp-3, 0x1.169c38cc826bep-3);
}
/// e ln 2 + log(1 + r) + low.
HONE_MATH double log_of(double e, double r, double low) {
  const double s = r / (2 + r), z = s * s, h = r * r * 0.5;
  return e * kLn2High + (r - (h - (s * (h + z * log_tail(z)) + (e * kLn2Low + low))));
}
HONE_MATH double log(double x) {
  if (!(x > 0) || x == kInf) return x == 0 ? -kInf : x > 0 || x != x ? x : kNan;
  const Split a = split(x);
  return log_of(a.e, a.r, 0);
}
HONE_MATH double log2(double x) {
  if (!(x > 0) || x == kInf) return x == 0 ? -kInf : x > 0 || x != x ? x : kNan;
  const Split a = split(x);
  const double y = log_of(0, a.r, 0);
  return a.e + fma(y, kLog2E, y * 0x1.777d0ffda0d24p-56);
}
HONE_MATH double log10(double x) { return log(x) * kLog10E; }
HONE_MATH double log1p(double x) {
  if (!(x > -1) || x == kInf) return x == -1 ? -kInf : x > 0 || x != x ? x : kNan;
  if (abs(x) < 0x1p-54) return x;
  if (abs(x) < 0.25) return log_of(0, x, 0);
  const double u = 1 + x, lost = abs(x) < 1 ? x - (u - 1) : 1 - (u - x);
  const Split a = split(u);
  return log_of(a.e, a.r, lost / u);
}

// ---- powers ---------------------------------------------------------------------------------------------------
/// log(x) in two doubles, for x > 0 and finite.
struct Two {
  double high, low;
};
HONE_MATH Two log_in_two(double x) {
  const Split a = split(x);
  const double d = 2 + a.r, d_low = a.r - (d - 2), s = a.r / d, s_low = (fma(-s, d, a.r) - s * d_low) / d;
  const double z = s * s, exponent = a.e * kLn2High, first = 2 * s, sum = exponent + first;
  const double back = sum - exponent, lost = (exponent - (sum - back)) + (first - back);
  const double low = lost + (fma(s * z, log_tail(z), 2 * s_low) + a.e * kLn2Low);
  const double high = sum + low;
  return {high, low - (high - sum)};
}
HONE_MATH double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNan;
  const double t = abs(x);
  const bool whole = __builtin_trunc(y) == y, odd = whole && __builtin_trunc(y * 0.5) != y * 0.5;
  const double sign = with_sign(1, x) < 0 && odd ? -1 : 1;
  if (abs(y) == kInf) return t == 1 ? 1 : (t > 1) == (y > 0) ? kInf : 0;
  if (t == 0 || t == kInf) return sign * ((t == 0) == (y > 0) ? 0 : kInf);
  if (x < 0 && !whole) return kNan;
  const Two l = log_in_two(t);
  const double p = y * l.high;
  if (p > 710) return sign * kInf;
  if (p < -746) return sign * 0.0;
  const double rest = fma(y, l.high, -p) + y * l.low, n = __builtin_rint(p * kLog2E);
  return sign * exp_of(n, fma(n, -kLn2High, p) + fma(n, -kLn2Low, rest));
}
HONE_MATH double cbrt(double x) {
  if (x == 0 || !(abs(x) < kInf)) return x;
  const double t = abs(x), y = exp(log(t) / 3);
  return with_sign(y - (y - t / y / y) / 3, x);
}
HONE_MATH double hypot(double x, double y) {
  const double a = abs(x), b = abs(y), larger = a > b ? a : b, less = a > b ? b : a;
  if (a == kInf || b == kInf) return kInf;
  if (a != a || b != b) return kNan;
  if (larger == 0) return 0;
  const double q = less / larger;
  return larger * __builtin_sqrt(fma(q, q, 1));
}

// ---- hyperbolic -----------------------------------------------------------------------------------------------
HONE_MATH double tanh(double x) {
  if (x != x) return x;
  const double t = abs(x) > 20 ? 20 : abs(x), m = expm1(2 * t);
  return with_sign(m / (m + 2), x);
}
HONE_MATH double sinh(double x) {
  const double t = abs(x);
  if (t > 709) {
    const double half = exp(0.5 * t);
    return with_sign(0.5 * half * half, x);
  }
  const double m = expm1(t);
  return with_sign(0.5 * (m + m / (m + 1)), x);
}
HONE_MATH double cosh(double x) {
  const double t = abs(x), half = t > 709 ? exp(0.5 * t) : 0;
  if (t > 709) return 0.5 * half * half;
  const double e = exp(t);
  return 0.5 * (e + 1 / e);
}
HONE_MATH double asinh(double x) {
  const double t = abs(x);
  if (t > 0x1p28) return with_sign(log(t) + 0x1.62e42fefa39efp-1, x);
  return with_sign(log1p(t + t * t / (1 + __builtin_sqrt(fma(t, t, 1)))), x);
}
HONE_MATH double acosh(double x) {
  if (x > 0x1p28) return log(x) + 0x1.62e42fefa39efp-1;
  const double t = x - 1;
  return log1p(t + __builtin_sqrt(fma(t, t, 2 * t)));
}
HONE_MATH double atanh(double x) { return with_sign(0.5 * log1p(2 * abs(x) / (1 - abs(x))), x); }

// ---- inverse trigonometric ------------------------------------------------------------------------------------
HONE_MATH double atan(double x) {
  if (x != x) return x;
  const bool steep = abs(x) > 1;
  double t = steep ? 1 / abs(x) : abs(x);
  const bool far = t > 0x1.126145e9ecd56p-2;  // tan(pi/12)
  constexpr double kRoot3 = 0x1.bb67ae8584caap+0;
  if (far) t = (fma(t, kRoot3, -1.0)) / (t + kRoot3);
  const double z = t * t;
  const double p = polynomial(z, -0x1.5555555555555p-2, 0x1.999999999999ap-3, -0x1.2492492492492p-3, 0x1.c71c71c71c71cp-4, -0x1.745d1745d1746p-4,
                              0x1.3b13b13b13b14p-4, -0x1.1111111111111p-4, 0x1.e1e1e1e1e1e1ep-5, -0x1.af286bca1af28p-5, 0x1.8618618618618p-5,
                              -0x1.642c8590b2164p-5, 0x1.47ae147ae147bp-5, -0x1.2f684bda12f68p-5, 0x1.1a7b9611a7b96p-5);
  const double tail = t * z * p + (far ? -0x1.ee6913347c2a6p-55 : 0);
  const double base = far ? 0x1.0c152382d7366p-1 : 0;  // pi/6
  const double y = base + (t + tail);
  return with_sign(steep ? kHalfPi - (y - kHalfPiLow) : y, x);
}
HONE_MATH double atan2(double y, double x) {
  if (x != x || y != y) return kNan;
  const double a = abs(x), b = abs(y), pi = 2 * kHalfPi;
  double angle;
  if (b == 0) angle = 0;
  else if (a == kInf && b == kInf) angle = 0.5 * kHalfPi;
  else if (b > a) angle = kHalfPi - (atan(a / b) - kHalfPiLow);
  else angle = atan(b / a);
  return with_sign(with_sign(1, x) < 0 ? pi - (angle - 2 * kHalfPiLow) : angle, y);
}
HONE_MATH double asin(double x) { return atan2(x, __builtin_sqrt((1 - x) * (1 + x))); }
HONE_MATH double acos(double x) { return 2 * atan2(__builtin_sqrt(1 - x), __builtin_sqrt(1 + x)); }

// ---- error function -------------------------------------------------------------------------------------------
/// For x >= 0: t exp(P(t) - x^2) with t = 2 / (2 + x), P a Chebyshev series in 2 t - 1.
HONE_MATH double erfc_of_positive(double x) {
  constexpr double kSeries[] = {
      -0x1.4d7ab6d479a61p+0, 0x1.48b043be61cf8p-1, 0x1.3f1a3fdd047b2p-6, -0x1.394fcca79fc6cp-7, -0x1.f049e06073f95p-11, 0x1.80a8ba56aa79fp-12,
      0x1.64b62509d78e2p-15, -0x1.5437d46df3674p-16, -0x1.b4045bf3ab82ep-20, 0x1.5df28bff56fe4p-20, 0x1.0c75d14776c3ep-26, -0x1.6e18471000f52p-24,
      0x1.c0ac572395fb0p-28, 0x1.5bace97b36ccfp-28, -0x1.10810cfbab426p-30, -0x1.f3fb2f5c75c6cp-33, 0x1.a8453647a8215p-34, 0x1.50ee4fe907594p-39,
      -0x1.e48fa4ddcffcfp-38, 0x1.f78d4bbe8305dp-41, 0x1.6082aa4eb3ddfp-42, -0x1.fb97bc18977ccp-44, 0x1.b75e11fe90ba6p-52, 0x1.00062e98e5a55p-47,
      -0x1.b6fba552f88ccp-50, -0x1.b4266370b4162p-54, 0x1.170fcb52ea588p-53, -0x1.03ca93a8dfd09p-55};
  if (x > 28) return 0;
  const double t = 2 / (2 + x), y = 2 * t - 1;
  double b1 = 0, b2 = 0;
  for (int i = 27; i > 0; --i) {
    const double b = fma(2 * y, b1, kSeries[i] - b2);
    b2 = b1;
    b1 = b;
  }
  const double p = fma(y, b1, 0.5 * kSeries[0] - b2);
  const double head = from_bits(bits_of(x) & ~uint64_t{0x7ffffff});  // its square is exact
  return t * exp(-head * head) * exp(p - (x - head) * (x + head));
}
HONE_MATH double erf(double x) {
  if (x != x) return x;
  const double t = abs(x), z = x * x;
  if (t >= 1) return with_sign(1 - erfc_of_positive(t), x);
  const double p = polynomial(z, -0x1.812746b0379e7p-2, 0x1.ce2f21a042be2p-4, -0x1.b82ce31288b51p-6, 0x1.565bcd0e6a53fp-8, -0x1.c02db40040b86p-11,
                              0x1.f9a326f9b89b7p-14, -0x1.f4d25c3e0c2ebp-17, 0x1.b9e6c9dc651a3p-20, -0x1.5f742ec43e71ap-23, 0x1.fcc5720624c1cp-27,
                              -0x1.51d7181c5d36dp-30, 0x1.9e6ad5e55a730p-34, -0x1.d8453cb0c46eap-38, 0x1.f683ae4a97007p-42, -0x1.f56f071a885cfp-46,
                              0x1.d70b3537f4765p-50, -0x1.a2007af3447f6p-54, 0x1.5f7919bc67b8cp-58);
  return x + x * fma(z, p, 0x1.06eba8214db69p-3);
}
HONE_MATH double erfc(double x) {
  if (x != x) return x;
  if (abs(x) < 0.25) return 1 - erf(x);
  return x < 0 ? 2 - erfc_of_positive(-x) : erfc_of_positive(x);
}

}  // namespace hone::device_math
