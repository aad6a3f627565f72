// Sums by index with an owner for each element: what the threads of a block need to find what is theirs, in order.
#pragma once
#include "hone/gpu/scan.h"

namespace hone::gpu {

/// Shared memory: of a segment of indices those that are the block's, in their order, and how many each wave has.
template <int Threads>
struct Listed {
  int rows[Threads];
  int places[Threads];
  int of_wave[Threads / kWave];
};

/// All places p below `count` whose index(p) lies in the `rows` rows from `row0` on, in ascending order: body(row, p), by every thread
/// of the block.
template <int Threads, class Index, class Body>
HONE_DEVICE void listed_in_order(Listed<Threads>& listed, int64_t row0, int rows, int64_t count, Index index, Body body) {
  constexpr int kWaves = Threads / kWave;
  const int thread = static_cast<int>(threadIdx.x), wave = thread / kWave;
  for (int64_t base = 0; base < count; base += Threads) {
    const int64_t p = base + thread, row = p < count ? index(p) - row0 : -1;
    const int mine = row >= 0 && row < rows ? 1 : 0;
    int so_far = mine;
    HONE_UNROLL
    for (int lanes = 1; lanes < kWave; lanes *= 2) {
      const int earlier = shuffle_by<false>(so_far, lanes);
      if (lane() >= lanes) so_far += earlier;
    }
    __syncthreads();   // the last segment's list has been read
    if (lane() == kWave - 1) listed.of_wave[wave] = so_far;
    __syncthreads();
    int before = 0, all = 0;
    HONE_UNROLL
    for (int w = 0; w < kWaves; ++w) {
      if (w == wave) before = all;
      all += listed.of_wave[w];
    }
    if (mine) listed.rows[before + so_far - 1] = static_cast<int>(row), listed.places[before + so_far - 1] = thread;
    __syncthreads();
    for (int k = 0; k < all; ++k) body(listed.rows[k], base + listed.places[k]);
  }
}

}  // namespace hone::gpu
