/* hone
language = "@language@"
pattern  = "columns"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["X * Y <= 1024", "X * Y % WAVE == 0", "VEC * UNROLL <= 32", "VEC * HELD <= 32", "X * Y * VEC * @slot@ <= 49152"]
[[launch]]
kernel = "columns"
when   = "@depth@ <= Y * HELD"
grid   = ["@rows@ceil_div(@columns@, X * VEC)"]
block  = ["X", "Y"]
args   = [@args@]
[[launch]]
kernel = "long_columns"
when   = "@depth@ > Y * HELD"
grid   = ["@rows@ceil_div(@columns@, X * VEC)"]
block  = ["X", "Y"]
args   = [@args@]
*/
// Columns: the reduced axes are not the innermost one, so neighbouring results lie side by side. A block takes X * VEC
// columns through all rows, its Y rows of threads side by side, and brings the results of the Y together at the end of
// a pass. Reading goes along memory. Short columns stay in registers from pass to pass; of long ones a later pass finds
// a narrow tile in the second-level cache.
//
// When it pays: sums, norms and softmax along any axis but the last.
//   X       threads across: X * VEC elements in a run
//   Y       rows at a time: more where there are few columns or many rows
//   VEC     elements a word
//   HELD    rows that a thread holds
//   UNROLL  rows that a thread has in flight in long_columns
#include "hone/gpu/columns.h"

__global__ void __launch_bounds__(X * Y) columns(@parameters@) {
  __shared__ hone::gpu::ColumnScratch<X, Y, VEC, @slot@> scratch;
  const int64_t tiles = (@columns_cpp@ + X * VEC - 1) / (X * VEC);
  const int64_t row = blockIdx.x / tiles;
@held_prologue@  const bool aligned = @aligned@;
  hone::gpu::columns_at<X, Y, VEC, HELD>(aligned, @columns_cpp@, blockIdx.x % tiles, [&](const auto columns) {
    const auto rows = columns.all(@depth_cpp@);
@held@  });
}

__global__ void __launch_bounds__(X * Y) long_columns(@parameters@) {
  __shared__ hone::gpu::ColumnScratch<X, Y, VEC, @slot@> scratch;
  const int64_t tiles = (@columns_cpp@ + X * VEC - 1) / (X * VEC);
  const int64_t row = blockIdx.x / tiles;
@prologue@  const bool aligned = @aligned@;
  hone::gpu::columns_at<X, Y, VEC, UNROLL>(aligned, @columns_cpp@, blockIdx.x % tiles, [&](const auto columns) {
@body@  });
}
