/* hone
language = "cuda"
note     = "atomics on another block's shared memory"
[[launch]]
kernel = "k"
grid   = ["4 * B"]
block  = ["64"]
cluster = ["4"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(where(x > 0, x * 0 + 1, x * 0), axis=1) | x=f32[B,D] | B=3,D=700
// expect: accepted
#include "hone/gpu/prim.h"
// How many of a row are positive: a counter in the shared memory of the cluster's last block.
__global__ void k(const float* x, float* y, long long D) {
  namespace prim = hone::prim;
  __shared__ int count;
  const int rank = prim::cluster_rank();
  if (threadIdx.x == 0) count = 0;
  prim::cluster_sync();
  for (long long i = rank * 64 + threadIdx.x; i < D; i += 256)
    if (x[blockIdx.x / 4 * D + i] > 0) atomicAdd(prim::map_shared(&count, 3), 1);
  prim::cluster_sync();
  if (rank == 3 && threadIdx.x == 0) y[blockIdx.x / 4] = static_cast<float>(count);
}
