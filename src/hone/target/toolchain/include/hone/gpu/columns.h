// Columns: a block of Across by Down threads takes Across * Vec neighbouring columns through many rows, so that
// reading goes along memory while results stay with the thread. Each thread has Unroll rows in flight.
#pragma once
#include "hone/gpu/reduce.h"

namespace hone::gpu {

/// Unroll rows, Down apart, of a block's columns.
template <int Across, int Down, int Vec, int Unroll, Fit Shape>
struct ColumnRows {
  int64_t column, first, end;  ///< the block's first column; this thread's first row, and where the rows end
  int left;                    ///< columns inside

  HONE_DEVICE static int at(int e) {
    return Shape == Fit::kSingles ? e * Across + static_cast<int>(threadIdx.x) : static_cast<int>(threadIdx.x) * Vec + e;
  }
  HONE_DEVICE bool has(int e) const { return Shape == Fit::kWhole || at(Shape == Fit::kPacks ? 0 : e) < left; }
  HONE_DEVICE int64_t row(int u) const { return first + u * Down; }

  /// `offset(r)`: where row r begins behind `base`.
  template <class T, class Offset>
  HONE_DEVICE Packs<T, Vec, Unroll> load(const T* base, Offset offset) const {
    Packs<T, Vec, Unroll> to;
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      if (row(u) >= end) continue;
      const T* const from = base + offset(row(u)) + column;
      if constexpr (Shape != Fit::kSingles) {
        if (has(0)) to[u] = *reinterpret_cast<const Pack<T, Vec>*>(from + at(0));
      } else {
        HONE_UNROLL
        for (int e = 0; e < Vec; ++e)
          if (has(e)) to[u][e] = from[at(e)];
      }
    }
    return to;
  }
  template <class T, class Offset>
  HONE_DEVICE void store(T* base, Offset offset, const Packs<T, Vec, Unroll>& from) const {
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      if (row(u) >= end) continue;
      T* const to = base + offset(row(u)) + column;
      if constexpr (Shape != Fit::kSingles) {
        // By words, as Tile::store_word.
        if (has(0)) reinterpret_cast<Pack<T, Vec>*>(to)[threadIdx.x] = from[u];
      } else {
        HONE_UNROLL
        for (int e = 0; e < Vec; ++e)
          if (has(e)) to[at(e)] = from[u][e];
      }
    }
  }
  /// The same into a tensor whose lines run down the columns, `step` elements apart: Down rows at a time through shared memory, so that
  /// neighbouring threads write neighbours. By the whole block; whoever used the scratch before has left it free.
  template <class T, int Slot>
  HONE_DEVICE void store_turned(ColumnScratch<Across, Down, Vec, Slot>& scratch, T* base, int64_t step, const Packs<T, Vec, Unroll>& from) const {
    static_assert(Down > 1 && sizeof(T) <= Slot, "the scratch has no room");
    T* const tile = reinterpret_cast<T*>(scratch.bytes);
    // A column's line begins one place further than its neighbour's, so that those who write it and those who read it meet few banks twice.
    const auto in_tile = [&](int line, int place) { return tile + line * Down + (place + line / Vec) % Down; };
    const int thread = static_cast<int>(threadIdx.y) * Across + static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e)
        if (has(e)) *in_tile(at(e), y) = from[u][e];
      __syncthreads();
      HONE_UNROLL
      for (int v = 0; v < Vec; ++v) {
        const int line = (v * Across * Down + thread) / Down, place = thread % Down;
        const int64_t in_line = row(u) - y + place;
        if (line < left && in_line < end) base[(column + line) * step + in_line] = *in_tile(line, place);
      }
      __syncthreads();   // the scratch is free again, as after merge_columns
    }
  }
  template <class T>
  HONE_DEVICE Packs<T, Vec, Unroll> room() const {
    return {};
  }
  template <class T>
  HONE_DEVICE Packs<T, Vec, Unroll> full(T x) const { return Packs<T, Vec, Unroll>::full(x); }
  /// body(u, e, r, j): row r, column j.
  template <class Body>
  HONE_DEVICE void each(Body body) const {
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u) {
      if (row(u) >= end) continue;
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e)
        if (has(e)) body(u, e, row(u), column + at(e));
    }
  }
};

/// The columns that a block has.
template <int Across, int Down, int Vec, int Unroll, Fit Shape>
struct Columns {
  int64_t column;
  int left;
  /// Rows 0 to `end`, no more than Down * Unroll, at once.
  HONE_DEVICE ColumnRows<Across, Down, Vec, Unroll, Shape> all(int64_t end) const { return {column, static_cast<int64_t>(threadIdx.y), end, left}; }
  /// All rows from `begin` to `end`: body(rows).
  template <class Body>
  HONE_DEVICE void rows(int64_t begin, int64_t end, Body body) const {
    for (int64_t first = begin + threadIdx.y; first < end; first += Down * Unroll)
      body(ColumnRows<Across, Down, Vec, Unroll, Shape>{column, first, end, left});
  }
  /// body(e, j) for each column of this thread.
  template <class Body>
  HONE_DEVICE void each(Body body) const {
    using Line = ColumnRows<Across, Down, Vec, 1, Shape>;
    const Line one{column, 0, 1, left};
    HONE_UNROLL
    for (int e = 0; e < Vec; ++e)
      if (one.has(e)) body(e, column + Line::at(e));
  }
};

/// Block `tile` of `columns` columns: body(Columns). `aligned`: every row's words begin on their boundaries. The whole block last, as
/// in tile_at.
template <int Across, int Down, int Vec, int Unroll, class Body>
HONE_DEVICE void columns_at(bool aligned, int64_t columns, int64_t tile, Body body) {
  const int64_t column = tile * (Across * Vec), left = columns - column;
  if (!aligned || left < Across * Vec)
    body(Columns<Across, Down, Vec, Unroll, Fit::kSingles>{column, left < Across * Vec ? static_cast<int>(left) : Across * Vec});
  else
    body(Columns<Across, Down, Vec, Unroll, Fit::kWhole>{column, Across * Vec});
}

}  // namespace hone::gpu
