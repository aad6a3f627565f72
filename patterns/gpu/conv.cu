/* hone
language = "@language@"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { ROWS = [@rows@], COLUMNS = [@columns@], DEPTH = [@depths@], GROUP = [8, 1, 4, 16] }
constraints = [
  "ROWS * COLUMNS >= 64 * WAVE and ROWS * COLUMNS <= 32768",
  "2 * DEPTH <= ROWS and DEPTH * 64 >= ROWS",
  "@shared@ <= SHARED_MAX",
]
workspaces = { packed = "f32[@groups@, @depth@, @padded@]", table = "i64[@depth@, @entry@]" }

[[launch]]
kernel = "lay_out"
grid   = ["ceil_div(@weights@, 256)"]
block  = ["256"]
args   = [@args@, "packed", "table"]

[[launch]]
kernel = "convolve"
grid   = ["@tiles@"]
block  = ["ROWS * COLUMNS // 64"]
shared = "@shared@"
args   = [@args@, "packed", "table"]
*/
// Convolution as implicit matmul, in fp32 without matrix units. Written out, a convolution is a matrix product:
//
//   result[output channel, position] = sum over depth of weights[output channel, depth] * spread[depth, position]
//
// where the depth is input channel and tap, a position is a place in one of the images, and spread[depth, position] is
// the element of x that the tap sees from there, or 0 beyond the edge. `spread` is x as many times as there are taps: it
// is never stored. A block makes a tile of ROWS x COLUMNS of the result as a matmul does, DEPTH of the sum at a time
// through shared memory, and gathers the segment of `spread` that it needs straight from x; neighbouring threads take
// neighbouring positions, so that they read x along its rows, and what several taps see comes from the cache.
//
// The first launch puts the weights in the order of the depth, row beside row, so that they are read four at a time,
// and makes the table that says of each depth how far its elements lie from a position's origin: no loop below divides.
//
// A transposed convolution of stride s looks, from one position of the result, like a convolution of stride 1 with
// every s-th tap. So positions are sorted into phases by their remainder; each is a product with a segment of the depth
// of its own, and no zero is multiplied. An ordinary convolution has one phase.
//
// When it pays: where there are several channels on both sides. With one channel in a group it is bound by memory.
//   ROWS, COLUMNS  the tile: large reads less from memory; more ROWS than output channels are wasted
//   DEPTH          how much of both factors is in shared memory at a time
//   GROUP          tiles down before the next ones across: what blocks that run together share in the cache
#include "hone/gpu/conv.h"
#include "hone/gpu/math.h"

@finish@
__global__ void __launch_bounds__(256) lay_out(@parameters@, float* __restrict__ packed_at, int64_t* __restrict__ table_at) {
@shape@
  hone::gpu::pack_weights(shape_at, @w@, packed_at, table_at, blockIdx.x * int64_t{256} + threadIdx.x);
}

__global__ void __launch_bounds__(ROWS * COLUMNS / 64) convolve(@parameters@, const float* __restrict__ packed_at, const int64_t* __restrict__ table_at) {
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
  const hone::gpu::Gathered<@type@, @space@, COLUMNS, ROWS * COLUMNS / 64, @checked@> right_at(
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
  hone::gpu::simt_product<ROWS, COLUMNS, DEPTH>(left_at, right_at, row_at, column_at, phase_at.depth, memory_at, epilogue_at);
}
