// Running sums and their kin along a row: a group of threads takes the row tile by tile, in order or from its end, and
// carries what came before. Each element is read once and written once.
#pragma once
#include "hone/gpu/math.h"
#include "hone/gpu/reduce.h"

namespace hone::gpu {

/// From the lane `lanes` below or above; a lane without one gets its own. Every lane of the wave must come.
template <bool Down, class T>
HONE_DEVICE T shuffle_by(T v, int lanes, int line = __builtin_LINE()) {
#if defined(HONE_SIMT_WAVE)
  return Down ? __shfl_down_sync(hone::simt::kAllLanes, v, lanes, kWave, line) : __shfl_up_sync(hone::simt::kAllLanes, v, lanes, kWave, line);
#elif defined(__HIP__)
  return (void)line, Down ? __shfl_down(v, lanes) : __shfl_up(v, lanes);
#else
  return (void)line, Down ? __shfl_down_sync(0xffffffffu, v, lanes) : __shfl_up_sync(0xffffffffu, v, lanes);
#endif
}

/// One step of a linear recurrence, or several: h becomes factor * h + value. The factor is a double, and finite where the
/// steps' are: a product of neighbours may leave T's range though no result does, and h may be 0 there.
template <class T>
struct Linear {
  double factor = 1;
  T value = 0;
  HONE_DEVICE void take(T a, T b) { merge({static_cast<double>(a), b}); }
  HONE_DEVICE void merge(const Linear& later) {
    value = static_cast<T>(later.factor * value) + later.value;
    const double both = factor * later.factor;
    const bool left = !(abs(both) <= kMost) && abs(factor) <= kMost && abs(later.factor) <= kMost;
    factor = left ? (both < 0 ? -kMost : kMost) : both;
  }
  HONE_DEVICE Linear moved(int lanes) const { return {shuffle_xor(factor, lanes), shuffle_xor(value, lanes)}; }
  static constexpr double kMost = 1e300;
};

/// log(exp(x0) + exp(x1) + …) without overflow or underflow on the way. Kept in double, as it may be far from 0; what is added to
/// the larger of two lies between 0 and log 2, and is taken in T.
template <class T>
struct LogSumExp {
  double value = kLowest<double>;
  HONE_DEVICE void take(double x) {
    const double larger = value > x || value != value ? value : x;
    if (abs(larger) < kHighest<double>)
      value = larger + log1p(exp(static_cast<T>(-abs(value - x))));
    else
      value = x != x ? x : larger;
  }
  HONE_DEVICE void merge(const LogSumExp& other) { take(other.value); }
  HONE_DEVICE LogSumExp moved(int lanes) const { return {shuffle_xor(value, lanes)}; }
};

template <bool Down, class A>
HONE_DEVICE A shuffled_by(const A& a, int lanes, int line = __builtin_LINE()) { return {shuffle_by<Down>(a.value, lanes, line)}; }
template <bool Down, class T>
HONE_DEVICE Linear<T> shuffled_by(const Linear<T>& a, int lanes, int line = __builtin_LINE()) {
  return {shuffle_by<Down>(a.factor, lanes, line), shuffle_by<Down>(a.value, lanes, line)};
}

/// Shared memory for the totals of each wave's words, of Slot bytes at most, in two turns.
template <int Threads, int Rows, int Unroll, int Slot = 8>
struct ScanScratch {
  static constexpr int kTotals = Threads / kWave * Unroll, kSlot = Slot;
  alignas(16) unsigned char bytes[2 * Rows * kTotals * Slot];
};

/// A scan by A (Sum<float>, Max<int32_t>, Linear<float>, …) over tiles of Packs, for Threads threads a row, whole waves of them.
template <class A, int Threads, int Rows, bool Reverse, bool Exclusive>
struct Scan {
  static constexpr int kWaves = Threads / kWave;
  A carry{};

