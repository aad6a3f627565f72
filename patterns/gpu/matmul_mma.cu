/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { ROWS = [@rows_values@], COLUMNS = [@columns_values@], DEPTH = [32, 16], WARP_ROWS = [32, 64, 16], WARP_COLUMNS = [64, 32, 128], STAGES = [4, 3, 2], GROUP = [8, 1, 4, 16]@waves@ }
constraints = [
  "ROWS % WARP_ROWS == 0 and COLUMNS % WARP_COLUMNS == 0 and WARP_ROWS * WARP_COLUMNS <= 2048",
  "@threads@ * select(WARP_ROWS * WARP_COLUMNS > 1024, 256, 128) <= 65536",
  "@shared@ <= SHARED_MAX",
]
@workspaces@@launches@*/
// Matmul on NVIDIA's matrix units: a block makes a tile of ROWS x COLUMNS of the result, DEPTH of the sum at a time
// through shared memory; then the element-wise rest of the computation runs over the tile and the result is written
// once. The units' factors have fewer bits than fp32: hone/gpu/matmul_mma.h says how the accuracy is kept.
//
// When it pays: products of more than a few rows and columns, wherever the accuracy suffices.
//   ROWS, COLUMNS  the tile: large reads less from memory, small spreads better over the multiprocessors
//   DEPTH          how much of both factors is in a tile in shared memory
//   WARP_ROWS, WARP_COLUMNS  a warp's part of the tile: large reads less from shared memory and needs registers
//   STAGES         tiles in shared memory: one is computed on, the others are on their way
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
@waves_note@@picks_note@#include "hone/gpu/matmul_mma.h"
@picked@#include "hone/gpu/math.h"

@finish@
/// V_A and V_B elements of the factors lie side by side on boundaries of their size.
template <int V_A, int V_B>
__device__ void multiply(@parameters@) {
  extern __shared__ __align__(16) float memory_at[];
  const int64_t rows_at = @rows@, columns_at = @columns@;
  const int64_t down_at = (rows_at + ROWS - 1) / ROWS, across_at = (columns_at + COLUMNS - 1) / COLUMNS;
  const hone::gpu::BlockTile tile_at = hone::gpu::block_tile<GROUP>(blockIdx.x, down_at, across_at);
  const int64_t row_at = tile_at.down * ROWS, column_at = tile_at.across * COLUMNS;

@picks@  const auto left_at = @left@hone::gpu::factor<V_A, @a_along@>(
      @a@, rows_at, [=](int64_t line_at) -> int64_t { return @a_line@; },
      [=](int64_t depth_at) -> int64_t { return @a_depth@; })@left_picks@;
  const auto right_at = @right@hone::gpu::factor<V_B, @b_along@>(
      @b@, columns_at, [=](int64_t line_at) -> int64_t { return @b_line@; },
      [=](int64_t depth_at) -> int64_t { return @b_depth@; })@right_picks@;
@segment@  const auto epilogue_at = [&](int64_t r_at, int64_t c_at, float sum_at) {
@epilogue@  };
  hone::gpu::mma_product<@math@, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>(
      left_at, right_at, row_at, column_at, segment_at, memory_at, epilogue_at);
}
@kernels@