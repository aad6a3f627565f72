/* hone
language = "@language@"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { ROWS = [@tile_rows@], COLUMNS = [@tile_columns@], DEPTH = [@depths@], STAGES = [@stages@], LEVELS = [@levels@], BLOCKS = [@blocks@], GROUP = [16, 8, 4, 1]@waves@ }
constraints = [
  "max(@bytes@ * STAGES * DEPTH * (ROWS + COLUMNS), 4 * ROWS * (COLUMNS + 8)) + 512 <= SHARED_MAX // BLOCKS - 512 * (BLOCKS - 1)",
  "COLUMNS * LEVELS <= 256",
  "BLOCKS == 1 or @registers@ <= 320 - 2 * ROWS",
]
workspaces = { left = "@number@[@parts@, @a_batch@, align(@a_lines@, ROWS), align(@a_deep@, DEPTH)]", right = "@number@[@parts@, @b_batch@, align(@b_lines@, COLUMNS), align(@a_deep@, DEPTH)]"@sums@ }
[[launch]]
kernel = "split_left"
grid   = ["@a_batch@ * align(@a_lines@, ROWS) // 64 * ceil_div(align(@a_deep@, DEPTH), 32)"]
block  = ["256"]
args   = [@arguments@, "left"]
[[launch]]
kernel = "split_right"
grid   = ["@b_batch@ * align(@b_lines@, COLUMNS) // 64 * ceil_div(align(@a_deep@, DEPTH), 32)"]
block  = ["256"]
args   = [@arguments@, "right"]
[[launch]]
kernel = "multiply"
grid   = [@grid@]
block  = ["2 * ROWS + 128"]
shared = "max(@bytes@ * STAGES * DEPTH * (ROWS + COLUMNS), 4 * ROWS * (COLUMNS + 8))"
args   = [@arguments@, "left", "right"@sums_argument@]
@launches@*/
// Matmul on Hopper's matrix units (wgmma). Two launches write both factors in the units' numbers, in the order in which the
// units want them; then a block makes a tile of ROWS x COLUMNS of the result, one warp fetching with bulk copies while groups
// of four warps multiply; then the element-wise rest of the computation runs over the tile and the result is written once.
// hone/gpu/matmul_wgmma.h says how the accuracy is kept where the units' numbers have fewer bits than the factors.
//
// When it pays: products so large that reading and writing the factors once more is little beside them: two to three times
// as fast as mma.sync there, where each warp turns its numbers into the units' anew. Short sums of many elements are offered too,
// last, with two BLOCKS: one multiplies while the other writes (results/h200/2026-11-25-tracks.md: a quarter faster at a depth of 64).
//   ROWS, COLUMNS  the tile: large reads less, and needs registers
//   DEPTH          of a tile in shared memory, and of what the units sum before it is added to the rest
//   STAGES         tiles in shared memory: one is computed on, the others are on their way
//   LEVELS         2: sums of segments of the depth are added up apart, which is more accurate where the depth is long
//   BLOCKS         on a multiprocessor: where the depth is short, one multiplies while another writes
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
@waves_note@#include "hone/gpu/matmul_wgmma.h"
#include "hone/gpu/math.h"

@finish@
using Math = @math@;
__global__ void __launch_bounds__(256) split_left(@parameters@, @stored@* __restrict__ parts_at) {
  const int64_t lines_at = @rows@, deep_at = @deep@, blocks_at = hone::gpu::split_blocks<ROWS, DEPTH>(lines_at, deep_at);
  const int64_t batch_at = blockIdx.x / blocks_at;
  const auto factor_at = hone::gpu::factor<1, @a_along@>(
      @a@, lines_at, [=](int64_t line_at) -> int64_t { return @a_line@; },
      [=](int64_t depth_at) -> int64_t { return @a_depth@; });
  hone::gpu::split_factor<Math, ROWS, DEPTH, @a_side_by_side@>(
      factor_at, deep_at, blockIdx.x % blocks_at,
      reinterpret_cast<char*>(parts_at) + batch_at * hone::gpu::parts_bytes<Math, ROWS, DEPTH>(lines_at, deep_at));
}
__global__ void __launch_bounds__(256) split_right(@parameters@, @stored@* __restrict__ parts_at) {
  const int64_t lines_at = @columns@, deep_at = @deep@, blocks_at = hone::gpu::split_blocks<COLUMNS, DEPTH>(lines_at, deep_at);
  const int64_t batch_at = blockIdx.x / blocks_at;
  const auto factor_at = hone::gpu::factor<1, @b_along@>(
      @b@, lines_at, [=](int64_t line_at) -> int64_t { return @b_line@; },
      [=](int64_t depth_at) -> int64_t { return @b_depth@; });
  hone::gpu::split_factor<Math, COLUMNS, DEPTH, @b_side_by_side@>(
      factor_at, deep_at, blockIdx.x % blocks_at,
      reinterpret_cast<char*>(parts_at) + batch_at * hone::gpu::parts_bytes<Math, COLUMNS, DEPTH>(lines_at, deep_at));
}
__global__ void __launch_bounds__(hone::gpu::group_threads(ROWS), BLOCKS) multiply(
    @parameters@, const @stored@* __restrict__ left_at, const @stored@* __restrict__ right_at@sums_parameter@) {
  extern __shared__ __align__(128) float memory_at[];
  const int64_t rows_at = @rows@, columns_at = @columns@, deep_at = @deep@;
  const int64_t down_at = (rows_at + ROWS - 1) / ROWS, across_at = (columns_at + COLUMNS - 1) / COLUMNS;
  const hone::gpu::BlockTile tile_at = hone::gpu::block_tile<GROUP>(blockIdx.x, down_at, across_at);
  const int64_t row_at = tile_at.down * ROWS, column_at = tile_at.across * COLUMNS;
@segment@  const auto epilogue_at = [&](int64_t r_at, int64_t c_at, float sum_at) {
@epilogue@  };
  hone::gpu::group_product<Math, ROWS, COLUMNS, DEPTH, STAGES, LEVELS, BLOCKS>(
      reinterpret_cast<const char*>(left_at) + (@a_in_batch@tile_at.down) * hone::gpu::parts_bytes<Math, ROWS, DEPTH>(ROWS, deep_at),
      reinterpret_cast<const char*>(right_at) + (@b_in_batch@tile_at.across) * hone::gpu::parts_bytes<Math, COLUMNS, DEPTH>(COLUMNS, deep_at),
      segment_at, row_at, column_at, rows_at, columns_at, memory_at, epilogue_at);
}
@kernels@