// The parts of a blocked matrix product: packed panels (hone/cpu/pack.h) and the register tile that multiplies them.
#pragma once
#include "hone/cpu/pack.h"
#include "hone/cpu/products.h"

namespace hone {

/// ROWS x COLUMNS vectors of C, kept in registers: c[i][j] += a[k][i] * b[k][j] for k = 0 … depth - 1.
/// Each step loads COLUMNS vectors of b and spreads ROWS values of a over ROWS * COLUMNS fused
/// multiply-adds; with two of those a cycle and two loads, ROWS * COLUMNS >= ROWS + COLUMNS keeps the
/// arithmetic busy, and ROWS * COLUMNS >= 2 * latency (8 to 10) hides its latency.
template <class P, int ROWS, int COLUMNS>
struct RegisterTile {
  using Sum = typename P::Sum;
  using Element = typename P::Element;
  Sum c[ROWS][COLUMNS];

  HONE_INLINE void clear() {
    HONE_UNROLL(32)
    for (int i = 0; i < ROWS; ++i) {
      HONE_UNROLL(8)
      for (int j = 0; j < COLUMNS; ++j) c[i][j] = Sum{};
    }
  }
  /// With ADD on top of what lies there.
  template <bool ADD>
  HONE_INLINE void store_to(Lane<Sum>* to, int64_t stride) const {
    HONE_UNROLL(32)
    for (int i = 0; i < ROWS; ++i) {
      HONE_UNROLL(8)
      for (int j = 0; j < COLUMNS; ++j) {
        Lane<Sum>* at = to + i * stride + j * width<Sum>;
        if constexpr (ADD) store(at, load<Sum>(at) + c[i][j]);
        else store(at, c[i][j]);
      }
    }
  }
  /// `groups`: of P::kGroup values in depth.
  HONE_INLINE void multiply(const Element* HONE_RESTRICT a, const Element* HONE_RESTRICT b, int64_t groups) {
    constexpr int kLine = width<Sum> * P::kGroup;
    [[maybe_unused]] Sum columns[COLUMNS]{};  // sums of b alone
    for (int64_t k = 0; k < groups; ++k) {
      typename P::Line line[COLUMNS];
      HONE_UNROLL(8)
      for (int j = 0; j < COLUMNS; ++j) {
        line[j] = P::line(b + j * kLine);
        prefetch(b + (8 * COLUMNS + j) * kLine);
        if constexpr (P::kShifted) columns[j] = P::add(columns[j], splat<typename P::Line>(0x01010101), line[j]);
      }
      HONE_UNROLL(32)
      for (int i = 0; i < ROWS; ++i) {
        const typename P::Line value = P::spread(a + i * P::kGroup);
        HONE_UNROLL(8)
        for (int j = 0; j < COLUMNS; ++j) c[i][j] = P::add(c[i][j], value, line[j]);
      }
      a += ROWS * P::kGroup;
      b += COLUMNS * kLine;
    }
    if constexpr (P::kShifted) {
      HONE_UNROLL(32)
      for (int i = 0; i < ROWS; ++i) {
        HONE_UNROLL(8)
        for (int j = 0; j < COLUMNS; ++j) c[i][j] = bit_cast<Sum>(bit_cast<u32v>(c[i][j]) - (bit_cast<u32v>(columns[j]) << 7));
      }
    }
  }
};

/// Where depth begins and ends for a register tile.
struct Segment {
  int64_t low, end;
};
/// From the first to the last, for every tile.
struct WholeDepth {
  HONE_INLINE Segment operator()(int64_t, int64_t, Segment all) const { return all; }
};

/// What depth from `all.low` to `all.end` adds to a block of the result, rows x columns of it in use, lines `stride`
/// apart (a multiple of COLUMNS, as far as whole register tiles reach): panels of a (ROWS each) times panels of b
/// (COLUMNS each), each panel `depth` lines long (a multiple of P::kGroup), one after the other in memory. `clip` says
/// of the tile at (row, column) how much of the segment can differ from zero. FIRST: nothing lies there yet.
template <class P, int ROWS, int COLUMNS, bool FIRST, class Clip>
HONE_INLINE void multiply_segment(Lane<typename P::Sum>* HONE_RESTRICT block, int64_t stride, const typename P::Element* a,
                                  const typename P::Element* b, int64_t depth, int64_t rows, int64_t columns, Segment all, Clip clip) {
  constexpr int kWidth = width<typename P::Sum>;
  static_assert(COLUMNS % kWidth == 0, "a register tile is made of whole vectors");
  for (int64_t column = 0; column < columns; column += COLUMNS)
    for (int64_t row = 0; row < rows; row += ROWS) {
      const Segment now = clip(row, column, all);
      if (!FIRST && now.low >= now.end) continue;
      RegisterTile<P, ROWS, COLUMNS / kWidth> tile;
      // Each segment is summed by itself: the error grows with its length, and hardly with the depth.
      tile.clear();
      tile.multiply(a + row * depth + now.low * ROWS, b + column * depth + now.low * COLUMNS, ceil_div(now.end - now.low, P::kGroup));
      tile.template store_to<!FIRST>(block + row * stride + column, stride);
    }
}

/// The block's sums over all of the depth, DEPTH after DEPTH.
template <class P, int ROWS, int COLUMNS, int DEPTH, class Clip = WholeDepth>
HONE_INLINE void multiply_block(Lane<typename P::Sum>* HONE_RESTRICT block, int64_t stride, const typename P::Element* a,
                                const typename P::Element* b, int64_t depth, int64_t rows, int64_t columns, Clip clip = {}) {
  static_assert(DEPTH % P::kGroup == 0, "a segment is made of whole groups");
  multiply_segment<P, ROWS, COLUMNS, true>(block, stride, a, b, depth, rows, columns, {0, min<int64_t>(DEPTH, depth)}, clip);
  for (int64_t k = DEPTH; k < depth; k += DEPTH)
    multiply_segment<P, ROWS, COLUMNS, false>(block, stride, a, b, depth, rows, columns, {k, min<int64_t>(k + DEPTH, depth)}, clip);
}

}  // namespace hone
