/* hone
language = "@language@"
pattern  = "scan_columns"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["ACROSS * DOWN <= 1024", "ACROSS * DOWN % WAVE == 0", "VEC * UNROLL <= 32", "2 * ACROSS * (DOWN + 1) * VEC * @slot@ <= 49152"]
[[launch]]
kernel = "scan_columns"
grid   = ["@rows@ceil_div(@columns@, ACROSS * VEC)"]
block  = ["ACROSS", "DOWN"]
args   = [@args@]
*/
// Scans down columns: the scanned axis is not the innermost one, so neighbouring scans lie side by side. A block takes ACROSS * VEC
// columns from one end to the other. With one row of threads nobody waits for anybody; with several, one barrier a tile.
// Each element is read once and written once.
//
// When it pays: running sums and linear recurrences along any axis but the last.
//   ACROSS  threads across: ACROSS * VEC elements in a run
//   DOWN    rows of threads: more where there are few columns
//   VEC     elements a word
//   UNROLL  rows that a thread has in flight
#include "hone/gpu/column_scan.h"

__global__ void __launch_bounds__(ACROSS * DOWN) scan_columns(@parameters@) {
  [[maybe_unused]] __shared__ hone::gpu::ColumnTotals<ACROSS, DOWN, VEC, @slot@> totals;
  const int64_t tiles = (@columns_cpp@ + ACROSS * VEC - 1) / (ACROSS * VEC);
  const int64_t row = blockIdx.x / tiles;
  int turn = 0;
@prologue@  const bool aligned = @aligned@;
  hone::gpu::columns_at<ACROSS, DOWN, VEC, UNROLL>(aligned, @columns_cpp@, blockIdx.x % tiles, [&](const auto columns) {
@body@  });
}
