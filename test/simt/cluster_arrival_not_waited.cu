/* hone
language = "cuda"
note     = "nobody waits for the other block"
[[launch]]
kernel = "k"
grid   = ["2 * B"]
block  = ["64"]
cluster = ["2"]
args   = ["x", "y"]
*/
// task: y = sum(x, axis=1) | x=f32[B,2,64] | B=3
// expect: launch fails: a race on shared memory
#include "hone/gpu/prim.h"
// The first block writes its rows one after the other into the second one's memory, the next when that one has read.
__global__ void k(const float* x, float* y) {
  namespace prim = hone::prim;
  __shared__ float shown[64];
  __shared__ prim::PhaseBarrier read;
  if (threadIdx.x == 0) read.init(64);
  prim::cluster_sync();
  const int rank = prim::cluster_rank();
  const float* row = x + blockIdx.x / 2 * 128 + threadIdx.x;
  float* const there = prim::map_shared(&shown[threadIdx.x], 1);
  if (rank == 0) *there = row[0];
  prim::cluster_sync();
  double sum = 0;
  if (rank == 1) {
    sum = shown[threadIdx.x];
    read.arrive_at(0);
  } else {
    *there = row[64];
  }
  prim::cluster_sync();
  if (rank == 1) y[blockIdx.x / 2 * 64 + threadIdx.x] = static_cast<float>(sum + shown[threadIdx.x]);
  prim::cluster_sync();
}
