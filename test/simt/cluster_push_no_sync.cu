/* hone
language = "cuda"
note     = "the owner reads what another block writes, with only its own barrier between"
[[launch]]
kernel = "k"
grid   = ["align(ceil_div(N, 64), 4)"]
block  = ["64"]
cluster = ["4"]
args   = ["x", "y", "i64:N"]
*/
// task: y = x - x[0] | x=f32[N] | N=1000
// expect: launch fails: shared memory
#include "hone/gpu/prim.h"
// Block 0 gives its value to each of its cluster by writing into its shared memory.
__global__ void k(const float* x, float* y, long long N) {
  namespace prim = hone::prim;
  __shared__ float first;
  prim::cluster_sync();
  if (prim::cluster_rank() == 0 && threadIdx.x < 4) *prim::map_shared(&first, threadIdx.x) = x[0];
  __syncthreads();
  const long long i = blockIdx.x * 64ll + threadIdx.x;
  if (i < N) y[i] = x[i] - first;
}
