/* hone
language = "@language@"
pattern  = "scans"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["THREADS * ROWS <= 1024", "THREADS % WAVE == 0", "VEC * UNROLL <= 32"]
[[launch]]
kernel = "scans"
grid   = ["ceil_div(@rows@, ROWS)"]
block  = ["THREADS", "ROWS"]
args   = [@args@]
*/
// Scans: THREADS threads take a row tile by tile. A thread scans its words, a wave its lanes by shuffles, the waves
// their totals in shared memory; what came before is carried along. One barrier a tile; each element is read once and
// written once.
//
// When it pays: running sums, products and extremes along the last axis, with rows enough for all multiprocessors.
//   THREADS  threads a row
//   ROWS     rows a block
//   VEC      elements a word
//   UNROLL   words that a thread has in flight: more a tile, so fewer barriers
#include "hone/gpu/scan.h"

__global__ void __launch_bounds__(THREADS * ROWS) scans(@parameters@) {
  __shared__ hone::gpu::Scratch<THREADS, ROWS> scratch;
  __shared__ hone::gpu::ScanScratch<THREADS, ROWS, UNROLL@slot@> totals;
  [[maybe_unused]] hone::gpu::ThreadGroup<THREADS, ROWS> thread_group(scratch);
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t asked = int64_t{blockIdx.x} * ROWS + thread_group.row(), last = @rows_cpp@ - 1;
  const bool some = asked <= last;
  const int64_t row = some ? asked : last;
  int turn = 0;
@prologue@  const bool aligned = @aligned@;
@body@}
