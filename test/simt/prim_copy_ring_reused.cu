/* hone
language = "cuda"
note     = "a slot is filled again while others read it"
[[launch]]
kernel = "k"
grid   = ["B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=1) | x=f32[B,D,64] | B=3,D=9
// expect: launch fails: kernel.cu
#include "hone/gpu/prim.h"

// Rows of 64 into three slots, two rows ahead; each thread adds up what another one brings.
__global__ void k(const float* x, float* y, long long D) {
  __shared__ __align__(16) float tile[3][64];
  hone::prim::AsyncCopies copies;
  const int t = threadIdx.x;
  const auto bring = [&](long long row) {
    if (row < D) copies.copy<4>(&tile[row % 3][t], x + (blockIdx.x * D + row) * 64 + t, true);
    copies.commit();
  };
  bring(0);
  bring(1);
  double sum = 0;
  for (long long row = 0; row < D; ++row) {
    bring(row + 2);
    copies.wait<2>();
    __syncthreads();
    sum += tile[row % 3][63 - t];
  }
  copies.wait<0>();
  y[blockIdx.x * 64 + 63 - t] = static_cast<float>(sum);
}
