/* hone
language = "cuda"
note     = "an arrival from another block speaks of what that block read in its own memory, not here"
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
// The first block shows the second its rows one after the other, in the same place, and goes on when that one has read.
__global__ void k(const float* x, float* y) {
  namespace prim = hone::prim;
  __shared__ float shown[64];
  __shared__ prim::PhaseBarrier read;
  if (threadIdx.x == 0) read.init(64);
  const int rank = prim::cluster_rank();
  const float* row = x + blockIdx.x / 2 * 128 + threadIdx.x;
  if (rank == 0) shown[threadIdx.x] = row[0];
  prim::cluster_sync();
  double sum = 0;
  if (rank == 1) {
    sum = *prim::map_shared(&shown[threadIdx.x], 0);
    read.arrive_at(0);
  } else {
    read.wait(0);
    shown[threadIdx.x] = row[64];
  }
  prim::cluster_sync();
  if (rank == 1) y[blockIdx.x / 2 * 64 + threadIdx.x] = static_cast<float>(sum + *prim::map_shared(&shown[threadIdx.x], 0));
  prim::cluster_sync();
}
