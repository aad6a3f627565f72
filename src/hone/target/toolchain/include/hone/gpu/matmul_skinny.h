// A matrix product of many lines with a few: matrix times vector, and a little more. Bandwidth is the bound.
#pragma once
#include "hone/gpu/matmul.h"

namespace hone::gpu {

/// Length neighbours in depth as floats.
template <int Length, class F>
HONE_DEVICE void read_along(float (&to)[Length], const F& factor, const typename F::T* line, int64_t depth) {
  constexpr int kWord = F::kAlongDepth && F::V < Length ? F::V : F::kAlongDepth ? Length : 1;
  struct alignas(kWord * sizeof(typename F::T)) Packed {
    typename F::T e[kWord];
  };
  HONE_UNROLL
  for (int n = 0; n < Length; n += kWord) {
    const Packed word = *reinterpret_cast<const Packed*>(line + factor.depth_at(depth + n));
    HONE_UNROLL
    for (int e = 0; e < kWord; ++e) to[n + e] = prim::as_float(word.e[e]);
  }
}

/// epilogue(line, other, sum) for Lines lines of `many` from `line0`, which is read along the depth, and Few of `few` from
/// `other0`, by a block of Threads threads, whole waves of them. A thread has Lines * Unroll words of `many` in flight,
/// and what it reads of `few` serves Lines products. `memory`: Threads / kWave * Lines * Few floats of shared memory.
template <int Threads, int Lines, int Few, int Unroll, class Many, class Others, class Epilogue>
HONE_DEVICE void skinny_product(const Many& many, const Others& few, int64_t line0, int64_t other0, int64_t depth, float* memory,
                                Epilogue epilogue) {
  constexpr int V = Many::V, kStep = Threads * V;
  const int thread = static_cast<int>(threadIdx.x);
  const typename Many::T* line[Lines];
  const typename Others::T* other[Few];
  HONE_UNROLL
  for (int l = 0; l < Lines; ++l) line[l] = many.base + many.line_at(line0 + l < many.lines ? line0 + l : many.lines - 1);
  HONE_UNROLL
  for (int f = 0; f < Few; ++f) other[f] = few.base + few.line_at(other0 + f < few.lines ? other0 + f : few.lines - 1);
  float total[Lines][Few] = {};
  for (int64_t k0 = static_cast<int64_t>(thread) * V; k0 < depth; k0 += int64_t{kStep} * Unroll) {
    float word[Unroll][Lines][V];
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u)
      HONE_UNROLL
      for (int l = 0; l < Lines; ++l)
        if (k0 + u * kStep < depth) read_along<V>(word[u][l], many, line[l], k0 + u * kStep);
    // What a turn finds is summed on its own.
    float sum[Lines][Few] = {};
    HONE_UNROLL
    for (int u = 0; u < Unroll; ++u)
      if (k0 + u * kStep < depth) {
        HONE_UNROLL
        for (int f = 0; f < Few; ++f) {
          float x[V];
          read_along<V>(x, few, other[f], k0 + u * kStep);
          HONE_UNROLL
          for (int l = 0; l < Lines; ++l)
            HONE_UNROLL
            for (int e = 0; e < V; ++e) sum[l][f] += word[u][l][e] * x[e];
        }
      }
    HONE_UNROLL
    for (int l = 0; l < Lines; ++l)
      HONE_UNROLL
      for (int f = 0; f < Few; ++f) total[l][f] += sum[l][f];
  }
  HONE_UNROLL
  for (int l = 0; l < Lines; ++l)
    HONE_UNROLL
    for (int f = 0; f < Few; ++f) {
      const float sum = wave_sum(total[l][f]);
      if (lane() == 0) memory[(thread / kWave * Lines + l) * Few + f] = sum;
    }
  __syncthreads();
  const int l = thread / Few, f = thread % Few;
  if (thread < Lines * Few && line0 + l < many.lines && other0 + f < few.lines) {
    float sum = 0;
    for (int wave = 0; wave < Threads / kWave; ++wave) sum += memory[(wave * Lines + l) * Few + f];
    epilogue(line0 + l, other0 + f, sum);
  }
}

}  // namespace hone::gpu
