/* hone
language = "@language@"
pattern  = "rows"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["THREADS * ROWS <= 1024", "THREADS * ROWS % WAVE == 0", "VEC * WORDS <= 32"]
[[launch]]
kernel = "rows"
when   = "@length@ <= THREADS * VEC * WORDS"
grid   = ["ceil_div(@rows@, ROWS)"]
block  = ["THREADS", "ROWS"]
args   = [@args@]
[[launch]]
kernel = "long_rows"
when   = "@length@ > THREADS * VEC * WORDS"
grid   = ["ceil_div(@rows@, ROWS)"]
block  = ["THREADS", "ROWS"]
args   = [@args@]
*/
// Rows: THREADS threads hold a row in registers. It is read once; every pass after that, however many rounds of
// reductions the computation has, works on what is there. A row that has no room goes through long_rows, which reads
// it anew in each pass.
//
// When it pays: softmax, norms, row reductions. Short rows go several to a block, so that it has bytes enough in flight.
//   THREADS  threads a row: a power of two; up to a wave they reduce by shuffles alone
//   ROWS     rows a block
//   VEC      elements a word
//   WORDS    words of a row that a thread holds
//   UNROLL   words in flight in long_rows
#include "hone/gpu/reduce.h"

__global__ void __launch_bounds__(THREADS * ROWS) rows(@parameters@) {
  __shared__ hone::gpu::Scratch<THREADS, ROWS> scratch;
  hone::gpu::ThreadGroup<THREADS, ROWS> thread_group(scratch);
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t asked = int64_t{blockIdx.x} * ROWS + thread_group.row(), last = @rows_cpp@ - 1;
  const bool some = asked <= last;
  const int64_t row = some ? asked : last;
@prologue@  const hone::gpu::Alignment alignment = @alignment_row@;
  hone::gpu::one_tile<THREADS, VEC, WORDS>(alignment, some ? @length_cpp@ : 0, @length_cpp@, thread, [&](const auto tile) {
@resident@  });
}

__global__ void __launch_bounds__(THREADS * ROWS) long_rows(@parameters@) {
  __shared__ hone::gpu::Scratch<THREADS, ROWS> scratch;
  hone::gpu::ThreadGroup<THREADS, ROWS> thread_group(scratch);
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t asked = int64_t{blockIdx.x} * ROWS + thread_group.row(), last = @rows_cpp@ - 1;
  const bool some = asked <= last;
  const int64_t row = some ? asked : last, first = some ? 0 : INT64_MAX;
@long_prologue@  const hone::gpu::Alignment alignment = @alignment@;
@body@}
