/* hone
language = "cuda"
note     = "arrives and does not wait"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["128"]
args   = ["x", "y"]
*/
// task: y = cumsum(x, axis=-1) | x=f32[B,128] | B=5
// expect: launch fails: kernel.cu
#include "hone/gpu/prim.h"

// A scan by steps in two buffers, which waits by phases and not by __syncthreads.
__global__ void k(const float* x, float* y) {
  __shared__ double part[2][128];
  __shared__ hone::prim::PhaseBarrier meet;
  const int t = threadIdx.x;
  if (t == 0) meet.init(128);
  part[0][t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  for (int round = 0; round < 7; ++round) {
    const int step = 1 << round, from = round % 2;
    part[1 - from][t] = part[from][t] + (t >= step ? part[from][t - step] : 0);
    meet.arrive();
  }
  y[blockIdx.x * 128 + t] = static_cast<float>(part[1][t]);
}
