// Arithmetic beyond the operators: minimum and maximum, signs, rounding, roots, classification.
// All of it exact or correctly rounded, for vectors and scalars; two-argument functions also take a
// vector and a scalar.
#pragma once
#include "hone/cpu/vector.h"

namespace hone {

/// a - b rounded by itself, never in one operation with the product that a is: a maximum that was found among rounded
/// products lies below such a difference's exact product by up to half a unit of it, and exp() of that is infinite
/// where products are large. (g++ forgets it where it makes vectors of a loop of its own.)
template <class V>
inline V difference(V a, V b) {
#if defined(__clang__)
#pragma clang fp contract(off)
  return a - b;
#else
  return __builtin_assoc_barrier(a) - b;
#endif
}

template <class V>
HONE_INLINE Mask<V> is_nan(V x) { return x != x; }

namespace detail {
/// x > y ? x : y as the one instruction that it is on x86: g++ often makes a comparison and a
/// masked move of it.
template <class V>
HONE_INLINE V larger(V x, V y) {
#if defined(__SSE2__) && !defined(__clang__)
#if defined(HONE_AVX512)
  if constexpr (Same<V, f32v>) return __builtin_ia32_maxps512_mask(x, y, x, 0xffff, 4);
  else if constexpr (Same<V, f64v>) return __builtin_ia32_maxpd512_mask(x, y, x, 0xff, 4);
#elif defined(__AVX2__)
  if constexpr (Same<V, f32v>) return __builtin_ia32_maxps256(x, y);
  else if constexpr (Same<V, f64v>) return __builtin_ia32_maxpd256(x, y);
#else
  if constexpr (Same<V, f32v>) return __builtin_ia32_maxps(x, y);
  else if constexpr (Same<V, f64v>) return __builtin_ia32_maxpd(x, y);
#endif
  else return x > y ? x : y;
#else
  return x > y ? x : y;
#endif
}
template <class V>
HONE_INLINE V smaller(V x, V y) {
#if defined(__SSE2__) && !defined(__clang__)
#if defined(HONE_AVX512)
  if constexpr (Same<V, f32v>) return __builtin_ia32_minps512_mask(x, y, x, 0xffff, 4);
  else if constexpr (Same<V, f64v>) return __builtin_ia32_minpd512_mask(x, y, x, 0xff, 4);
#elif defined(__AVX2__)
  if constexpr (Same<V, f32v>) return __builtin_ia32_minps256(x, y);
  else if constexpr (Same<V, f64v>) return __builtin_ia32_minpd256(x, y);
#else
  if constexpr (Same<V, f32v>) return __builtin_ia32_minps(x, y);
  else if constexpr (Same<V, f64v>) return __builtin_ia32_minpd(x, y);
#endif
  else return x < y ? x : y;
#else
  return x < y ? x : y;
#endif
}
}  // namespace detail

/// The larger, the smaller; where one is NaN the other, unless it comes second: for data known to
/// hold no NaN. One instruction.
template <class A, class B>
HONE_INLINE Wider<A, B> max_num(A a, B b) {
  using V = Wider<A, B>;
  return detail::larger<V>(widen<V>(a), widen<V>(b));
}
template <class A, class B>
HONE_INLINE Wider<A, B> min_num(A a, B b) {
  using V = Wider<A, B>;
  return detail::smaller<V>(widen<V>(a), widen<V>(b));
}

/// The larger, the smaller; NaN where either is NaN, as in NumPy.
template <class A, class B>
HONE_INLINE Wider<A, B> max(A a, B b) {
  using V = Wider<A, B>;
  const V x = widen<V>(a), y = widen<V>(b);
  if constexpr (FloatVector<V> || FloatScalar<V>) return select(is_nan(x), x, max_num(x, y));
  else return max_num(x, y);
}
template <class A, class B>
HONE_INLINE Wider<A, B> min(A a, B b) {
  using V = Wider<A, B>;
  const V x = widen<V>(a), y = widen<V>(b);
  if constexpr (FloatVector<V> || FloatScalar<V>) return select(is_nan(x), x, min_num(x, y));
  else return min_num(x, y);
}

/// x held in [low, high]; NaN stays NaN.
template <class V, class L, class H>
HONE_INLINE V clamp(V x, L low, H high) {
  return min_num(widen<V>(high), max_num(widen<V>(low), x));
}

namespace detail {
template <class V>
inline constexpr int64_t kSignBit = sizeof(Lane<V>) == 4 ? INT64_C(0x80000000) : INT64_MIN;
template <class V>
inline constexpr bool kFloat = FloatVector<V> || FloatScalar<V>;
/// The integer that holds V's bits.
template <class V>
struct BitsOf { using Type = Mask<V>; };
template <>
struct BitsOf<float> { using Type = int32_t; };
template <>
struct BitsOf<double> { using Type = int64_t; };
template <class V>
using Bits = typename BitsOf<V>::Type;
/// Only the sign bit set, in each lane.
template <class V>
HONE_INLINE Bits<V> sign_bit() {
  return splat<Bits<V>>(static_cast<Lane<Bits<V>>>(kSignBit<V>));
}
}  // namespace detail

template <class V>
HONE_INLINE V abs(V x) {
  if constexpr (detail::kFloat<V>)
    return bit_cast<V>(bit_cast<detail::Bits<V>>(x) & ~detail::sign_bit<V>());
  else return x < 0 ? -x : x;
}

/// The magnitude of x with the sign of s.
template <class V, class S>
HONE_INLINE V copysign(V x, S s) {
  const auto sign = detail::sign_bit<V>();
  using B = detail::Bits<V>;
  return bit_cast<V>((bit_cast<B>(x) & ~sign) | (bit_cast<B>(widen<V>(s)) & sign));
}

/// -1, 0 or 1; NaN stays NaN.
template <class V>
HONE_INLINE V sign(V x) {
  return select(x > 0, widen<V>(1), select(x < 0, widen<V>(-1), x));
}

template <class V>
HONE_INLINE Mask<V> is_inf(V x) {
  return abs(x) == static_cast<Lane<V>>(__builtin_inf());
}
template <class V>
HONE_INLINE Mask<V> is_finite(V x) {
  return abs(x) < static_cast<Lane<V>>(__builtin_inf());
}

namespace detail {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline constexpr bool kHasFma = true;
#else
inline constexpr bool kHasFma = false;
#endif

/// The instruction by name: compilers fuse `a * b + c` only from -O2 on, and clang not where it needs
/// the product elsewhere too. sin() and its kin depend on the single rounding.
template <class V>
HONE_INLINE V fused(V a, V b, V c) {
  if constexpr (kHasFma && FloatVector<V>) {
    [[maybe_unused]] constexpr bool k32 = Same<V, f32v>;
#if defined(__clang__) && __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#elif defined(__clang__) || !defined(__FMA__)
    V result{};
    for (int i = 0; i < width<V>; ++i)
      result[i] = k32 ? __builtin_fmaf(a[i], b[i], c[i]) : __builtin_fma(a[i], b[i], c[i]);
    return result;
#elif defined(HONE_AVX512)
    if constexpr (k32) return __builtin_ia32_vfmaddps512_mask(a, b, c, 0xffff, 4);
    else return __builtin_ia32_vfmaddpd512_mask(a, b, c, 0xff, 4);
#elif defined(__AVX2__)
    if constexpr (k32) return __builtin_ia32_vfmaddps256(a, b, c);
    else return __builtin_ia32_vfmaddpd256(a, b, c);
#else
    if constexpr (k32) return __builtin_ia32_vfmaddps(a, b, c);
    else return __builtin_ia32_vfmaddpd(a, b, c);
#endif
  } else {
    return a * b + c;
  }
}
}  // namespace detail

/// a * b + c, rounded once where the machine has the instruction.
template <class A, class B, class C>
HONE_INLINE Wider<Wider<A, B>, C> fma(A a, B b, C c) {
  using V = Wider<Wider<A, B>, C>;
  return detail::fused<V>(widen<V>(a), widen<V>(b), widen<V>(c));
}

#define HONE_LANEWISE(name, builtin)                                             \
  HONE_INLINE float name(float x) { return __builtin_##builtin##f(x); }          \
  HONE_INLINE double name(double x) { return __builtin_##builtin(x); }           \
  template <FloatVector V>                                                       \
  HONE_INLINE V name(V x) {                                                      \
    return map([](Lane<V> lane) { return hone::name(lane); }, x);                \
  }
HONE_LANEWISE(floor, floor)
HONE_LANEWISE(ceil, ceil)
HONE_LANEWISE(trunc, trunc)
HONE_LANEWISE(round, rint)  // half to even, like NumPy
HONE_LANEWISE(sqrt, sqrt)
#undef HONE_LANEWISE

namespace detail {
/// a - q * b, rounded once.
template <class V>
HONE_INLINE V rest_of(V a, V q, V b) {
  if constexpr (kHasFma && FloatVector<V>) {
    return fused(-q, b, a);
  } else if constexpr (FloatVector<V>) {
    V result{};
    for (int i = 0; i < width<V>; ++i) result[i] = rest_of<Lane<V>>(a[i], q[i], b[i]);
    return result;
  } else if constexpr (Same<V, float>) {
    return __builtin_fmaf(-q, b, a);
  } else {
    return __builtin_fma(-q, b, a);
  }
}
/// Quotients below it have all their digits before the point in their type, so that rest_of() is exact.
template <class V>
inline constexpr Lane<V> kCountable = sizeof(Lane<V>) == 4 ? 0x1p23 : 0x1p52;
}  // namespace detail

/// a / b rounded down, as NumPy and PyTorch have it: the division may round up to a whole number, which the rest's sign
/// tells. Where a is infinite there is no answer.
template <class A, class B>
HONE_INLINE Wider<A, B> floor_quotient(A left, B right) {
  using V = Wider<A, B>;
  const V a = widen<V>(left), b = widen<V>(right), q = hone::floor(a / b);
  const V rest = select(q == 0, a, detail::rest_of<V>(a, q, b));  // b may be infinite
  const V down = select((rest != 0) & ((rest < 0) != (b < 0)), q - 1, q);
  return select(is_inf(a), widen<V>(static_cast<Lane<V>>(__builtin_nan(""))), down);
}

/// The remainder of a / b with b's sign, exact but for one rounding.
template <class A, class B>
HONE_INLINE Wider<A, B> modulo(A left, B right) {
  using V = Wider<A, B>;
  const V a = widen<V>(left), b = widen<V>(right), q = hone::trunc(a / b);
  const auto countable = hone::abs(q) < detail::kCountable<V>;
  V rest = select(q == 0, a, detail::rest_of<V>(a, q, b));
  if (!all(countable))
    rest = select(countable, rest, map([](Lane<V> x, Lane<V> y) -> Lane<V> {
      if constexpr (sizeof(x) == 4) return __builtin_fmodf(x, y);
      else return __builtin_fmod(x, y);
    }, a, b));
  return select((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest);
}

template <class V>
HONE_INLINE V rsqrt(V x) { return 1 / hone::sqrt(x); }
template <class V>
HONE_INLINE V reciprocal(V x) { return 1 / x; }

}  // namespace hone
