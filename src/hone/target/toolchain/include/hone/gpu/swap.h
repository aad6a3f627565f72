// Tiles of tensors whose lines run across the result's: read along their own lines, handed out along the result's. Either
// way neighbouring threads are neighbours in memory, and shared memory turns the tile in between.
#pragma once
#include "hone/gpu/tile.h"

namespace hone::gpu {

/// The places of a tile of Tile x Tile, shared out between Threads threads: do(line, place), neighbouring threads at
/// neighbouring places.
template <int Tile, int Threads, class Do>
HONE_DEVICE void each_in_tile(int thread, Do what) {
  static_assert(Tile * Tile % Threads == 0);
  HONE_UNROLL
  for (int u = 0; u < Tile * Tile / Threads; ++u) {
    const int i = u * Threads + thread;
    what(u, i / Tile, i % Tile);
  }
}

/// In shared memory. Line by line as the tensor has them; a line's pad sends places above each other to different banks.
template <class T, int Tile, int Threads>
struct SwappedTile {
  static constexpr int kPad = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  T at[Tile][Tile + kPad];

  /// Lines [line, line + Tile) and places [place, place + Tile) of a tensor of lines x places whose lines are `stride` apart;
  /// what lies outside is left as it is. All loads are on their way before the first is stored. A barrier has to follow.
  HONE_DEVICE void load(const T* tensor, int64_t stride, int64_t line, int64_t lines, int64_t place, int64_t places, int thread) {
    T held[Tile * Tile / Threads];
    each_in_tile<Tile, Threads>(thread, [&](int u, int l, int p) {
      if (line + l < lines && place + p < places) held[u] = tensor[(line + l) * stride + place + p];
    });
    each_in_tile<Tile, Threads>(thread, [&](int u, int l, int p) {
      if (line + l < lines && place + p < places) at[l][p] = held[u];
    });
  }
};

}  // namespace hone::gpu
