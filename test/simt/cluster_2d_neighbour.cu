/* hone
language = "cuda"
note     = "the tile of the neighbour in x, taken for the diagonal one's"
[[launch]]
kernel = "k"
grid   = ["align(ceil_div(M, 16), 2)", "align(ceil_div(N, 8), 2)"]
block  = ["16", "8"]
cluster = ["2", "2"]
shared = "16 * 8 * 4"
args   = ["x", "y", "i64:M", "i64:N"]
*/
// task: y = transpose(x) | x=f32[N,M] | N=37,M=53
// expect: launch fails: nothing has written
#include "hone/gpu/prim.h"
// Each block brings a tile, and writes the one of its diagonal neighbour.
__global__ void k(const float* x, float* y, long long M, long long N) {
  namespace prim = hone::prim;
  extern __shared__ float tile[];
  const int rank = prim::cluster_rank();
  if (rank != blockIdx.x % 2 + 2 * (blockIdx.y % 2)) __trap();
  const long long column = blockIdx.x * 16ll + threadIdx.x, row = blockIdx.y * 8ll + threadIdx.y;
  const int at = threadIdx.y * 16 + threadIdx.x;
  if (row < N && column < M) tile[at] = x[row * M + column];
  prim::cluster_sync();
  const long long other_column = (blockIdx.x ^ 1) * 16ll + threadIdx.x, other_row = (blockIdx.y ^ 1) * 8ll + threadIdx.y;
  if (other_row < N && other_column < M) y[other_column * N + other_row] = prim::map_shared(tile, rank ^ 1)[at];
  prim::cluster_sync();
}
