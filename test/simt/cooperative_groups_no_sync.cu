// task: y = sum(x, axis=-1) | x=f32[B,D] | B=5,D=77
// expect: launch fails: a race on shared memory
// The block is not synchronised, only each tile.
/* hone
language = "cuda"
[[launch]]
kernel = "sums"
grid   = ["B"]
block  = ["64"]
args   = ["x", "y", "i64:D"]
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sums(const float* x, float* y, long long D) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  __shared__ float part[2];
  float sum = 0;
  for (long long i = block.thread_rank(); i < D; i += block.size()) sum += x[blockIdx.x * D + i];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = sum;
  warp.sync();
  if (block.thread_rank() == 0) y[blockIdx.x] = part[0] + part[1];
}
