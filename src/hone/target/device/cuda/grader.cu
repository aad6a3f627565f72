/* hone
language = "cuda"
note     = "the grader's own: looks over whole outputs where they lie, and reads the clocks"
[[launch]]
kernel = "count_words"
grid   = ["1"]
block  = ["256"]
args   = ["x", "y", "i64:N", "i64:N", "i64:N", "i64:N", "i64:N"]
[[launch]]
kernel = "read_clocks"
grid   = ["1"]
block  = ["32"]
args   = ["y"]
*/
// Launched by hone's own process (card.cc), never beside a candidate; the plan above only names what there is.
#include "hone/gpu/prim_clock.h"

// Adds to *found how many of the words are poison: equal to `bits` or, where `exponent` is not 0, with all of its
// bits set (a float that is not finite).
template <class Word>
__device__ void count(const Word* words, long long n, Word bits, Word exponent, unsigned long long* found) {
  unsigned mine = 0;
  const long long step = gridDim.x * (long long)blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step)
    mine += exponent ? (words[i] & exponent) == exponent : words[i] == bits;
  mine = __reduce_add_sync(0xffffffff, mine);
  if (threadIdx.x % 32 == 0 && mine) atomicAdd(found, (unsigned long long)mine);
}

extern "C" __global__ void count_words(const void* data, unsigned long long* found, long long offset, long long n, long long width,
                                       long long bits, long long exponent) {
  const char* at = (const char*)data + offset;
  if (width == 8) count((const unsigned long long*)at, n, (unsigned long long)bits, (unsigned long long)exponent, found);
  if (width == 4) count((const unsigned*)at, n, (unsigned)bits, (unsigned)exponent, found);
  if (width == 2) count((const unsigned short*)at, n, (unsigned short)bits, (unsigned short)exponent, found);
  if (width == 1) count((const unsigned char*)at, n, (unsigned char)bits, (unsigned char)exponent, found);
}

// A multiprocessor's cycle counter beside the card's clock: ticks[2 m] and ticks[2 m + 1] (ns) for multiprocessor m, 0 where
// no block has been. Two launches give the frequency that the multiprocessors had between them.
extern "C" __global__ void read_clocks(unsigned long long* ticks) {
  if (threadIdx.x != 0) return;
  const unsigned at = hone::prim::multiprocessor();
  ticks[2 * at] = (unsigned long long)clock64();
  ticks[2 * at + 1] = hone::prim::card_ns();
}
