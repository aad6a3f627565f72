// Mathematics in float beyond what the processor's compiler has: sin, cos and tan reduce in double, tanh and erf are
// hone/cpu/math.h's polynomials, the rest is computed in double. As math_double.h; within two units in the last place.
#pragma once
#include "hone/hip/math_trig.h"

namespace hone::device_math {

HONE_MATH float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HONE_MATH float abs(float x) { return __builtin_fabsf(x); }
HONE_MATH float polynomial(float, float c) { return c; }
template <class... C>
HONE_MATH float polynomial(float x, float c0, float c1, C... rest) {
  return fma(polynomial(x, c1, rest...), x, c0);
}

struct FloatAngle {
  int quadrant;
  float r, low;
};
HONE_MATH FloatAngle reduce(float x) {
  const double wide = x;
  if (!(__builtin_fabs(wide) < 0x1p26)) {
    const Angle a = reduce_large(wide);
    const float r = static_cast<float>(a.r);
    return {a.quadrant, r, static_cast<float>(a.r - r)};
  }
  const double n = __builtin_rint(wide * 0x1.45f306dc9c883p-1);
  const double r = fma(n, -kHalfPiLow, fma(n, -kHalfPi, wide));
  const float head = static_cast<float>(r);
  return {static_cast<int>(n) & 3, head, static_cast<float>(r - head)};
}
HONE_MATH float sin_near_zero(float r, float low) {
  const float s = r * r;
  return (polynomial(s, -0x1.555544p-3f, 0x1.1106e6p-7f, -0x1.992cf6p-13f) * (s * r) + low) + r;
}
HONE_MATH float cos_near_zero(float r, float low) {
  const float s = r * r, y = 1 - s * 0.5f;
  return y + (polynomial(s, 0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e912p-16f) * (s * s) + (((1 - y) - s * 0.5f) - r * low));
}
HONE_MATH float sin(float x) {
  if (!(abs(x) < __builtin_inff())) return __builtin_nanf("");
  if (x == 0) return x;
  const FloatAngle a = reduce(x);
  const float y = a.quadrant & 1 ? cos_near_zero(a.r, a.low) : sin_near_zero(a.r, a.low);
  return a.quadrant & 2 ? -y : y;
}
HONE_MATH float cos(float x) {
  if (!(abs(x) < __builtin_inff())) return __builtin_nanf("");
  const FloatAngle a = reduce(x);
  const float y = a.quadrant & 1 ? sin_near_zero(a.r, a.low) : cos_near_zero(a.r, a.low);
  return (a.quadrant + 1) & 2 ? -y : y;
}
HONE_MATH float tan(float x) { return static_cast<float>(tan(static_cast<double>(x))); }

/// `power` is exp(2 t) for t = min(|x|, 9.25).
HONE_MATH float tanh_of(float x, float power) {
  const float t = abs(x), s = x * x;
  const float near = polynomial(s, -0x1.555532p-2f, 0x1.1106fep-3f, -0x1.b8378p-5f, 0x1.52095cp-6f, -0x1.7567d6p-8f) * (s * t) + t;
  return x != x ? x : __builtin_copysignf(t < 0.625f ? near : 1 - 2 / (power + 1), x);
}
HONE_MATH float tanh(float x) {
  const float t = abs(x) < 9.25f ? abs(x) : 9.25f;
  return tanh_of(x, __builtin_expf(2 * t));
}
HONE_MATH float erf(float x) {
  const float t = abs(x), s = x * x, held = t < 3.9375f ? t : 3.9375f;
  const float near = polynomial(s, 0x1.06eba6p-3f, -0x1.8126dcp-2f, 0x1.ce1856p-4f, -0x1.b669aap-6f, 0x1.466b7ep-8f, -0x1.36ae82p-11f) * x + x;
  const float p = polynomial(held, -0x1.657022p-13f, 0x1.212674p+0f, 0x1.444c48p-1f, 0x1.bb4912p-4f, -0x1.9aebaap-6f, 0x1.105284p-8f, -0x1.c3ee2p-12f,
                             0x1.5c8e6cp-16f);
  return x != x ? x : t < 0.9375f ? near : __builtin_copysignf(1 - __builtin_expf(-p), x);
}

HONE_MATH float pow(float x, float y) { return static_cast<float>(pow(static_cast<double>(x), static_cast<double>(y))); }

}  // namespace hone::device_math
