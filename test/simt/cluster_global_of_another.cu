/* hone
language = "cuda"
note     = "what another cluster has written"
workspaces = { w = "f32[align(ceil_div(N, 64), 8) * 64]" }
[[launch]]
kernel = "k"
grid   = ["align(ceil_div(N, 64), 8)"]
block  = ["64"]
cluster = ["4"]
args   = ["x", "y", "w", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails
#include "hone/gpu/prim.h"
// Blocks of two clusters swap what they have through global memory.
__global__ void k(const float* x, float* y, float* w, long long N) {
  const long long i = blockIdx.x * 64ll + threadIdx.x, other = (blockIdx.x ^ 4) * 64ll + threadIdx.x;
  w[i] = i < N ? 2 * x[i] : 0;
  hone::prim::cluster_sync();
  if (other < N) y[other] = w[other];
}
