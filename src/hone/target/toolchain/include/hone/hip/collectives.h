// Shuffles, votes, matches and reductions of a wave of 64, and barriers that count. The forms with a mask take it as
// CUDA does; lanes that are not there have no part in either form. Values of up to eight bytes, or their multiples of four.
#pragma once

HONE_HIP int __lane_id() { return static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))); }

namespace hone::hip {

/// Lane `from`'s value.
template <class T>
HONE_HIP T from_lane(T v, int from) {
  static_assert(sizeof(T) <= 8 || sizeof(T) % 4 == 0, "wave collectives take values of whole words");
  constexpr int kWords = (sizeof(T) + 3) / 4;
  int words[kWords] = {};
  __builtin_memcpy(words, &v, sizeof v);
  for (int i = 0; i < kWords; ++i) words[i] = __builtin_amdgcn_ds_bpermute(from * 4, words[i]);
  __builtin_memcpy(&v, words, sizeof v);
  return v;
}
/// The value of a lane that is the same for all that ask.
template <class T>
HONE_HIP T of_lane(T v, int lane) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  int words[kWords] = {};
  __builtin_memcpy(words, &v, sizeof v);
  for (int i = 0; i < kWords; ++i) words[i] = __builtin_amdgcn_readlane(words[i], lane);
  __builtin_memcpy(&v, words, sizeof v);
  return v;
}

/// Folds the values of the lanes in `mask`, in the order of the lanes.
template <class T, class Fold>
HONE_HIP T fold(uint64_t mask, T v, Fold fold_two) {
  T all = of_lane(v, __builtin_ctzll(mask));
  for (uint64_t rest = mask & (mask - 1); rest; rest &= rest - 1) all = fold_two(all, of_lane(v, __builtin_ctzll(rest)));
  return all;
}

}  // namespace hone::hip

template <class T>
HONE_HIP T __shfl(T v, int lane, int width = warpSize) {
  const int own = __lane_id();
  return hone::hip::from_lane(v, (own & ~(width - 1)) | (lane & (width - 1)));
}
template <class T>
HONE_HIP T __shfl_up(T v, unsigned delta, int width = warpSize) {
  const int own = __lane_id(), from = own - static_cast<int>(delta);
  return hone::hip::from_lane(v, from < (own & ~(width - 1)) ? own : from);
}
template <class T>
HONE_HIP T __shfl_down(T v, unsigned delta, int width = warpSize) {
  const int own = __lane_id(), from = own + static_cast<int>(delta);
  return hone::hip::from_lane(v, from >= (own & ~(width - 1)) + width ? own : from);
}
template <class T>
HONE_HIP T __shfl_xor(T v, int lanes, int width = warpSize) {
  const int own = __lane_id(), from = own ^ lanes;
  return hone::hip::from_lane(v, from >= (own & ~(width - 1)) + width ? own : from);
}
HONE_HIP unsigned long long __ballot(int p) { return __builtin_amdgcn_ballot_w64(p != 0); }
HONE_HIP int __any(int p) { return __ballot(p) != 0; }
HONE_HIP int __all(int p) { return __ballot(p == 0) == 0; }
HONE_HIP unsigned long long __activemask() { return __ballot(1); }

template <class M, class T>
HONE_HIP T __shfl_sync(M, T v, int lane, int width = warpSize) { return __shfl(v, lane, width); }
template <class M, class T>
HONE_HIP T __shfl_up_sync(M, T v, unsigned delta, int width = warpSize) { return __shfl_up(v, delta, width); }
template <class M, class T>
HONE_HIP T __shfl_down_sync(M, T v, unsigned delta, int width = warpSize) { return __shfl_down(v, delta, width); }
template <class M, class T>
HONE_HIP T __shfl_xor_sync(M, T v, int lanes, int width = warpSize) { return __shfl_xor(v, lanes, width); }
template <class M>
HONE_HIP unsigned long long __ballot_sync(M mask, int p) { return __ballot(p) & mask; }
template <class M>
HONE_HIP int __any_sync(M mask, int p) { return (__ballot(p) & mask) != 0; }
template <class M>
HONE_HIP int __all_sync(M mask, int p) { return (__ballot(p == 0) & mask) == 0; }
template <class M, class T>
HONE_HIP unsigned long long __match_any_sync(M mask, T v) {
  unsigned long long same = 0;
  for (uint64_t rest = mask; rest;) {
    const T first = hone::hip::of_lane(v, __builtin_ctzll(rest));
    const unsigned long long equal = __ballot(v == first) & mask;
    if (v == first) same = equal;
    rest &= ~equal;
  }
  return same;
}
template <class M, class T>
HONE_HIP unsigned long long __match_all_sync(M mask, T v, int* same) {
  *same = (__ballot(v != hone::hip::of_lane(v, __builtin_ctzll(mask))) & mask) == 0;
  return *same ? static_cast<unsigned long long>(mask) : 0;
}
#define HONE_REDUCE(NAME, T, EXPRESSION) \
  template <class M>                     \
  HONE_HIP T NAME(M mask, T v) { return hone::hip::fold(mask, v, [](T a, T b) -> T { return EXPRESSION; }); }
HONE_REDUCE(__reduce_add_sync, unsigned, a + b)
HONE_REDUCE(__reduce_add_sync, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
HONE_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
HONE_REDUCE(__reduce_min_sync, int, b < a ? b : a)
HONE_REDUCE(__reduce_max_sync, unsigned, b > a ? b : a)
HONE_REDUCE(__reduce_max_sync, int, b > a ? b : a)
HONE_REDUCE(__reduce_and_sync, unsigned, a & b)
HONE_REDUCE(__reduce_or_sync, unsigned, a | b)
HONE_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef HONE_REDUCE

HONE_HIP void __syncwarp(uint64_t = ~uint64_t{0}) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/// How many of the block's threads say yes. One word of local memory for all such barriers of a kernel.
__device__ inline int __syncthreads_count(int p) {
  static __shared__ int yes;
  const uint64_t here = __ballot(1), said = __ballot(p);
  const uint3 t = threadIdx;
  __syncthreads();
  if (t.x == 0 && t.y == 0 && t.z == 0) yes = 0;
  __syncthreads();
  if (__lane_id() == __builtin_ctzll(here)) __hip_atomic_fetch_add(&yes, __builtin_popcountll(said), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  return yes;
}
HONE_HIP int __syncthreads_or(int p) { return __syncthreads_count(p) != 0; }
HONE_HIP int __syncthreads_and(int p) { return __syncthreads_count(!p) == 0; }
