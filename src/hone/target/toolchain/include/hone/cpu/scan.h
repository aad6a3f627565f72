// Running sums, products and extremes along a row, a vector at a time.
//
//   hone::Scan<f32v, hone::Sum> total;
//   hone::for_each<f32v, 2>(D, [&](int64_t j, auto n) HONE_BODY {
//     hone::put<STREAM>(y + j, total.next(hone::load_n<f32v>(x + j, n), n), n);
//   });
//
// Within a vector the scan takes log2(width) shifts; between vectors one value is carried, in double for
// float lanes, so that the error does not grow with the length of the row. The chain from vector to vector
// is one addition; the shifts of several vectors overlap.
#pragma once
#include "hone/cpu/loops.h"
#include "hone/cpu/math.h"

namespace hone {

/// What a scan joins by log(exp(a) + exp(b)), without overflow or underflow on the way.
struct LogSumExp {
  template <class V, int UNROLL>
  struct State {
    static HONE_INLINE V neutral() { return splat<V>(detail::lowest<Lane<V>>()); }
  };
};

namespace detail {

template <unsigned BYTES>
struct IndexOf { using Type = int; };
template <>
struct IndexOf<8> { using Type = long long; };

/// Lane i takes lane i - S (towards higher lanes), or i + S (BACK); lanes without a source take `fill`.
template <int S, bool BACK, class V>
HONE_INLINE V shift(V v, V fill) {
  constexpr int kWidth = width<V>;
#if defined(__clang__)
  V out = fill;
  HONE_UNROLL(16)
  for (int i = 0; i < kWidth; ++i) {
    const int from = BACK ? i + S : i - S;
    if (from >= 0 && from < kWidth) out[i] = v[from];
  }
  return out;
#else
  using Index = Of<typename IndexOf<sizeof(Lane<V>)>::Type, sizeof(V)>;
  Index from{};
  HONE_UNROLL(16)
  for (int i = 0; i < kWidth; ++i) {
    const int at = BACK ? i + S : i - S;
    from[i] = at >= 0 && at < kWidth ? at : kWidth + i;
  }
  return __builtin_shuffle(v, fill, from);
#endif
}

template <class OP>
struct Joined;
template <>
struct Joined<Sum> {
  template <class T>
  static HONE_INLINE T join(T a, T b) { return added(a, b); }
};
template <>
struct Joined<Prod> {
  template <class T>
  static HONE_INLINE T join(T a, T b) { return multiplied(a, b); }
};
template <>
struct Joined<Max> {
  template <class T>
  static HONE_INLINE T join(T a, T b) { return max(a, b); }
};
template <>
struct Joined<Min> {
  template <class T>
  static HONE_INLINE T join(T a, T b) { return min(a, b); }
};

template <>
struct Joined<LogSumExp> {
  /// By how much log(exp(a) + exp(b)) lies above the larger of them, for how far they are apart: 0 to log 2.
  template <class T>
  static HONE_INLINE T above(T apart) { return log1p(exp(-abs(apart))); }
  /// `above` is of no use where the larger is NaN or infinite.
  template <class T>
  static HONE_INLINE T join(T a, T b) {
    const T larger = max(a, b);
    return select(abs(larger) < splat<T>(highest<Lane<T>>()), larger + above(a - b), larger);
  }
};

template <class L, class OP>
struct CarryOf { using Type = typename Summing<L>::Type; };
template <class L>
struct CarryOf<L, Max> { using Type = L; };
template <class L>
struct CarryOf<L, Min> { using Type = L; };

}  // namespace detail

/// OP: Sum, Prod, Max, Min or LogSumExp. BACK: from the row's end to its beginning, with for_each_back. EXCLUSIVE: each
/// element gets the result of those before it.
template <class V, class OP, bool BACK = false, bool EXCLUSIVE = false>
class Scan {
  using L = Lane<V>;
  using Carry = typename detail::CarryOf<L, OP>::Type;
  using Join = detail::Joined<OP>;

 public:
  HONE_INLINE V next(V v, All) { return step(v); }
  /// Of the last vector of a row, which is the first one going back: n elements of it are there.
  HONE_INLINE V next(V v, int64_t n) {
    if constexpr (BACK) v = select(iota<Mask<V>>() < static_cast<Lane<Mask<V>>>(n), v, neutral());
    return step(v);
  }

 private:
  static HONE_INLINE V neutral() { return OP::template State<V, 1>::neutral(); }
  template <int S>
  static HONE_INLINE V run(V v) {
    if constexpr (S < width<V>) return run<2 * S>(Join::join(detail::shift<S, BACK>(v, neutral()), v));
    else return v;
  }
  HONE_INLINE V step(V v) {
    const V inside = run<1>(v);
    const V carried = splat<V>(static_cast<L>(carry_));
    const V shown = EXCLUSIVE ? detail::shift<1, BACK>(inside, neutral()) : inside;
    const L whole = inside[BACK ? 0 : width<V> - 1];
    carry_ = Join::join(carry_, static_cast<Carry>(whole));
    return Join::join(carried, shown);
  }
  Carry carry_ = static_cast<Carry>(neutral()[0]);
};

/// The linear recurrence h = a * h + b, h beginning as b. Within a vector log2(width) steps, over pairs; where products of
/// factors may come near the ends of the lanes' range, as no result need, one element after the other: those from the first on are looked at, of which
/// all others are quotients.
template <class V, bool BACK = false>
class LinearScan {
  using L = Lane<V>;

