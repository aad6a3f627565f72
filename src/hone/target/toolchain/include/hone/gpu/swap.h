// Tiles of tensors whose lines run across the result's: read along their own lines, handed out along the result's. Either
// way neighbouring threads move neighbouring words, and shared memory turns the tile in between.
#pragma once
#include "hone/gpu/tile.h"

namespace hone::gpu {

/// The words of a tile of Tile x Tile elements, shared out between Threads threads: do(number, line, place, step), the word's elements at
/// place, place + step, … of the line. Where words are `whole`, they are neighbours, and neighbouring threads have neighbouring words. Else
/// neighbouring threads have neighbouring elements: each store fills sectors, wherever the line begins.
template <int Tile, int Threads, int Vec, class Do>
HONE_DEVICE void each_word_in_tile(int thread, bool whole, Do what) {
  static_assert(Tile % Vec == 0 && Tile * Tile % (Threads * Vec) == 0);
  HONE_UNROLL
  for (int u = 0; u < Tile * Tile / (Threads * Vec); ++u) {
    const int i = (u * Threads + thread) * Vec, place = i % Tile;
    what(u, i / Tile, whole ? place : place / Vec, whole ? 1 : Tile / Vec);
  }
}

/// What a line that ends at `end` has at `at`, at + step, …; where it is `whole`, as a word on its boundary.
template <int Vec, class T>
HONE_DEVICE Pack<T, Vec> word_of(const T* line, int64_t at, int step, int64_t end, bool whole) {
  if (whole) return *reinterpret_cast<const Pack<T, Vec>*>(line + at);
  Pack<T, Vec> word{};
  HONE_UNROLL
  for (int e = 0; e < Vec; ++e)
    if (at + e * step < end) word[e] = line[at + e * step];
  return word;
}
template <int Vec, class T>
HONE_DEVICE void put_word(T* line, int64_t at, int step, int64_t end, bool whole, const Pack<T, Vec>& word) {
  if (whole) {
    *reinterpret_cast<Pack<T, Vec>*>(line + at) = word;
    return;
  }
  HONE_UNROLL
  for (int e = 0; e < Vec; ++e)
    if (at + e * step < end) line[at + e * step] = word[e];
}

/// In shared memory, line by line as the tensor has them. A line's pad sends what lies above each other to other banks.
template <class T, int Tile, int Threads, int Vec>
struct SwappedTile {
  static constexpr int kPad = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  T at[Tile][Tile + kPad];

  /// Lines [line, line + Tile) and places [place, place + Tile) of a tensor of lines x places whose lines are `stride` apart;
  /// zeros lie outside. All loads are on their way before the first is stored. A barrier has to follow.
  HONE_DEVICE void load(const T* tensor, int64_t stride, int64_t line, int64_t lines, int64_t place, int64_t places, bool whole, int thread) {
    Pack<T, Vec> held[Tile * Tile / (Threads * Vec)];
    each_word_in_tile<Tile, Threads, Vec>(thread, whole, [&](int u, int l, int p, int step) {
      held[u] = line + l < lines && place + p < places ? word_of<Vec>(tensor + (line + l) * stride, place + p, step, places, whole) : Pack<T, Vec>{};
    });
    each_word_in_tile<Tile, Threads, Vec>(thread, whole, [&](int u, int l, int p, int step) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) at[l][p + e * step] = held[u][e];
    });
  }
};

}  // namespace hone::gpu
