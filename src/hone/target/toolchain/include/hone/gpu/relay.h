// Relays: blocks in which some waves read row after row, and others, some rows behind them, write. Between them a wave or
// two speak with the other blocks of the team about what each row has. Nobody stops at the end of a row: while the team's
// words about a row are on their way, the next rows are read, and those before are written.
#pragma once
#include "hone/gpu/share.h"

#if !HONE_SENDS
#error "relays need bulk copies that arrive at barriers: sm_90 and later"
#endif

namespace hone::gpu {

/// Rows of a team that may be under way in a block: read by some waves, and not yet written by others. A ring of places
/// has room for two less at most.
constexpr int kRowsUnderWay = 16;
/// Words about twice as many rows are in the mail: a block that tells of row r has its places of row r - 14, which it has
/// written, and so heard of; who told of that had heard of row r - 28.
constexpr int kRowsInMail = 2 * kRowsUnderWay;

/// The places of a block's tiles as its readers or its writers walk through them, in the order of rows and tiles. The
/// readers' place is there when its barrier has its next phase; the writers send for what comes there next.
template <int Tensors, class Stands, class Fetch>
struct Ring {
  static constexpr bool kApart = true;
  Stands stands;
  Fetch fetch;
  RunBarrier* barriers;   ///< of each wave's runs, place by place
  Share share;
  int64_t step, rows;
  int64_t row;            ///< which tile is sent for next: the tile `tile` of this row
  int32_t tile = 0;
  int32_t at = 0;         ///< the place at hand
  int parity = 0;

  HONE_DEVICE Ring(Stands s, Fetch f, void* b, const Share& sh, int64_t first, int64_t by, int64_t r)
      : stands(s), fetch(f), barriers(static_cast<RunBarrier*>(b)), share(sh), step(by), rows(r), row(first) {}

  HONE_DEVICE int32_t place(int32_t) const { return at; }
  template <int Threads>
  HONE_DEVICE RunBarrier& barrier() const {
    return barriers[at * (Threads / kWave) + static_cast<int>(threadIdx.x) / kWave % (Threads / kWave)];
  }
  template <int Threads>
  HONE_DEVICE void wait(int32_t) const {
    barrier<Threads>().wait(parity);
  }
  HONE_DEVICE void pass() {
    if (++at == share.places) at = 0, parity ^= 1;
  }
  /// By writers: sends for the tile that comes to this place. A place has a phase for every tile in turn, even one that
  /// has nothing.
  template <int Threads, int Vec, int Unroll>
  HONE_DEVICE void send_behind(int64_t pieces, int64_t length, int32_t) {
    if (row >= rows) return;
    constexpr int kSize = Threads * Vec * Unroll, kRun = kWave * Vec * Unroll;
    const int wave = static_cast<int>(threadIdx.x) / kWave % (Threads / kWave);
    meet_in_wave();
    if (lane() == 0) {
      RunBarrier& full = barrier<Threads>();
      const Footing footing = stands(row);
      if (footing.alike) {
        const Place<kSize> where(length + footing.lead, pieces, share, tile);
        const int64_t start = where.start - footing.lead + wave * kRun, left = where.piece < pieces ? length - start : 0;
        const int there = left < kRun ? static_cast<int>(left > 0 ? left : 0) : kRun;
        fetch(full, SharedRun<Vec, Unroll, Fit::kEdges, Source::kFirst>(start, there, 0, (at * (Threads / kWave) + wave) * Unroll, 0, there),
              where.piece, row);
      } else {
        for (int t = 0; t < Tensors; ++t) full.arrive();
      }
    }
    if (++tile == share.kept) tile = 0, row += step;
  }
  /// By writers, before the block's first barrier.
  template <int Threads, int Vec, int Unroll>
  HONE_DEVICE void begin(int64_t pieces, int64_t length) {
    HONE_STEP
    for (int32_t p = 0; p < share.places; ++p, pass()) {
      if (lane() == 0) barrier<Threads>().init(Tensors);
      send_behind<Threads, Vec, Unroll>(pieces, length, p);
    }
    at = 0, parity = 0;
  }
};
template <int Tensors, class Stands, class Fetch>
HONE_DEVICE Ring<Tensors, Stands, Fetch> ring_of(Stands stands, Fetch fetch, void* barriers, const Share& share, int64_t first, int64_t step,
                                                 int64_t rows) {
  return {stands, fetch, barriers, share, first, step, rows};
}

/// What all lanes of a wave have, in each of them.
template <class A>
HONE_DEVICE void merge_in_wave(A& a) {
  if constexpr (kTwoSteps<A>) {
    auto first = a.first();
    merge_in_wave(first);
    auto second = a.under(first);
    merge_in_wave(second);
    a = A::both(first, second);
  } else {
    HONE_UNROLL
    for (int lanes = kWave / 2; lanes > 0; lanes /= 2) a.merge(a.moved(lanes));
  }
}

/// Shared memory through which a block's waves pass on what is found of rows: `Messages` results of at most 32 bytes.
template <int Threads, int Messages>
struct RelayRoom {
  static constexpr int kWaves = Threads / kWave;
  RunBarrier found[kRowsUnderWay];   ///< each of the readers' waves has left what it found
  RunBarrier known[kRowsUnderWay];   ///< what the whole team found is there
  alignas(16) unsigned char parts[kRowsUnderWay][Messages][kWaves][32];
  alignas(16) unsigned char whole[kRowsUnderWay][Messages][32];
};

/// A block's waves and the rows of its team, counted from 0 in `number`.
template <int Threads, int Messages>
struct Relay {
  static constexpr int kWaves = Threads / kWave;
  static_assert(kWaves <= kWave, "a lane for each of the readers' waves");
  RelayRoom<Threads, Messages>& room;
  int32_t number = 0;

