// Loops that kernels are made of: over n contiguous elements, a vector at a time, with a masked tail;
// with reductions that stay accurate however long the loop is.
//
//   hone::Reduce<f32v, UNROLL, hone::Sum> squares;
//   squares.run(D, [&](int64_t j, auto n) HONE_BODY { const f32v a = hone::load_n<f32v>(x + j, n); return a * a; });
//   const double mean = squares.get<0>() / D;
//   hone::for_each<f32v, UNROLL>(D, [&](int64_t j, auto n) HONE_BODY { hone::put<STREAM>(y + j, ..., n); });
//
// A body is called with the index of its first element and n: All for a whole vector, or the number of
// elements left. Loads and stores with n touch those elements only.
#pragma once
#include "hone/cpu/arithmetic.h"
#include "hone/cpu/memory.h"
#include "hone/cpu/reducers.h"
#include "hone/cpu/turns.h"

/// For loop bodies: they are called from several places and must still become part of the loop.
#define HONE_BODY __attribute__((always_inline))

namespace hone {

/// "Every lane": the n of all iterations but the last.
struct All {};

template <class V, class T>
HONE_INLINE V load_n(const T* p, All, Lane<V> = 0) { return load<V>(p); }
template <class V, class T>
HONE_INLINE V load_apart(const T* p, int64_t step, All) {
  if (step == 2) return load_every_second<V>(p);
  V v{};
  HONE_UNROLL(16)
  for (int i = 0; i < width<V>; ++i) v[i] = load<Lane<V>>(p + i * step);
  return v;
}
template <class V, class T, class I>
HONE_INLINE V load_picked(const T* p, int64_t step, I index, int64_t stride, All) {
  V v{};
  HONE_UNROLL(16)
  for (int i = 0; i < width<V>; ++i) v[i] = load<Lane<V>>(p + (i * step + static_cast<int64_t>(index[i]) * stride));
  return v;
}
template <class T, class V>
HONE_INLINE void store_n(T* p, V v, All) { store(p, v); }
template <class T, class V>
HONE_INLINE void put_apart(T* p, int64_t step, V v, All) {
  T all[width<V>];
  store(all, v);
  HONE_UNROLL(16)
  for (int i = 0; i < width<V>; ++i) p[i * step] = all[i];
}

/// Stores n lanes; with STREAM past the caches where p is aligned for it. Streaming leaves the line out
/// of the cache and saves reading it first: right for outputs that nobody reads again soon.
template <bool STREAM, class T, class V>
HONE_INLINE void put(T* p, V v, All) {
  if constexpr (STREAM) {
    if ((reinterpret_cast<uintptr_t>(p) & (sizeof(T) * width<V> - 1)) == 0) [[likely]]
      return stream(p, v);
  }
  store(p, v);
}
template <bool STREAM, class T, class V>
HONE_INLINE void put(T* p, V v, int64_t n) { store_n(p, v, n); }

/// Stores the first n lanes of a and b in turns, a0 b0 a1 b1 …
template <bool STREAM, class T, class V>
HONE_INLINE void put_turns(T* p, V a, V b, All) {
  put<STREAM>(p, first_turns(a, b), All{});
  put<STREAM>(p + width<V>, last_turns(a, b), All{});
}
template <bool STREAM, class T, class V>
HONE_INLINE void put_turns(T* p, V a, V b, int64_t n) {
  store_n(p, first_turns(a, b), 2 * n < width<V> ? 2 * n : width<V>);
  if (2 * n > width<V>) store_n(p + width<V>, last_turns(a, b), 2 * n - width<V>);
}

/// body(j, n) for j = 0, width, 2 width, … below count.
template <class V, int UNROLL, class Body>
HONE_INLINE void for_each(int64_t count, Body body) {
  constexpr int64_t kWidth = width<V>;
  int64_t j = 0;
  for (; j + UNROLL * kWidth <= count; j += UNROLL * kWidth) {
    HONE_UNROLL(8)
    for (int u = 0; u < UNROLL; ++u) body(j + u * kWidth, All{});
  }
  for (; j + kWidth <= count; j += kWidth) body(j, All{});
  if (j < count) body(j, count - j);
}

/// Elements from p to where a whole vector of them is aligned: fewer than a vector.
template <class V, class T>
HONE_INLINE int64_t before_boundary(const T* p) {
  return static_cast<int64_t>(-(reinterpret_cast<uintptr_t>(p) / sizeof(T)) % width<V>);
}

/// The same with the first `head` elements, less than a vector, by themselves.
template <class V, int UNROLL, class Body>
HONE_INLINE void for_each_behind(int64_t head, int64_t count, Body body) {
  if (head <= 0) return for_each<V, UNROLL>(count, body);
  body(int64_t{0}, head < count ? head : count);
  if (head < count) for_each<V, UNROLL>(count - head, [&](int64_t j, auto n) HONE_BODY { body(head + j, n); });
}

// Rows in step: a row's work in stages, each a closure that holds what the earlier ones found and returns the next. A
// short row waits at the end of each stage, for sums across lanes and what is computed of them; rows in step wait
// together.

/// The stages begun, one a row, and all that follow them.
template <int Stages, class... S>
HONE_INLINE void in_step(S... begun) {
  if constexpr (Stages == 1) (begun(), ...);
  else in_step<Stages - 1>(begun()...);
}

template <int Stages, int Left, class First, class... S>
HONE_INLINE void begin_rows(int64_t row, const First& first, S... begun) {
  if constexpr (Left == 0) in_step<Stages>(begun...);
  else begin_rows<Stages, Left - 1>(row, first, begun..., first(row + static_cast<int64_t>(sizeof...(S)), static_cast<int64_t>(sizeof...(S))));
}

/// first(row, slot) for each row from `row` to `end`, and the Stages stages after it; Together rows in step where they
/// are `brief`, slot then telling them apart.
template <int Together, int Stages, class First>
HONE_INLINE void rows_in_step(int64_t row, int64_t end, bool brief, First first) {
  if constexpr (Together > 1)
    if (brief)
      for (; row + Together <= end; row += Together) begin_rows<Stages, Together>(row, first);
  for (; row < end; ++row) begin_rows<Stages, 1>(row, first);
}

/// What a body returns when a loop feeds several reductions.
template <class... V>
struct Pack;
template <class V>
struct Pack<V> { V head; };
template <class V, class... Rest>
struct Pack<V, Rest...> { V head; Pack<Rest...> tail; };
template <class V>
HONE_INLINE Pack<V> pack(V v) { return {v}; }
template <class V, class... Rest>
HONE_INLINE Pack<V, Rest...> pack(V v, Rest... rest) { return {v, pack(rest...)}; }

namespace detail {
template <class V, int UNROLL, class... Reducers>
struct States {
  HONE_INLINE void flush() {}
};
template <class V, int UNROLL, class First, class... Rest>
struct States<V, UNROLL, First, Rest...> {
  typename First::template State<V, UNROLL> state;
  States<V, UNROLL, Rest...> rest;

