// Columns: a block of X by Y threads takes X * VEC neighbouring columns through many rows, so that reading goes along
// memory while results stay with the thread. Each thread has UNROLL rows in flight.
#pragma once
#include "hone/gpu/reduce.h"

namespace hone::gpu {

/// UNROLL rows, Y apart, of a block's columns.
template <int X, int Y, int VEC, int UNROLL, Fit FIT>
struct ColumnRows {
  int64_t column, first, end;  ///< the block's first column; this thread's first row, and where the rows end
  int left;                    ///< columns inside

  HONE_DEVICE static int at(int e) {
    return FIT == Fit::kSingles ? e * X + static_cast<int>(threadIdx.x) : static_cast<int>(threadIdx.x) * VEC + e;
  }
  HONE_DEVICE bool has(int e) const { return FIT == Fit::kWhole || at(FIT == Fit::kPacks ? 0 : e) < left; }
  HONE_DEVICE int64_t row(int u) const { return first + u * Y; }

  /// `offset(r)`: where row r begins behind `base`.
  template <class T, class Offset>
  HONE_DEVICE Packs<T, VEC, UNROLL> load(const T* base, Offset offset) const {
    Packs<T, VEC, UNROLL> to;
    HONE_UNROLL
    for (int u = 0; u < UNROLL; ++u) {
      if (row(u) >= end) continue;
      const T* const from = base + offset(row(u)) + column;
      if constexpr (FIT != Fit::kSingles) {
        if (has(0)) to[u] = *reinterpret_cast<const Pack<T, VEC>*>(from + at(0));
      } else {
        HONE_UNROLL
        for (int e = 0; e < VEC; ++e)
          if (has(e)) to[u][e] = from[at(e)];
      }
    }
    return to;
  }
  template <class T, class Offset>
  HONE_DEVICE void store(T* base, Offset offset, const Packs<T, VEC, UNROLL>& from) const {
    HONE_UNROLL
    for (int u = 0; u < UNROLL; ++u) {
      if (row(u) >= end) continue;
      T* const to = base + offset(row(u)) + column;
      if constexpr (FIT != Fit::kSingles) {
        if (has(0)) *reinterpret_cast<Pack<T, VEC>*>(to + at(0)) = from[u];
      } else {
        HONE_UNROLL
        for (int e = 0; e < VEC; ++e)
          if (has(e)) to[at(e)] = from[u][e];
      }
    }
  }
  template <class T>
  HONE_DEVICE Packs<T, VEC, UNROLL> room() const {
    return {};
  }
  /// body(u, e, r, j): row r, column j.
  template <class Body>
  HONE_DEVICE void each(Body body) const {
    HONE_UNROLL
    for (int u = 0; u < UNROLL; ++u) {
      if (row(u) >= end) continue;
      HONE_UNROLL
      for (int e = 0; e < VEC; ++e)
        if (has(e)) body(u, e, row(u), column + at(e));
    }
  }
};

/// The columns that a block has.
template <int X, int Y, int VEC, int UNROLL, Fit FIT>
struct Columns {
  int64_t column;
  int left;
  /// All rows from `begin` to `end`: body(rows).
  template <class Body>
  HONE_DEVICE void rows(int64_t begin, int64_t end, Body body) const {
    for (int64_t first = begin + threadIdx.y; first < end; first += Y * UNROLL)
      body(ColumnRows<X, Y, VEC, UNROLL, FIT>{column, first, end, left});
  }
  /// body(e, j) for each column of this thread.
  template <class Body>
  HONE_DEVICE void each(Body body) const {
    using Rows = ColumnRows<X, Y, VEC, 1, FIT>;
    const Rows one{column, 0, 1, left};
    HONE_UNROLL
    for (int e = 0; e < VEC; ++e)
      if (one.has(e)) body(e, column + Rows::at(e));
  }
};

/// Block `tile` of `columns` columns: body(Columns). `aligned`: every row's words begin on their boundaries.
template <int X, int Y, int VEC, int UNROLL, class Body>
HONE_DEVICE void columns_at(bool aligned, int64_t columns, int64_t tile, Body body) {
  const int64_t column = tile * (X * VEC), left = columns - column;
  if (aligned && left >= X * VEC)
    body(Columns<X, Y, VEC, UNROLL, Fit::kWhole>{column, X * VEC});
  else
    body(Columns<X, Y, VEC, UNROLL, Fit::kSingles>{column, left < X * VEC ? static_cast<int>(left) : X * VEC});
}

}  // namespace hone::gpu
