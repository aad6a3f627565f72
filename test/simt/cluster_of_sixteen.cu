/* hone
language = "cuda"
note     = "words that carry a number, into the shared memory of all sixteen"
[[launch]]
kernel = "k"
grid   = ["16 * min(B, 2)"]
block  = ["32"]
cluster = ["16"]
args   = ["x", "y", "i64:B", "i64:D"]
*/
// task: y = sum(x, axis=1) | x=f32[B,D] | B=5,D=1000
// expect: accepted
#include "hone/gpu/prim.h"
// A row to a cluster: each block tells all others what its share sums to. Two rows of words are enough: who tells of a row has heard of the one before.
__global__ void k(const float* x, float* y, long long B, long long D) {
  namespace prim = hone::prim;
  __shared__ long long mail[2][16];
  const int rank = prim::cluster_rank(), lane = threadIdx.x;
  mail[lane / 16][lane % 16] = 0;
  prim::cluster_sync();
  int number = 0;
  for (long long row = blockIdx.x / 16; row < B; row += gridDim.x / 16) {
    float sum = 0;
    for (long long i = rank * 32 + lane; i < D; i += 512) sum += x[row * D + i];
    sum = hone::wave_sum(sum);
    ++number;
    const unsigned long long word = static_cast<unsigned long long>(__float_as_uint(sum)) << 32 | static_cast<unsigned>(number);
    if (lane < 16) {
      *static_cast<volatile long long*>(prim::map_shared(&mail[number % 2][rank], lane)) = static_cast<long long>(word);
      unsigned long long got;
      do got = static_cast<unsigned long long>(*static_cast<volatile long long*>(&mail[number % 2][lane]));
      while (static_cast<int>(got) != number);
      sum = __uint_as_float(static_cast<unsigned>(got >> 32));
    } else {
      sum = 0;
    }
    sum = hone::wave_sum(sum);
    if (rank == 0 && lane == 0) y[row] = sum;
  }
  prim::cluster_sync();
}
