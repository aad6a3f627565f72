// A block's tile of a matrix product on NVIDIA's matrix units (mma.sync, sm_80 and later), with the accuracy of fp32
// where the factors are split.
//
// The units take factors of 11 (TF32) or 8 (bf16) significant bits, multiply exactly and cut the sum after each step.
// So a float is written as a sum of such parts, high = round(x), low = round(x - high), …, the products of parts that
// matter are summed, smallest first, and what the units have summed over a short segment (kTogether of the depth: each
// cut after a large sum costs a unit, however small what is added) goes to sums kept by ordinary additions, which
// round. In units of 2^-24 of the products' magnitudes, beside what a sum in fp32 has:
//   Tf32<2>  3 products; parts and what is left out cost at most 8, the cuts 4
//   Bf16<3>  6 products; at most 2, the cuts 4
//   Tf32<1>, Bf16<1>  one product, 2^-11 and 2^-8: for tasks that allow it
//   Stored16<T>  factors that are bf16 or f16 in memory: exact
// Where factors are split, those beyond 3.4e38 (half a unit of TF32 or bf16 below the largest float) come out as NaN.
#pragma once
#include "hone/gpu/matmul.h"
#include "hone/gpu/prim.h"

namespace hone::gpu {

/// A factor that is no matrix in memory: it knows its lines and finds their elements itself, and says so (conv.h).
template <class F>
HONE_DEVICE constexpr auto is_gathered(int) -> decltype(F::kColumns, bool()) { return true; }
template <class F>
HONE_DEVICE constexpr bool is_gathered(long) { return false; }

/// Threads of the block, all of them or those that `thread` numbers: the tile of Lines x Depth at (line0, depth0), each vector to place(line,
/// depth) within the tile; zeros where the factor has nothing, and from depth `end` on. AtOnce: as many at a time as there are registers for
/// addresses.
template <class T, int Lines, int Depth, int Threads, int AtOnce, class F, class Place>
HONE_DEVICE void copy_tile(prim::AsyncCopies& copies, const F& whole, int64_t line0, int64_t depth0, int64_t end, Place place,
                           int thread = static_cast<int>(threadIdx.x)) {
  constexpr int kVectors = Lines * Depth / F::V, kBytes = F::V * static_cast<int>(sizeof(T)), kEach = (kVectors + Threads - 1) / Threads;
  const auto& factor = whole.of_tile(depth0, end);
  HONE_UNROLL_BY(kEach < 8 && AtOnce > 2 ? kEach : AtOnce)
  for (int i = 0; i < kEach; ++i) {
    const int n = i * Threads + thread;
    if (kVectors % Threads != 0 && n >= kVectors) break;
    const VectorAt<F, Lines, Depth> here(n);
    const int64_t line = line0 + here.line, depth = depth0 + here.depth;
    const bool inside = factor.has(line) && depth < end;
    const T* from = inside ? factor.base + factor.line_at(line) + factor.depth_at(depth) : factor.base;
    if constexpr (kBytes >= 4) copies.copy<kBytes>(place(here.line, here.depth), from, inside);
    else *place(here.line, here.depth) = inside ? *from : T(0.0f);
  }
}

/// A tile of a factor in shared memory as it lies in memory, rows padded so that a warp's reads of a fragment of Pair
/// neighbours in depth meet no bank twice.
template <class T_, int Lines, int Depth, bool AlongDepth, int Pair>
struct SharedTile {
  using T = T_;
  static constexpr bool kAlongDepth = AlongDepth;
  static constexpr int kPad = sizeof(T) == 2 || AlongDepth == (Pair == 2) ? 8 : 4;
  static constexpr int kPitch = (AlongDepth ? Depth : Lines) + kPad;
  static constexpr int kElements = kPitch * (AlongDepth ? Lines : Depth);
  T* data;
  HONE_DEVICE T* at(int line, int depth) const { return data + (AlongDepth ? line * kPitch + depth : depth * kPitch + line); }

