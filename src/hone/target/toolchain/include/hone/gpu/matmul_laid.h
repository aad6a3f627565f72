// A factor of a product written once more for the copy engine (matmul_tensor.h): neighbours in depth are neighbours in memory, each line
// begins on 16 bytes. For factors whose lines begin anywhere (2045 halves), that are read across the depth and must not be, or whose
// numbers the units do not take.
//
// A block takes a square: it reads as the factor lies, many reads on their way at once, and writes words of 16 bytes along the depth.
#pragma once
#include "hone/gpu/matmul_tensor.h"

namespace hone::gpu {

/// Lines and depths of a block's square, and its threads.
constexpr int kLaidSide = 64, kLaidThreads = 256;

/// Numbers from one line to the next.
template <class T>
HONE_DEVICE int64_t laid_step(int64_t depth) {
  constexpr int64_t kWord = 16 / sizeof(T);
  return (depth + kWord - 1) / kWord * kWord;
}
HONE_DEVICE int64_t laid_squares(int64_t lines, int64_t depth) {
  return (lines + kLaidSide - 1) / kLaidSide * ((depth + kLaidSide - 1) / kLaidSide);
}

/// Square `square` of the factor as lines of T at `laid`, which is lines x laid_step; zeros where a line's last word goes beyond the depth.
template <class T, class F>
HONE_DEVICE void lay_out(const F& factor, int64_t depth, int64_t square, T* laid) {
  // Of a row four bytes are nobody's: neighbouring rows begin on neighbouring banks, written along either side and read in words of four.
  constexpr int kWord = 16 / sizeof(T), kWords = kLaidSide / kWord, kEach = kLaidSide * kLaidSide / kLaidThreads, kBatch = 8;
  __shared__ uint32_t rows[kLaidSide][kLaidSide * sizeof(T) / 4 + 1];
  const int64_t across = (depth + kLaidSide - 1) / kLaidSide, line0 = square / across * kLaidSide, depth0 = square % across * kLaidSide;
  const int thread = static_cast<int>(threadIdx.x);
  HONE_UNROLL
  for (int b = 0; b < kEach; b += kBatch) {
    T held[kBatch] = {};
    HONE_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      const int e = (b + i) * kLaidThreads + thread, near = e % kLaidSide, far = e / kLaidSide;
      const int64_t line = line0 + (F::kAlongDepth ? far : near), deep = depth0 + (F::kAlongDepth ? near : far);
      if (line < factor.lines && deep < depth) held[i] = number<T>(factor.base[factor.line_at(line) + factor.depth_at(deep)]);
    }
    HONE_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      const int e = (b + i) * kLaidThreads + thread, near = e % kLaidSide, far = e / kLaidSide;
      reinterpret_cast<T*>(rows[F::kAlongDepth ? far : near])[F::kAlongDepth ? near : far] = held[i];
    }
  }
  __syncthreads();
  const int64_t step = laid_step<T>(depth);
  for (int w = thread; w < kLaidSide * kWords; w += kLaidThreads) {
    const int row = w / kWords, word = w % kWords;
    const int64_t line = line0 + row, deep = depth0 + word * kWord;
    if (line >= factor.lines || deep >= step) continue;
    const uint32_t* const from = rows[row] + word * 4;
    *reinterpret_cast<uint4*>(laid + line * step + deep) = make_uint4(from[0], from[1], from[2], from[3]);
  }
}

/// What lay_out has written of all batches.
template <class T>
HONE_DEVICE TensorFactor<T, true> laid_factor(const T* laid, int64_t lines, int64_t depth, int64_t batches) {
  const int64_t step = laid_step<T>(depth);
  return {laid, lines, depth, batches, step, lines * step};
}

}  // namespace hone::gpu
