// CUDA's and HIP's language for kernels on the emulator: qualifiers, where a thread is, barriers, warp
// collectives, atomics, fences. What a name means is the vendor's programming guide's; where the guide leaves
// something undefined, the emulator reports it. Included before a kernel's source by the toolchain, which
// defines HONE_SIMT_WAVE. No state of its own.
#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#define __global__ __attribute__((noinline, used))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
// Used: what looks constant to the compiler is another thread's to change.
#define __shared__ static __attribute__((section(".bss.hone_shared"), used))
#define __constant__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__ __restrict
#define __builtin_align__(n) __attribute__((aligned(n)))

#define HONE_SIMT_CALL extern "C" __attribute__((visibility("hidden")))

struct HoneIndex {
  uint32_t x, y, z;
};
HONE_SIMT_CALL HoneIndex hone_simt_thread() __attribute__((const));
HONE_SIMT_CALL HoneIndex hone_simt_block() __attribute__((const));
HONE_SIMT_CALL HoneIndex hone_simt_dims(int grid) __attribute__((const));
HONE_SIMT_CALL int hone_simt_lane() __attribute__((const));
HONE_SIMT_CALL uint64_t hone_simt_clock(int line);
HONE_SIMT_CALL int hone_simt_barrier(int predicate, int line);
HONE_SIMT_CALL uint64_t hone_simt_collective(int kind, uint64_t mask, uint64_t value, int param, int width, int line);
HONE_SIMT_CALL void hone_simt_atomic(const void* p, int bytes, int write, int read);
HONE_SIMT_CALL void hone_simt_atomic_done(int changed);
HONE_SIMT_CALL void hone_simt_read_only(const void* p, int bytes);
HONE_SIMT_CALL void hone_simt_for_the_block(const void* p, int bytes);
HONE_SIMT_CALL void hone_simt_fence();
HONE_SIMT_CALL void hone_simt_near_fence();
HONE_SIMT_CALL void hone_simt_pause();
HONE_SIMT_CALL void hone_simt_trap(int line);
HONE_SIMT_CALL void hone_simt_exit();
HONE_SIMT_CALL int64_t hone_simt_dynamic_bytes();
HONE_SIMT_CALL int hone_simt_cluster(int size) __attribute__((const));
HONE_SIMT_CALL void hone_simt_cluster_barrier(int wait, int line);
HONE_SIMT_CALL void* hone_simt_map_shared(const void* p, int rank);
HONE_SIMT_CALL int hone_simt_phase(int op, void* barrier, int64_t value);
HONE_SIMT_CALL void hone_simt_issue_copy(const void* to, int64_t bytes);
HONE_SIMT_CALL void hone_simt_bulk_copy(void* to, const void* from, int64_t bytes, void* barrier);
HONE_SIMT_CALL void hone_simt_launch(void* context, const uint64_t* args, int count, int extents, const int64_t* grid,
                                     void (*call)(const uint64_t*));
HONE_SIMT_CALL char hone_simt_dynamic[];

#include "hone/simt/vectors.h"

#define threadIdx (::uint3{::hone_simt_thread().x, ::hone_simt_thread().y, ::hone_simt_thread().z})
#define blockIdx (::uint3{::hone_simt_block().x, ::hone_simt_block().y, ::hone_simt_block().z})
#define blockDim (::dim3(::hone_simt_dims(0).x, ::hone_simt_dims(0).y, ::hone_simt_dims(0).z))
#define gridDim (::dim3(::hone_simt_dims(1).x, ::hone_simt_dims(1).y, ::hone_simt_dims(1).z))
#define warpSize HONE_SIMT_WAVE

// ---- barriers and fences --------------------------------------------------------------------------------------
#define HONE_LINE int line = __builtin_LINE()
inline void __syncthreads(HONE_LINE) { hone_simt_barrier(0, line); }
inline int __syncthreads_count(int p, HONE_LINE) { return hone_simt_barrier(p, line); }
inline int __syncthreads_and(int p, HONE_LINE) { return hone_simt_barrier(!p, line) == 0; }
inline int __syncthreads_or(int p, HONE_LINE) { return hone_simt_barrier(p, line) != 0; }
inline void __threadfence() { hone_simt_fence(); }
inline void __threadfence_system() { hone_simt_fence(); }
inline void __nanosleep(unsigned) { hone_simt_pause(); }
inline long long clock64(HONE_LINE) { return static_cast<long long>(hone_simt_clock(line)); }
#define __trap() hone_simt_trap(__builtin_LINE())
#undef assert
#define assert(condition) ((condition) ? (void)0 : hone_simt_trap(__builtin_LINE()))

namespace hone::simt {

/// As schedule.h numbers them.
enum Op { kShuffle, kShuffleUp, kShuffleDown, kShuffleXor, kBallot, kMatchAny, kMatchAll, kSync, kActive,
          kAdd, kMinS, kMaxS, kMinU, kMaxU, kAnd, kOr, kXor, kMatrix };

using Mask = std::conditional_t<HONE_SIMT_WAVE == 64, unsigned long long, unsigned>;
constexpr uint64_t kAllLanes = HONE_SIMT_WAVE == 64 ? ~uint64_t{0} : 0xffffffffu;

template <class T>
inline uint64_t to_word(const T& v) {
  static_assert(sizeof(T) <= 8, "warp collectives take values of up to eight bytes");
  uint64_t w = 0;
  __builtin_memcpy(&w, &v, sizeof v);
  return w;
}
template <class T>
inline T from_word(uint64_t w) {
  T v;
  __builtin_memcpy(&v, &w, sizeof v);
  return v;
}
template <class T>
inline T shuffle(Op op, uint64_t mask, const T& v, int param, int width, int line) {
  return from_word<T>(hone_simt_collective(op, mask, to_word(v), param, width, line));
}

}  // namespace hone::simt

