// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=77
// expect: accepted
// Cooperative groups: a row's sum by tiles of a warp, their sums by the first.
/* hone
language = "cuda"
[[launch]]
kernel = "sums"
grid   = ["B"]
block  = ["96"]
args   = ["x", "y", "i64:D"]
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sums(const float* x, float* y, long long D) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const auto half = cg::tiled_partition<16>(warp);
  __shared__ float part[3];
  float sum = 0;
  for (long long i = block.thread_rank(); i < D; i += block.size()) sum += x[blockIdx.x * D + i];
  sum = cg::reduce(half, sum, cg::plus<float>());
  sum += warp.shfl_xor(sum, 16);
  if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
  cg::sync(block);
  if (block.thread_rank() == 0) y[blockIdx.x] = part[0] + part[1] + part[2];
}
