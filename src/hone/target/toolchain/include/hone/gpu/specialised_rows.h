// Warp-specialised rows: blocks in which some waves read row after row, and others, some rows behind them, write. Between them a wave or
// two speak with the other blocks of the group about what each row has. Nobody stops at the end of a row: while the group's
// words about a row are on their way, the next rows are read, and those before are written.
#pragma once
#include "hone/gpu/share.h"

#if !HONE_SENDS
#error "warp-specialised rows need bulk copies that arrive at barriers: sm_90 and later"
#endif

namespace hone::gpu {

/// Rows of a group that may be under way in a block: read by some waves, and not yet written by others. A ring of places
/// has room for two less at most. Shared memory, where a cluster has its mail, has room for words about fewer.
constexpr int kRowsUnderWay = 16, kRowsInCluster = 8;

/// How the words of a group's blocks get to the others.
enum class Post {
  kMemory,    ///< each block's lie in global memory, where all look at them
  kCluster,   ///< the group is a cluster: each block writes into the others' shared memory, and looks at its own
};

/// The mail of a group that may have `Rows` rows under way: `words` are 0 before the first row. A...: what is told of a row.
/// It holds words about twice as many rows: a block that tells of row r has its places of row r - Rows + 2, which it has
/// written, and so heard of; who told of that had heard of row r - 2 * Rows + 4.
template <Post By, int Rows, class... A>
struct RowMail {
  static constexpr int kRowWords = ((sizeof(A) + ...)) / 4, kWords = 2 * Rows * kRowWords;   ///< of a block
  /// Of how many blocks a lane looks at words at once: one way through the memory system, not one each.
  static constexpr int kBatch = By == Post::kMemory ? 5 : 1;
  int64_t* words;
  int32_t rank, blocks;

