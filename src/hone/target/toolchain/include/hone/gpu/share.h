// Shares of long rows: what one block of several has of a row, and what of that stays in its shared memory.
#pragma once
#include "hone/gpu/crew.h"
#include "hone/gpu/prim.h"

/// Bodies are large: once is enough.
#define HONE_STEP _Pragma("unroll 1")

namespace hone::gpu {

/// Tiles rank, rank + blocks, rank + 2 * blocks, … of a row are this block's; the first `kept` of them stay with it.
struct Share {
  int32_t rank, blocks, kept;
};

/// Which time it is that a share is walked through, how many words of a tile a thread takes at a time (a divisor of
/// all), and whether it is the last time.
template <int Number, int Words, bool Last>
struct Turn {};

#if defined(__HIP__)
/// Nothing goes on by itself: what is kept is read when it is first needed.
struct RowCopies {
  template <int Bytes>
  HONE_DEVICE void copy(void*, const void*, bool) {}
  HONE_DEVICE void commit() {}
  template <int Latest>
  HONE_DEVICE void wait() {}
};
#else
using RowCopies = prim::AsyncCopies;
#endif

/// Elements of T that a thread fetches while it computes: words that asynchronous copies take.
template <class T, int Vec>
HONE_DEVICE constexpr bool fetched_ahead() {
#if defined(__HIP__)
  return false;
#else
  return sizeof(Pack<T, Vec>) % 4 == 0 && (sizeof(Pack<T, Vec>) < 16 ? 16 % sizeof(Pack<T, Vec>) : sizeof(Pack<T, Vec>) % 16) == 0;
#endif
}

enum class Source {
  kFirst,   ///< was fetched ahead, or comes from memory; stays
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
      if constexpr (Shape == Fit::kWhole && fetched_ahead<T, Vec>()) {
        HONE_UNROLL
        for (int u = 0; u < Unroll; ++u) all[u] = mine[u * Threads];
        return all;
      } else if constexpr (Shape == Fit::kWhole) {
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
  /// Sends for what load() of a first time will find.
  template <class T>
  HONE_DEVICE void fetch([[maybe_unused]] RowCopies& copies, [[maybe_unused]] T* kept, [[maybe_unused]] const T* stretch) const {
    if constexpr (fetched_ahead<T, Vec>()) {
      constexpr int kBytes = sizeof(Pack<T, Vec>) < 16 ? sizeof(Pack<T, Vec>) : 16;
      HONE_UNROLL
      for (int u = 0; u < Unroll; ++u) {
        auto* const to = reinterpret_cast<unsigned char*>(reinterpret_cast<Pack<T, Vec>*>(kept) + (word + u) * Threads + this->thread);
        const auto* const from = reinterpret_cast<const unsigned char*>(stretch + this->start + this->at(u, 0));
        HONE_UNROLL
        for (int b = 0; b < static_cast<int>(sizeof(Pack<T, Vec>)); b += kBytes) copies.template copy<kBytes>(to + b, from + b, true);
      }
    }
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

/// Where tile k of a share lies.
template <int Size>
struct Place {
  int64_t piece, start;
  int left;
  HONE_DEVICE Place(int64_t length, int64_t pieces, const Share& share, int32_t k) {
    const int64_t each = (length + Size - 1) / Size, q = share.rank + int64_t{k} * share.blocks;
    piece = pieces == 1 ? 0 : q / each;
    start = (q - piece * each) * Size;
    left = length - start < Size ? static_cast<int>(length - start) : Size;
  }
};
template <int Size>
HONE_DEVICE int32_t tiles_of(int64_t length, int64_t pieces, const Share& share) {
  return static_cast<int32_t>((pieces * ((length + Size - 1) / Size) - share.rank + share.blocks - 1) / share.blocks);
}

/// The kept tiles of the row that comes next, each sent for as soon as its place is free: memory is busy while a team
/// computes, writes and waits. Each tile is a group of copies, with nothing in it where there are no whole words.
/// fetch(copies, tile, piece, row) sends for all tensors' parts of a tile.
template <class Fetch>
struct Ahead {
  Fetch fetch;
  int64_t rows;             ///< of the tensor
  int64_t next = 0;         ///< row
  RowCopies copies{};

  HONE_DEVICE Ahead(Fetch f, int64_t r) : fetch(f), rows(r) {}
  template <int Threads, int Vec, int Unroll>
  HONE_DEVICE void send(bool aligned, int64_t pieces, int64_t length, const Share& share, int thread, int32_t k) {
    constexpr int kSize = Threads * Vec * Unroll;
    const Place<kSize> place(length, pieces, share, k);
    if (next < rows && aligned && place.left == kSize)
      fetch(copies, SharedTile<Threads, Vec, Unroll, Fit::kWhole, Source::kFirst>(place.start, kSize, thread, k * Unroll), place.piece, next);
    copies.commit();
  }
  /// All kept tiles of row `row`.
  template <int Threads, int Vec, int Unroll>
  HONE_DEVICE void send_row(bool aligned, int64_t pieces, int64_t length, const Share& share, int thread, int64_t row) {
    const int32_t mine = tiles_of<Threads * Vec * Unroll>(length, pieces, share), kept = mine < share.kept ? mine : share.kept;
    next = row;
    HONE_STEP
    for (int32_t k = 0; k < kept; ++k) send<Threads, Vec, Unroll>(aligned, pieces, length, share, thread, k);
  }
  /// Until no more than `under_way` tiles are.
  HONE_DEVICE void wait(int32_t under_way) {
    switch (under_way) {
      case 0: return copies.template wait<0>();
      case 1: return copies.template wait<1>();
      case 2: return copies.template wait<2>();
      case 3: return copies.template wait<3>();
      case 4: return copies.template wait<4>();
      case 5: return copies.template wait<5>();
      default: return copies.template wait<6>();
    }
  }
};

/// All tiles of `share` of `pieces` stretches: body(tile, piece). In turn 0 the kept ones come first, as they arrive;
/// in later turns the others come first and in the opposite order, as the last ones read are likeliest to be in a cache.
/// In the last turn those of the row ahead.next are sent for.
template <int Threads, int Vec, int Unroll, class Fetch, int Number, int Words, bool Last, class Body>
HONE_DEVICE void tiles(bool aligned, int64_t pieces, int64_t length, const Share& share, Ahead<Fetch>& ahead, Turn<Number, Words, Last>,
                       int thread, Body body) {
  // Element by element a word takes more registers. Who has an element is the same however many words are taken at a time.
  constexpr int kSingly = Words > 1 ? Words / 2 : 1, kWord = Threads * Vec, kSize = kWord * Unroll;
  static_assert(Unroll % Words == 0 && Words % kSingly == 0, "words that do not divide a tile");
  const int32_t mine = tiles_of<kSize>(length, pieces, share), kept = mine < share.kept ? mine : share.kept;
  const auto one = [&](const auto comes, int32_t k) {
    constexpr Source kFrom = decltype(comes)::kFrom;
    const Place<kSize> place(length, pieces, share, k);
    if (aligned && place.left == kSize) {
      HONE_STEP
      for (int w = 0; w < Unroll; w += Words)
        body(SharedTile<Threads, Vec, Words, Fit::kWhole, kFrom>(place.start + w * kWord, Words * kWord, thread, k * Unroll + w), place.piece);
    } else {
      HONE_STEP
      for (int w = 0; w * kWord < place.left; w += kSingly) {
        const int there = place.left - w * kWord < kSingly * kWord ? place.left - w * kWord : kSingly * kWord;
        body(SharedTile<Threads, Vec, kSingly, Fit::kSingles, kFrom>(place.start + w * kWord, there, thread, k * Unroll + w), place.piece);
      }
    }
  };
  // Narrow words of several threads share four bytes, which is as finely as the emulator tells who reads and who writes.
  if constexpr (Number == 0 && Vec < 4) __syncthreads();
  // In braces: what NVIDIA's compiler takes for a branch does not begin with a pragma.
  if constexpr (Number == 0) {
    HONE_STEP
    for (int32_t k = 0; k < kept; ++k) {
      ahead.wait(kept - 1 - k);
      one(Comes<Source::kFirst>{}, k);
    }
  }
  HONE_STEP
  for (int32_t k = kept; k < mine; ++k) one(Comes<Source::kRest>{}, Number % 2 == 0 ? k : mine - 1 - (k - kept));
  if constexpr (Number > 0) {
    HONE_STEP
    for (int32_t k = 0; k < kept; ++k) {
      one(Comes<Source::kKept>{}, k);
      if constexpr (Last) ahead.template send<Threads, Vec, Unroll>(aligned, pieces, length, share, thread, k);
    }
  }
}

}  // namespace hone::gpu
