// Shares of long rows: what one block of several has of a row, and what of that stays in its shared memory.
#pragma once
#include "hone/gpu/block_group.h"
#include "hone/gpu/prim.h"

/// Bodies are large: once is enough.
#define HONE_STEP _Pragma("unroll 1")

/// Whether the hardware copies by itself while threads do other things: bulk copies that arrive at barriers with phases.
#if defined(__HIP__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900)
#define HONE_SENDS 0
#else
#define HONE_SENDS 1
#endif

namespace hone::gpu {

/// Tiles rank, rank + blocks, rank + 2 * blocks, … of a row are this block's; the first `kept` of them stay with it, in
/// some of its `places`, which are no fewer. Of a tile each wave of threads has a run, and of a run each lane as many
/// words: a wave waits for no other but where results are brought together.
struct Share {
  int32_t rank, blocks, kept, places;
};

/// Which time it is that a share is walked through, how many words of a run a lane takes at a time (a divisor of all),
/// and whether it is the last time.
template <int Number, int Words, bool Last>
struct Turn {};

#if HONE_SENDS
using RunBarrier = prim::PhaseBarrier;
#else
/// Nothing goes on by itself: what is kept is read when it is first needed.
struct alignas(8) RunBarrier {
  HONE_DEVICE void init(int) {}
  HONE_DEVICE void arrive() {}
  HONE_DEVICE void wait(int) {}
};
#endif

/// The lanes of a wave wait for each other.
HONE_DEVICE void meet_in_wave() {
#if HONE_SENDS
  __syncwarp();
#endif
}

enum class Source {
  kFirst,   ///< was sent for, or comes from memory; stays
  kKept,    ///< is there
  kRest,    ///< comes from memory each time
};
template <Source From>
struct Comes {
  static constexpr Source kFrom = From;
};

/// Words that pass through the caches once: they should not drive out what is read again.
template <class Word>
HONE_DEVICE Word passing(const Word* from) {
#if !defined(__HIP__)
  if constexpr (sizeof(Word) == 16 && alignof(Word) == 16) {
    const int4 bits = __ldcs(reinterpret_cast<const int4*>(from));
    return *reinterpret_cast<const Word*>(&bits);
  }
#endif
  return *from;
}
template <class Word>
HONE_DEVICE void pass_on(Word* to, const Word& word) {
#if !defined(__HIP__)
  if constexpr (sizeof(Word) == 16 && alignof(Word) == 16) return __stcs(reinterpret_cast<int4*>(to), *reinterpret_cast<const int4*>(&word));
#endif
  *to = word;
}

/// Some words of a wave's run, which stay from place `word` of its block's on (places are a wave wide). A lane finds again
/// what it left itself, so that nobody waits.
template <int Vec, int Words, Fit Shape, Source From>
struct SharedRun : Tile<kWave, Vec, Words, Shape> {
  using Plain = Tile<kWave, Vec, Words, Shape>;
  int32_t word;
  int before;   ///< elements of the run before these words
  int run;      ///< and in all

  HONE_DEVICE SharedRun(int64_t start, int left, int skip, int32_t w, int b, int r)
      : Plain{start, left, lane(), skip}, word(w), before(b), run(r) {}
  using Plain::load;

