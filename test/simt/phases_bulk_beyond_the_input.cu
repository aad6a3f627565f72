/* hone
language = "cuda"
note     = "a bulk copy of more than the input has"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y"]
*/
// task: y = 2 * x | x=f32[B,128] | B=5
// expect: out of bounds: 
#include "hone/gpu/prim.h"

__global__ void k(const float* x, float* y) {
  __shared__ __align__(16) float tile[256];
  __shared__ hone::prim::PhaseBarrier full;
  if (threadIdx.x == 0) full.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_expecting(1024);
    full.bulk_copy(tile, x + blockIdx.x * 128, 1024);
  }
  full.wait(0);
  y[blockIdx.x * 128 + threadIdx.x] = 2 * tile[threadIdx.x];
}