  /// The next tile, in place. Elements beyond the row are neutral. Every thread of the block comes; `turn` is one for
  /// all scans that share the scratch.
  template <class T, int Vec, int Unroll, class Scratch>
  HONE_DEVICE void next(Packs<T, Vec, Unroll>& v, Scratch& scratch, int& turn) {
    A start[Unroll];
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      HONE_UNROLL
      for (int i = 0; i < Vec; ++i) {
        T& x = v[u][Reverse ? Vec - 1 - i : i];
        const T given = x;
        if (Exclusive) x = start[u].value;
        start[u].take(given);
        if (!Exclusive) x = start[u].value;
      }
    }
    before(start, scratch, turn);
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) {
        A all = start[u];
        all.take(v[u][e]);
        v[u][e] = all.value;
      }
    }
  }

  /// The same of the steps of a linear recurrence, v being the values and then the results.
  template <class T, int Vec, int Unroll, class Scratch>
  HONE_DEVICE void next(const Packs<T, Vec, Unroll>& factors, Packs<T, Vec, Unroll>& v, Scratch& scratch, int& turn) {
    A start[Unroll];
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      HONE_UNROLL
      for (int i = 0; i < Vec; ++i) {
        const int e = Reverse ? Vec - 1 - i : i;
        start[u].take(factors[u][e], v[u][e]);
      }
    }
    before(start, scratch, turn);
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      T h = start[u].value;
      HONE_UNROLL
      for (int i = 0; i < Vec; ++i) {
        const int e = Reverse ? Vec - 1 - i : i;
        v[u][e] = h = factors[u][e] * h + v[u][e];
      }
    }
  }

 private:
  /// Of each word, by what it comes to itself: what all before it comes to.
  template <int Unroll, class Scratch>
  HONE_DEVICE void before(A (&words)[Unroll], Scratch& scratch, int& turn) {
    static_assert(sizeof(A) <= Scratch::kSlot, "totals of a slot each");
    const int wave = static_cast<int>(threadIdx.x) / kWave, rank = Reverse ? kWaves - 1 - wave : wave;
    const int place = Reverse ? kWave - 1 - lane() : lane();
    A* const totals = reinterpret_cast<A*>(scratch.bytes + (turn * Rows + (Rows == 1 ? 0 : static_cast<int>(threadIdx.y))) * (kWaves * Unroll * Scratch::kSlot));
    turn ^= 1;
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      A sum = words[u];
      HONE_UNROLL
      for (int lanes = 1; lanes < kWave; lanes *= 2) {
        A earlier = shuffled_by<Reverse>(sum, lanes);
        earlier.merge(sum);
        if (place >= lanes) sum = earlier;
      }
      const A last = shuffled_by<Reverse>(sum, 1);
      words[u] = place == 0 ? A{} : last;
      if (place == kWave - 1) totals[(Reverse ? Unroll - 1 - u : u) * kWaves + rank] = sum;
    }
    __syncthreads();
    HONE_UNROLL
    for (int k = 0; k < Unroll; ++k) {
      const int u = Reverse ? Unroll - 1 - k : k;
      A start{};
      HONE_UNROLL
      for (int w = 0; w < kWaves; ++w) {
        if (w == rank) start = carry;
        carry.merge(totals[k * kWaves + w]);
      }
      start.merge(words[u]);
      words[u] = start;
    }
  }
};

/// All tiles of the elements from `begin` up to `end` in the order of a scan: body(tile).
template <int Threads, int Vec, int Unroll, bool Reverse, class Body>
HONE_DEVICE void ordered_tiles(bool aligned, bool some, int64_t begin, int64_t end, int thread, Body body) {
  constexpr int kSize = Threads * Vec * Unroll;
  const int64_t count = (end - begin + kSize - 1) / kSize;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t start = begin + (Reverse ? count - 1 - k : k) * kSize, left = end - start;
    if (aligned && some && left >= kSize)
      body(Tile<Threads, Vec, Unroll, Fit::kWhole>{start, kSize, thread});
    else
      body(Tile<Threads, Vec, Unroll, Fit::kLoose>{start, some ? static_cast<int>(left < kSize ? left : kSize) : 0, thread});
  }
}

/// The same of all `length` elements.
template <int Threads, int Vec, int Unroll, bool Reverse, class Body>
HONE_DEVICE void ordered_tiles(bool aligned, bool some, int64_t length, int thread, Body body) {
  ordered_tiles<Threads, Vec, Unroll, Reverse>(aligned, some, 0, length, thread, body);
}

/// What get(0), get(1), … come to in that order, `count` of them shared out between the lanes, in each of them.
template <class A, class Get>
HONE_DEVICE A all_of(int64_t count, Get get) {
  const int64_t each = (count + kWave - 1) / kWave, begin = lane() * each;
  A all{};
  for (int64_t i = begin; i < begin + each && i < count; ++i) all.merge(get(i));
  HONE_UNROLL
  for (int lanes = 1; lanes < kWave; lanes *= 2) {
    const A other = all.moved(lanes);
    A first = (lane() & lanes) != 0 ? other : all;
    first.merge((lane() & lanes) != 0 ? all : other);
    all = first;
  }
  return all;
}

}  // namespace hone::gpu
