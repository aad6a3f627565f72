// Mathematics for f32v, f64v, float and double. On f32v with FMA it is right to 1.5 units in the last
// place over all floats, infinities, NaN and denormals included; on f64v to 2.5. cpu_header_test.cc
// measures both. Scalars, and what kernels need rarely, go through the C library, to its accuracy.
#pragma once
#include "hone/cpu/double_math.h"
#include "hone/cpu/erf.h"
#include "hone/cpu/exp_log.h"
#include "hone/cpu/trigonometry.h"

namespace hone {

namespace detail {

/// 1 / x to 14 bits or better, for x in [1, 2^126].
HONE_INLINE f32v rough_reciprocal(f32v x) {
#if defined(HONE_AVX512)
  return __builtin_ia32_rcp14ps512_mask(x, x, 0xffff);
#else
  return 1 / x;
#endif
}

typedef float HalfF32 __attribute__((vector_size(HONE_VECTOR_BYTES / 2)));
struct TwoHalves {
  HalfF32 low, high;
};

}  // namespace detail

/// 1 / (1 + exp(-x)), accurate in both tails.
HONE_INLINE f32v sigmoid(f32v x) {
  const f32v z = detail::exp_below_89(-abs(x));
  const f32v numerator = x < 0 ? z : splat<f32v>(1);
  // numerator / (1 + z) by one step of Newton: the residual takes in what rounding 1 + z lost.
  const f32v r = detail::rough_reciprocal(1 + z);
  const f32v y = numerator * r;
  return fma(fma(-z, y, numerator - y), r, y);
}

HONE_INLINE f32v tanh(f32v x) {
  const f32v t = abs(x), s = x * x;
  const f32v near = detail::polynomial(s, -0x1.555532p-2f, 0x1.1106fep-3f, -0x1.b8378p-5f, 0x1.52095cp-6f,
                                       -0x1.7567d6p-8f) * (s * t) + t;
  // The rest is 1 - 2 / (exp(2t) + 1), which has rounded to 1 by 9.25.
  const f32v d = detail::exp_in_range(2 * min_num(splat<f32v>(9.25f), t)) + 1;
  const f32v r = detail::rough_reciprocal(d);
  const f32v far = fma(-2.0f, fma(fma(-d, r, 1), r, r), 1);
  return copysign(t < 0.625f ? near : far, x);
}

/// x to the power of y, with C's rules for zero, infinity, NaN and negative x.
HONE_INLINE f64v pow(f64v x, f64v y) {
  return map([](double a, double b) { return __builtin_pow(a, b); }, x, y);
}
HONE_INLINE f32v pow(f32v x, f32v y) {
  // |x|^y = exp(y log|x|) in double: the product needs the digits.
  const auto half = [](detail::HalfF32 base, detail::HalfF32 exponent) {
    const f64v power = __builtin_convertvector(exponent, f64v) * log(__builtin_convertvector(base, f64v));
    return __builtin_convertvector(exp(power), detail::HalfF32);
  };
  const f32v t = abs(x);
  const auto base = bit_cast<detail::TwoHalves>(t), exponent = bit_cast<detail::TwoHalves>(y);
  const f32v magnitude =
      bit_cast<f32v>(detail::TwoHalves{half(base.low, exponent.low), half(base.high, exponent.high)});
  const Mask<f32v> whole = trunc(y) == y;
  const Mask<f32v> odd = whole & (trunc(y * 0.5f) != y * 0.5f);
  const Mask<f32v> negative = bit_cast<i32v>(x) < 0;
  f32v result = (negative & odd) != 0 ? -magnitude : magnitude;
  result = ((x < 0) & ~whole & (t != detail::kInf)) != 0 ? splat<f32v>(detail::kNan) : result;
  const Mask<f32v> one = (y == 0) | (x == 1) | ((t == 1) & (abs(y) == detail::kInf));
  return one != 0 ? splat<f32v>(1) : result;
}
template <class A, class B>
  requires(Vector<A> != Vector<B>)
HONE_INLINE Wider<A, B> pow(A x, B y) {
  return pow(widen<Wider<A, B>>(x), widen<Wider<A, B>>(y));
}

// The C library, for scalars and lane by lane.
#define HONE_SCALAR(name)                                                 \
  HONE_INLINE float name(float x) { return __builtin_##name##f(x); }      \
  HONE_INLINE double name(double x) { return __builtin_##name(x); }
#define HONE_LANEWISE(V, T, name) \
  HONE_INLINE V name(V x) { return map([](T lane) { return hone::name(lane); }, x); }
#define HONE_SCALAR_AND_F64V(name) HONE_SCALAR(name) HONE_LANEWISE(f64v, double, name)
#define HONE_ALL(name) HONE_SCALAR_AND_F64V(name) HONE_LANEWISE(f32v, float, name)
#define HONE_SCALAR2(name)                                                             \
  HONE_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }       \
  HONE_INLINE double name(double x, double y) { return __builtin_##name(x, y); }
HONE_SCALAR(exp)
HONE_SCALAR(log)
HONE_SCALAR(tanh)
HONE_SCALAR_AND_F64V(exp2)
HONE_SCALAR_AND_F64V(expm1)
HONE_SCALAR_AND_F64V(log2)
HONE_SCALAR_AND_F64V(log10)
HONE_SCALAR_AND_F64V(log1p)
HONE_SCALAR_AND_F64V(erf)
HONE_SCALAR_AND_F64V(sin)
HONE_SCALAR_AND_F64V(cos)
HONE_SCALAR_AND_F64V(tan)
HONE_ALL(asin)
HONE_ALL(acos)
HONE_ALL(atan)
HONE_ALL(sinh)
HONE_ALL(cosh)
HONE_SCALAR2(pow)
HONE_SCALAR2(atan2)
#undef HONE_SCALAR
#undef HONE_LANEWISE
#undef HONE_SCALAR_AND_F64V
#undef HONE_ALL
#undef HONE_SCALAR2

/// The angle of the point (x, y), in [-pi, pi].
template <class A, class B>
  requires(Vector<A> || Vector<B>)
HONE_INLINE Wider<A, B> atan2(A y, B x) {
  using V = Wider<A, B>;
  return map([](Lane<V> a, Lane<V> b) { return hone::atan2(a, b); }, widen<V>(y), widen<V>(x));
}

template <FloatScalar T>
HONE_INLINE T sigmoid(T x) {
  const T z = hone::exp(-abs(x));
  return (x < 0 ? z : T{1}) / (1 + z);
}

}  // namespace hone
