/* hone
language = "@language@"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { LINES = [@lines@], COLUMNS = [@columns@], TAPS = [@taps@], STAGES = [3, 4, 2, 5], FETCHERS = [2, 1], GROUP = [8, 1, 4, 16] }
constraints = [
  "@bytes@ * STAGES * (LINES + TAPS * COLUMNS) + 512 <= SHARED_MAX and 4 * COLUMNS * (LINES + 4) + 512 <= SHARED_MAX",
  "@registers@ <= 192",
  "(TAPS - 1) * @step@ < LINES and LINES >= 128 * FETCHERS",
]
workspaces = { packed = "@number@[@weights@, @parts@, 16]" }

[[launch]]
kernel = "lay_out"
grid   = ["ceil_div(@weights@ * @bricks@, 256)"]
block  = ["256"]
args   = [@args@, "packed"]

[[launch]]
kernel = "convolve"
grid   = ["@tiles@"]
block  = ["256 + 128 * FETCHERS"]
shared = "max(@bytes@ * STAGES * (LINES + TAPS * COLUMNS), 4 * COLUMNS * (LINES + 4))"
args   = [@args@, "packed"]
*/
// Convolution as implicit matmul on Hopper's matrix units (wgmma). conv_mma.cu says how a convolution is a matrix product, and
// what its phases are. Here rows of the product are positions and columns are output channels, and x is gathered once for
// several taps: a stage in shared memory holds 16 channels of a run of LINES positions, and the units read the same run from
// one position further on for the next tap along the last dimension. Groups of warps multiply what others fetch;
// hone/gpu/conv_wgmma.h says how, and hone/gpu/matmul_wgmma.h how the accuracy is kept.
//
// When it pays: 16 channels and more on the side of x, wherever the accuracy suffices: twice as fast as mma.sync and more.
//   LINES    positions of a block: large reads fewer weights, and needs registers for the sums
//   COLUMNS  output channels of a block; more than there are is wasted
//   TAPS     that a run serves: many read x less often, and their weights need room
//   STAGES   runs in shared memory: one is computed on, the others are on their way
//   FETCHERS groups of warps that fetch
//   GROUP    tiles of positions before the next output channels: what blocks that run together share in the cache
#include "hone/gpu/conv_wgmma.h"
#include "hone/gpu/math.h"

@finish@
using Math = @math@;
__global__ void __launch_bounds__(256) lay_out(@parameters@, @packed@* __restrict__ packed_at) {
@shape@
  hone::gpu::pack_runs<Math, COLUMNS>(shape_at, @w@, reinterpret_cast<char*>(packed_at), blockIdx.x * int64_t{256} + threadIdx.x);
}

__global__ void __launch_bounds__(256 + 128 * FETCHERS, 1) convolve(@parameters@, const @packed@* __restrict__ packed_at) {
  extern __shared__ __align__(128) float memory_at[];
@shape@
  using Run = hone::gpu::Run<@space@, LINES, TAPS, @step@>;
  // Phases of one place run side by side: they read the same of x, and together they fill the lines of the result.
  const int64_t phases_at = shape_at.all_phases(), block_at = hone::gpu::quotient(blockIdx.x, phases_at);
  const int64_t down_at = Run::most(shape_at), across_at = (shape_at.outputs + COLUMNS - 1) / COLUMNS;
  const hone::gpu::BlockTile tile_at = hone::gpu::block_tile<GROUP>(block_at, down_at, across_at);
  const int64_t group_at = tile_at.batch, column_at = tile_at.across * COLUMNS;
  const auto phase_at = shape_at.phase(blockIdx.x - block_at * phases_at);
  const Run run_at(phase_at, tile_at.down);
  if (run_at.empty()) return;

  // A thread hands over several channels of one position before the next position.
  int64_t known_at = -1, image_at = 0, pixel_at = 0;
  auto sink_at = [=](int64_t r_at, int64_t c_at, float sum_at) mutable {
    if (c_at != known_at) {
      int64_t place_at[@space@];
      image_at = shape_at.place(phase_at, c_at, place_at);
      pixel_at = shape_at.pixel(phase_at, place_at);
      known_at = c_at;
    }
    finish(@names@, image_at, group_at * shape_at.outputs + r_at, pixel_at, sum_at);
  };
  const char* weights_at = reinterpret_cast<const char*>(packed_at) + (group_at * across_at + tile_at.across) * hone::gpu::weight_bytes<Math, COLUMNS>(shape_at);
  hone::gpu::run_product<Math, LINES, COLUMNS, TAPS, @step@, STAGES, FETCHERS>(
      shape_at, phase_at, run_at, @x@ + group_at * shape_at.plane(), weights_at, column_at, memory_at, sink_at);
}
