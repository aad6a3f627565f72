/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { THREADS = [256, 128, 64, 512], LINES = [4, 1, 2, 8], FEW = [@few_values@], UNROLL = [2, 1, 4] }
constraints = ["LINES * (FEW + 4 * UNROLL) <= 96"]
@launches@*/
// Skinny matmul: one factor has many lines (rows of the left one, columns of the right one), the other few. A block
// walks LINES of the many together, UNROLL words of 16 bytes of each in flight a thread, and sums their products with
// FEW lines of the other factor, which come from the caches.
//
// When it pays: matrix times vector and a little more; reading the large factor once is the whole work.
//   THREADS  threads a block: long lines take many
//   LINES    lines a block: what is read of the other factor serves them all; few of them spread better
//   FEW      lines of the other factor at a time: fewer than there are read the large factor again
//   UNROLL   words in flight
#include "hone/gpu/matmul_skinny.h"
#include "hone/gpu/math.h"

@finish@
/// V elements of the many lines lie side by side on boundaries of their size, and W of the few.
template <int V, int W>
__device__ void multiply(@parameters@) {
  extern __shared__ __align__(16) float memory_at[];
  const int64_t many_at = @many@, others_at = @others@, depth_at = @depth@, blocks_at = (many_at + LINES - 1) / LINES;
  const int64_t batch_at = blockIdx.x / blocks_at, line_at = blockIdx.x % blocks_at * LINES;

  const auto large_at = hone::gpu::factor<V, true>(
      @large@, many_at, [=](int64_t line_at) -> int64_t { return @large_line@; },
      [=](int64_t depth_at) -> int64_t { return @large_depth@; });
  const auto small_at = hone::gpu::factor<W, @small_along@>(
      @small@, others_at, [=](int64_t line_at) -> int64_t { return @small_line@; },
      [=](int64_t depth_at) -> int64_t { return @small_depth@; });
  const auto epilogue_at = [&](int64_t l_at, int64_t o_at, float sum_at) {
    finish(@names@, batch_at * @rows@ + @row@, @column@, sum_at);
  };
  const int64_t step_at = gridDim.y * int64_t{FEW};  // a grid has 65535 blocks along y
  for (int64_t other_at = blockIdx.y * int64_t{FEW}; other_at < others_at; other_at += step_at) {
    if (other_at >= step_at) __syncthreads();
    hone::gpu::skinny_product<THREADS, LINES, FEW, UNROLL>(
        large_at, small_at, line_at, other_at, depth_at, memory_at, epilogue_at);
  }
}
@kernels@