  template <int Threads, class F>
  HONE_DEVICE void fill(prim::AsyncCopies& copies, const F& factor, int64_t line0, int64_t depth0, int64_t end) const {
    if constexpr (is_gathered<F>(0)) factor.template fill<Depth>(copies, *this, depth0, end);
    else  // few at a time beside three parts of each factor
      copy_tile<T, Lines, Depth, Threads, Pair == 2 && sizeof(T) == 4 ? 2 : 4>(copies, factor, line0, depth0, end,
                                                                               [this](int line, int depth) { return at(line, depth); });
  }
};

// How numbers reach the matrix units. load() takes 16 lines x kDepth of a tile to parts[part][half of the lines + 2 *
// half of the depth], which is how the left factor's fragment is laid out, and that of two of the right one.

/// Floats as sums of Parts TF32 numbers.
template <int Parts>
struct Tf32 {
  using T = float;
  static constexpr int kDepth = 8, kParts = Parts, kPair = 1, kTogether = Parts == 1 ? 32 : 16;

  /// The first part of two: to the nearest by adding half a unit. What is left has 12 bits at most, and cutting its last one, as the
  /// hardware does, is as good as rounding. NaN may leave the high part, but not the low one.
  HONE_DEVICE static uint32_t high(uint32_t x) { return (x + 0x1000u) & 0xffffe000u; }

