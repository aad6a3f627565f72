// A block's tile of a matrix product on NVIDIA's matrix units (mma.sync, sm_80 and later), with the accuracy of fp32
// where the factors are split.
//
// The units take factors of 11 (TF32) or 8 (bf16) significant bits, multiply exactly and cut the sum after each step.
// So a float is written as a sum of such parts, high = round(x), low = round(x - high), …, the products of parts that
// matter are summed, smallest first, and what the units have summed over a stretch of DEPTH goes to sums kept by
// ordinary additions, which round. In units of 2^-24 of the products' magnitudes:
//   Tf32<2>  3 products, what is left out is below 2^-22: at most about 8
//   Bf16<3>  6 products, what is left out is below 2^-24: at most about 2
//   Tf32<1>, Bf16<1>  one product, 2^-11 and 2^-8: for tasks that allow it
//   Stored16<T>  factors that are bf16 or f16 in memory: exact
// An infinite factor gives NaN where it is split.
#pragma once
#include "hone/gpu/matmul.h"
#include "hone/gpu/prim.h"

namespace hone::gpu {

/// A tile of a factor in shared memory as it lies in memory, rows padded so that a warp's reads of a fragment of PAIR
/// neighbours in depth meet no bank twice.
template <class T_, int LINES, int DEPTH, bool ALONG_DEPTH, int PAIR>
struct SharedTile {
  using T = T_;
  static constexpr bool kAlongDepth = ALONG_DEPTH;
  static constexpr int kPad = sizeof(T) == 2 || ALONG_DEPTH == (PAIR == 2) ? 8 : 4;
  static constexpr int kPitch = (ALONG_DEPTH ? DEPTH : LINES) + kPad;
  static constexpr int kElements = kPitch * (ALONG_DEPTH ? LINES : DEPTH);
  T* data;
  HONE_DEVICE T* at(int line, int depth) const { return data + (ALONG_DEPTH ? line * kPitch + depth : depth * kPitch + line); }

  /// All threads of the block: the tile at (line0, depth0), zeros where the factor has nothing.
  template <int THREADS, class F>
  HONE_DEVICE void fill(prim::AsyncCopies& copies, const F& factor, int64_t line0, int64_t depth0, int64_t end) const {
    constexpr int kVectors = LINES * DEPTH / F::V, kBytes = F::V * static_cast<int>(sizeof(T));
    constexpr int kEach = (kVectors + THREADS - 1) / THREADS;
#pragma unroll(kEach < 8 ? kEach : 4)
    for (int i = 0; i < kEach; ++i) {
      const int n = i * THREADS + static_cast<int>(threadIdx.x);
      if (kVectors % THREADS != 0 && n >= kVectors) break;
      const VectorAt<F, LINES, DEPTH> here(n);
      const int64_t line = line0 + here.line, depth = depth0 + here.depth;
      const bool inside = line < factor.lines && depth < end;
      const T* from = inside ? factor.base + factor.line_at(line) + factor.depth_at(depth) : factor.base;
      if constexpr (kBytes >= 4) copies.copy<kBytes>(at(here.line, here.depth), from, inside);
      else *at(here.line, here.depth) = inside ? *from : T(0.0f);
    }
  }
};

// How numbers reach the matrix units. load() takes 16 lines x kDepth of a tile to parts[part][half of the lines + 2 *
// half of the depth], which is how the left factor's fragment is laid out, and that of two of the right one.

/// Floats as sums of PARTS TF32 numbers.
template <int PARTS>
struct Tf32 {
  using T = float;
  static constexpr int kDepth = 8, kParts = PARTS, kPair = 1;

  template <class Tile>
  HONE_DEVICE static void load(const Tile& tile, int line0, int depth0, uint32_t (&parts)[PARTS][4]) {
    uint32_t x[4];
    const int in_warp = lane();
    if constexpr (Tile::kAlongDepth) {
      prim::ldmatrix(x, tile.at(line0 + in_warp / 8 % 2 * 8 + in_warp % 8, depth0 + in_warp / 16 * 4));
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = __float_as_uint(*tile.at(line0 + i % 2 * 8 + in_warp / 4, depth0 + i / 2 * 4 + in_warp % 4));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float v = __uint_as_float(x[i]);
      parts[0][i] = prim::to_tf32(v);
      if constexpr (PARTS == 2) parts[1][i] = prim::to_tf32(v - __uint_as_float(parts[0][i]));
    }
  }
  HONE_DEVICE static void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) { prim::mma_tf32(c, a, b0, b1); }
};

