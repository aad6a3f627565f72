// What a loop over vectors may keep: sums that stay accurate however long the loop is, extremes and where they are.
#pragma once
#include "hone/cpu/reduce.h"

namespace hone {

// Reducers. part holds UNROLL running vectors; flush() moves them on at the end of a segment.

/// Sums in segments: each segment in the lanes' type, the segments in double (int64_t). The error
/// does not grow with the length, as that of one long running sum would.
struct Sum {
  template <class V, int UNROLL>
  struct State {
    using Total = typename detail::Summing<Lane<V>>::Type;
    V part[UNROLL]{};
    Total total{};
    static HONE_INLINE V neutral() { return V{}; }
    HONE_INLINE void add(int u, V v, int64_t) { part[u] = detail::added(part[u], v); }
    HONE_INLINE void flush() {
      V all = part[0];
      for (int u = 1; u < UNROLL; ++u) all = detail::added(all, part[u]);
      total = detail::added(total, static_cast<Total>(sum(all)));
      for (V& p : part) p = V{};
    }
    HONE_INLINE Total get() const { return total; }
  };
};
struct Prod {
  template <class V, int UNROLL>
  struct State {
    V part[UNROLL];
    HONE_INLINE State() { for (V& p : part) p = neutral(); }
    static HONE_INLINE V neutral() { return splat<V>(1); }
    HONE_INLINE void add(int u, V v, int64_t) { part[u] = detail::multiplied(part[u], v); }
    HONE_INLINE void flush() {}
    HONE_INLINE auto get() const {
      V all = part[0];
      for (int u = 1; u < UNROLL; ++u) all = detail::multiplied(all, part[u]);
      return prod(all);
    }
  };
};

namespace detail {
template <class T>
HONE_INLINE constexpr T lowest() {
  if constexpr (FloatScalar<T>) return static_cast<T>(-__builtin_inf());
  else return static_cast<T>(T{1} << (8 * sizeof(T) - 1));
}
template <class T>
HONE_INLINE constexpr T highest() {
  if constexpr (FloatScalar<T>) return static_cast<T>(__builtin_inf());
  else return static_cast<T>(~lowest<T>());
}
}  // namespace detail

struct Max {
  template <class V, int UNROLL>
  struct State {
    V part[UNROLL];
    HONE_INLINE State() { for (V& p : part) p = neutral(); }
    static HONE_INLINE V neutral() { return splat<V>(detail::lowest<Lane<V>>()); }
    HONE_INLINE void add(int u, V v, int64_t) { part[u] = max(part[u], v); }
    HONE_INLINE void flush() {}
    HONE_INLINE Lane<V> get() const {
      V all = part[0];
      for (int u = 1; u < UNROLL; ++u) all = max(all, part[u]);
      return max_of(all);
    }
  };
};
struct Min {
  template <class V, int UNROLL>
  struct State {
    V part[UNROLL];
    HONE_INLINE State() { for (V& p : part) p = neutral(); }
    static HONE_INLINE V neutral() { return splat<V>(detail::highest<Lane<V>>()); }
    HONE_INLINE void add(int u, V v, int64_t) { part[u] = min(part[u], v); }
    HONE_INLINE void flush() {}
    HONE_INLINE Lane<V> get() const {
      V all = part[0];
      for (int u = 1; u < UNROLL; ++u) all = min(all, part[u]);
      return min_of(all);
    }
  };
};

/// Index of the first largest (smallest) element; a NaN counts as the most extreme, as in PyTorch.
/// Indices are kept in lanes as wide as the values: fewer than 2^31 elements for 32-bit ones.
template <bool LARGEST>
struct ArgExtreme {
  template <class V, int UNROLL>
  struct State {
    using Index = Mask<V>;
    V part[UNROLL];
    Index where[UNROLL]{};
    HONE_INLINE State() { for (V& p : part) p = neutral(); }
    static HONE_INLINE V neutral() {
      return splat<V>(LARGEST ? detail::lowest<Lane<V>>() : detail::highest<Lane<V>>());
    }
    HONE_INLINE void add(int u, V v, int64_t j) {
      Index better = LARGEST ? v > part[u] : v < part[u];
      if constexpr (FloatVector<V>) better |= (v != v) & (part[u] == part[u]);
      part[u] = select(better, v, part[u]);
      where[u] = select(better, iota<Index>() + static_cast<Lane<Index>>(j), where[u]);
    }
    HONE_INLINE void flush() {}
    HONE_INLINE int64_t get() const {
      Lane<V> best = part[0][0];
      int64_t at = where[0][0];
      for (int u = 0; u < UNROLL; ++u)
        for (int lane = 0; lane < width<V>; ++lane) {
          const Lane<V> v = part[u][lane];
          const int64_t index = where[u][lane];
          const bool nan = v != v, best_nan = best != best;
          const bool better = nan ? !best_nan : !best_nan && (LARGEST ? v > best : v < best);
          const bool equal = v == best || (nan && best_nan);
          if (better || (equal && index < at)) best = v, at = index;
        }
      return at;
    }
  };
};
using ArgMax = ArgExtreme<true>;
using ArgMin = ArgExtreme<false>;

}  // namespace hone
