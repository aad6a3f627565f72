// The epilogue of products whose sums a warp brings to shared memory: 16 rows of 64 columns at a time, so that neighbouring threads have words
// beside each other. What else it reads (a residual, a bias) is asked for a turn ahead: while a warp finishes one, the next is on its way.
#pragma once
#include "hone/gpu/words.h"

namespace hone::gpu {

/// Columns that a warp has in shared memory at a time on their way to the epilogue, its bytes there, and columns that a thread hands over at once.
constexpr int kPiece = 64, kPieceBytes = 16 * kPiece * 4, kMany = 8;

/// Said to a function as an argument, for it to be a constant there.
template <Boundary At>
struct Moved {
  static constexpr Boundary kBoundary = At;
};

/// What else is read of a turn of a piece: Ahead times four rows of kPiece columns.
template <class Given, int Ahead>
struct TurnReads {
  bool words = false;   ///< all that is moved stands on boundaries of words, and has been read in them
  Given given[Ahead];
};

/// Of a piece of `rows` (16 at most) x `columns` that are wanted, what the rest of the computation reads of turn `turn`, on its way; eight threads
/// a row. on_words(row, column): whether what is moved there stands on boundaries of words; reads(Moved, row, column) of kMany elements.
template <int Ahead, class OnWords, class Reads>
HONE_DEVICE auto read_turn(int rows, int64_t columns, int turn, OnWords on_words, Reads reads) {
  TurnReads<decltype(reads(Moved<Boundary::kWord>(), 0, 0)), Ahead> read;
  const int c = lane() % 8 * kMany, first = lane() / 8 + 4 * Ahead * turn;
  if (rows <= 0 || columns - c < kMany) return read;
  const auto row = [&](int a) { return first + 4 * a < rows ? first + 4 * a : rows - 1; };
  bool words = true;
  HONE_UNROLL
  for (int a = 0; a < Ahead; ++a) words = words && on_words(row(a), c);
  if (words) {
    HONE_UNROLL
    for (int a = 0; a < Ahead; ++a) read.given[a] = reads(Moved<Boundary::kWord>(), row(a), c);
  }
  read.words = words;
  return read;
}

/// A warp finishes that turn of a piece that lies at at(part, row, column) in shared memory: many(Moved, row, column, Each times kMany sums,
/// what was read), or one(row, column, Each sums) where the columns end.
template <class Sum, int Each, class Given, int Ahead, class At, class Reads, class One, class ManyBesides>
HONE_DEVICE void finish_turn(int rows, int64_t columns, int turn, const TurnReads<Given, Ahead>& read, At at, Reads reads, One one, ManyBesides many) {
  const int c = lane() % 8 * kMany, first = lane() / 8 + 4 * Ahead * turn;
  const int64_t left_over = columns - c;
  const auto in_words = [&](auto moved, auto given_of) {
    HONE_UNROLL
    for (int a = 0; a < Ahead; ++a) {
      const int r = first + 4 * a;
      Sum sums[Each][kMany];
      HONE_UNROLL
      for (int e = 0; e < Each * kMany; e += 4) {
        const auto four = *reinterpret_cast<const Words<Sum, 4>*>(at(e / kMany, r, c) + e % kMany);
        HONE_UNROLL
        for (int i = 0; i < 4; ++i) sums[e / kMany][e % kMany + i] = four[i];
      }
      if (r < rows) many(moved, r, c, sums, given_of(a, r));
    }
  };
  if (read.words) {
    in_words(Moved<Boundary::kWord>(), [&](int a, int) -> const Given& { return read.given[a]; });
  } else if (left_over >= kMany) {
    in_words(Moved<Boundary::kAsk>(), [&](int, int r) { return reads(Moved<Boundary::kAsk>(), r, c); });
  } else {
    HONE_UNROLL_BY(1)
    for (int r = first; r < rows && r < first + 4 * Ahead; r += 4)
      HONE_UNROLL_BY(1)
      for (int e = 0; e < left_over; ++e) {
        Sum sum[Each];
        HONE_UNROLL
        for (int part = 0; part < Each; ++part) sum[part] = at(part, r, c)[e];
        one(r, c + e, sum);
      }
  }
}

}  // namespace hone::gpu
