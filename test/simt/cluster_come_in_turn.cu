/* hone
language = "cuda"
requires = ["D == 64"]
note     = "written between coming and waiting, ordered by the block's barrier"
[[launch]]
kernel = "k"
grid   = ["4 * B"]
block  = ["64"]
cluster = ["4"]
args   = ["x", "y", "i64:D"]
*/
// task: y = x | x=f32[B,4,D] | B=2,D=64
// expect: accepted
#include "hone/gpu/prim.h"
// The first warp comes early and writes then; the barrier of the block puts that before what the second one comes with.
__global__ void k(const float* x, float* y, long long D) {
  namespace prim = hone::prim;
  __shared__ float held[64];
  const int rank = prim::cluster_rank(), next = (rank + 1) % 4;
  if (threadIdx.x < 32) prim::cluster_arrive();
  held[threadIdx.x] = x[blockIdx.x * D + threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= 32) prim::cluster_arrive();
  prim::cluster_wait();
  y[(blockIdx.x / 4 * 4 + next) * D + threadIdx.x] = prim::map_shared(held, next)[threadIdx.x];
  prim::cluster_sync();
}
