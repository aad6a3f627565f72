// A matrix product of many lines with a few: matrix times vector, and a little more. Bandwidth is the bound.
#pragma once
#include "hone/gpu/matmul.h"

namespace hone::gpu {

/// sink(line, other, sum) for `line` of the factor `many`, which is read along the depth, and Few lines of `few` from
/// `other0`; the sums are made by the Threads threads along x, whole waves of them, that share `line`. `memory`:
/// Threads / kWave * Few floats of shared memory for these threads alone. All threads of the block must come, also
/// where `line` is none.
template <int Threads, int Few, int Unroll, class Many, class Others, class Sink>
HONE_DEVICE void skinny_product(const Many& many, const Others& few, int64_t line, int64_t other0, int64_t depth, float* memory, Sink sink) {
  constexpr int V = Many::V, kStep = Threads * V;
  struct alignas(V * sizeof(typename Many::T)) Packed {
    typename Many::T e[V];
  };
  const int thread = static_cast<int>(threadIdx.x);
  float total[Few] = {};
  if (line < many.lines) {
    const typename Many::T* from = many.base + many.line_at(line);
    const typename Others::T* other[Few];
    HONE_UNROLL
    for (int f = 0; f < Few; ++f) other[f] = few.base + few.line_at(other0 + f < few.lines ? other0 + f : few.lines - 1);
    for (int64_t k0 = static_cast<int64_t>(thread) * V; k0 < depth; k0 += int64_t{kStep} * Unroll) {
      Packed word[Unroll];
      HONE_UNROLL
      for (int u = 0; u < Unroll; ++u)
        if (k0 + u * kStep < depth) word[u] = *reinterpret_cast<const Packed*>(from + many.depth_at(k0 + u * kStep));
      // What a turn finds is summed on its own.
      float sum[Few] = {};
      HONE_UNROLL
      for (int u = 0; u < Unroll; ++u) {
        if (k0 + u * kStep >= depth) break;
        HONE_UNROLL
        for (int e = 0; e < V; ++e) {
          const int64_t at = few.depth_at(k0 + u * kStep + e);
          HONE_UNROLL
          for (int f = 0; f < Few; ++f) sum[f] += static_cast<float>(word[u].e[e]) * static_cast<float>(other[f][at]);
        }
      }
      HONE_UNROLL
      for (int f = 0; f < Few; ++f) total[f] += sum[f];
    }
  }
  HONE_UNROLL
  for (int f = 0; f < Few; ++f) {
    total[f] = wave_sum(total[f]);
    if (lane() == 0) memory[thread / kWave * Few + f] = total[f];
  }
  __syncthreads();
  if (thread < Few && line < many.lines && other0 + thread < few.lines) {
    float sum = 0;
    for (int wave = 0; wave < Threads / kWave; ++wave) sum += memory[wave * Few + thread];
    sink(line, other0 + thread, sum);
  }
}

}  // namespace hone::gpu
