/* hone
language = "cuda"
note     = "initialises a barrier that is in use"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y"]
*/
// task: y = 2 * x | x=f32[B,128] | B=5
// expect: launch fails: a barrier that is in use
#include "hone/gpu/prim.h"

__global__ void k(const float* x, float* y) {
  __shared__ __align__(16) float tile[128];
  __shared__ hone::prim::PhaseBarrier full;
  if (threadIdx.x == 0) full.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_expecting(512);
    full.bulk_copy(tile, x + blockIdx.x * 128, 512);
  }
  full.wait(0);
  y[blockIdx.x * 128 + threadIdx.x] = 2 * tile[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) full.init(1);
}