  /// Block 0's first word of result `I` of a row; the other blocks' lie behind it, and then all blocks' next words.
  template <int I>
  HONE_DEVICE int64_t* slots(int32_t number) const {
    constexpr int kSizes[] = {static_cast<int>(sizeof(A))...};
    int before = 0;
    HONE_UNROLL
    for (int i = 0; i < I; ++i) before += kSizes[i] / 4;
    return words + (number % (2 * Rows) * kRowWords + before) * static_cast<int64_t>(blocks);
  }
  /// By a wave, all of whose lanes have it.
  template <int I, class B>
  HONE_DEVICE void tell_all(const B& what, int32_t number) const {
    int64_t* const mine = slots<I>(number) + rank;
    if constexpr (By == Post::kMemory) {
      if (lane() == 0) tell(mine, blocks, what, number + 1);
    } else {
      if (lane() < blocks) tell(prim::map_shared(mine, lane()), blocks, what, number + 1);
    }
  }
};

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
      const Alignment alignment = stands(row);
      if (alignment.alike) {
        const Place<kSize> where(length + alignment.lead, pieces, share, tile);
        const int64_t start = where.start - alignment.lead + wave * kRun, left = where.piece < pieces ? length - start : 0;
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
template <int Threads, int Rows, int Messages>
struct RowRoom {
  static constexpr int kWaves = Threads / kWave;
  RunBarrier found[Rows];   ///< each of the readers' waves has left what it found
  RunBarrier known[Rows];   ///< what the whole group found is there
  alignas(16) unsigned char parts[Rows][Messages][kWaves][32];
  alignas(16) unsigned char whole[Rows][Messages][32];
};

/// A block's waves and the rows of its group, counted from 0 in `number`.
template <int Threads, int Rows, int Messages>
struct WarpRoles {
  static constexpr int kWaves = Threads / kWave;
  static_assert(kWaves <= kWave, "a lane for each of the readers' waves");
  RowRoom<Threads, Rows, Messages>& room;
  int32_t number = 0;

  HONE_DEVICE explicit WarpRoles(RowRoom<Threads, Rows, Messages>& r) : room(r) {}
  HONE_DEVICE int at() const { return number % Rows; }
  HONE_DEVICE int parity() const { return number / Rows % 2; }
  /// By one thread, before the block's first barrier.
  HONE_DEVICE void begin() const {
    for (int i = 0; i < Rows; ++i) {
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
  /// Writers: waits until the group's results of this row are there. What readers have left in places is there, too.
  HONE_DEVICE void learn() const {
    room.found[at()].wait(parity());
    room.known[at()].wait(parity());
  }
  template <int I, class A>
  HONE_DEVICE A known() const {
    return *reinterpret_cast<const A*>(room.whole[at()][I]);
  }
  HONE_DEVICE void next() { ++number; }

  /// What a block's waves do with its group's rows first, first + step, … below `end`: of its threads the first ones
  /// read(row) and leave what they found, as many after them write(row), and the rest are `exchangers` waves that speak.
  template <class Mail, class Read, class Write>
  HONE_DEVICE void run(const Mail& mail, int64_t first, int64_t step, int64_t end, int exchangers, Read read, Write write) {
    const int role = static_cast<int>(threadIdx.x) / Threads;
    if (role == 0) {
      for (int64_t row = first; row < end; row += step) {
        read(row);
        left();
      }
    } else if (role == 1) {
      for (int64_t row = first; row < end; row += step) {
        learn();
        write(row);
        next();
      }
    } else {
      exchange(mail, (static_cast<int>(threadIdx.x) - 2 * Threads) / kWave, exchangers, (end - first + step - 1) / step);
    }
  }

  /// Exchangers, a wave of them: tells the group what the block found of rows exchanger, exchanger + exchangers, … below `rows` of
  /// the group, hears what others did, and passes it on.
  template <Post By, class... A>
  HONE_DEVICE void exchange(const RowMail<By, Rows, A...>& mail, int exchanger, int exchangers, int64_t rows) {
    HONE_STEP
    for (number = exchanger; number < rows; number += exchangers) {
      room.found[at()].wait(parity());
      tell_all<0, A...>(mail);
      hear_all<0, A...>(mail);
      meet_in_wave();
      if (lane() == 0) room.known[at()].arrive();
    }
  }

 private:
  template <int I, class A, class... Rest, class Mail>
  HONE_DEVICE void tell_all(const Mail& mail) const {
    A a;
    if (lane() < kWaves) a = *reinterpret_cast<const A*>(room.parts[at()][I][lane()]);
    merge_in_wave(a);
    mail.template tell_all<I>(a, number);
    if constexpr (sizeof...(Rest) > 0) tell_all<I + 1, Rest...>(mail);
  }
  template <int I, class A, class... Rest, class Mail>
  HONE_DEVICE void hear_all(const Mail& mail) const {
    A a;
    HONE_STEP
    for (int32_t c = lane(); c < mail.blocks; c += Mail::kBatch * kWave) hear_some(a, mail.template slots<I>(number), mail, c);
    merge_in_wave(a);
    if (lane() == 0) *reinterpret_cast<A*>(room.whole[at()][I]) = a;
    if constexpr (sizeof...(Rest) > 0) hear_all<I + 1, Rest...>(mail);
  }
  /// Of blocks c, c + kWave, … at once.
  template <class A, class Mail>
  HONE_DEVICE void hear_some(A& all, const int64_t* slots, const Mail& mail, int32_t c) const {
    constexpr int kWords = sizeof(A) / 4, kBatch = Mail::kBatch;
    uint32_t words[kBatch][kWords];
    for (bool there = false; !there;) {
      there = true;
      HONE_UNROLL
      for (int b = 0; b < kBatch; ++b) {
        if (c + b * kWave >= mail.blocks) continue;
        HONE_UNROLL
        for (int i = 0; i < kWords; ++i) {
          const auto word = static_cast<uint64_t>(look_at_word(slots + i * mail.blocks + c + b * kWave));
          words[b][i] = static_cast<uint32_t>(word >> 32);
          there = there && static_cast<int32_t>(word) == number + 1;
        }
      }
      if (!there) wait_a_little();
    }
    HONE_UNROLL
    for (int b = 0; b < kBatch; ++b) {
      if (c + b * kWave >= mail.blocks) continue;
      A a;
      __builtin_memcpy(&a, words[b], sizeof a);
      all.merge(a);
    }
  }
};

}  // namespace hone::gpu