 public:
  HONE_INLINE V next(V a, V b, All) { return step(a, b, BACK ? width<V> - 1 : 0); }
  /// Of the last vector of a row, which is the first one going back: n elements of it are there.
  HONE_INLINE V next(V a, V b, int64_t n) {
    if constexpr (BACK) {
      const Mask<V> there = iota<Mask<V>>() < static_cast<Lane<Mask<V>>>(n);
      a = select(there, a, splat<V>(1)), b = select(there, b, V{});
    }
    return step(a, b, BACK ? n - 1 : 0);
  }

 private:
  template <int S>
  static HONE_INLINE void run(V& a, V& h) {
    if constexpr (S < width<V>) {
      h = a * detail::shift<S, BACK>(h, V{}) + h;
      a = a * detail::shift<S, BACK>(a, splat<V>(1));
      run<2 * S>(a, h);
    }
  }
  HONE_INLINE V step(V a, V b, int64_t first) {
    // Before the first element, whose factor may be anything, there is 0.
    if (begins_) a = select(iota<Mask<V>>() == static_cast<Lane<Mask<V>>>(first), splat<V>(1), a);
    begins_ = false;
    V product = a, h = b;
    run<1>(product, h);
    const V size = select(product < V{}, -product, product), least = splat<V>(L(0x1p-60)), most = splat<V>(L(0x1p60));
    if (all((size >= least) & (size <= most))) {
      h = product * splat<V>(static_cast<L>(carry_)) + h;
      carry_ = h[BACK ? 0 : width<V> - 1];
      return h;
    }
    for (int i = 0; i < width<V>; ++i) {
      const int at = BACK ? width<V> - 1 - i : i;
      carry_ = h[at] = a[at] * carry_ + b[at];
    }
    return h;
  }
  L carry_ = 0;
  bool begins_ = true;
};

/// body(j, n) as for_each calls it, from the last vector to the first.
template <class V, int UNROLL, class Body>
HONE_INLINE void for_each_back(int64_t count, Body body) {
  constexpr int64_t kWidth = width<V>;
  int64_t j = count / kWidth * kWidth;
  if (j < count) body(j, count - j);
  for (; j >= UNROLL * kWidth; j -= UNROLL * kWidth) {
    HONE_UNROLL(8)
    for (int u = 1; u <= UNROLL; ++u) body(j - u * kWidth, All{});
  }
  for (; j > 0; j -= kWidth) body(j - kWidth, All{});
}

/// Scans down the columns of a tile, up to WIDTH of them, a multiple of the vector's lanes: each row is added to what lies
/// there, in double for float lanes. Rows come in the scan's order. Lives on the stack.
template <class V, class OP, bool EXCLUSIVE, int WIDTH>
class ScanColumns {
  using L = Lane<V>;
  using Carry = typename detail::CarryOf<L, OP>::Type;
  using Join = detail::Joined<OP>;
  static_assert(WIDTH % width<V> == 0);

 public:
  HONE_INLINE ScanColumns() {
    for (Carry& carry : carry_) carry = static_cast<Carry>(OP::template State<V, 1>::neutral()[0]);
  }
  /// Of the row's elements from column i on: v, of which n are there.
  template <class N>
  HONE_INLINE V next(int64_t i, V v, N) {
    alignas(64) L values[width<V>], above[width<V>];
    store(values, v);
    if constexpr (Same<OP, LogSumExp>) {
      HONE_UNROLL(16)
      for (int lane = 0; lane < width<V>; ++lane) above[lane] = static_cast<L>(carry_[i + lane] - values[lane]);
      store(above, Join::above(load<V>(above)));
    }
    HONE_UNROLL(16)
    for (int lane = 0; lane < width<V>; ++lane) {
      const Carry before = carry_[i + lane], now = static_cast<Carry>(values[lane]);
      Carry after;
      if constexpr (Same<OP, LogSumExp>) {
        const Carry larger = max(before, now);
        after = abs(larger) < detail::highest<Carry>() ? larger + above[lane] : larger;
      } else {
        after = Join::join(before, now);
      }
      carry_[i + lane] = after;
      values[lane] = static_cast<L>(EXCLUSIVE ? before : after);
    }
    return load<V>(values);
  }

 private:
  alignas(64) Carry carry_[WIDTH];
};

/// The same for the linear recurrence h = a * h + b, h beginning as b.
template <class V, int WIDTH>
class LinearScanColumns {
  static_assert(WIDTH % width<V> == 0);

 public:
  template <class N>
  HONE_INLINE V next(int64_t i, V a, V b, N) {
    bool& begun = begun_[i / width<V>];
    const V h = begun ? a * load<V>(carry_ + i) + b : b;  // before the first element, whose factor may be anything, there is 0
    begun = true;
    store(carry_ + i, h);
    return h;
  }

 private:
  alignas(64) Lane<V> carry_[WIDTH];
  bool begun_[WIDTH / width<V>]{};
};

}  // namespace hone
