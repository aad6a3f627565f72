// Reductions over the lanes of one vector, by halving: log2(lanes) steps, each a shuffle and an
// operation. For the end of a loop that kept one accumulator a lane. Scalars pass through.
#pragma once
#include "hone/cpu/arithmetic.h"

namespace hone {

namespace detail {
/// Lane i of the result is lane i ^ distance of x.
template <int distance, class V>
HONE_INLINE V exchange(V x) {
  constexpr int d = distance;
  if constexpr (width<V> == 16)
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d, 4 ^ d, 5 ^ d, 6 ^ d, 7 ^ d, 8 ^ d,
                                   9 ^ d, 10 ^ d, 11 ^ d, 12 ^ d, 13 ^ d, 14 ^ d, 15 ^ d);
  else if constexpr (width<V> == 8)
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d, 4 ^ d, 5 ^ d, 6 ^ d, 7 ^ d);
  else if constexpr (width<V> == 4)
    return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d);
  else return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d);
}

template <class V, class F>
HONE_INLINE Lane<V> fold(V x, F f) {
  if constexpr (Vector<V>) {
    if constexpr (width<V> > 8) x = f(x, exchange<8>(x));
    if constexpr (width<V> > 4) x = f(x, exchange<4>(x));
    if constexpr (width<V> > 2) x = f(x, exchange<2>(x));
    return f(x, exchange<1>(x))[0];
  } else {
    return x;
  }
}
}  // namespace detail

template <class V>
HONE_INLINE Lane<V> sum(V x) {
  return detail::fold(x, [](V a, V b) { return detail::added(a, b); });
}
template <class V>
HONE_INLINE Lane<V> prod(V x) {
  return detail::fold(x, [](V a, V b) { return detail::multiplied(a, b); });
}
/// NaN if any lane is NaN.
template <class V>
HONE_INLINE Lane<V> max_of(V x) {
  return detail::fold(x, [](V a, V b) { return hone::max(a, b); });
}
template <class V>
HONE_INLINE Lane<V> min_of(V x) {
  return detail::fold(x, [](V a, V b) { return hone::min(a, b); });
}

}  // namespace hone
