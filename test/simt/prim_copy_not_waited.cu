/* hone
language = "cuda"
note     = "asynchronous copies that nobody waits for"
[[launch]]
kernel = "k"
grid   = ["ceil_div(N, 128)"]
block  = ["32"]
args   = ["x", "y", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: launch fails: before the asynchronous copy to it is there
#include "hone/gpu/prim.h"

__global__ void k(const float* x, float* y, long long N) {
  __shared__ __align__(16) float tile[128];
  hone::prim::AsyncCopies copies;
  const long long first = blockIdx.x * 128LL;
  for (int i = threadIdx.x; i < 128; i += 32) copies.copy<4>(tile + i, first + i < N ? x + first + i : x, first + i < N);
  copies.commit();
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    const int at = 127 - threadIdx.x - 32 * i;  // what another thread brought
    if (first + at < N) y[first + at] = 2 * tile[at];
  }
}
