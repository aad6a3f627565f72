/* hone
language = "@language@"
pattern  = "resident_rows"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["THREADS % WAVE == 0", "THREADS * RESIDENT <= 2048", "THREADS * RESIDENT * (VEC * WORDS + 24) <= 65536"]
workspaces = { @workspaces@ }
[[launch]]
kernel = "resident_rows"
grid   = ["@grid@"]
block  = ["THREADS"]
args   = [@args@]
*/
// Block groups: several blocks hold one row in their registers. Each brings its part, finds what there is to find in it, leaves
// that in a workspace, waits for the others of its group, and goes on with what all have found: a row that no block could
// hold is still read only once.
//
// When it pays: softmax and norms of rows beyond a block's registers. Reading such a row twice costs half as much again,
// three times as much twice. The wait is short beside the time that a part takes to come, and other blocks on the
// multiprocessor have their parts under way meanwhile: hence RESIDENT.
//   THREADS   threads a block
//   VEC       elements a word
//   WORDS     words of its part that a thread holds
//   RESIDENT  blocks that a multiprocessor must be able to hold at a time: bounds registers, and groups
#include "hone/gpu/block_group.h"

__global__ void __launch_bounds__(THREADS, RESIDENT) resident_rows(@parameters@) {
  __shared__ hone::gpu::Scratch<THREADS, 1> scratch;
  hone::gpu::ThreadGroup<THREADS, 1> thread_group(scratch);
  const int thread = static_cast<int>(threadIdx.x);
  __shared__ int32_t number;
  const int64_t ticket = hone::gpu::take_ticket(tickets, number), row = ticket / blocks, rank = ticket % blocks;
@prologue@  const hone::gpu::Alignment alignment = @alignment@;
  hone::gpu::tile_at<THREADS, VEC, WORDS>(alignment, @length_cpp@, rank, thread, [&](const auto tile) {
@body@  });
}
