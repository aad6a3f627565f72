// sin, cos and tan in double: the nearest multiple of pi/2 is taken off, series do the rest. As math_double.h.
#pragma once
#include "hone/hip/math_double.h"

namespace hone::device_math {

/// x = quadrant pi/2 + r + low, |r| <= pi/4 or a little more; of the quadrant the last two bits count.
struct Angle {
  int quadrant;
  double r, low;
};

/// For |x| < 2^20: n times the first three parts of pi/2, 33 bits each, is exact.
HONE_MATH Angle reduce_small(double x) {
  constexpr double kA = 0x1.921fb544p+0, kB = 0x1.0b4611a6p-34, kC = 0x1.3198a2ep-69, kD = 0x1.b839a252049c1p-104;
  const double n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
  const double first = fma(n, -kA, x), b = n * kB, second = first - b, c = n * kC, third = second - c;
  const double lost = ((first - second) - b) + (((second - third) - c) - n * kD);
  const double r = third + lost;
  return {static_cast<int>(static_cast<int64_t>(n) & 3), r, lost - (r - third)};
}

/// 64 bits of 2/pi behind the point, from bit `at` on; zeros before the first.
HONE_MATH uint64_t two_over_pi(int at) {
  constexpr uint64_t kBits[] = {0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
                                0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u,
                                0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
                                0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu};
  if (at <= -64) return 0;
  if (at < 0) return kBits[0] >> -at;
  const int word = at / 64, shift = at % 64;
  return shift ? kBits[word] << shift | kBits[word + 1] >> (64 - shift) : kBits[word];
}

/// For any finite x: m 2^e times 192 bits of 2/pi, from the first whose product is less than 4 on.
HONE_MATH Angle reduce_large(double x) {
  const uint64_t bits = bits_of(x), m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  const int e = static_cast<int>(bits >> 52 & 0x7ff) - 1075;
  const uint64_t w0 = two_over_pi(e - 2), w1 = two_over_pi(e + 62), w2 = two_over_pi(e + 126);
  using Wide = unsigned __int128;
  const Wide low = static_cast<Wide>(w2) * m, middle = static_cast<Wide>(w1) * m + static_cast<uint64_t>(low >> 64);
  const uint64_t p1 = static_cast<uint64_t>(middle), p2 = static_cast<uint64_t>(low);
  const uint64_t p0 = w0 * m + static_cast<uint64_t>(middle >> 64);
  int quadrant = static_cast<int>(p0 >> 62);
  uint64_t f0 = p0 << 2 | p1 >> 62, f1 = p1 << 2 | p2 >> 62;  // the fraction
  const bool above = f0 >> 63;
  if (above) {
    ++quadrant;
    f1 = ~f1 + 1;
    f0 = ~f0 + (f1 == 0);
  }
  const double high = static_cast<double>(f0 >> 11) * 0x1p-53, rest = static_cast<double>(f0 << 53 | f1 >> 11) * 0x1p-117;
  const double f = high + rest, f_low = rest - (f - high);
  double r = f * kHalfPi, r_low = fma(f, kHalfPi, -r) + (f * kHalfPiLow + f_low * kHalfPi);
  if (above) r = -r, r_low = -r_low;
  if (bits >> 63) return {-quadrant & 3, -r, -r_low};
  return {quadrant & 3, r, r_low};
}

HONE_MATH Angle reduce(double x) { return abs(x) < 0x1p20 ? reduce_small(x) : reduce_large(x); }

HONE_MATH double sin_near_zero(double r, double low) {
  const double s = r * r;
  const double p = polynomial(s, -0x1.5555555555555p-3, 0x1.1111111111111p-7, -0x1.a01a01a01a01ap-13, 0x1.71de3a556c734p-19, -0x1.ae64567f544e4p-26,
                              0x1.6124613a86d09p-33, -0x1.ae7f3e733b81fp-41, 0x1.952c77030ad4ap-49);
  return r + (r * s * p + low * (1 - 0.5 * s));
}
HONE_MATH double cos_near_zero(double r, double low) {
  const double s = r * r, h = 0.5 * s, y = 1 - h;
  const double p = polynomial(s, 0x1.5555555555555p-5, -0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-16, -0x1.27e4fb7789f5cp-22, 0x1.1eed8eff8d898p-29,
                              -0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-45, -0x1.6827863b97d97p-53);
  return y + (((1 - y) - h) + (s * s * p - r * low));
}

HONE_MATH double sin(double x) {
  if (!(abs(x) < kInf)) return kNan;
  if (abs(x) < 0x1p-27) return x;
  const Angle a = reduce(x);
  const double y = a.quadrant & 1 ? cos_near_zero(a.r, a.low) : sin_near_zero(a.r, a.low);
  return a.quadrant & 2 ? -y : y;
}
HONE_MATH double cos(double x) {
  if (!(abs(x) < kInf)) return kNan;
  const Angle a = reduce(x);
  const double y = a.quadrant & 1 ? sin_near_zero(a.r, a.low) : cos_near_zero(a.r, a.low);
  return (a.quadrant + 1) & 2 ? -y : y;
}
HONE_MATH double tan(double x) {
  if (!(abs(x) < kInf)) return kNan;
  if (abs(x) < 0x1p-27) return x;
  const Angle a = reduce(x);
  const double s = sin_near_zero(a.r, a.low), c = cos_near_zero(a.r, a.low);
  return a.quadrant & 1 ? -c / s : s / c;
}

}  // namespace hone::device_math
