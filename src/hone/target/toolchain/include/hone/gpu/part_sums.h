// Sums of parts of a product's depth, which another launch adds up: what the epilogue of finish_turns.h makes of them.
#pragma once
#include "hone/gpu/finish_turns.h"

namespace hone::gpu {

/// Lines of `columns` sums each, one line after the other from a boundary of 16 bytes on.
struct PartSums {
  struct Nothing {};   ///< what is read besides
  float* at;
  int64_t columns;
  HONE_DEVICE bool on_words(int64_t line, int64_t column) const { return (line * columns + column) % 4 == 0; }
  HONE_DEVICE void write(int64_t line, int64_t column, float sum) const { at[line * columns + column] = sum; }
  template <Boundary At>
  HONE_DEVICE void write(int64_t line, int64_t column, const float (&sums)[kMany]) const {
    float* const to = at + line * columns + column;
    if (At == Boundary::kWord) {
      HONE_UNROLL
      for (int i = 0; i < kMany; i += 4) *reinterpret_cast<Words<float, 4>*>(to + i) = Words<float, 4>{{sums[i], sums[i + 1], sums[i + 2], sums[i + 3]}};
    } else {
      HONE_UNROLL
      for (int i = 0; i < kMany; ++i) to[i] = sums[i];
    }
  }
};

}  // namespace hone::gpu
