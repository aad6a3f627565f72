/* hone
language = "@language@"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { ROWS = [@rows@], COLUMNS = [@columns@], DEPTH = [@depths@], WARP_ROWS = [@warp_rows@], WARP_COLUMNS = [@warp_columns@], STAGES = [3, 2, 4], GROUP = [8, 1, 4, 16] }
constraints = [
  "ROWS % WARP_ROWS == 0 and COLUMNS % WARP_COLUMNS == 0 and WARP_ROWS * WARP_COLUMNS <= 2048",
  "@threads@ <= 512 and @threads@ * select(WARP_ROWS * WARP_COLUMNS > 1024, 256, 128) <= 65536",
  "@threads@ <= COLUMNS * DEPTH",
  "@shared@ <= SHARED_MAX",
]
workspaces = { packed = "@packed_type@[@groups@, @depth@, @padded@]", table = "i64[@depth@, @entry@]" }

[[launch]]
kernel = "lay_out"
grid   = ["ceil_div(@weights@, 256)"]
block  = ["256"]
args   = [@args@, "packed", "table"]

[[launch]]
kernel = "convolve"
grid   = ["@tiles@"]
block  = ["@threads@"]
shared = "@shared@"
args   = [@args@, "packed", "table"]
*/
// Convolution as implicit matmul on NVIDIA's matrix units. Written out, a convolution is a matrix product,
//
//   result[output channel, position] = sum over depth of weights[output channel, depth] * spread[depth, position]
//
// the depth being input channel and tap, and spread[depth, position] what the tap sees of x from there, 0 beyond the
// edge. `spread` is never stored: asynchronous copies gather the segment of it that a tile needs straight from x into
// shared memory, zeros included, some tiles ahead of the units. conv.cu says more, of phases too; hone/gpu/matmul_mma.h
// says how the accuracy is kept where the units' factors have fewer bits than fp32.
//
// When it pays: where there are several channels on both sides, wherever the accuracy suffices.
//   ROWS, COLUMNS  the tile: large reads less from memory; more ROWS than output channels are wasted
//   DEPTH          how much of both factors is in a tile in shared memory
//   WARP_ROWS, WARP_COLUMNS  a warp's part of the tile: large reads less from shared memory and needs registers
//   STAGES         tiles in shared memory: one is computed on, the others are on their way
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
#include "hone/gpu/conv.h"
#include "hone/gpu/math.h"
#include "hone/gpu/matmul_mma.h"

@finish@
__global__ void __launch_bounds__(256) lay_out(@parameters@, @packed@* __restrict__ packed_at, int64_t* __restrict__ table_at) {
@shape@
  hone::gpu::pack_weights(shape_at, @w@, packed_at, table_at, blockIdx.x * int64_t{256} + threadIdx.x);
}

__global__ void __launch_bounds__(@bound@) convolve(@parameters@, const @packed@* __restrict__ packed_at, const int64_t* __restrict__ table_at) {
  extern __shared__ __align__(16) float memory_at[];
@shape@
  // Phases of one place run side by side: they read the same of x, and together they fill the lines of the result.
  const int64_t phases_at = shape_at.all_phases(), block_at = hone::gpu::quotient(blockIdx.x, phases_at);
  const int64_t down_at = (shape_at.outputs + ROWS - 1) / ROWS, across_at = (shape_at.most_columns() + COLUMNS - 1) / COLUMNS;
  const hone::gpu::BlockTile tile_at = hone::gpu::block_tile<GROUP>(block_at, down_at, across_at);
  const int64_t group_at = tile_at.batch, row_at = tile_at.down * ROWS, column_at = tile_at.across * COLUMNS;
  const auto phase_at = shape_at.phase(blockIdx.x - block_at * phases_at);
  if (column_at >= phase_at.columns) return;

  const int64_t padded_at = shape_at.padded();
  const auto left_at = hone::gpu::factor<4, false>(
      packed_at + group_at * shape_at.depth() * padded_at, shape_at.outputs, [=](int64_t line_at) -> int64_t { return line_at; },
      [=](int64_t depth_at) -> int64_t { return depth_at * padded_at; });
  const hone::gpu::Gathered<@type@, @space@, COLUMNS, @bound@, @checked@> right_at(
      shape_at, phase_at, @x@ + group_at * shape_at.plane(), table_at, column_at);

  // A thread hands over several rows of one column before the next column.
  int64_t known_at = -1, image_at = 0, pixel_at = 0;
  auto epilogue_at = [=](int64_t r_at, int64_t c_at, float sum_at) mutable {
    if (c_at != known_at) {
      int64_t place_at[@space@];
      image_at = shape_at.place(phase_at, c_at, place_at);
      pixel_at = shape_at.pixel(phase_at, place_at);
      known_at = c_at;
    }
    finish(@names@, image_at, group_at * shape_at.outputs + r_at, pixel_at, sum_at);
  };
  hone::gpu::mma_product<@math@, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>(
      left_at, right_at, row_at, column_at, phase_at.depth, memory_at, epilogue_at);
}
