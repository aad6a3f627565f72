/* hone
language = "cuda"
note     = "a flag in the other block's shared memory"
[[launch]]
kernel = "k"
grid   = ["align(ceil_div(N, 64), 2)"]
block  = ["64"]
cluster = ["2"]
args   = ["x", "y", "i64:N"]
*/
// task: y = x | x=f32[N] | N=1000
// expect: accepted
#include "hone/gpu/prim.h"
// Each block writes into the other one of its pair, and then a flag that the other waits for.
__global__ void k(const float* x, float* y, long long N) {
  namespace prim = hone::prim;
  __shared__ float got[64];
  __shared__ int flag;
  const int other = 1 - prim::cluster_rank();
  const long long i = blockIdx.x * 64ll + threadIdx.x, there = (blockIdx.x ^ 1) * 64ll + threadIdx.x;
  if (threadIdx.x == 0) flag = 0;
  prim::cluster_sync();
  prim::map_shared(got, other)[threadIdx.x] = i < N ? x[i] : 0;
  __threadfence();
  atomicAdd(prim::map_shared(&flag, other), 1);
  while (atomicAdd(&flag, 0) < 64) {}
  if (there < N) y[there] = got[threadIdx.x];
  prim::cluster_sync();
}
