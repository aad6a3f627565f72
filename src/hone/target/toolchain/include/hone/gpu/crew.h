// Crews: several blocks that work on one row and hear of each other's results on the way.
//
// A block that waits for others must be sure that they run or will. So blocks take tickets in the order in which they
// start, a crew has consecutive tickets, and no crew is larger than what the device holds at a time: the oldest crew
// always finds room, and whoever waits for it makes way in the end.
#pragma once
#include "hone/gpu/reduce.h"

namespace hone::gpu {

/// The number of this block in order of starting, the same in all its threads. `tickets` is zero before the launch,
/// `mine` in shared memory.
HONE_DEVICE int64_t take_ticket(int32_t* tickets, int32_t& mine) {
  if (threadIdx.x == 0) mine = atomicAdd(tickets, 1);
  __syncthreads();
  return mine;
}

/// What this block's first thread wrote before is there for all threads of a crew of `blocks` blocks after it. `counter`
/// is zero before the launch, and used once.
HONE_DEVICE void meet(int32_t* counter, int32_t blocks) {
  if (blocks == 1) return __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(counter, 1);
#if defined(__HIP__)
    while (__hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < blocks) __builtin_amdgcn_s_sleep(1);
#else
    while (*static_cast<volatile int32_t*>(counter) < blocks) __nanosleep(20);
#endif
    __threadfence();
  }
  __syncthreads();
}

}  // namespace hone::gpu
