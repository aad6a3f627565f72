/* hone
language = "@language@"
pattern  = "specialised_cluster"
note     = "@note@"
@requires@tunables = { @tunables@ }
constraints = ["THREADS % WAVE == 0", "2 * THREADS + EXCHANGERS * WAVE <= 1024", "VEC * UNROLL * @bytes@ <= 256", "(2 * THREADS + EXCHANGERS * WAVE) * (min(VEC * UNROLL, 32) * @bytes@ // 4 + 32) <= 65536", "@least@"]
[[launch]]
kernel  = "specialised_rows"
grid    = ["@grid@"]
block   = ["2 * THREADS + EXCHANGERS * WAVE"]
cluster = ["@blocks@"]
shared  = "@shared@"
args    = [@args@]
*/
// Warp-specialised rows, as patterns/gpu/specialised_rows.cu, by clusters: the blocks of a group begin together and tell each other through shared
// memory. Each writes its words into that of all the others, and looks for theirs in its own: no word is ever in the way of
// what the rows themselves do to memory. Clusters do not wait for each other, so they need not all run at a time, and no
// workspace has to be cleared before they begin.
//
// When it pays: as specialised_rows.cu, rows of which a block's part fits into its shared memory twice or more. A card's groups of
// multiprocessors do not all hold a whole number of large clusters, and some multiprocessors stay idle: on an H200 7
// clusters of 16 blocks run at a time, or 15 of 8.
//   CLUSTER   blocks that share a row of more than one tile
//   SPARE     clusters fewer than there are multiprocessors for
//   THREADS   threads that read, and as many that write
//   VEC       elements a word
//   UNROLL    words of a tile that a thread has: a power of two. What a wave has is one bulk copy
//   KEEP      tiles of a row that a block keeps at most: what is beyond is read twice
//   AHEAD     places for tiles of other rows besides, as far as there is room
//   EXCHANGERS  waves that speak with other blocks, each about a row
#include "hone/gpu/specialised_rows.h"

__global__ void __launch_bounds__(2 * THREADS + EXCHANGERS * hone::kWave, 1) specialised_rows(@parameters@) {
  using Mail = hone::gpu::RowMail<hone::gpu::Post::kCluster, hone::gpu::kRowsInCluster, @results@>;
  constexpr int HELD = VEC * UNROLL <= 32 ? UNROLL : 32 / VEC;  // words that a thread has in registers
  __shared__ hone::gpu::RowRoom<THREADS, hone::gpu::kRowsInCluster, @messages@> room;
  __shared__ int64_t mail[Mail::kWords * CLUSTER];
  static_assert(sizeof room + sizeof mail == @own_cpp@, "as the plan counts them");
  hone::gpu::WarpRoles<THREADS, hone::gpu::kRowsInCluster, @messages@> roles(room);
  extern __shared__ __align__(16) unsigned char kept_tiles[];
@kept@  const hone::gpu::Share share{hone::prim::cluster_rank(), hone::prim::cluster_size(), kept, places};
  const int64_t first_row = blockIdx.x / share.blocks, row_step = gridDim.x / share.blocks;
  const Mail box{mail, share.rank, share.blocks};
  const auto stands = [=]([[maybe_unused]] int64_t row) {
@stands@  };
  const auto fetch = [=](hone::gpu::RunBarrier& barrier, const auto& tile, [[maybe_unused]] int64_t piece, [[maybe_unused]] int64_t row) {
@fetches@  };
  auto ring = hone::gpu::ring_of<@tensors@>(stands, fetch, kept_tiles + places * (THREADS * VEC * UNROLL * @bytes@), share, first_row, row_step,
                                        @rows_cpp@);
  for (int i = static_cast<int>(threadIdx.x); i < Mail::kWords * CLUSTER; i += static_cast<int>(blockDim.x)) mail[i] = 0;
  if (threadIdx.x == 0) roles.begin();
  if (threadIdx.x / THREADS == 1) ring.template begin<THREADS, VEC, UNROLL>(@pieces@, @length@);
  hone::prim::cluster_sync();  // before anybody tells
  const int thread = static_cast<int>(threadIdx.x) % THREADS;
  const auto read = [&](int64_t row) {
    const hone::gpu::Alignment alignment = stands(row);
@read@  };
  const auto write = [&](int64_t row) {
    const hone::gpu::Alignment alignment = stands(row);
@write@  };
  roles.run(box, first_row, row_step, @rows_cpp@, EXCHANGERS, read, write);
  hone::prim::cluster_sync();  // nobody ends while others may write into its mail
}
