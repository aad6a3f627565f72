/* hone
language = "cuda"
note     = "more blocks than a cluster may have"
[[launch]]
kernel = "k"
grid   = ["17 * B"]
block  = ["64"]
cluster = ["17"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=1) | x=f32[B,D] | B=3,D=1000
// expect: launch fails: a cluster of k has 17 blocks; 16 are the most
#include "hone/gpu/prim.h"
// A row to a cluster: each block sums its share, the first one adds up what the blocks have.
__global__ void k(const float* x, float* y, long long D) {
  namespace prim = hone::prim;
  __shared__ double warps[2], part;
  const int rank = prim::cluster_rank();
  double sum = 0;
  for (long long i = rank * 64 + threadIdx.x; i < D; i += 256) sum += x[blockIdx.x / 4 * D + i];
  sum = hone::wave_sum(sum);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) part = warps[0] + warps[1];
  prim::cluster_sync();
  if (rank == 0 && threadIdx.x == 0) {
    double all = 0;
    for (int other = 0; other < prim::cluster_size(); ++other) all += *prim::map_shared(&part, other);
    y[blockIdx.x / 4] = static_cast<float>(all);
  }
  prim::cluster_sync();
}
