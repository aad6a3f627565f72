// Running sums and their kin along a row: a team of threads takes the row tile by tile, in order or from its end, and
// carries what came before. Each element is read once and written once.
#pragma once
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

/// Shared memory for the totals of each wave's words, in two turns.
template <int Threads, int Rows, int Unroll>
struct ScanScratch {
  static constexpr int kTotals = Threads / kWave * Unroll;
  alignas(16) unsigned char bytes[2 * Rows * kTotals * 8];
};

/// A scan by A (Sum<float>, Max<int32_t>, …) over tiles of Packs, for Threads threads a row, whole waves of them.
template <class A, int Threads, int Rows, bool Reverse, bool Exclusive>
struct Scan {
  static constexpr int kWaves = Threads / kWave;
  A carry{};

  /// The next tile, in place. Elements beyond the row are neutral. Every thread of the block comes; `turn` is one for
  /// all scans that share the scratch.
  template <class T, int Vec, int Unroll>
  HONE_DEVICE void next(Packs<T, Vec, Unroll>& v, ScanScratch<Threads, Rows, Unroll>& scratch, int& turn) {
    const int wave = static_cast<int>(threadIdx.x) / kWave, rank = Reverse ? kWaves - 1 - wave : wave;
    const int place = Reverse ? kWave - 1 - lane() : lane();
    T* const totals = reinterpret_cast<T*>(scratch.bytes + (turn * Rows + (Rows == 1 ? 0 : static_cast<int>(threadIdx.y))) * (kWaves * Unroll * 8));
    turn ^= 1;
    A before[Unroll];
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      A sum{};
      HONE_UNROLL
      for (int i = 0; i < Vec; ++i) {
        T& x = v[u][Reverse ? Vec - 1 - i : i];
        const T given = x;
        if (Exclusive) x = sum.value;
        sum.take(given);
        if (!Exclusive) x = sum.value;
      }
      HONE_UNROLL
      for (int lanes = 1; lanes < kWave; lanes *= 2) {
        A earlier{shuffle_by<Reverse>(sum.value, lanes)};
        earlier.merge(sum);
        if (place >= lanes) sum = earlier;
      }
      const A last{shuffle_by<Reverse>(sum.value, 1)};
      before[u] = place == 0 ? A{} : last;
      if (place == kWave - 1) totals[(Reverse ? Unroll - 1 - u : u) * kWaves + rank] = sum.value;
    }
    __syncthreads();
    HONE_UNROLL
    for (int k = 0; k < Unroll; ++k) {
      const int u = Reverse ? Unroll - 1 - k : k;
      A start{};
      HONE_UNROLL
      for (int w = 0; w < kWaves; ++w) {
        if (w == rank) start = carry;
        carry.take(totals[k * kWaves + w]);
      }
      start.merge(before[u]);
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) {
        A all = start;
        all.take(v[u][e]);
        v[u][e] = all.value;
      }
    }
  }
};

/// All tiles of `length` elements in the order of a scan: body(tile).
template <int Threads, int Vec, int Unroll, bool Reverse, class Body>
HONE_DEVICE void ordered_tiles(bool aligned, bool some, int64_t length, int thread, Body body) {
  constexpr int kSize = Threads * Vec * Unroll;
  const int64_t count = (length + kSize - 1) / kSize;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t start = (Reverse ? count - 1 - k : k) * kSize, left = length - start;
    if (aligned && some && left >= kSize)
      body(Tile<Threads, Vec, Unroll, Fit::kWhole>{start, kSize, thread});
    else
      body(Tile<Threads, Vec, Unroll, Fit::kLoose>{start, some ? static_cast<int>(left < kSize ? left : kSize) : 0, thread});
  }
}

}  // namespace hone::gpu