  /// Bytes that one copy brings of a tensor's part of the run: whole words, and units of 16 bytes, up to `end` of the
  /// tensor. 0: it is not sent for. The same in all lanes.
  template <class T>
  HONE_DEVICE uint32_t sent(const T* segment, const T* end) const {
    if constexpr (!HONE_SENDS || Shape == Fit::kSingles) {
      return 0;
    } else if constexpr (Shape == Fit::kWhole && sizeof(T) * Vec % 16 == 0) {
      return sizeof(T) * static_cast<uint32_t>(run);
    } else {
      const auto from = reinterpret_cast<uintptr_t>(segment + (this->start - before));
      constexpr uint32_t kUnit = sizeof(T) * Vec > 16 ? sizeof(T) * Vec : 16;
      const uint32_t bytes = (sizeof(T) * static_cast<uint32_t>(run) + kUnit - 1) / kUnit * kUnit;
      return from % 16 == 0 && from + bytes <= reinterpret_cast<uintptr_t>(end) ? bytes : 0;
    }
  }
  /// Sends for it, by one lane, when all have read what was in its place.
  template <class T>
  HONE_DEVICE void fetch([[maybe_unused]] RunBarrier& barrier, [[maybe_unused]] T* kept, const T* segment, const T* end) const {
    const uint32_t bytes = sent(segment, end);
    if (bytes == 0) return barrier.arrive();
#if HONE_SENDS
    barrier.arrive_expecting(bytes);
    barrier.bulk_copy_passing(kept + word * kWave * Vec, segment + (this->start - before), bytes);
#endif
  }
  /// A tensor's part. `kept`: where its words stay, one of each lane after the other; `end`: of the tensor.
  template <class T>
  HONE_DEVICE Packs<T, Vec, Words> load(T* kept, const T* segment, [[maybe_unused]] const T* end) const {
    Pack<T, Vec>* const mine = reinterpret_cast<Pack<T, Vec>*>(kept) + word * kWave + lane();
    Packs<T, Vec, Words> all;
    bool there = From == Source::kKept;
    if constexpr (From == Source::kFirst) there = sent(segment, end) > 0;
    if (there) {
      HONE_UNROLL
      for (int u = 0; u < Words; ++u)
        if (Shape == Fit::kWhole || this->at(u, 0) < this->left) all[u] = mine[u * kWave];
      return all;
    }
    if constexpr (Shape == Fit::kWhole && From == Source::kFirst) {
      HONE_UNROLL
      for (int u = 0; u < Words; ++u) all[u] = passing(reinterpret_cast<const Pack<T, Vec>*>(segment + this->start + this->at(u, 0)));
    } else {
      all = Plain::load(segment);
    }
    if constexpr (From == Source::kFirst) {
      HONE_UNROLL
      for (int u = 0; u < Words; ++u) mine[u * kWave] = all[u];
#if HONE_SENDS
      prim::async_fence();  // a copy may go there next
#endif
    }
    return all;
  }
  template <class T>
  HONE_DEVICE void store(T* segment, const Packs<T, Vec, Words>& from) const {
    HONE_UNROLL
    for (int u = 0; u < Words; ++u) {
      if (sizeof from[u] == 16 && this->moves(u)) pass_on(reinterpret_cast<Pack<T, Vec>*>(segment + this->start + this->at(u, 0)), from[u]);
      else this->store_word(segment, u, from[u]);
    }
  }
};

/// Where tile k of a share lies: `start` is counted from the boundary of words before the row.
template <int Size>
struct Place {
  int64_t piece, start;
  HONE_DEVICE Place(int64_t length, int64_t pieces, const Share& share, int32_t k) {
    const int64_t each = (length + Size - 1) / Size, q = share.rank + int64_t{k} * share.blocks;
    piece = pieces == 1 ? 0 : q / each;
    start = (q - piece * each) * Size;
  }
};
template <int Size>
HONE_DEVICE int32_t tiles_of(int64_t length, int64_t pieces, const Share& share) {
  return static_cast<int32_t>((pieces * ((length + Size - 1) / Size) - share.rank + share.blocks - 1) / share.blocks);
}

/// All tiles of `share` of `pieces` segments: body(run, piece). In turn 0 the kept ones come first, as they arrive;
/// in later turns the others come first and in the opposite order, as the last ones read are likeliest to be in a cache.
/// In the last turn what comes to their places is sent for.
template <int Threads, int Vec, int Unroll, class Row, int Number, int Words, bool Last, class Body>
HONE_DEVICE void tiles(const Alignment& alignment, int64_t pieces, int64_t length, const Share& share, Row& ahead, Turn<Number, Words, Last>,
                       int thread, Body body) {
  constexpr int kWord = kWave * Vec, kRun = kWord * Unroll, kSize = Threads * Vec * Unroll;
  static_assert(Unroll % Words == 0, "words that do not divide a run");
  const int64_t all = length + alignment.lead;
  const int32_t mine = tiles_of<kSize>(all, pieces, share), kept = mine < share.kept ? mine : share.kept, wave = thread / kWave;
  const auto one = [&](const auto comes, int32_t k) {
    constexpr Source kFrom = decltype(comes)::kFrom;
    const Place<kSize> place(all, pieces, share, k);
    const int64_t start = place.start - alignment.lead + wave * kRun, left = length - start;
    const int there = left < kRun ? static_cast<int>(left > 0 ? left : 0) : kRun;
    const int word = kFrom == Source::kRest ? 0 : (ahead.place(k) * (Threads / kWave) + wave) * Unroll;
    // Element by element a word takes more registers: one at a time. Who has an element is the same either way.
    const auto part = [&](int w) { return there - w * kWord < kWord ? there - w * kWord : kWord; };
    if (!alignment.alike) {
      HONE_STEP
      for (int w = 0; w * kWord < there; ++w)
        body(SharedRun<Vec, 1, Fit::kSingles, kFrom>(start + w * kWord, part(w), 0, word + w, w * kWord, there), place.piece);
    } else if (start >= 0 && there == kRun) {
      HONE_STEP
      for (int w = 0; w < Unroll; w += Words)
        body(SharedRun<Vec, Words, Fit::kWhole, kFrom>(start + w * kWord, Words * kWord, 0, word + w, w * kWord, kRun), place.piece);
    } else {
      HONE_STEP
      for (int w = 0; w * kWord < there; ++w)
        body(SharedRun<Vec, 1, Fit::kEdges, kFrom>(start + w * kWord, part(w), w == 0 && start < 0 ? alignment.lead : 0, word + w,
             w * kWord, there), place.piece);
    }
  };
  // Narrow words of several threads share four bytes, which is as finely as the emulator tells who reads and who writes.
  if constexpr (Number == 0 && Vec < 4 && !Row::kApart) __syncthreads();
  // In braces: what NVIDIA's compiler takes for a branch does not begin with a pragma.
  if constexpr (Number == 0) {
    HONE_STEP
    for (int32_t k = 0; k < kept; ++k, ahead.pass()) {
      if (HONE_SENDS && (Row::kApart || alignment.alike)) ahead.template wait<Threads>(k);
      one(Comes<Source::kFirst>{}, k);
    }
    // Phases of places that have nothing come and go, too, and whoever does not see them loses count.
    if constexpr (Row::kApart) {
      HONE_STEP
      for (int32_t k = kept; k < share.kept; ++k, ahead.pass()) ahead.template wait<Threads>(k);
    }
  }
  HONE_STEP
  for (int32_t k = kept; k < mine; ++k) one(Comes<Source::kRest>{}, Number % 2 == 0 ? k : mine - 1 - (k - kept));
  if constexpr (Number > 0) {
    HONE_STEP
    for (int32_t k = 0; k < kept; ++k, ahead.pass()) {
      if constexpr (Row::kApart) ahead.template wait<Threads>(k);
      one(Comes<Source::kKept>{}, k);
      if constexpr (Last) ahead.template send_behind<Threads, Vec, Unroll>(pieces, length, k);
    }
    if constexpr (Last) {
      HONE_STEP
      for (int32_t k = kept; k < share.kept; ++k, ahead.pass()) ahead.template send_behind<Threads, Vec, Unroll>(pieces, length, k);
    }
  }
}

}  // namespace hone::gpu
