/* hone
language = "cuda"
note     = "gives the slot back before it is read"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["96"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=1) | x=f32[B,D,64] | B=3,D=9
// expect: launch fails: kernel.cu
#include "hone/gpu/prim.h"

// A warp brings rows of 64 by turns into two slots; 64 threads add them up.
__global__ void k(const float* x, float* y, long long D) {
  __shared__ __align__(16) float tile[2][64];
  __shared__ hone::prim::PhaseBarrier full[2], empty[2];
  const int thread = threadIdx.x - 64;
  if (threadIdx.x == 0)
    for (int slot = 0; slot < 2; ++slot) full[slot].init(1), empty[slot].init(64);
  __syncthreads();
  if (thread >= 0) {
    for (int round = 0; thread == 0 && round < D; ++round) {
      const int slot = round % 2;
      if (round > 1) empty[slot].wait((round / 2 - 1) % 2);
      full[slot].arrive_expecting(256);
      full[slot].bulk_copy(tile[slot], x + (blockIdx.x * D + round) * 64, 256);
    }
  } else {
    double sum = 0;
    for (int round = 0; round < D; ++round) {
      const int slot = round % 2;
      full[slot].wait(round / 2 % 2);
      empty[slot].arrive();
      sum += tile[slot][threadIdx.x];
    }
    y[blockIdx.x * 64 + threadIdx.x] = static_cast<float>(sum);
  }
}
