/* hone
language = "@language@"
pattern  = "scatter_columns"
note     = "@note@"
tunables = { ROWS = [@rows_of_tile@], COLUMNS = [@columns_of_tile@] }
constraints = ["COLUMNS % WAVE == 0", "ROWS * COLUMNS * @bytes@ <= SHARED_MAX"]
[[launch]]
kernel = "scatter_columns"
grid   = ["@outer@ceil_div(@rows@, ROWS) * ceil_div(@columns@, COLUMNS)"]
block  = ["COLUMNS"]
shared = "ROWS * COLUMNS * @bytes@"
args   = [@args@]
*/
// Scatter columns: sums by index, where each element has an index of its own along an axis that is not the last. A thread goes down
// its column of the source and adds to the ROWS rows that its block owns, in the source's order: equal inputs give equal bits.
//
// When it pays: gradients of gathers along an axis. Every block reads all indices of its columns.
//   ROWS     rows of the result that a block owns: more, and indices are read less often
//   COLUMNS  threads a block, a column each
#include "hone/gpu/scatter.h"

__global__ void __launch_bounds__(COLUMNS) scatter_columns(@parameters@) {
  extern __shared__ __align__(16) unsigned char memory_at[];
  using Sum = @sum@;
  Sum* const sums = reinterpret_cast<Sum*>(memory_at) + threadIdx.x;
  const int64_t rows = @rows_cpp@, columns = @columns_cpp@, count = @count_cpp@;
  const int64_t across = (columns + COLUMNS - 1) / COLUMNS, down = (rows + ROWS - 1) / ROWS;
  const int64_t column = blockIdx.x % across * COLUMNS + threadIdx.x, row0 = blockIdx.x / across % down * ROWS;
  [[maybe_unused]] const int64_t outer = blockIdx.x / across / down;
  const int left = rows - row0 < ROWS ? static_cast<int>(rows - row0) : ROWS;
  if (column >= columns) return;
  for (int r = 0; r < left; ++r) {
    [[maybe_unused]] const int64_t row = row0 + r;
    sums[r * COLUMNS] = static_cast<Sum>(@x@);
  }
  for (int64_t p = 0; p < count; ++p) {
    const int64_t r = static_cast<int64_t>(@index@) - row0;
    if (r >= 0 && r < left) @add@;
  }
  for (int r = 0; r < left; ++r) @output@[((outer * rows) + row0 + r) * columns + column] = hone::gpu::stored<@storage@>(sums[r * COLUMNS]);
}
