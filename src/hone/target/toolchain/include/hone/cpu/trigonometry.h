// sin, cos and tan on f32v: the nearest multiple of pi/2 is taken off, polynomials do the rest.
// Beyond |x| = 65536, and without fused multiply-add, each lane goes through the C library.
// Coefficients: tools/fit_polynomials.py.
#pragma once
#include "hone/cpu/exp_log.h"

namespace hone {

namespace detail {

/// x = n pi/2 + r + low with |r| <= pi/4, for |x| <= 65536.
struct Quadrant {
  i32v n;
  f32v r, low;
};
HONE_INLINE Quadrant reduce_by_half_pi(f32v x) {
  // Three parts of pi/2 hold 75 bits. The first difference is exact, thanks to FMA.
  constexpr float kFirst = 0x1.921fb6p+0f, kSecond = -0x1.777a5cp-25f, kThird = -0x1.ee59dap-50f;
  const f32v n = nearest(x * 0x1.45f306p-1f);
  const f32v first = fma(n, -kFirst, x);
  const f32v second = fma(n, -kSecond, first);
  const f32v r = fma(n, -kThird, second);
  // What the roundings of `second` and r lost; where r is small, the former's cannot be known so.
  const f32v lost = abs(r) > 0x1p-6f ? fma(n, -kSecond, first - r) : second - r;
  return {convert<i32v>(n), r, fma(n, -kThird, lost)};
}

HONE_INLINE f32v sin_near_zero(f32v r, f32v low) {
  const f32v s = r * r;
  const f32v p = polynomial(s, -0x1.555544p-3f, 0x1.1106e6p-7f, -0x1.992cf6p-13f);
  return (p * (s * r) + low) + r;
}
HONE_INLINE f32v cos_near_zero(f32v r, f32v low) {
  const f32v s = r * r;
  const f32v p = polynomial(s, 0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e912p-16f);
  const f32v y = 1 - s * 0.5f;
  return y + (p * (s * s) + (((1 - y) - s * 0.5f) - r * low));
}

/// sin(r + n pi/2): sine or cosine by n's last bit, negated by the one before.
HONE_INLINE f32v sin_in_quadrant(Quadrant a) {
  const f32v y = (a.n & 1) != 0 ? cos_near_zero(a.r, a.low) : sin_near_zero(a.r, a.low);
  return bit_cast<f32v>(bit_cast<i32v>(y) ^ (a.n << 30 & sign_bit<f32v>()));
}

HONE_INLINE bool reducible(f32v x) { return kHasFma && !any(abs(x) > 65536.0f); }

[[gnu::noinline, gnu::cold]] inline f32v sin_by_lane(f32v x) {
  return map([](float lane) { return __builtin_sinf(lane); }, x);
}
[[gnu::noinline, gnu::cold]] inline f32v cos_by_lane(f32v x) {
  return map([](float lane) { return __builtin_cosf(lane); }, x);
}
[[gnu::noinline, gnu::cold]] inline f32v tan_by_lane(f32v x) {
  return map([](float lane) { return __builtin_tanf(lane); }, x);
}

}  // namespace detail

HONE_INLINE f32v sin(f32v x) {
  if (!detail::reducible(x)) return detail::sin_by_lane(x);
  const detail::Quadrant a = detail::reduce_by_half_pi(x);
  return x == 0 ? x : detail::sin_in_quadrant(a);
}

HONE_INLINE f32v cos(f32v x) {
  if (!detail::reducible(x)) return detail::cos_by_lane(x);
  detail::Quadrant a = detail::reduce_by_half_pi(x);
  a.n += 1;
  return detail::sin_in_quadrant(a);
}

HONE_INLINE f32v tan(f32v x) {
  if (!detail::reducible(x)) return detail::tan_by_lane(x);
  const detail::Quadrant a = detail::reduce_by_half_pi(x);
  const f32v s = a.r * a.r;
  const f32v p = detail::polynomial(s, 0x1.55556p-2f, 0x1.110da8p-3f, 0x1.bad72ep-5f,
                                    0x1.5cdfbcp-6f, 0x1.621ef4p-7f, 0x1.06b044p-13f, 0x1.1dade4p-8f);
  const f32v tail = p * (s * a.r) + a.low, t = a.r + tail;  // tan(r)
  const f32v lost = (a.r - t) + tail;
  const f32v q = -1 / t;  // tan(r + pi/2), then with t's lost digits
  const f32v cotangent = fma(fma(lost, q, fma(t, q, 1)), q, q);
  return x == 0 ? x : ((a.n & 1) != 0 ? cotangent : t);
}

}  // namespace hone
