// What the task language's types make of one number that is computed in a wider one. Integers wrap around in their own type
// T; division rounds down, and by zero gives 0. Whoever includes it defines HONE_INLINE. The same text for CPUs and GPUs; no
// state; nothing fails.
#pragma once
#include <stdint.h>

namespace hone {
namespace detail {
/// Not a vector of them.
template <class V>
concept OneNumber = requires(V x) { static_cast<uint64_t>(x); };
template <class A, class B>
using WholeOf = decltype(A{} + B{});
}  // namespace detail

/// x as T holds it, modulo 2^bits.
template <class T, class V>
  requires detail::OneNumber<V>
HONE_INLINE constexpr V wrapped(V x) { return static_cast<V>(static_cast<T>(x)); }

// Unsigned on the way: a signed overflow is a compiler's licence to do anything.
template <class T, class A, class B>
  requires(detail::OneNumber<A> && detail::OneNumber<B>)
HONE_INLINE constexpr detail::WholeOf<A, B> whole_add(A a, B b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T, class A, class B>
  requires(detail::OneNumber<A> && detail::OneNumber<B>)
HONE_INLINE constexpr detail::WholeOf<A, B> whole_sub(A a, B b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <class T, class A, class B>
  requires(detail::OneNumber<A> && detail::OneNumber<B>)
HONE_INLINE constexpr detail::WholeOf<A, B> whole_mul(A a, B b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// The remainder with the divisor's sign, and the quotient that goes with it; 0 where the divisor is. By -1 processors
/// cannot divide the least number there is.
template <class T, class A, class B>
  requires(detail::OneNumber<A> && detail::OneNumber<B>)
HONE_INLINE constexpr detail::WholeOf<A, B> whole_mod(A left, B right) {
  using V = detail::WholeOf<A, B>;
  const V a = left, b = right;
  const V rest = b == 0 || b == -1 ? V{0} : static_cast<V>(a % b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class T, class A, class B>
  requires(detail::OneNumber<A> && detail::OneNumber<B>)
HONE_INLINE constexpr detail::WholeOf<A, B> whole_div(A left, B right) {
  using V = detail::WholeOf<A, B>;
  const V a = left, b = right;
  if (b == 0) return 0;
  if (b == -1) return whole_sub<T>(V{0}, a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// a to the b; where b is negative the whole part of it: 1, -1 or 0.
template <class T, class A, class B>
  requires(detail::OneNumber<A> && detail::OneNumber<B>)
HONE_INLINE constexpr detail::WholeOf<A, B> whole_pow(A base, B exponent) {
  if (exponent < 0) return base == 1 || base == -1 ? (exponent % 2 != 0 ? base : 1) : 0;
  uint64_t result = 1, power = static_cast<uint64_t>(base);
  for (auto left = exponent; left > 0; left = left / 2) {
    if (left % 2 != 0) result *= power;
    power *= power;
  }
  return static_cast<T>(result);
}

/// x as a float that is to be rounded to 16 bits next: inexact ones become odd, so that both roundings together are one.
HONE_INLINE float to_odd(double x) {
  union {
    float value;
    uint32_t bits;
  } near = {static_cast<float>(x)};
  const double back = near.value;
  if (back != x && x == x && (near.bits & 1) == 0) near.bits += (x < 0 ? -x : x) > (back < 0 ? -back : back) ? 1u : ~0u;
  return near.value;
}

}  // namespace hone
