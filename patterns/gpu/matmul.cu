/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { ROWS = [@rows_values@], COLUMNS = [@columns_values@], DEPTH = [16, 8], GROUP = [8, 1, 4, 16]@waves@ }
@workspaces@@launches@*/
// Matmul in fp32 without matrix units: a block makes a tile of ROWS x COLUMNS of the result, DEPTH of the sum at a time
// through shared memory; then the element-wise rest of the computation runs over the tile and the result is written
// once. A thread sums 8 x 8 elements in registers, so that 64 multiply-adds come of every 64 bytes from shared memory.
//
// When it pays: products of matrices where there are no matrix units for the type and the accuracy.
//   ROWS, COLUMNS  the tile: large reads less from memory, small spreads better over the multiprocessors
//   DEPTH          how much of both factors is in shared memory at a time
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
@waves_note@@picks_note@#include "hone/gpu/matmul_simt.h"
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
  hone::gpu::simt_product<ROWS, COLUMNS, DEPTH>(
      left_at, right_at, row_at, column_at, segment_at, memory_at, epilogue_at);
}
@kernels@