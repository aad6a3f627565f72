// Shares of long rows: what one block of several has of a row, and what of that stays in its shared memory.
#pragma once
#include "hone/gpu/crew.h"

/// Bodies are large: once is enough.
#define HONE_STEP _Pragma("unroll 1")

namespace hone::gpu {

/// Tiles rank, rank + blocks, rank + 2 * blocks, … of a row are this block's; the first `kept` of them stay with it.
struct Share {
  int32_t rank, blocks, kept;
};

/// Which time it is that a share is walked through, and how many words of a tile a thread takes at a time: a divisor of all.
template <int Number, int Words>
struct Turn {};

enum class Source {
  kFirst,   ///< comes from memory, stays
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

/// A tile whose words stay from place `word` of its block's share on. A thread finds again what it left itself, so that
/// nobody waits.
template <int Threads, int Vec, int Unroll, Fit Shape, Source From>
struct SharedTile : Tile<Threads, Vec, Unroll, Shape> {
  using Plain = Tile<Threads, Vec, Unroll, Shape>;
  int32_t word;

  HONE_DEVICE SharedTile(int64_t start, int left, int thread, int32_t w) : Plain{start, left, thread}, word(w) {}
  using Plain::load;
  /// A tensor's part of the tile. `kept`: where its words stay, one of each thread after the other.
  template <class T>
  HONE_DEVICE Packs<T, Vec, Unroll> load(T* kept, const T* stretch) const {
    Pack<T, Vec>* const mine = reinterpret_cast<Pack<T, Vec>*>(kept) + (word * Threads + this->thread);
    Packs<T, Vec, Unroll> all;
    if constexpr (From == Source::kKept) {
      HONE_UNROLL
      for (int u = 0; u < Unroll; ++u) all[u] = mine[u * Threads];
    } else if constexpr (From == Source::kFirst) {
      if constexpr (Shape == Fit::kWhole) {
        HONE_UNROLL
        for (int u = 0; u < Unroll; ++u)
          all[u] = passing(reinterpret_cast<const Pack<T, Vec>*>(stretch + this->start + this->at(u, 0)));
      } else {
        all = Plain::load(stretch);
      }
      HONE_UNROLL
      for (int u = 0; u < Unroll; ++u) mine[u * Threads] = all[u];
    } else {
      all = Plain::load(stretch);
    }
    return all;
  }
  template <class T>
  HONE_DEVICE void store(T* stretch, const Packs<T, Vec, Unroll>& from) const {
    if constexpr (Shape == Fit::kWhole) {
      HONE_UNROLL
      for (int u = 0; u < Unroll; ++u) pass_on(reinterpret_cast<Pack<T, Vec>*>(stretch + this->start + this->at(u, 0)), from[u]);
    } else {
      Plain::store(stretch, from);
    }
  }
};

/// All tiles of `share` of `pieces` stretches: body(tile, piece). In turn 0 tiles come from memory, the kept ones first;
/// in later turns the others come first and in the opposite order, as the last ones read are likeliest to be in a cache.
template <int Threads, int Vec, int Unroll, int Number, int Words, class Body>
HONE_DEVICE void tiles(bool aligned, int64_t pieces, int64_t length, const Share& share, Turn<Number, Words>, int thread, Body body) {
  // Element by element a word takes more registers. Who has an element is the same however many words are taken at a time.
  constexpr int kSingly = Words > 1 ? Words / 2 : 1, kWord = Threads * Vec, kSize = kWord * Unroll;
  static_assert(Unroll % Words == 0 && Words % kSingly == 0, "words that do not divide a tile");
  const int64_t each = (length + kSize - 1) / kSize;
  const int32_t mine = static_cast<int32_t>((pieces * each - share.rank + share.blocks - 1) / share.blocks);
  const int32_t kept = mine < share.kept ? mine : share.kept;
  const auto one = [&](const auto comes, int32_t k) {
    constexpr Source kFrom = decltype(comes)::kFrom;
    const int64_t q = share.rank + int64_t{k} * share.blocks, piece = pieces == 1 ? 0 : q / each;
    const int64_t start = (q - piece * each) * kSize;
    const int left = length - start < kSize ? static_cast<int>(length - start) : kSize;
    if (aligned && left == kSize) {
      HONE_STEP
      for (int w = 0; w < Unroll; w += Words)
        body(SharedTile<Threads, Vec, Words, Fit::kWhole, kFrom>(start + w * kWord, Words * kWord, thread, k * Unroll + w), piece);
    } else {
      HONE_STEP
      for (int w = 0; w * kWord < left; w += kSingly) {
        const int there = left - w * kWord < kSingly * kWord ? left - w * kWord : kSingly * kWord;
        body(SharedTile<Threads, Vec, kSingly, Fit::kSingles, kFrom>(start + w * kWord, there, thread, k * Unroll + w), piece);
      }
    }
  };
  // Narrow words of several threads share four bytes, which is as finely as the emulator tells who reads and who writes.
  if constexpr (Number == 0 && Vec < 4) __syncthreads();
  if constexpr (Number == 0)
    HONE_STEP
    for (int32_t k = 0; k < kept; ++k) one(Comes<Source::kFirst>{}, k);
  HONE_STEP
  for (int32_t k = kept; k < mine; ++k) one(Comes<Source::kRest>{}, Number % 2 == 0 ? k : mine - 1 - (k - kept));
  if constexpr (Number > 0)
    HONE_STEP
    for (int32_t k = 0; k < kept; ++k) one(Comes<Source::kKept>{}, k);
}

}  // namespace hone::gpu
