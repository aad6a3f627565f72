// The parts of a blocked matrix product: packed panels and the register tile that multiplies them.
//
// A panel holds R rows (of A) or columns (of B) side by side for each k: [k][R], so that the register
// tile below reads both operands in the order in which it needs them, a cache line after the other,
// whatever their layout in memory was. Panels at the edge are filled up with zeros.
#pragma once
#include "hone/cpu/integer.h"
#include "hone/cpu/memory.h"

namespace hone {

/// ROWS x COLUMNS vectors of C, kept in registers: c[i][j] += a[k][i] * b[k][j] for k = 0 … depth - 1.
/// Each step loads COLUMNS vectors of b and spreads ROWS values of a over ROWS * COLUMNS fused
/// multiply-adds; with two of those a cycle and two loads, ROWS * COLUMNS >= ROWS + COLUMNS keeps the
/// arithmetic busy, and ROWS * COLUMNS >= 2 * latency (8 to 10) hides its latency.
template <class V, int ROWS, int COLUMNS>
struct RegisterTile {
  V c[ROWS][COLUMNS];

  HONE_INLINE void clear() {
    HONE_UNROLL(32)
    for (int i = 0; i < ROWS; ++i) {
      HONE_UNROLL(8)
      for (int j = 0; j < COLUMNS; ++j) c[i][j] = V{};
    }
  }
  /// With ADD on top of what lies there.
  template <bool ADD>
  HONE_INLINE void store_to(Lane<V>* to, int64_t stride) const {
    HONE_UNROLL(32)
    for (int i = 0; i < ROWS; ++i) {
      HONE_UNROLL(8)
      for (int j = 0; j < COLUMNS; ++j) {
        Lane<V>* at = to + i * stride + j * width<V>;
        if constexpr (ADD) store(at, load<V>(at) + c[i][j]);
        else store(at, c[i][j]);
      }
    }
  }
  HONE_INLINE void multiply(const Lane<V>* HONE_RESTRICT a, const Lane<V>* HONE_RESTRICT b, int64_t depth) {
    constexpr int kWidth = width<V>;
    for (int64_t k = 0; k < depth; ++k) {
      V line[COLUMNS];
      HONE_UNROLL(8)
      for (int j = 0; j < COLUMNS; ++j) line[j] = load<V>(b + j * kWidth);
      HONE_UNROLL(32)
      for (int i = 0; i < ROWS; ++i) {
        const V value = splat<V>(a[i]);
        HONE_UNROLL(8)
        for (int j = 0; j < COLUMNS; ++j) c[i][j] += value * line[j];
      }
      prefetch(b + 8 * COLUMNS * kWidth);
      a += ROWS;
      b += COLUMNS * kWidth;
    }
  }
};

/// One panel: lines of R values, line k holding value(i, k) for i < count and zeros behind. `row(i)` points to
/// value(i, 0), the next k is `step` elements further.
template <class T, int R, class Row>
HONE_INLINE void pack_rows(T* HONE_RESTRICT to, int64_t count, int64_t depth, int64_t step, Row row) {
  constexpr int64_t kStretch = 16;  // a cache line of each row, scattered over lines that stay in the first level
  for (int64_t k = 0; k < depth; k += kStretch) {
    const int64_t end = min(k + kStretch, depth);
    for (int i = 0; i < R; ++i) {
      if (i < count) {
        const auto* from = row(i);
        for (int64_t at = k; at < end; ++at) to[at * R + i] = static_cast<T>(from[at * step]);
      } else {
        for (int64_t at = k; at < end; ++at) to[at * R + i] = 0;
      }
    }
  }
}

/// The same where the values of a line lie side by side in memory, and lines `step` elements apart.
template <class V, int R, class T>
HONE_INLINE void pack_lines(Lane<V>* HONE_RESTRICT to, const T* from, int64_t count, int64_t depth, int64_t step) {
  constexpr int kWidth = width<V>;
  constexpr int kWhole = R / kWidth * kWidth;
  if (count == R) {
    for (int64_t k = 0; k < depth; ++k, from += step, to += R) {
      HONE_UNROLL(8)
      for (int i = 0; i < kWhole; i += kWidth) store(to + i, load<V>(from + i));
      if constexpr (kWhole < R) store_n(to + kWhole, load_n<V>(from + kWhole, R - kWhole), R - kWhole);
    }
  } else {
    for (int64_t k = 0; k < depth; ++k, from += step, to += R)
      for (int i = 0; i < R; i += kWidth)
        store_n(to + i, load_n<V>(from + i, clamp<int64_t>(count - i, 0, kWidth)), min(kWidth, R - i));
  }
}

/// A block of the result, rows x columns of it in use, lines `stride` apart (a multiple of COLUMNS, as far as
/// whole register tiles reach): panels of a (ROWS each) times panels of b (COLUMNS each), each panel `depth`
/// lines long, one after the other in memory.
template <class V, int ROWS, int COLUMNS, int DEPTH>
HONE_INLINE void multiply_block(Lane<V>* HONE_RESTRICT block, int64_t stride, const Lane<V>* a, const Lane<V>* b, int64_t depth,
                                int64_t rows, int64_t columns) {
  constexpr int kWidth = width<V>;
  static_assert(COLUMNS % kWidth == 0, "a register tile is made of whole vectors");
  constexpr int kVectors = COLUMNS / kWidth;
  for (int64_t k = 0; k < depth; k += DEPTH) {
    const int64_t now = min<int64_t>(DEPTH, depth - k);
    for (int64_t column = 0; column < columns; column += COLUMNS)
      for (int64_t row = 0; row < rows; row += ROWS) {
        RegisterTile<V, ROWS, kVectors> tile;
        Lane<V>* at = block + row * stride + column;
        // Each stretch is summed by itself: the error grows with DEPTH, and hardly with the depth.
        tile.clear();
        tile.multiply(a + row * depth + k * ROWS, b + column * depth + k * COLUMNS, now);
        if (k == 0) tile.template store_to<false>(at, stride);
        else tile.template store_to<true>(at, stride);
      }
  }
}

}  // namespace hone
