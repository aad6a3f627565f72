/* hone
language = "@language@"
pattern  = "shared_rows"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["THREADS % WAVE == 0", "THREADS * RESIDENT <= 2048", "VEC * UNROLL * @bytes@ <= 128", "THREADS * RESIDENT * (VEC * UNROLL * @bytes@ // 4 + 32) <= 65536", "GROUPS <= SMS * RESIDENT"]
workspaces = { @workspaces@ }
[[launch]]
kernel = "shared_rows"
grid   = ["@grid@"]
block  = ["THREADS"]
shared = "@shared@"
args   = [@args@]
*/
// Group: as many blocks as the device holds at a time, in groups. A group takes row after row: each of its blocks reads a
// share of the row, tile by tile, keeps in shared memory as many tiles as there is room for, leaves what it found in a
// workspace, waits for the others of its group, and goes on with its copy. A row is read once as far as all shared memory
// of the group holds it; the rest is read again, last part first, while it is likely to be in a cache.
//
// When it pays: softmax and norms of rows far beyond a block's registers, up to a few times the device's shared memory.
// The tiles of a group's next row are sent for one by one as those of this row are written out, by the hardware that
// copies in bulk, and arrive while the block computes, writes and waits (on HIP, and before sm_90, they are read when they
// are needed); another group's block on the same multiprocessor computes meanwhile: hence RESIDENT. Of a tile each wave has
// a run of its own, and waits for no other wave but where results are brought together. Blocks tell each other what they
// found in words that carry the row's number: one way through the memory system, not the five that a counter with
// fences takes, each of which is long while memory is busy.
//
// Blocks that wait for each other must all run. A group has consecutive tickets in the order in which blocks start, and
// the grid is no larger than what fits: SMS * RESIDENT blocks, by the launch bounds (registers, threads) and by the
// plan's shared memory, (SHARED_MAX / RESIDENT less what a block needs besides).
//   THREADS   threads a block
//   VEC       elements a word
//   UNROLL    words of a tile that a thread has, and has in flight: a power of two
//   GROUPS     groups that share the device, where there are rows for so many: 1 gives a row all of it
//   RESIDENT  blocks a multiprocessor
//   KEEP      tiles of a row that a block keeps at most
//   AHEAD     places for tiles of rows to come besides, as far as there is room
//   SPREAD    microseconds over which groups' beginnings are spread: about what a row takes
//   LEAST     tiles' worth of elements that a block gets at least: fewer blocks for short rows
#include "hone/gpu/ahead.h"

__global__ void __launch_bounds__(THREADS, RESIDENT) shared_rows(@parameters@) {
  __shared__ hone::gpu::Scratch<THREADS, 1> scratch;
  hone::gpu::ThreadGroup<THREADS, 1> thread_group(scratch);
  const int thread = static_cast<int>(threadIdx.x);
  __shared__ int32_t number;
  extern __shared__ __align__(16) unsigned char kept_tiles[];
@kept@  const int64_t ticket = hone::gpu::take_ticket(reinterpret_cast<int32_t*>(mail), number);
  const hone::gpu::Share share{static_cast<int32_t>(ticket % blocks), blocks, kept, places};
  const int64_t first_row = ticket / blocks, row_step = gridDim.x / blocks;
  const auto stands = [=]([[maybe_unused]] int64_t row) {
@stands@  };
  const auto fetch = [=](hone::gpu::RunBarrier& barrier, const auto& tile, [[maybe_unused]] int64_t piece, [[maybe_unused]] int64_t row) {
@fetches@  };
  auto ahead = hone::gpu::look_ahead<@tensors@>(stands, fetch, kept_tiles + places * (THREADS * VEC * UNROLL * @bytes@), share, first_row,
                                                row_step, @rows_cpp@);
  // Groups that begin together stay in step, and memory is idle while all of them wait at the same time.
  hone::gpu::rest(static_cast<int>(first_row * SPREAD / row_step));
  ahead.template begin<THREADS, VEC, UNROLL>(@pieces@, @length@);
  int64_t* const box = mail + hone::gpu::kSlotWords + first_row * blocks * (2 * @messages@ * hone::gpu::kSlotWords);
  int32_t turn = 0;
  for (int64_t row = first_row; row < @rows_cpp@; row += row_step, ahead.next_row()) {
    const hone::gpu::Alignment alignment = stands(row);
    int64_t* const slots = box + ++turn % 2 * (@messages@ * hone::gpu::kSlotWords) * blocks;
@prologue@@body@  }
}
