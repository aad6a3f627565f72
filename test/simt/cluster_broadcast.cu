/* hone
language = "cuda"
note     = "from block 0 to all of its cluster"
[[launch]]
kernel = "k"
grid   = ["align(ceil_div(N, 64), 4)"]
block  = ["64"]
cluster = ["4"]
args   = ["x", "y", "i64:N"]
*/
// task: y = x - x[0] | x=f32[N] | N=1000
// expect: accepted
#include "hone/gpu/prim.h"
// The first block of each cluster reads what all of them subtract.
__global__ void k(const float* x, float* y, long long N) {
  namespace prim = hone::prim;
  __shared__ float first;
  if (prim::cluster_rank() == 0 && threadIdx.x == 0) first = x[0];
  prim::cluster_sync();
  const float value = *prim::map_shared(&first, 0);
  const long long i = blockIdx.x * 64ll + threadIdx.x;
  if (i < N) y[i] = x[i] - value;
  prim::cluster_arrive();
  prim::cluster_wait();
}
