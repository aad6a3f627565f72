/* hone
language = "@language@"
pattern  = "columns"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["ACROSS * DOWN <= 1024", "ACROSS * DOWN % WAVE == 0", "VEC * UNROLL <= 32", "VEC * HELD <= 32", "ACROSS * DOWN * VEC * @slot@ <= 49152"]
[[launch]]
kernel = "columns"
when   = "@depth@ <= DOWN * HELD"
grid   = ["@rows@ceil_div(@columns@, ACROSS * VEC)"]
block  = ["ACROSS", "DOWN"]
args   = [@args@]
[[launch]]
kernel = "long_columns"
when   = "@depth@ > DOWN * HELD"
grid   = ["@rows@ceil_div(@columns@, ACROSS * VEC)"]
block  = ["ACROSS", "DOWN"]
args   = [@args@]
*/
// Columns: the reduced axes are not the innermost one, so neighbouring results lie side by side. A block takes ACROSS * VEC
// columns through all rows, its DOWN rows of threads side by side, and brings their results together at the end of a
// pass. Reading goes along memory. Short columns stay in registers from pass to pass; of long ones a later pass finds
// a narrow tile in the second-level cache.
//
// When it pays: sums, norms and softmax along any axis but the last.
//   ACROSS  threads across: ACROSS * VEC elements in a run
//   DOWN    rows at a time: more where there are few columns or many rows
//   VEC     elements a word
//   HELD    rows that a thread holds
//   UNROLL  rows that a thread has in flight in long_columns
#include "hone/gpu/columns.h"

__global__ void __launch_bounds__(ACROSS * DOWN) columns(@parameters@) {
  __shared__ hone::gpu::ColumnScratch<ACROSS, DOWN, VEC, @slot@> scratch;
  const int64_t tiles = (@columns_cpp@ + ACROSS * VEC - 1) / (ACROSS * VEC);
  const int64_t row = blockIdx.x / tiles;
@held_prologue@  const bool aligned = @aligned@;
  hone::gpu::columns_at<ACROSS, DOWN, VEC, HELD>(aligned, @columns_cpp@, blockIdx.x % tiles, [&](const auto columns) {
    const auto rows = columns.all(@depth_cpp@);
@held@  });
}

__global__ void __launch_bounds__(ACROSS * DOWN) long_columns(@parameters@) {
  __shared__ hone::gpu::ColumnScratch<ACROSS, DOWN, VEC, @slot@> scratch;
  const int64_t tiles = (@columns_cpp@ + ACROSS * VEC - 1) / (ACROSS * VEC);
  const int64_t row = blockIdx.x / tiles;
@prologue@  const bool aligned = @aligned@;
  hone::gpu::columns_at<ACROSS, DOWN, VEC, UNROLL>(aligned, @columns_cpp@, blockIdx.x % tiles, [&](const auto columns) {
@body@  });
}
