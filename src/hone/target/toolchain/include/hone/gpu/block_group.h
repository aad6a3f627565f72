// Block groups: several blocks that work on one row and hear of each other's results on the way.
//
// A block that waits for others must be sure that they run or will. So blocks take tickets in the order in which they
// start, a group has consecutive tickets, and no group is larger than what the device holds at a time: the oldest group
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

HONE_DEVICE void wait_a_little() {
#if defined(__HIP__)
  __builtin_amdgcn_s_sleep(1);
#else
  __nanosleep(20);
#endif
}

/// About so many microseconds, for the whole block.
HONE_DEVICE void rest(int microseconds) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < microseconds; ++i) {
#if defined(__HIP__)
      __builtin_amdgcn_s_sleep(32);
#else
      __nanosleep(1000);
#endif
    }
  }
  __syncthreads();
}

/// What this block's first thread wrote before is there for all threads of a group of `blocks` blocks after it. `counter`
/// is zero before the launch, and used once.
HONE_DEVICE void meet(int32_t* counter, int32_t blocks) {
  if (blocks == 1) return __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(counter, 1);
#if defined(__HIP__)
    while (__hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < blocks) wait_a_little();
#else
    while (*static_cast<volatile int32_t*>(counter) < blocks) wait_a_little();
#endif
    __threadfence();
  }
  __syncthreads();
}

/// What the blocks of a group tell each other: each word of a message with the message's number beside it, as one word of
/// eight bytes, so that a message that has come is there, and nothing else has to be waited for. The words of a message
/// lie `apart` words apart, those of several blocks side by side. They are zero before the launch; the numbers of
/// messages in the same place differ, and are not 0.
constexpr int kSlotWords = 8;

HONE_DEVICE void put_word(int64_t* slot, int64_t word) {
#if defined(__HIP__)
  __hip_atomic_store(slot, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  *static_cast<volatile int64_t*>(slot) = word;
#endif
}
HONE_DEVICE int64_t look_at_word(const int64_t* slot) {
#if defined(__HIP__)
  return __hip_atomic_load(slot, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return *static_cast<const volatile int64_t*>(slot);
#endif
}

/// By one thread.
template <class A>
HONE_DEVICE void tell(int64_t* slot, int64_t apart, const A& a, int32_t number) {
  constexpr int kWords = sizeof(A) / 4;
  static_assert(sizeof(A) % 4 == 0 && kWords <= kSlotWords, "a message of at most eight words");
  uint32_t words[kWords];
  __builtin_memcpy(words, &a, sizeof a);
  HONE_UNROLL
  for (int i = 0; i < kWords; ++i)
    put_word(slot + i * apart, static_cast<int64_t>(static_cast<uint64_t>(words[i]) << 32 | static_cast<uint32_t>(number)));
}
/// Waits until it is there.
template <class A>
HONE_DEVICE A hear(const int64_t* slot, int64_t apart, int32_t number) {
  constexpr int kWords = sizeof(A) / 4;
  uint32_t words[kWords];
  for (bool all = false; !all;) {
    all = true;
    HONE_UNROLL
    for (int i = 0; i < kWords; ++i) {
      const auto word = static_cast<uint64_t>(look_at_word(slot + i * apart));
      words[i] = static_cast<uint32_t>(word >> 32);
      all = all && static_cast<int32_t>(word) == number;
    }
    if (!all) wait_a_little();
  }
  A a;
  __builtin_memcpy(&a, words, sizeof a);
  return a;
}

}  // namespace hone::gpu