// ---- warp collectives -----------------------------------------------------------------------------------------
template <class M, class T>
inline T __shfl_sync(M mask, T v, int lane, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffle, mask, v, lane, width, line); }
template <class M, class T>
inline T __shfl_up_sync(M mask, T v, unsigned delta, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffleUp, mask, v, static_cast<int>(delta), width, line); }
template <class M, class T>
inline T __shfl_down_sync(M mask, T v, unsigned delta, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffleDown, mask, v, static_cast<int>(delta), width, line); }
template <class M, class T>
inline T __shfl_xor_sync(M mask, T v, int lanes, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffleXor, mask, v, lanes, width, line); }

template <class M>
inline hone::simt::Mask __ballot_sync(M mask, int p, HONE_LINE) { return static_cast<hone::simt::Mask>(hone_simt_collective(hone::simt::kBallot, mask, p != 0, 0, 1, line)); }
template <class M>
inline int __any_sync(M mask, int p, HONE_LINE) { return hone_simt_collective(hone::simt::kBallot, mask, p != 0, 0, 1, line) != 0; }
template <class M>
inline int __all_sync(M mask, int p, HONE_LINE) { return hone_simt_collective(hone::simt::kBallot, mask, p == 0, 0, 1, line) == 0; }
template <class M, class T>
inline hone::simt::Mask __match_any_sync(M mask, T v, HONE_LINE) { return static_cast<hone::simt::Mask>(hone_simt_collective(hone::simt::kMatchAny, mask, hone::simt::to_word(v), 0, 1, line)); }
template <class M, class T>
inline hone::simt::Mask __match_all_sync(M mask, T v, int* same, HONE_LINE) {
  const uint64_t all = hone_simt_collective(hone::simt::kMatchAll, mask, hone::simt::to_word(v), 0, 1, line);
  *same = all != 0;
  return static_cast<hone::simt::Mask>(all);
}
#define HONE_REDUCE(NAME, T, OP) \
  template <class M> \
  inline T NAME(M mask, T v, HONE_LINE) { return static_cast<T>(hone_simt_collective(hone::simt::OP, mask, static_cast<uint32_t>(v), 0, 1, line)); }
HONE_REDUCE(__reduce_add_sync, unsigned, kAdd)
HONE_REDUCE(__reduce_add_sync, int, kAdd)
HONE_REDUCE(__reduce_min_sync, unsigned, kMinU)
HONE_REDUCE(__reduce_min_sync, int, kMinS)
HONE_REDUCE(__reduce_max_sync, unsigned, kMaxU)
HONE_REDUCE(__reduce_max_sync, int, kMaxS)
HONE_REDUCE(__reduce_and_sync, unsigned, kAnd)
HONE_REDUCE(__reduce_or_sync, unsigned, kOr)
HONE_REDUCE(__reduce_xor_sync, unsigned, kXor)
#undef HONE_REDUCE

inline void __syncwarp(uint64_t mask = hone::simt::kAllLanes, HONE_LINE) { hone_simt_collective(hone::simt::kSync, mask, 0, 0, 1, line); }
inline hone::simt::Mask __activemask(HONE_LINE) { return static_cast<hone::simt::Mask>(hone_simt_collective(hone::simt::kActive, 0, 0, 0, 1, line)); }

#if HONE_SIMT_WAVE == 64
// HIP's collectives of old take whoever is there.
template <class T>
inline T __shfl(T v, int lane, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffle, 0, v, lane, width, line); }
template <class T>
inline T __shfl_up(T v, unsigned delta, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffleUp, 0, v, static_cast<int>(delta), width, line); }
template <class T>
inline T __shfl_down(T v, unsigned delta, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffleDown, 0, v, static_cast<int>(delta), width, line); }
template <class T>
inline T __shfl_xor(T v, int lanes, int width = warpSize, HONE_LINE) { return hone::simt::shuffle(hone::simt::kShuffleXor, 0, v, lanes, width, line); }
inline unsigned long long __ballot(int p, HONE_LINE) { return hone_simt_collective(hone::simt::kBallot, 0, p != 0, 0, 1, line); }
inline int __any(int p, HONE_LINE) { return hone_simt_collective(hone::simt::kBallot, 0, p != 0, 0, 1, line) != 0; }
inline int __all(int p, HONE_LINE) { return hone_simt_collective(hone::simt::kBallot, 0, p == 0, 0, 1, line) == 0; }
/// A wave runs in step: what orders its memory also waits for its lanes.
inline void __threadfence_block(HONE_LINE) { hone_simt_collective(hone::simt::kSync, 0, 0, 0, 1, line); hone_simt_near_fence(); }
inline int __lane_id() { return hone_simt_lane(); }
#else
inline void __threadfence_block() { hone_simt_near_fence(); }
#endif

#include "hone/simt/atomics.h"
