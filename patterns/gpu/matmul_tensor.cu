/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { ROWS = [@rows_values@], COLUMNS = [@columns_values@], STAGES = [@stages@], TURNS = [@turns@], AHEAD = [@ahead@], GROUP = [16, 8, 4, 1], CLUSTER_DOWN = [@cluster_down@], CLUSTER_ACROSS = [@cluster_across@]@waves@ }
constraints = [
  "128 * STAGES * (ROWS + COLUMNS) + @each@ * 32768 + 2048 <= SHARED_MAX",
  "ROWS * COLUMNS <= @most@ // (TURNS + 1)",
  "ROWS >= 64 * (2 - TURNS)",
  "CLUSTER_DOWN * CLUSTER_ACROSS <= 2",
]
workspaces = { @laid@@parts_workspace@maps = "i8[@blocks@, 128 * (1 + @each@)]" }
@lay_launch@[[launch]]
kernel = "multiply"
grid   = ["@blocks@"]
block  = ["384"]
cluster = ["CLUSTER_DOWN * CLUSTER_ACROSS"]
shared = "128 * STAGES * (ROWS + COLUMNS) + @each@ * 32768"
args   = [@arguments@, @laid_arguments@@part_arguments@"maps"]
@launches@*/
// Matmul of numbers of 16 or 8 bits on Hopper's matrix units (wgmma), of factors as they lie in memory: the copy engine (TMA) brings tiles of them, a
// block for each multiprocessor multiplies tile after tile, then the element-wise rest of the computation runs over the tile and
// the result is written once. hone/gpu/matmul_tensor.h has the picture.
//
// When it pays: always where there are enough tiles for most multiprocessors, and rows of both factors begin on 16 bytes. Against
// matmul_wgmma.cu no launch writes the factors once more, and finishing a tile costs no time that the units have.
@lay_note@@pair@//   ROWS, COLUMNS  the tile: large reads less, and needs registers
//   STAGES         tiles of the factors in shared memory: one is computed on, the others are on their way
//   TURNS          1: the groups of warps take turns, one multiplies while the other finishes its tile; 0: they share a tile twice as large
//   AHEAD          so many times four rows are finished at a time, while what the rest of the computation reads of the next is on its way
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
//   CLUSTER_DOWN, CLUSTER_ACROSS   tiles of a cluster of blocks, which read what they have in common once: less is asked of the cache, and blocks wait for each other
@waves_note@#include "hone/gpu/@header@.h"
#include "hone/gpu/math.h"
@part_header@
@finish@
@lays@__global__ void __launch_bounds__(384, 1) multiply(@parameters@, @laid_parameters@@part_parameters@int8_t* __restrict__ maps_at) {
  extern __shared__ __align__(1024) char memory_at[];
  const int64_t rows_at = @rows@, columns_at = @columns@, deep_at = @deep@;
  const auto left_at = @left@;
  const hone::gpu::TensorFactor<@stored@, @b_along@> right_at[] = {@rights@};
@sums_to@  hone::gpu::tensor_product<@stored@, ROWS, COLUMNS, STAGES, TURNS, GROUP, AHEAD, CLUSTER_DOWN, CLUSTER_ACROSS, @split@>(
      left_at, right_at, @batches@, @parts@, memory_at, reinterpret_cast<hone::prim::TensorMap*>(maps_at) + (1 + @each@) * blockIdx.x,
      [&](int64_t batch_at, int64_t row_at, int64_t column_at, const @sum@(&sum_at)[@each@]) {
        @one@;
      },
      [&](int64_t batch_at, int64_t row_at, int64_t column_at) { return @on_words@; },
      [&](auto at, int64_t batch_at, int64_t row_at, int64_t column_at) {
        return @reads@;
      },
      [&](auto at, int64_t batch_at, int64_t row_at, int64_t column_at, const @sum@(&sums_at)[@each@][hone::gpu::kMany], const auto& given_at) {
        @many@;
      });
}
@kernels@