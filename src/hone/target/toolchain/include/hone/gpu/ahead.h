// Kept tiles that are sent for before their row is at hand.
#pragma once
#include "hone/gpu/share.h"

namespace hone::gpu {

/// The kept tiles of a group's rows, one row after the other, in places that are taken in turn: each run is sent for as
/// soon as its place is free, so that memory is busy while a group computes, writes and waits. stands(row) gives a row's
/// Alignment; fetch(barrier, run, piece, row) sends for all `Tensors` tensors' parts of a run.
template <int Tensors, class Stands, class Fetch>
struct Ahead {
  static constexpr bool kApart = false;   ///< whether other waves write than read
  Stands stands;
  Fetch fetch;
  RunBarrier* barriers;         ///< of each wave's runs, place by place: eight bytes in shared memory each
  Share share;
  int64_t first, step, rows;    ///< rows first, first + step, … below `rows` are the group's
  int32_t done = 0;             ///< kept tiles of the rows before the one at hand

  HONE_DEVICE Ahead(Stands s, Fetch f, void* b, const Share& sh, int64_t at, int64_t by, int64_t r)
      : stands(s), fetch(f), barriers(static_cast<RunBarrier*>(b)), share(sh), first(at), step(by), rows(r) {}

  HONE_DEVICE int32_t place(int32_t k) const { return (done + k) % share.places; }
  template <int Threads>
  HONE_DEVICE RunBarrier& barrier(int32_t place) const {
    return barriers[place * (Threads / kWave) + static_cast<int>(threadIdx.x) / kWave];
  }
  /// Until kept tile k of the row at hand is there.
  template <int Threads>
  HONE_DEVICE void wait(int32_t k) const {
    barrier<Threads>(place(k)).wait((done + k) / share.places % 2);
  }
  /// Sends for what comes to the place of kept tile k of the row at hand, which is done with. Every place gets a phase
  /// of its barrier for every tile in turn, even one that has nothing.
  template <int Threads, int Vec, int Unroll>
  HONE_DEVICE void send_behind(int64_t pieces, int64_t length, int32_t k) const {
    send<Threads, Vec, Unroll>(pieces, length, done + k + share.places);
  }
  /// Before the first row.
  template <int Threads, int Vec, int Unroll>
  HONE_DEVICE void begin(int64_t pieces, int64_t length) const {
    if (lane() == 0) {
      HONE_STEP
      for (int32_t p = 0; p < share.places; ++p) barrier<Threads>(p).init(Tensors);
    }
    HONE_STEP
    for (int32_t p = 0; p < share.places; ++p) send<Threads, Vec, Unroll>(pieces, length, p);
  }
  HONE_DEVICE void pass() const {}
  HONE_DEVICE void next_row() { done += share.kept; }

 private:
  /// Kept tile `number` of all the group's rows.
  template <int Threads, int Vec, int Unroll>
  HONE_DEVICE void send([[maybe_unused]] int64_t pieces, [[maybe_unused]] int64_t length, [[maybe_unused]] int32_t number) const {
#if HONE_SENDS
    constexpr int kSize = Threads * Vec * Unroll, kRun = kWave * Vec * Unroll;
    const int64_t row = first + number / share.kept * step;
    if (row >= rows) return;
    const Alignment alignment = stands(row);
    if (!alignment.alike) return;
    const int wave = static_cast<int>(threadIdx.x) / kWave;
    meet_in_wave();
    if (lane() != 0) return;
    const Place<kSize> at(length + alignment.lead, pieces, share, number % share.kept);
    const int64_t start = at.start - alignment.lead + wave * kRun, left = at.piece < pieces ? length - start : 0;
    const int there = left < kRun ? static_cast<int>(left > 0 ? left : 0) : kRun, in = number % share.places;
    fetch(barrier<Threads>(in), SharedRun<Vec, Unroll, Fit::kEdges, Source::kFirst>(start, there, 0, (in * (Threads / kWave) + wave) * Unroll,
          0, there), at.piece, row);
#endif
  }
};

template <int Tensors, class Stands, class Fetch>
HONE_DEVICE Ahead<Tensors, Stands, Fetch> look_ahead(Stands stands, Fetch fetch, void* barriers, const Share& share, int64_t first,
                                                     int64_t step, int64_t rows) {
  return {stands, fetch, barriers, share, first, step, rows};
}

}  // namespace hone::gpu