  template <class Tile>
  HONE_DEVICE static void load(const Tile& tile, int line0, int depth0, uint32_t (&parts)[Parts][4]) {
    uint32_t x[4];
    const int in_warp = lane();
    if constexpr (Tile::kAlongDepth) {
      prim::ldmatrix(x, tile.at(line0 + in_warp / 8 % 2 * 8 + in_warp % 8, depth0 + in_warp / 16 * 4));
    } else {
      HONE_UNROLL
      for (int i = 0; i < 4; ++i) x[i] = __float_as_uint(*tile.at(line0 + i % 2 * 8 + in_warp / 4, depth0 + i / 2 * 4 + in_warp % 4));
    }
    split(x, parts);
  }
  /// Four floats as the units take them.
  HONE_DEVICE static void split(const uint32_t (&x)[4], uint32_t (&parts)[Parts][4]) {
    HONE_UNROLL
    for (int i = 0; i < 4; ++i) {
      if constexpr (Parts == 1) {
        parts[0][i] = prim::to_tf32(__uint_as_float(x[i]));
      } else {
        parts[0][i] = high(x[i]);
        parts[1][i] = __float_as_uint(__uint_as_float(x[i]) - __uint_as_float(parts[0][i]));
      }
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

/// Floats as sums of Parts bf16 numbers.
template <int Parts>
struct Bf16 {
  using T = float;
  static constexpr int kDepth = 16, kParts = Parts, kPair = 2, kTogether = Parts == 1 ? 32 : 16;

  template <class Tile>
  HONE_DEVICE static void load(const Tile& tile, int line0, int depth0, uint32_t (&parts)[Parts][4]) {
    const int in_warp = lane();
    HONE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float* from = tile.at(line0 + i % 2 * 8 + in_warp / 4, depth0 + i / 2 * 8 + in_warp % 4 * 2);
      float first, second;
      if constexpr (Tile::kAlongDepth) {
        const float2 both = *reinterpret_cast<const float2*>(from);
        first = both.x, second = both.y;
      } else {
        first = from[0], second = from[Tile::kPitch];
      }
      HONE_UNROLL
      for (int part = 0; part < Parts; ++part) {
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
  static constexpr int kDepth = 16, kParts = 1, kPair = 2, kTogether = 32;

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
  HONE_DEVICE static void mma_of(const bf16*, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    prim::mma_bf16(c, a, b0, b1);
  }
  HONE_DEVICE static void mma_of(const f16*, float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    prim::mma_f16(c, a, b0, b1);
  }
};

/// The products of parts that matter, smallest first: the left factor's part and the right one's.
template <int Parts>
struct Products {
  static constexpr int kCount = Parts * (Parts + 1) / 2;
  HONE_DEVICE static constexpr int left(int i) { return Parts == 1 ? 0 : Parts == 2 ? (i == 0) : i == 0 ? 2 : i == 1 || i == 3; }
  HONE_DEVICE static constexpr int right(int i) { return Parts == 1 ? 0 : Parts == 2 ? (i == 1) : i == 2 ? 2 : i == 1 || i == 4; }
};

/// epilogue(row, column, sum) for each element of the tile of Rows x Columns at (row0, column0) that the result has, with a
/// warp for each WarpRows x WarpColumns. `memory`: Stages tiles of both factors, or Rows (Columns + 8) floats where
/// that is more, on a boundary of 16 bytes.
template <class Math, int Rows, int Columns, int Depth, int WarpRows, int WarpColumns, int Stages, class A, class B, class Epilogue>
HONE_DEVICE void mma_product(const A& a, const B& b, int64_t row0, int64_t column0, Segment depth, void* memory, Epilogue epilogue) {
  using T = typename Math::T;
  using TileA = SharedTile<T, Rows, Depth, A::kAlongDepth, Math::kPair>;
  using TileB = SharedTile<T, Columns, Depth, B::kAlongDepth, Math::kPair>;
  constexpr int kAcross = Columns / WarpColumns, kThreads = Rows / WarpRows * kAcross * 32;
  constexpr int kDown = WarpRows / 16, kTiles = WarpColumns / 8, kParts = Math::kParts, kStage = TileA::kElements + TileB::kElements;
  constexpr int kTogether = Math::kTogether < Depth ? Math::kTogether : Depth;
  static_assert(WarpRows % 16 == 0 && WarpColumns % 16 == 0 && Depth % kTogether == 0 && kTogether % Math::kDepth == 0);
  const int warp = static_cast<int>(threadIdx.x) / 32, in_warp = lane();
  const int row = warp / kAcross * WarpRows, column = warp % kAcross * WarpColumns;

  const auto tile_a = [&](int stage) { return TileA{static_cast<T*>(memory) + stage * kStage}; };
  const auto tile_b = [&](int stage) { return TileB{static_cast<T*>(memory) + stage * kStage + TileA::kElements}; };
  prim::AsyncCopies copies;
  const int tiles = depth.end > depth.begin ? static_cast<int>((depth.end - depth.begin + Depth - 1) / Depth) : 0;
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      const int64_t from = depth.begin + tile * static_cast<int64_t>(Depth);
      tile_a(tile % Stages).template fill<kThreads>(copies, a, row0, from, depth.end);
      tile_b(tile % Stages).template fill<kThreads>(copies, b, column0, from, depth.end);
    }
    copies.commit();
  };

  float total[kDown][kTiles][4] = {};
  HONE_UNROLL
  for (int tile = 0; tile < Stages - 1; ++tile) fetch(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    copies.template wait<Stages - 2>();
    __syncthreads();  // the tile is there, and nobody reads any more where the next one goes
    fetch(tile + Stages - 1);
    const TileA of_a = tile_a(tile % Stages);
    const TileB of_b = tile_b(tile % Stages);
    HONE_UNROLL
    for (int k0 = 0; k0 < Depth; k0 += kTogether) {
      float sum[kDown][kTiles][4] = {};
      HONE_UNROLL
      for (int k = k0; k < k0 + kTogether; k += Math::kDepth) {
        uint32_t right[kTiles / 2][kParts][4];
        HONE_UNROLL
        for (int j = 0; j < kTiles / 2; ++j) Math::load(of_b, column + 16 * j, k, right[j]);
        HONE_UNROLL
        for (int i = 0; i < kDown; ++i) {
          uint32_t left[kParts][4];
          Math::load(of_a, row + 16 * i, k, left);
          HONE_UNROLL
          for (int p = 0; p < Products<kParts>::kCount; ++p)
            HONE_UNROLL
            for (int j = 0; j < kTiles; ++j) {
              const auto& of_right = right[j / 2][Products<kParts>::right(p)];
              Math::mma(sum[i][j], left[Products<kParts>::left(p)], of_right[j % 2], of_right[2 + j % 2]);
            }
        }
      }
      HONE_UNROLL
      for (int i = 0; i < kDown; ++i)
        HONE_UNROLL
        for (int j = 0; j < kTiles; ++j)
          HONE_UNROLL
          for (int e = 0; e < 4; ++e) total[i][j][e] += sum[i][j][e];
    }
  }
  copies.template wait<0>();
  __syncthreads();
  // Through shared memory, so that neighbouring threads hand over neighbouring columns.
  constexpr int kPitch = Columns + 8;
  float* out = static_cast<float*>(memory);
  HONE_UNROLL
  for (int i = 0; i < kDown; ++i)
    HONE_UNROLL
    for (int j = 0; j < kTiles; ++j)
      HONE_UNROLL
      for (int e = 0; e < 4; e += 2)
        *reinterpret_cast<float2*>(out + (row + 16 * i + in_warp / 4 + e / 2 * 8) * kPitch + column + 8 * j + in_warp % 4 * 2) =
            make_float2(total[i][j][e], total[i][j][e + 1]);
  __syncthreads();
  hand_over<Rows, Columns, kPitch, kThreads>(out, row0, column0, a.lines, b.lines, epilogue);
}

}  // namespace hone::gpu
