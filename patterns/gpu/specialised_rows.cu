/* hone
language = "@language@"
pattern  = "specialised_rows"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["THREADS % WAVE == 0", "2 * THREADS + EXCHANGERS * WAVE <= 1024", "(2 * THREADS + EXCHANGERS * WAVE) * RESIDENT <= 2048", "VEC * UNROLL * @bytes@ <= 128", "(2 * THREADS + EXCHANGERS * WAVE) * RESIDENT * (VEC * UNROLL * @bytes@ // 4 + 32) <= 65536", "GROUPS <= SMS * RESIDENT", "@least@"]
workspaces = { @workspaces@ }
[[launch]]
kernel = "specialised_rows"
grid   = ["@grid@"]
block  = ["2 * THREADS + EXCHANGERS * WAVE"]
shared = "@shared@"
args   = [@args@]
*/
// Warp-specialised rows: as many blocks as the device holds at a time, in groups that take row after row, as patterns/gpu/shared_rows.cu, where
// also is why they may wait for each other; but of a block's waves some read and others write, some rows behind them.
// Readers take tiles as bulk copies bring them into a ring of places, and leave what they find of a row; exchangers tell
// the group and hear what its other blocks found; writers then write the row out of its places, and send for what comes
// there next. Nobody waits at the end of a row, so memory stays busy while words are on their way.
//
// When it pays: softmax and norms in two rounds, of rows that together with some to come fit into the device's shared
// memory. sm_90 and later.
//   THREADS   threads that read, and as many that write
//   VEC       elements a word
//   UNROLL    words of a tile that a thread has: a power of two
//   GROUPS     groups that share the device, where there are rows for so many: 1 gives a row all of it
//   RESIDENT  blocks a multiprocessor
//   KEEP      tiles of a row that a block keeps at most: what is beyond is read twice
//   AHEAD     places for tiles of other rows besides, as far as there is room
//   EXCHANGERS  waves that speak with other blocks, each about a row
//   LEAST     tiles' worth of elements that a block gets at least: fewer blocks for short rows
#include "hone/gpu/specialised_rows.h"

__global__ void __launch_bounds__(2 * THREADS + EXCHANGERS * hone::kWave, RESIDENT) specialised_rows(@parameters@) {
  using Mail = hone::gpu::RowMail<hone::gpu::Post::kMemory, hone::gpu::kRowsUnderWay, @results@>;
  static_assert(Mail::kRowWords == @words@, "as the plan counts them");
  __shared__ hone::gpu::RowRoom<THREADS, hone::gpu::kRowsUnderWay, @messages@> room;
  hone::gpu::WarpRoles<THREADS, hone::gpu::kRowsUnderWay, @messages@> roles(room);
  __shared__ int32_t number;
  extern __shared__ __align__(16) unsigned char kept_tiles[];
@kept@  const int64_t ticket = hone::gpu::take_ticket(reinterpret_cast<int32_t*>(mail), number);
  const hone::gpu::Share share{static_cast<int32_t>(ticket % blocks), blocks, kept, places};
  const int64_t first_row = ticket / blocks, row_step = gridDim.x / blocks;
  const Mail box{mail + hone::gpu::kSlotWords + first_row * blocks * Mail::kWords, share.rank, blocks};
  const auto stands = [=]([[maybe_unused]] int64_t row) {
@stands@  };
  const auto fetch = [=](hone::gpu::RunBarrier& barrier, const auto& tile, [[maybe_unused]] int64_t piece, [[maybe_unused]] int64_t row) {
@fetches@  };
  auto ring = hone::gpu::ring_of<@tensors@>(stands, fetch, kept_tiles + places * (THREADS * VEC * UNROLL * @bytes@), share, first_row, row_step,
                                        @rows_cpp@);
  if (threadIdx.x == 0) roles.begin();
  if (threadIdx.x / THREADS == 1) ring.template begin<THREADS, VEC, UNROLL>(@pieces@, @length@);
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x) % THREADS;
  const auto read = [&](int64_t row) {
    const hone::gpu::Alignment alignment = stands(row);
@read@  };
  const auto write = [&](int64_t row) {
    const hone::gpu::Alignment alignment = stands(row);
@write@  };
  roles.run(box, first_row, row_step, @rows_cpp@, EXCHANGERS, read, write);
}
