/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { THREADS = [256, 128, 64, 512], LINES = [1, 2, 4], FEW = [@few_values@], UNROLL = [4, 2, 8] }
constraints = ["THREADS * LINES <= 1024", "FEW * UNROLL <= 32"]
@launches@*/
// Skinny matmul: one factor has many lines (rows of the left one, columns of the right one), the other few. THREADS
// threads walk a line of the many, UNROLL words of 16 bytes in flight each, and sum its products with FEW lines of the
// other factor, which stay in the caches.
//
// When it pays: matrix times vector and a little more; reading the large factor once is the whole work.
//   THREADS  threads a line: long lines take many
//   LINES    lines a block
//   FEW      lines of the other factor at a time: more would read the large factor again
//   UNROLL   words in flight
#include "hone/gpu/matmul_skinny.h"
#include "hone/gpu/math.h"

@finish@
/// V elements of the many lines lie side by side on boundaries of their size.
template <int V>
__device__ void multiply(@parameters@) {
  extern __shared__ __align__(16) float memory_at[];
  const int64_t many_at = @many@, others_at = @others@, depth_at = @depth@, lines_at = (many_at + LINES - 1) / LINES;
  const int64_t batch_at = blockIdx.x / lines_at, line_at = blockIdx.x % lines_at * LINES + threadIdx.y;
  const int64_t other_at = blockIdx.y * int64_t{FEW};

  const auto large_at = hone::gpu::factor<V, true>(
      @large@, many_at, [=](int64_t line_at) -> int64_t { return @large_line@; },
      [=](int64_t depth_at) -> int64_t { return @large_depth@; });
  const auto small_at = hone::gpu::factor<1, true>(
      @small@, others_at, [=](int64_t line_at) -> int64_t { return @small_line@; },
      [=](int64_t depth_at) -> int64_t { return @small_depth@; });
  const auto sink_at = [&](int64_t l_at, int64_t o_at, float sum_at) {
    finish(@names@, batch_at * @rows@ + @row@, @column@, sum_at);
  };
  float* const part_at = memory_at + threadIdx.y * (THREADS / hone::kWave * FEW);
  hone::gpu::skinny_product<THREADS, FEW, UNROLL>(large_at, small_at, line_at, other_at, depth_at, part_at, sink_at);
}
@kernels@