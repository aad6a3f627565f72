/* hone
language = "cuda"
note     = "shared memory cleared with the barrier in it"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y"]
*/
// task: y = 2 * x | x=f32[B,128] | B=5
// expect: launch fails: kernel.cu
#include "hone/gpu/prim.h"

__global__ void k(const float* x, float* y) {
  __shared__ __align__(16) float room[132];
  float* const tile = room;
  hone::prim::PhaseBarrier& full = *reinterpret_cast<hone::prim::PhaseBarrier*>(room + 128);
  if (threadIdx.x == 0) full.init(1);
  __syncthreads();
  if (threadIdx.x < 4) room[128 + threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_expecting(512);
    full.bulk_copy(tile, x + blockIdx.x * 128, 512);
  }
  full.wait(0);
  y[blockIdx.x * 128 + threadIdx.x] = 2 * tile[threadIdx.x];
}
