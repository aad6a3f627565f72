/* hone
language = "cuda"
note     = "clusters that wait for each other"
workspaces = { w = "f32[N]", count = "zero i32[1]" }
[[launch]]
kernel = "k"
grid   = ["8"]
block  = ["64"]
cluster = ["2"]
args   = ["x", "y", "w", "count", "i64:N"]
*/
// task: y = 2 * x | x=f32[N] | N=1000
// expect: accepted
#include "hone/gpu/prim.h"
// All clusters wait for all, and the blocks of each for each other.
__global__ void k(const float* x, float* y, float* w, int* count, long long N) {
  namespace prim = hone::prim;
  for (long long i = blockIdx.x * 64 + threadIdx.x; i < N; i += 512) w[i] = x[i];
  prim::cluster_sync();
  if (prim::cluster_rank() == 0 && threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < 4) {}
    __threadfence();
  }
  prim::cluster_sync();
  for (long long i = blockIdx.x * 64 + threadIdx.x; i < N; i += 512) y[N - 1 - i] = 2 * w[N - 1 - i];
}
