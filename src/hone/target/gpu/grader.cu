/* hone
language = "cuda"
note     = "the grader's own: looks over whole outputs where they lie, gathers pieces of them, reads the clocks"
[[launch]]
kernel = "count_words"
grid   = ["1"]
block  = ["256"]
args   = ["x", "y", "i64:N", "i64:N", "i64:N", "i64:N", "i64:N"]
[[launch]]
kernel = "gather_pieces"
grid   = ["1"]
block  = ["128"]
args   = ["x", "x", "y", "i64:N", "i64:N"]
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

// A block a piece: copies its words from `data` to `packed`. Of each piece the table says where it lies and where it goes
// (bytes), and how many words it has.
template <class Word>
__device__ void copy_words(const char* from, char* to, long long n) {
  for (long long i = threadIdx.x; i < n; i += blockDim.x) ((Word*)to)[i] = ((const Word*)from)[i];
}

extern "C" __global__ void gather_pieces(const char* data, const long long* table, char* packed, long long width,
                                         long long count) {
  if (blockIdx.x >= count) return;
  const long long* const piece = table + 3 * (long long)blockIdx.x;
  const char* const from = data + piece[0];
  char* const to = packed + piece[1];
  if (width == 8) copy_words<unsigned long long>(from, to, piece[2]);
  if (width == 4) copy_words<unsigned>(from, to, piece[2]);
  if (width == 2) copy_words<unsigned short>(from, to, piece[2]);
  if (width == 1) copy_words<unsigned char>(from, to, piece[2]);
}

// A multiprocessor's cycle counter beside the card's clock: ticks[2 m] and ticks[2 m + 1] (ns) for multiprocessor m, 0 where
// no block has been. Two launches give the frequency that the multiprocessors had between them.
extern "C" __global__ void read_clocks(unsigned long long* ticks) {
  if (threadIdx.x != 0) return;
  const unsigned at = hone::prim::multiprocessor();
  ticks[2 * at] = (unsigned long long)clock64();
  ticks[2 * at + 1] = hone::prim::card_ns();
}