/// Two floats rounded to bf16, the first in the low half.
HONE_DEVICE uint32_t bf16_pair(float first, float second) {
#if defined(HONE_SIMT_WAVE)
  return __bfloat16_as_ushort(__float2bfloat16_rn(first)) | static_cast<uint32_t>(__bfloat16_as_ushort(__float2bfloat16_rn(second))) << 16;
#else
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const uint32_t*>(&pair);
#endif
}

/// Floats as sums of PARTS bf16 numbers.
template <int PARTS>
struct Bf16 {
  using T = float;
  static constexpr int kDepth = 16, kParts = PARTS, kPair = 2;

  template <class Tile>
  HONE_DEVICE static void load(const Tile& tile, int line0, int depth0, uint32_t (&parts)[PARTS][4]) {
    const int in_warp = lane();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* from = tile.at(line0 + i % 2 * 8 + in_warp / 4, depth0 + i / 2 * 8 + in_warp % 4 * 2);
      float first, second;
      if constexpr (Tile::kAlongDepth) {
        const float2 both = *reinterpret_cast<const float2*>(from);
        first = both.x, second = both.y;
      } else {
        first = from[0], second = from[Tile::kPitch];
      }
#pragma unroll
      for (int part = 0; part < PARTS; ++part) {
        const uint32_t pair = bf16_pair(first, second);
        parts[part][i] = pair;
        first -= __uint_as_float(pair << 16);
        second -= __uint_as_float(pair & 0xffff0000u);
      }
    }
  }
  HONE_DEVICE static void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) { prim::mma_bf16(c, a, b0, b1); }
};

/// bf16 or f16 as they are.
template <class T_>
struct Stored16 {
  using T = T_;
  static constexpr int kDepth = 16, kParts = 1, kPair = 2;

  template <class Tile>
  HONE_DEVICE static void load(const Tile& tile, int line0, int depth0, uint32_t (&parts)[1][4]) {
    const int in_warp = lane();
    if constexpr (Tile::kAlongDepth)
      prim::ldmatrix(parts[0], tile.at(line0 + in_warp / 8 % 2 * 8 + in_warp % 8, depth0 + in_warp / 16 * 8));
    else
      prim::ldmatrix_transposed(parts[0], tile.at(line0 + in_warp / 8 % 2 * 8, depth0 + in_warp / 16 * 8 + in_warp % 8));
  }
  HONE_DEVICE static void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    mma_of(static_cast<const T*>(nullptr), c, a, b0, b1);
  }

 private:
  HONE_DEVICE static void mma_of(const bf16*, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) { prim::mma_bf16(c, a, b0, b1); }
  HONE_DEVICE static void mma_of(const f16*, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) { prim::mma_f16(c, a, b0, b1); }
};

/// The products of parts that matter, smallest first: the left factor's part and the right one's.
template <int PARTS>
struct Products {
  static constexpr int kCount = PARTS * (PARTS + 1) / 2;
  HONE_DEVICE static constexpr int left(int i) { return PARTS == 1 ? 0 : PARTS == 2 ? (i == 0) : i == 0 ? 2 : i == 1 || i == 3; }
  HONE_DEVICE static constexpr int right(int i) { return PARTS == 1 ? 0 : PARTS == 2 ? (i == 1) : i == 2 ? 2 : i == 1 || i == 4; }
};

