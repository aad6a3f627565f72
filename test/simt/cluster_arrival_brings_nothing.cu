/* hone
language = "cuda"
note     = "an arrival from another block brings nothing along that was written"
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
// The second block writes its row into its own memory and comes to the first one's barrier, which takes that for having it.
__global__ void k(const float* x, float* y) {
  namespace prim = hone::prim;
  __shared__ float shown[64];
  __shared__ prim::PhaseBarrier there;
  if (threadIdx.x == 0) there.init(64);
  const int rank = prim::cluster_rank();
  prim::cluster_sync();
  const float mine = x[blockIdx.x * 64 + threadIdx.x];
  if (rank == 1) {
    shown[threadIdx.x] = mine;
    there.arrive_at(0);
  } else {
    there.wait(0);
    y[blockIdx.x / 2 * 64 + threadIdx.x] = mine + *prim::map_shared(&shown[threadIdx.x], 1);
  }
  prim::cluster_sync();
}
