/* hone
language = "cuda"
note     = "the barrier without a cluster"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 64)"]
block  = ["64"]
args   = ["x", "y", "i64:N"]
*/
// task: y = x | x=f32[N] | N=1000
// expect: accepted
#include "hone/gpu/prim.h"
// A block that is launched alone is a cluster of one.
__global__ void k(const float* x, float* y, long long N) {
  namespace prim = hone::prim;
  __shared__ float part[64];
  const long long i = blockIdx.x * 64ll + threadIdx.x;
  part[threadIdx.x] = i < N ? x[i] : 0;
  prim::cluster_sync();
  const int from = 63 - threadIdx.x;
  if (prim::cluster_size() != 1) __trap();
  if (blockIdx.x * 64ll + from < N) y[blockIdx.x * 64ll + from] = prim::map_shared(part, prim::cluster_rank())[from];
}
