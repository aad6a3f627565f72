// What the matrix products of hone/gpu/matmul_simt.h and hone/gpu/matmul_mma.h share: factors as they lie in memory,
// and which tile of the result a block makes. A factor is lines x depth, the lines being rows of the left factor or
// columns of the right one, so that both are read by the same code.
#pragma once
#include "hone/gpu.h"
#include "hone/gpu/prim_float8.h"

namespace hone::gpu {

/// A factor: element (line, depth) is base[line_at(line) + depth_at(depth)]. V elements are read at once, along the
/// depth or along the lines, where they lie side by side, 16 bytes aligned, and all or none are inside; V = 1: no
/// such promise, neighbours along that axis are merely likely to be neighbours in memory.
template <class T_, int V_, bool AlongDepth_, class LineAt, class DepthAt>
struct Factor {
  using T = T_;
  static constexpr int V = V_;
  static constexpr bool kAlongDepth = AlongDepth_;
  const T* base;
  int64_t lines;
  LineAt line_at;
  DepthAt depth_at;
  HONE_DEVICE bool has(int64_t line) const { return line < lines; }
  /// What it is for the tile from `depth0` on, of a depth that ends at `end`: itself; of others (matmul_picked.h) it depends.
  HONE_DEVICE const Factor& of_tile(int64_t&, int64_t&) const { return *this; }
};
template <int V, bool AlongDepth, class T, class LineAt, class DepthAt>
HONE_DEVICE Factor<T, V, AlongDepth, LineAt, DepthAt> factor(const T* base, int64_t lines, LineAt line_at, DepthAt depth_at) {
  return {base, lines, line_at, depth_at};
}

/// Where vector number n of a tile of Lines x Depth is.
template <class F, int Lines, int Depth>
struct VectorAt {
  int line, depth;
  HONE_DEVICE explicit VectorAt(int n) {
    if constexpr (F::kAlongDepth) {
      line = n / (Depth / F::V);
      depth = n % (Depth / F::V) * F::V;
    } else {
      line = n % (Lines / F::V) * F::V;
      depth = n / (Lines / F::V);
    }
  }
};

/// The tile of the result that a block makes: Group tiles down before the next one across, so that blocks that run
/// at a time share what they read in the second-level cache.
struct BlockTile {
  int64_t down, across, batch;
};
template <int Group>
HONE_DEVICE BlockTile block_tile(int64_t block, int64_t down, int64_t across) {
  const int64_t batch = block / (down * across), in_batch = block - batch * (down * across);
  const int64_t band = in_batch / (Group * across), in_band = in_batch - band * (Group * across);
  const int64_t height = down - band * Group < Group ? down - band * Group : Group;
  return {band * Group + in_band % height, in_band / height, batch};
}

/// The segment [begin, end) of the depth that a product sums.
struct Segment {
  int64_t begin, end;
  /// All before `first` is zero, all from `last` on: what is left out begins on a multiple of Step.
  template <int Step>
  HONE_DEVICE void clip(int64_t first, int64_t last) {
    first = first / Step * Step;
    begin = begin < first ? first : begin;
    end = end < last ? end : last;
  }
};
/// Segment `part` of `parts`; all but the last are multiples of Step.
template <int Step>
HONE_DEVICE Segment segment_of(int64_t depth, int64_t part, int64_t parts) {
  const int64_t each = ((depth + parts - 1) / parts + Step - 1) / Step * Step;
  const int64_t begin = part * each, end = begin + each;
  return {begin, end < depth ? end : depth};
}

/// The largest number that divides both.
HONE_DEVICE constexpr int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }

/// epilogue(row, column, element) for the elements of a tile in shared memory that the result has, rows of Pitch floats;
/// neighbouring threads hand over neighbouring columns.
template <int Rows, int Columns, int Pitch, int Threads, class Epilogue>
HONE_DEVICE void hand_over(const float* tile, int64_t row0, int64_t column0, int64_t rows, int64_t columns, Epilogue epilogue) {
  constexpr int kAcross = common_divisor(Threads, Columns);
  const int thread = static_cast<int>(threadIdx.x), last = rows - row0 < Rows ? static_cast<int>(rows - row0) : Rows;
  for (int c = thread % kAcross; c < Columns && column0 + c < columns; c += kAcross) {
    HONE_UNROLL_BY(4)
    for (int r = thread / kAcross; r < last; r += Threads / kAcross) epilogue(row0 + r, column0 + c, tile[r * Pitch + c]);
  }
}

}  // namespace hone::gpu
