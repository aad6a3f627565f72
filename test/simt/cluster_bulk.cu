/* hone
language = "cuda"
requires = ["D == 64"]
note     = "bulk copies that the whole cluster reads"
[[launch]]
kernel = "k"
grid   = ["4 * B"]
block  = ["64"]
cluster = ["4"]
args   = ["x", "y", "i64:D"]
*/
// task: y = sum(x, axis=1) | x=f32[B,4,D] | B=3,D=64
// expect: accepted
#include "hone/gpu/prim.h"
// Each block brings one of four rows by a bulk copy, and adds up a quarter of the columns of all of them.
__global__ void k(const float* x, float* y, long long D) {
  namespace prim = hone::prim;
  __shared__ __align__(16) float row[64];
  __shared__ prim::PhaseBarrier full;
  if (threadIdx.x == 0) {
    full.init(1);
    full.arrive_expecting(256);
    full.bulk_copy(row, x + blockIdx.x * D, 256);
    full.wait(0);
  }
  prim::cluster_sync();
  const int column = prim::cluster_rank() * 16 + threadIdx.x;
  if (threadIdx.x < 16) {
    double sum = 0;
    for (int rank = 0; rank < 4; ++rank) sum += prim::map_shared(row, rank)[column];
    y[blockIdx.x / 4 * D + column] = static_cast<float>(sum);
  }
  prim::cluster_sync();
}