  template <class... P>
  HONE_INLINE void add(int u, int64_t j, const Pack<P...>& p, All) {
    state.add(u, p.head, j);
    if constexpr (sizeof...(Rest) > 0) rest.add(u, j, p.tail, All{});
  }
  template <class... P>
  HONE_INLINE void add(int u, int64_t j, const Pack<P...>& p, int64_t n) {
    const auto present = iota<Mask<V>>() < static_cast<Lane<Mask<V>>>(n);
    state.add(u, select(present, p.head, state.neutral()), j);
    if constexpr (sizeof...(Rest) > 0) rest.add(u, j, p.tail, n);
  }
  HONE_INLINE void flush() {
    state.flush();
    rest.flush();
  }
  template <int I>
  HONE_INLINE auto get() const {
    if constexpr (I == 0) return state.get();
    else return rest.template get<I - 1>();
  }
};
template <class T>
HONE_INLINE Pack<T> as_pack(T v) { return {v}; }
template <class... T>
HONE_INLINE Pack<T...> as_pack(Pack<T...> p) { return p; }
}  // namespace detail

/// Reductions fed by one loop, or by one after another: run() may be called for each piece of a row
/// that is not contiguous. UNROLL independent accumulators hide the latency of the operation.
template <class V, int UNROLL, class... Reducers>
class Reduce {
 public:
  template <class Body>
  HONE_INLINE void run(int64_t count, Body body) {
    constexpr int64_t kWidth = width<V>;
    // 32 additions a lane: rounding stays below two units of the segment's sum.
    constexpr int64_t kSegment = 32 * UNROLL * kWidth;
    for (int64_t start = 0; start < count; start += kSegment) {
      const int64_t end = start + kSegment < count ? start + kSegment : count;
      int64_t j = start;
      for (; j + UNROLL * kWidth <= end; j += UNROLL * kWidth) {
        HONE_UNROLL(8)
        for (int u = 0; u < UNROLL; ++u) states_.add(u, j + u * kWidth, detail::as_pack(body(j + u * kWidth, All{})), All{});
      }
      for (; j + kWidth <= end; j += kWidth) states_.add(0, j, detail::as_pack(body(j, All{})), All{});
      if (j < end) states_.add(0, j, detail::as_pack(body(j, end - j)), end - j);
      states_.flush();
    }
  }
  /// The result of reducer number I: double for sums of float, else the lane's type.
  template <int I>
  HONE_INLINE auto get() const { return states_.template get<I>(); }

 private:
  detail::States<V, UNROLL, Reducers...> states_;
};

/// Reducer R over n partial results, one after another: the second half of a reduction that was split
/// between blocks.
template <class R, class T>
HONE_INLINE T combine(const T* partial, int64_t n) {
  T all = partial[0];
  for (int64_t i = 1; i < n; ++i) {
    if constexpr (Same<R, Sum>) all += partial[i];
    else if constexpr (Same<R, Prod>) all *= partial[i];
    else if constexpr (Same<R, Max>) all = max(all, partial[i]);
    else all = min(all, partial[i]);
  }
  return all;
}

}  // namespace hone