  HONE_DEVICE explicit Relay(RelayRoom<Threads, Messages>& r) : room(r) {}
  HONE_DEVICE int at() const { return number % kRowsUnderWay; }
  HONE_DEVICE int parity() const { return number / kRowsUnderWay % 2; }
  /// By one thread, before the block's first barrier.
  HONE_DEVICE void begin() const {
    for (int i = 0; i < kRowsUnderWay; ++i) {
      room.found[i].init(kWaves);
      room.known[i].init(1);
    }
  }
  /// Readers: result `I` of this row, then that all results are left.
  template <int I, class A>
  HONE_DEVICE void leave(A a) const {
    static_assert(sizeof(A) <= 32, "a running result of at most 32 bytes");
    merge_in_wave(a);
    if (lane() == 0) *reinterpret_cast<A*>(room.parts[at()][I][static_cast<int>(threadIdx.x) / kWave % kWaves]) = a;
  }
  HONE_DEVICE void left() {
    meet_in_wave();
    if (lane() == 0) room.found[at()].arrive();
    ++number;
  }
  /// Writers: waits until the team's results of this row are there. What readers have left in places is there, too.
  HONE_DEVICE void learn() const {
    room.found[at()].wait(parity());
    room.known[at()].wait(parity());
  }
  template <int I, class A>
  HONE_DEVICE A known() const {
    return *reinterpret_cast<const A*>(room.whole[at()][I]);
  }
  HONE_DEVICE void next() { ++number; }

  /// Speakers, a wave of them: tells the team what the block found of rows speaker, speaker + speakers, … below `rows` of
  /// the team, hears what others did, and passes it on. A...: the results' types.
  template <class... A>
  HONE_DEVICE void speak(int64_t* box, const Share& share, int speaker, int speakers, int64_t rows) {
    HONE_STEP
    for (number = speaker; number < rows; number += speakers) {
      room.found[at()].wait(parity());
      int64_t* const slots = box + static_cast<int64_t>(number % kRowsInMail) * Messages * kSlotWords * share.blocks;
      tell_all<0, A...>(slots, share);
      hear_all<0, A...>(slots, share);
      meet_in_wave();
      if (lane() == 0) room.known[at()].arrive();
    }
  }

 private:
  template <int I, class A, class... Rest>
  HONE_DEVICE void tell_all(int64_t* slots, const Share& share) const {
    A a;
    if (lane() < kWaves) a = *reinterpret_cast<const A*>(room.parts[at()][I][lane()]);
    merge_in_wave(a);
    if (lane() == 0) tell(slots + I * kSlotWords * share.blocks + share.rank, share.blocks, a, number + 1);
    if constexpr (sizeof...(Rest) > 0) tell_all<I + 1, Rest...>(slots, share);
  }
  template <int I, class A, class... Rest>
  HONE_DEVICE void hear_all(const int64_t* slots, const Share& share) const {
    A a;
    HONE_STEP
    for (int32_t c = lane(); c < share.blocks; c += kBatch * kWave) hear_some(a, slots + I * kSlotWords * share.blocks, share, c);
    merge_in_wave(a);
    if (lane() == 0) *reinterpret_cast<A*>(room.whole[at()][I]) = a;
    if constexpr (sizeof...(Rest) > 0) hear_all<I + 1, Rest...>(slots, share);
  }
  /// Of blocks c, c + kWave, … at once: one way through the memory system, not one each.
  static constexpr int kBatch = 5;
  template <class A>
  HONE_DEVICE void hear_some(A& all, const int64_t* slots, const Share& share, int32_t c) const {
    constexpr int kWords = sizeof(A) / 4;
    uint32_t words[kBatch][kWords];
    for (bool there = false; !there;) {
      there = true;
      HONE_UNROLL
      for (int b = 0; b < kBatch; ++b) {
        if (c + b * kWave >= share.blocks) continue;
        HONE_UNROLL
        for (int i = 0; i < kWords; ++i) {
          const auto word = static_cast<uint64_t>(look_at_word(slots + i * share.blocks + c + b * kWave));
          words[b][i] = static_cast<uint32_t>(word >> 32);
          there = there && static_cast<int32_t>(word) == number + 1;
        }
      }
      if (!there) wait_a_little();
    }
    HONE_UNROLL
    for (int b = 0; b < kBatch; ++b) {
      if (c + b * kWave >= share.blocks) continue;
      A a;
      __builtin_memcpy(&a, words[b], sizeof a);
      all.merge(a);
    }
  }
};

}  // namespace hone::gpu
