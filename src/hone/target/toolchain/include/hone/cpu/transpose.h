// Squares of vectors turned: row i of the result is column i.
#pragma once
#include "hone/cpu/vector.h"

namespace hone {

namespace detail {

// Lane j of two rows `d` apart, after the squares of d x d beside the diagonal have changed places.
#define HONE_LOW(j) ((j) & d ? width<V> + (j) - d : (j))
#define HONE_HIGH(j) ((j) & d ? width<V> + (j) : (j) + d)
#define HONE_FOUR(f, j) f(j), f((j) + 1), f((j) + 2), f((j) + 3)
template <int d, class V>
HONE_INLINE void exchange_squares(V& low, V& high) {
  const V a = low, b = high;
  if constexpr (width<V> == 16) {
    low = __builtin_shufflevector(a, b, HONE_FOUR(HONE_LOW, 0), HONE_FOUR(HONE_LOW, 4), HONE_FOUR(HONE_LOW, 8), HONE_FOUR(HONE_LOW, 12));
    high = __builtin_shufflevector(a, b, HONE_FOUR(HONE_HIGH, 0), HONE_FOUR(HONE_HIGH, 4), HONE_FOUR(HONE_HIGH, 8), HONE_FOUR(HONE_HIGH, 12));
  } else if constexpr (width<V> == 8) {
    low = __builtin_shufflevector(a, b, HONE_FOUR(HONE_LOW, 0), HONE_FOUR(HONE_LOW, 4));
    high = __builtin_shufflevector(a, b, HONE_FOUR(HONE_HIGH, 0), HONE_FOUR(HONE_HIGH, 4));
  } else if constexpr (width<V> == 4) {
    low = __builtin_shufflevector(a, b, HONE_FOUR(HONE_LOW, 0));
    high = __builtin_shufflevector(a, b, HONE_FOUR(HONE_HIGH, 0));
  } else {
    low = __builtin_shufflevector(a, b, HONE_LOW(0), HONE_LOW(1));
    high = __builtin_shufflevector(a, b, HONE_HIGH(0), HONE_HIGH(1));
  }
}
#undef HONE_LOW
#undef HONE_HIGH
#undef HONE_FOUR

template <int d, class V>
HONE_INLINE void turn(V (&x)[width<V>]) {
  if constexpr (d < width<V>) {
    HONE_UNROLL(16)
    for (int i = 0; i < width<V>; ++i)
      if (!(i & d)) exchange_squares<d>(x[i], x[i + d]);
    turn<2 * d>(x);
  }
}

}  // namespace detail

/// x[i][j] becomes x[j][i]: log2(lanes) rounds of exchanges.
template <class V>
HONE_INLINE void transpose(V (&x)[width<V>]) {
  detail::turn<1>(x);
}

}  // namespace hone
