// Elements that take turns in memory, a0 b0 a1 b1 …: taken apart, and put together, by whole vectors.
#pragma once
#include "hone/cpu/memory.h"

namespace hone {

namespace detail {
template <int... I>
struct Numbers {};
template <int N, int... I>
struct Below : Below<N - 1, N - 1, I...> {};
template <int... I>
struct Below<0, I...> { using Type = Numbers<I...>; };

/// Every second lane of a, and of b, which begins one element before a ends.
template <class V, int... I>
HONE_INLINE V every_second(V a, V b, Numbers<I...>) {
  return __builtin_shufflevector(a, b, (I < width<V> / 2 ? 2 * I : 2 * I + 1)...);
}
/// The first lanes of a and b in turns, or, FROM half of them, the last.
template <int FROM, class V, int... I>
HONE_INLINE V in_turns(V a, V b, Numbers<I...>) {
  return __builtin_shufflevector(a, b, (FROM + I / 2 + I % 2 * width<V>)...);
}
}  // namespace detail

/// The elements at p, p + 2, p + 4, …; touches none behind the last of them.
template <class V, class T>
HONE_INLINE V load_every_second(const T* p) {
  return detail::every_second(load<V>(p), load<V>(p + (width<V> - 1)), typename detail::Below<width<V>>::Type{});
}

/// a and b in turns: the first and the second half of what they are together.
template <class V>
HONE_INLINE V first_turns(V a, V b) { return detail::in_turns<0>(a, b, typename detail::Below<width<V>>::Type{}); }
template <class V>
HONE_INLINE V last_turns(V a, V b) { return detail::in_turns<width<V> / 2>(a, b, typename detail::Below<width<V>>::Type{}); }

}  // namespace hone
