// Reductions along the rows of a tile: one result a column. The tile's columns are contiguous, its rows
// are not; running results lie in the first-level cache and each row is added to them.
//
//   hone::ReduceColumns<f32v, WIDTH, hone::Sum> pass;
//   for (int64_t r = 0; r < N; ++r)
//     pass.row(count, [&](int64_t i, auto n) HONE_BODY { return hone::load_n<f32v>(x + r * D + i, n); });
//   pass.finish();
//   const float* sums = pass.get<0>();   // WIDTH of them
#pragma once
#include "hone/cpu/loops.h"

namespace hone {

namespace detail {

/// Running results of one reducer over a tile.
template <class R, class V, int WIDTH>
struct ColumnState {
  alignas(64) Lane<V> part[WIDTH];
  HONE_INLINE ColumnState() {
    for (Lane<V>& p : part) {
      if constexpr (Same<R, Prod>) p = 1;
      else if constexpr (Same<R, Max>) p = lowest<Lane<V>>();
      else p = highest<Lane<V>>();
    }
  }
  template <class N>
  HONE_INLINE void add(int64_t i, V v, N n, int64_t) {
    const V old = load<V>(part + i);
    V now;
    if constexpr (Same<R, Prod>) now = old * v;
    else if constexpr (Same<R, Max>) now = max(old, v);
    else now = min(old, v);
    store_n(part + i, now, n);
  }
  HONE_INLINE const Lane<V>* get() const { return part; }
  HONE_INLINE void flush() {}
  HONE_INLINE void finish() {}
};

/// The row of the first largest (smallest) element of each column; a NaN counts as the most extreme.
/// Fewer than 2^31 rows for 32-bit lanes.
template <bool LARGEST, class V, int WIDTH>
struct ColumnState<ArgExtreme<LARGEST>, V, WIDTH> {
  using Index = Mask<V>;
  alignas(64) Lane<V> part[WIDTH];
  alignas(64) Lane<Index> where[WIDTH]{};
  HONE_INLINE ColumnState() {
    for (Lane<V>& p : part) p = LARGEST ? lowest<Lane<V>>() : highest<Lane<V>>();
  }
  template <class N>
  HONE_INLINE void add(int64_t i, V v, N n, int64_t row) {
    const V old = load<V>(part + i);
    Index better = LARGEST ? v > old : v < old;
    if constexpr (FloatVector<V>) better |= (v != v) & (old == old);
    store_n(part + i, select(better, v, old), n);
    store_n(where + i, select(better, splat<Index>(static_cast<Lane<Index>>(row)), load<Index>(where + i)), n);
  }
  HONE_INLINE const Lane<Index>* get() const { return where; }
  HONE_INLINE void flush() {}
  HONE_INLINE void finish() {}
};

/// Sums go in segments of rows, the segments in double: the error does not grow with the rows.
template <class V, int WIDTH>
struct ColumnState<Sum, V, WIDTH> {
  using Total = typename detail::Summing<Lane<V>>::Type;
  alignas(64) Lane<V> part[WIDTH]{};
  alignas(64) Total total[WIDTH]{};
  template <class N>
  HONE_INLINE void add(int64_t i, V v, N n, int64_t) { store_n(part + i, detail::added(load<V>(part + i), v), n); }
  HONE_INLINE const Lane<V>* get() const { return part; }
  HONE_INLINE void flush() {
    for (int i = 0; i < WIDTH; ++i) {
      total[i] = detail::added(total[i], static_cast<Total>(part[i]));
      part[i] = 0;
    }
  }
  HONE_INLINE void finish() {
    flush();
    for (int i = 0; i < WIDTH; ++i) part[i] = static_cast<Lane<V>>(total[i]);
  }
};

template <class V, int WIDTH, class... Reducers>
struct ColumnStates {
  HONE_INLINE void flush() {}
  HONE_INLINE void finish() {}
};
template <class V, int WIDTH, class First, class... Rest>
struct ColumnStates<V, WIDTH, First, Rest...> {
  ColumnState<First, V, WIDTH> state;
  ColumnStates<V, WIDTH, Rest...> rest;
  template <class N, class... P>
  HONE_INLINE void add(int64_t i, const Pack<P...>& p, N n, int64_t row) {
    state.add(i, p.head, n, row);
    if constexpr (sizeof...(Rest) > 0) rest.add(i, p.tail, n, row);
  }
  HONE_INLINE void flush() {
    state.flush();
    rest.flush();
  }
  HONE_INLINE void finish() {
    state.finish();
    rest.finish();
  }
  template <int I>
  HONE_INLINE auto get() const {
    if constexpr (I == 0) return state.get();
    else return rest.template get<I - 1>();
  }
};

}  // namespace detail

/// Up to WIDTH columns, a multiple of the vector's lanes. Lives on the stack.
template <class V, int WIDTH, class... Reducers>
class ReduceColumns {
  static_assert(WIDTH % width<V> == 0);

 public:
  template <class Body>
  HONE_INLINE void row(int64_t count, Body body) {
    int64_t i = 0;
    for (; i + width<V> <= count; i += width<V>) states_.add(i, detail::as_pack(body(i, All{})), All{}, rows_);
    if (i < count) states_.add(i, detail::as_pack(body(i, count - i)), count - i, rows_);
    if (++rows_ % 32 == 0) states_.flush();
  }
  HONE_INLINE void finish() { states_.finish(); }
  template <int I>
  HONE_INLINE auto get() const { return states_.template get<I>(); }

 private:
  detail::ColumnStates<V, WIDTH, Reducers...> states_;
  int64_t rows_ = 0;
};

}  // namespace hone
