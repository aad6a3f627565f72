/* hone
language = "@language@"
pattern  = "scatter"
note     = "@note@"
tunables = { THREADS = [256, 512, 128], ROWS = [@rows_of_tile@], COLUMNS = [@columns_of_tile@] }
constraints = ["COLUMNS <= THREADS", "THREADS % WAVE == 0", "ROWS * COLUMNS * @bytes@ + 8 * THREADS + 256 <= SHARED_MAX"]
[[launch]]
kernel = "scatter"
grid   = ["@outer@ceil_div(@rows@, ROWS) * ceil_div(@columns@, COLUMNS)"]
block  = ["THREADS"]
shared = "ROWS * COLUMNS * @bytes@"
args   = [@args@]
*/
// Scatter: sums by index, where a whole slice has one index. A block owns ROWS rows by COLUMNS columns of the result and goes through
// all indices: those that name a row of its own are listed in their order, and a thread adds what belongs to its column. No atomics:
// each element is added up by one thread in the order of the source, so equal inputs give equal bits.
//
// When it pays: embeddings' gradients, pooling by segments, messages of a graph, histograms. Every block reads all indices.
//   THREADS  threads a block
//   ROWS     rows of the result that a block owns: more, and indices are read less often
//   COLUMNS  columns that it owns
#include "hone/gpu/scatter.h"

__global__ void __launch_bounds__(THREADS) scatter(@parameters@) {
  extern __shared__ __align__(16) unsigned char memory_at[];
  __shared__ hone::gpu::Listed<THREADS> listed;
  using Sum = @sum@;
  Sum* const sums = reinterpret_cast<Sum*>(memory_at);
  const int64_t rows = @rows_cpp@, columns = @columns_cpp@, count = @count_cpp@;
  const int64_t across = (columns + COLUMNS - 1) / COLUMNS, down = (rows + ROWS - 1) / ROWS;
  const int64_t column0 = blockIdx.x % across * COLUMNS, row0 = blockIdx.x / across % down * ROWS;
  [[maybe_unused]] const int64_t outer = blockIdx.x / across / down;
  const int own = static_cast<int>(threadIdx.x) % COLUMNS, group = static_cast<int>(threadIdx.x) / COLUMNS;
  constexpr int kGroups = THREADS / COLUMNS;
  const int left = rows - row0 < ROWS ? static_cast<int>(rows - row0) : ROWS;
  [[maybe_unused]] const int64_t column = column0 + own;
  const bool works = column < columns && group < kGroups;
  if (works)
    for (int r = group; r < left; r += kGroups) {
      [[maybe_unused]] const int64_t row = row0 + r;
      sums[r * COLUMNS + own] = static_cast<Sum>(@x@);
    }
  hone::gpu::listed_in_order<THREADS>(listed, row0, left, count, [&](int64_t p) { return static_cast<int64_t>(@index@); },
                                      [&](int r, int64_t p) {
    if (works && r % kGroups == group) @add@;
  });
  if (works)
    for (int r = group; r < left; r += kGroups)
      @output@[((outer * rows) + row0 + r) * columns + column] = hone::gpu::stored<@storage@>(sums[r * COLUMNS + own]);
}