/// sink(row, column, sum) for each element of the tile of ROWS x COLUMNS at (row0, column0) that the result has, with a
/// warp for each WARP_ROWS x WARP_COLUMNS. `memory`: STAGES tiles of both factors, or ROWS (COLUMNS + 8) floats where
/// that is more, on a boundary of 16 bytes.
template <class Math, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int WARP_COLUMNS, int STAGES, class A, class B, class Sink>
HONE_DEVICE void mma_product(const A& a, const B& b, int64_t row0, int64_t column0, Stretch depth, void* memory, Sink sink) {
  using T = typename Math::T;
  using TileA = SharedTile<T, ROWS, DEPTH, A::kAlongDepth, Math::kPair>;
  using TileB = SharedTile<T, COLUMNS, DEPTH, B::kAlongDepth, Math::kPair>;
  constexpr int kAcross = COLUMNS / WARP_COLUMNS, kThreads = ROWS / WARP_ROWS * kAcross * 32;
  constexpr int kDown = WARP_ROWS / 16, kTiles = WARP_COLUMNS / 8, kParts = Math::kParts, kStage = TileA::kElements + TileB::kElements;
  static_assert(WARP_ROWS % 16 == 0 && WARP_COLUMNS % 16 == 0 && DEPTH % Math::kDepth == 0);
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  const int row = warp / kAcross * WARP_ROWS, column = warp % kAcross * WARP_COLUMNS;

  const auto tile_a = [&](int stage) { return TileA{static_cast<T*>(memory) + stage * kStage}; };
  const auto tile_b = [&](int stage) { return TileB{static_cast<T*>(memory) + stage * kStage + TileA::kElements}; };
  prim::AsyncCopies copies;
  const int tiles = depth.end > depth.begin ? static_cast<int>((depth.end - depth.begin + DEPTH - 1) / DEPTH) : 0;
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      const int64_t from = depth.begin + tile * static_cast<int64_t>(DEPTH);
      tile_a(tile % STAGES).template fill<kThreads>(copies, a, row0, from, depth.end);
      tile_b(tile % STAGES).template fill<kThreads>(copies, b, column0, from, depth.end);
    }
    copies.commit();
  };

  float total[kDown][kTiles][4] = {};
#pragma unroll
  for (int tile = 0; tile < STAGES - 1; ++tile) fetch(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    copies.template wait<STAGES - 2>();
    __syncthreads();  // the tile is there, and nobody reads any more where the next one goes
    fetch(tile + STAGES - 1);
    const TileA of_a = tile_a(tile % STAGES);
    const TileB of_b = tile_b(tile % STAGES);
    float sum[kDown][kTiles][4] = {};
#pragma unroll
    for (int k = 0; k < DEPTH; k += Math::kDepth) {
      uint32_t right[kTiles / 2][kParts][4];
#pragma unroll
      for (int j = 0; j < kTiles / 2; ++j) Math::load(of_b, column + 16 * j, k, right[j]);
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
        uint32_t left[kParts][4];
        Math::load(of_a, row + 16 * i, k, left);
#pragma unroll
        for (int p = 0; p < Products<kParts>::kCount; ++p)
#pragma unroll
          for (int j = 0; j < kTiles; ++j) {
            const auto& of_right = right[j / 2][Products<kParts>::right(p)];
            Math::mma(sum[i][j], left[Products<kParts>::left(p)], of_right[j % 2], of_right[2 + j % 2]);
          }
      }
    }
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kTiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) total[i][j][e] += sum[i][j][e];
  }
  copies.template wait<0>();
  __syncthreads();
  // Through shared memory, so that neighbouring threads hand over neighbouring columns.
  constexpr int kPitch = COLUMNS + 8;
  float* out = static_cast<float*>(memory);
#pragma unroll
  for (int i = 0; i < kDown; ++i)
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
#pragma unroll
      for (int e = 0; e < 4; e += 2)
        *reinterpret_cast<float2*>(out + (row + 16 * i + in_warp / 4 + e / 2 * 8) * kPitch + column + 8 * j + in_warp % 4 * 2) =
            make_float2(total[i][j][e], total[i][j][e + 1]);
  __syncthreads();
  for (int n = static_cast<int>(threadIdx.x); n < ROWS * COLUMNS; n += kThreads) {
    const int64_t r = row0 + n / COLUMNS, c = column0 + n % COLUMNS;
    if (r < a.lines && c < b.lines) sink(r, c, out[n / COLUMNS * kPitch + n % COLUMNS]);
  }
}

}  // namespace hone::gpu
