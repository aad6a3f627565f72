/* hone
language = "cuda"
requires = ["D >= 2"]
note     = "the neighbour's are read between coming to the barrier and waiting for it"
[[launch]]
kernel = "k"
grid   = ["4 * B"]
block  = ["64"]
cluster = ["4"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=1) | x=f32[B,D,4,64] | B=2,D=7
// expect: launch fails: a race on shared memory
#include "hone/gpu/prim.h"
// Rows go round the cluster: each block adds what its neighbour has to what it gets next.
__global__ void k(const float* x, float* y, long long D) {
  namespace prim = hone::prim;
  __shared__ float held[64];
  const int rank = prim::cluster_rank(), next = (rank + 1) % 4;
  double sum = 0;
  for (long long round = 0; round < D; ++round) {
    held[threadIdx.x] = x[((blockIdx.x / 4 * D + round) * 4 + rank) * 64 + threadIdx.x];
    prim::cluster_sync();
    prim::cluster_arrive();
    sum += prim::map_shared(held, next)[threadIdx.x];
    prim::cluster_wait();
  }
  y[(blockIdx.x / 4 * 4 + next) * 64 + threadIdx.x] = static_cast<float>(sum);
  prim::cluster_sync();
}
