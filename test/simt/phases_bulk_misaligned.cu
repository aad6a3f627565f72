/* hone
language = "cuda"
note     = "a bulk copy from a wrong boundary"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y"]
*/
// task: y = 2 * x | x=f32[B,128] | B=5
// expect: launch fails: multiples of 16
#include "hone/gpu/prim.h"

__global__ void k(const float* x, float* y) {
  __shared__ __align__(16) float tile[128];
  __shared__ hone::prim::PhaseBarrier full;
  if (threadIdx.x == 0) full.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_expecting(496);
    full.bulk_copy(tile, x + blockIdx.x * 128 + 1, 496);
  }
  full.wait(0);
  y[blockIdx.x * 128 + threadIdx.x] = 2 * tile[threadIdx.x];
}
