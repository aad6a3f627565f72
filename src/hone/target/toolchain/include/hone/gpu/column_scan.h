// Running sums and their kin down columns: a block of Across by Down threads takes Across * Vec neighbouring columns from one end to
// the other, Down * Unroll rows at a time. A thread scans the rows it has, the rows of threads hear of each other in shared
// memory, where one thread a column adds up what they come to, and what came before is carried along. Each element is read once and written once.
#pragma once
#include "hone/gpu/columns.h"
#include "hone/gpu/scan.h"

namespace hone::gpu {

/// Shared memory for what each thread's rows come to, of Slot bytes at most, in two turns; behind the last rows what all of them come to.
template <int Across, int Down, int Vec, int Slot>
struct ColumnTotals {
  static constexpr int kSlot = Slot;
  alignas(16) unsigned char bytes[Down > 1 ? 2 * (Down + 1) * Across * Vec * Slot : 16];
};

/// A scan by A down columns, over tiles of Unroll rows a thread that follow each other.
template <class A, int Across, int Down, int Vec, bool Reverse, bool Exclusive>
struct ColumnScan {
  A carry[Vec];

  /// The next tile, in place. Elements outside are neutral. Every thread of the block comes; `turn` is one for all scans that share
  /// the scratch.
  template <class T, int Unroll, class Scratch>
  HONE_DEVICE void next(Packs<T, Vec, Unroll>& v, Scratch& scratch, int& turn) {
    A start[Vec];
    if constexpr (Down > 1) {
      HONE_UNROLL
      for (int u = 0; u < Unroll; ++u) {
        HONE_UNROLL
        for (int e = 0; e < Vec; ++e) start[e].take(v[Reverse ? Unroll - 1 - u : u][e]);
      }
    }
    before(start, scratch, turn);
    HONE_UNROLL
    for (int k = 0; k < Unroll; ++k) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) {
        T& x = v[Reverse ? Unroll - 1 - k : k][e];
        const T given = x;
        if (Exclusive) x = start[e].value;
        start[e].take(given);
        if (!Exclusive) x = start[e].value;
      }
    }
    if constexpr (Down == 1) keep(start);
  }

  /// The same of the steps of a linear recurrence, v being the values and then the results.
  template <class T, int Unroll, class Scratch>
  HONE_DEVICE void next(const Packs<T, Vec, Unroll>& factors, Packs<T, Vec, Unroll>& v, Scratch& scratch, int& turn) {
    A start[Vec];
    if constexpr (Down > 1) {
      HONE_UNROLL
      for (int k = 0; k < Unroll; ++k) {
        const int u = Reverse ? Unroll - 1 - k : k;
        HONE_UNROLL
        for (int e = 0; e < Vec; ++e) start[e].take(factors[u][e], v[u][e]);
      }
    }
    before(start, scratch, turn);
    HONE_UNROLL
    for (int k = 0; k < Unroll; ++k) {
      const int u = Reverse ? Unroll - 1 - k : k;
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) v[u][e] = start[e].value = factors[u][e] * start[e].value + v[u][e];
    }
    if constexpr (Down == 1) keep(start);
  }

 private:
  HONE_DEVICE void keep(const A (&last)[Vec]) {
    HONE_UNROLL
    for (int e = 0; e < Vec; ++e) carry[e] = last[e];
  }

  /// Of each column, by what the thread's own rows come to: what all before them comes to. With one row of threads nobody else has
  /// any before.
  template <class Scratch>
  HONE_DEVICE void before(A (&rows)[Vec], Scratch& scratch, int& turn) {
    static_assert(sizeof(A) <= Scratch::kSlot, "totals of a slot each");
    if constexpr (Down == 1) {
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) rows[e] = carry[e];
    } else {
      constexpr int kLine = Across * Vec;
      const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), rank = Reverse ? Down - 1 - y : y;
      A* const totals = reinterpret_cast<A*>(scratch.bytes + turn * ((Down + 1) * kLine * Scratch::kSlot));
      turn ^= 1;
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) totals[rank * kLine + e * Across + x] = rows[e];
      __syncthreads();
      // A thread adds up a column's totals for all others: each of them for itself would do so Down times.
      for (int column = y * Across + x; column < kLine; column += Across * Down) {
        A so_far;
        HONE_UNROLL
        for (int before = 0; before < Down; ++before) {
          const A next = totals[before * kLine + column];
          totals[before * kLine + column] = so_far;
          so_far.merge(next);
        }
        totals[Down * kLine + column] = so_far;
      }
      __syncthreads();
      HONE_UNROLL
      for (int e = 0; e < Vec; ++e) {
        rows[e] = carry[e];
        rows[e].merge(totals[rank * kLine + e * Across + x]);
        carry[e].merge(totals[Down * kLine + e * Across + x]);
      }
    }
  }
};

/// The rows of `columns` from `begin` up to `end`, in the order of a scan, as many times for every thread of the block: body(rows).
template <bool Reverse, int Across, int Down, int Vec, int Unroll, Fit Shape, class Body>
HONE_DEVICE void ordered_rows(const Columns<Across, Down, Vec, Unroll, Shape>& columns, int64_t begin, int64_t end, Body body) {
  constexpr int64_t kSize = Down * Unroll;
  const int64_t count = (end - begin + kSize - 1) / kSize;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t first = begin + (Reverse ? count - 1 - k : k) * kSize + static_cast<int64_t>(threadIdx.y) * Unroll;
    body(ColumnRows<Across, 1, Vec, Unroll, Shape>{columns.column, first, end, columns.left});
  }
}

}  // namespace hone::gpu
