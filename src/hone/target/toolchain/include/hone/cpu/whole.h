// Numbers of narrow types in vectors: hone/whole.h lane by lane, and rounding to narrower floats.
#pragma once
#include "hone/cpu/arithmetic.h"
#include "hone/cpu/half.h"
#include "hone/whole.h"

namespace hone {
namespace detail {
template <class V>
struct UnsignedLanes;
template <>
struct UnsignedLanes<i32v> { using Type = u32v; };
template <>
struct UnsignedLanes<i64v> { using Type = u64v; };
template <class V>
using Unsigned = typename UnsignedLanes<V>::Type;
template <class A, class B>
concept WithWholeVector = Same<typename Wider<A, B>::Type, i32v> || Same<typename Wider<A, B>::Type, i64v>;
}  // namespace detail

/// x as the narrower float T holds it, rounded once.
template <class T, class V>
HONE_INLINE V rounded(V x) {
  if constexpr (Same<T, float> && Same<V, double>) return static_cast<float>(x);
  else if constexpr (Same<T, float>) return __builtin_convertvector(__builtin_convertvector(x, detail::Of<float, sizeof(float) * width<V>>), V);
  else if constexpr (Same<V, f32v> && Same<T, bf16>) return from_bf16(to_bf16(x));
  else if constexpr (Same<V, f32v> && Same<T, f16>) return from_f16(to_f16(x));
  else if constexpr (Same<V, f32v>) return from_f8<T>(to_f8<T>(x));
  else return map([](Lane<V> lane) -> Lane<V> { return static_cast<float>(T(to_odd(lane))); }, x);
}

template <class T, class V>
  requires Same<V, i32v> || Same<V, i64v>
HONE_INLINE V wrapped(V x) {
  constexpr int kUnused = 8 * static_cast<int>(sizeof(Lane<V>) - sizeof(T));
  if constexpr (kUnused == 0) return x;
  else return bit_cast<V>(bit_cast<detail::Unsigned<V>>(x) << kUnused) >> kUnused;
}

#define HONE_WHOLE(name, op)                                                                                     \
  template <class T, class A, class B>                                                                           \
    requires detail::WithWholeVector<A, B>                                                                       \
  HONE_INLINE Wider<A, B> name(A a, B b) {                                                                       \
    using V = Wider<A, B>;                                                                                       \
    using U = detail::Unsigned<V>;                                                                               \
    return wrapped<T>(bit_cast<V>(bit_cast<U>(widen<V>(a)) op bit_cast<U>(widen<V>(b))));                        \
  }
HONE_WHOLE(whole_add, +)
HONE_WHOLE(whole_sub, -)
HONE_WHOLE(whole_mul, *)
#undef HONE_WHOLE

#define HONE_WHOLE(name)                                                                                         \
  template <class T, class A, class B>                                                                           \
    requires detail::WithWholeVector<A, B>                                                                       \
  HONE_INLINE Wider<A, B> name(A a, B b) {                                                                       \
    using V = Wider<A, B>;                                                                                       \
    return map([](Lane<V> x, Lane<V> y) { return static_cast<Lane<V>>(hone::name<T>(x, y)); }, widen<V>(a), widen<V>(b)); \
  }
HONE_WHOLE(whole_mod)
HONE_WHOLE(whole_div)
HONE_WHOLE(whole_pow)
#undef HONE_WHOLE

}  // namespace hone
