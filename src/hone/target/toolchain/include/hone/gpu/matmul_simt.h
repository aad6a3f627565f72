// A block's tile of a matrix product in fp32 without matrix units, on any GPU: both factors are staged through
// shared memory, two segments of the depth in turn, and each thread sums 8 x 8 elements in registers: 64
// multiply-adds for every 64 bytes read from shared memory.
#pragma once
#include "hone/gpu/matmul.h"

namespace hone::gpu {

/// A tile of a factor on its way: in registers, then in shared memory as floats, tile[depth][line].
template <class F, int Lines, int Depth, int Threads>
struct StagedTile {
  static constexpr int V = F::V, kPitch = Lines + 4, kVectors = Lines * Depth / V, kEach = (kVectors + Threads - 1) / Threads;
  struct alignas(V * sizeof(typename F::T)) Packed {
    typename F::T e[V];
  };
  Packed held[kEach];

  HONE_DEVICE void load(const F& whole, int64_t line0, int64_t depth0, int64_t end) {
    const auto& factor = whole.of_tile(depth0, end);
    HONE_UNROLL
    for (int i = 0; i < kEach; ++i) {
      const int n = i * Threads + static_cast<int>(threadIdx.x);
      const VectorAt<F, Lines, Depth> at(n);
      const int64_t line = line0 + at.line, depth = depth0 + at.depth;
      held[i] = Packed{};
      if ((kVectors % Threads == 0 || n < kVectors) && factor.has(line) && depth < end)
        held[i] = *reinterpret_cast<const Packed*>(factor.base + factor.line_at(line) + factor.depth_at(depth));
    }
  }
  HONE_DEVICE void store(float* tile) const {
    HONE_UNROLL
    for (int i = 0; i < kEach; ++i) {
      const int n = i * Threads + static_cast<int>(threadIdx.x);
      const VectorAt<F, Lines, Depth> at(n);
      if (kVectors % Threads != 0 && n >= kVectors) continue;
      float* to = tile + at.depth * kPitch + at.line;
      float v[V];
      HONE_UNROLL
      for (int e = 0; e < V; ++e) v[e] = prim::as_float(held[i].e[e]);
      if constexpr (F::kAlongDepth || V < 4) {
        HONE_UNROLL
        for (int e = 0; e < V; ++e) to[F::kAlongDepth ? e * kPitch : e] = v[e];
      } else {
        HONE_UNROLL
        for (int e = 0; e < V; e += 4) *reinterpret_cast<float4*>(to + e) = make_float4(v[e], v[e + 1], v[e + 2], v[e + 3]);
      }
    }
  }
};

HONE_DEVICE void load_eight(float (&v)[8], const float* low, const float* high) {
  const float4 a = *reinterpret_cast<const float4*>(low), b = *reinterpret_cast<const float4*>(high);
  v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w;
  v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
}

/// epilogue(row, column, sum) for each element of the tile of Rows x Columns at (row0, column0) that the result has, with
/// Rows * Columns / 64 threads. `memory`: 4 max(2 Depth (Rows + Columns + 8), Rows Columns / 2) bytes of shared
/// memory. Sums of 256 products are added up on their own, so that the error grows with the number of such sums.
template <int Rows, int Columns, int Depth, class A, class B, class Epilogue>
HONE_DEVICE void simt_product(const A& a, const B& b, int64_t row0, int64_t column0, Segment depth, float* memory, Epilogue epilogue) {
  constexpr int kThreads = Rows * Columns / 64, kTilesASum = 256 / Depth;
  using TileA = StagedTile<A, Rows, Depth, kThreads>;
  using TileB = StagedTile<B, Columns, Depth, kThreads>;
  constexpr int kStage = Depth * (TileA::kPitch + TileB::kPitch), kOfA = Depth * TileA::kPitch;
  // A wave is eight threads across, more where there are few rows. A thread's rows are four from `row` and four from
  // there plus Rows / 2; columns alike.
  constexpr int kDown = Rows / 8 < kWave / 8 ? Rows / 8 : kWave / 8, kAcross = kWave / kDown, kWavesAcross = Columns / 8 / kAcross;
  static_assert(Columns / 8 % kAcross == 0 && Rows / 8 % kDown == 0);
  const int thread = static_cast<int>(threadIdx.x), wave = thread / kWave;
  const int column = (wave % kWavesAcross * kAcross + thread % kAcross) * 4;
  const int row = (wave / kWavesAcross * kDown + thread % kWave / kAcross) * 4;

  float sum[8][8] = {}, total[8][8] = {};
  TileA next_a;
  TileB next_b;
  const int tiles = depth.end > depth.begin ? static_cast<int>((depth.end - depth.begin + Depth - 1) / Depth) : 0;
  if (tiles > 0) {
    next_a.load(a, row0, depth.begin, depth.end);
    next_b.load(b, column0, depth.begin, depth.end);
    next_a.store(memory);
    next_b.store(memory + kOfA);
  }
  __syncthreads();
  for (int tile = 0; tile < tiles; ++tile) {
    const bool more = tile + 1 < tiles;
    if (more) {
      next_a.load(a, row0, depth.begin + (tile + 1) * static_cast<int64_t>(Depth), depth.end);
      next_b.load(b, column0, depth.begin + (tile + 1) * static_cast<int64_t>(Depth), depth.end);
    }
    const float* tile_a = memory + tile % 2 * kStage;
    const float* tile_b = tile_a + kOfA;
    HONE_UNROLL
    for (int k = 0; k < Depth; ++k) {
      float x[8], y[8];
      load_eight(x, tile_a + k * TileA::kPitch + row, tile_a + k * TileA::kPitch + Rows / 2 + row);
      load_eight(y, tile_b + k * TileB::kPitch + column, tile_b + k * TileB::kPitch + Columns / 2 + column);
      HONE_UNROLL
      for (int i = 0; i < 8; ++i)
        HONE_UNROLL
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    if ((tile + 1) % kTilesASum == 0 || !more) {
      HONE_UNROLL
      for (int i = 0; i < 8; ++i)
        HONE_UNROLL
        for (int j = 0; j < 8; ++j) total[i][j] += sum[i][j], sum[i][j] = 0;
    }
    if (more) {
      float* to = memory + (tile + 1) % 2 * kStage;
      next_a.store(to);
      next_b.store(to + kOfA);
    }
    __syncthreads();
  }
  // Through shared memory, so that neighbouring threads hand over neighbouring columns.
  HONE_UNROLL
  for (int half = 0; half < 2; ++half) {
    HONE_UNROLL
    for (int i = 0; i < 4; ++i)
      HONE_UNROLL
      for (int j = 0; j < 8; j += 4) {
        const float* from = total[half * 4 + i] + j;
        float* to = memory + (row + i) * Columns + column + j / 4 * (Columns / 2);
        *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
      }
    __syncthreads();
    hand_over<Rows / 2, Columns, Columns, kThreads>(memory, row0 + half * (Rows / 2), column0, a.lines, b.lines, epilogue);
    __syncthreads();
  }
}

}  // namespace hone::gpu
