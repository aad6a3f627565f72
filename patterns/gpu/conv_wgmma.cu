/* hone
language = "@language@"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { LINES = [@lines@], COLUMNS = [@columns@], TAPS = [@taps@], STAGES = [3, 4, 2, 5], FETCHERS = [@fetchers@], BLOCKS = [@blocks@], GROUP = [8, 1, 4, 16] }
constraints = [
  "@bytes@ * STAGES * (LINES + TAPS * COLUMNS) + @beside@ <= SHARED_MAX // BLOCKS - 512 * (BLOCKS - 1)",
  "@registers@ <= 192 // BLOCKS - 32 * (BLOCKS - 1)",
  "(TAPS - 1) * @step@ < LINES and LINES >= 128 * FETCHERS",
]
workspaces = { packed = "@number@[@weights@, @parts@, 16]" }

[[launch]]
kernel = "lay_out"
grid   = ["ceil_div(@weights@ * @cores@, 256)"]
block  = ["256"]
args   = [@args@, "packed"]

[[launch]]
kernel = "convolve"
grid   = ["@tiles@"]
block  = ["256 + 128 * FETCHERS"]
shared = "@bytes@ * STAGES * (LINES + TAPS * COLUMNS)"
args   = [@args@, "packed"]
*/
// Convolution as implicit matmul on Hopper's matrix units (wgmma). conv_mma.cu says how a convolution is a matrix product, and
// what its phases are. Here rows of the product are positions and columns are output channels, and x is gathered once for
// several taps: a stage in shared memory holds 16 channels of a run of LINES positions, and the units read the same run from
// one position further on for the next tap along the last dimension. Where there are few channels, depths of a stage are channels
// and the other dimensions' taps together. Groups of warps multiply what others fetch;
// hone/gpu/conv_wgmma.h says how, and hone/gpu/matmul_wgmma.h how the accuracy is kept.
//
// When it pays: wherever 16 channels, or channels and taps of the other dimensions, fill stages well: twice as fast as mma.sync
// and more.
//   LINES    positions of a block: large reads fewer weights, and needs registers for the sums
//   COLUMNS  output channels of a block; more than there are is wasted
//   TAPS     that a run serves: many read x less often, and their weights need room
//   STAGES   runs in shared memory: one is computed on, the others are on their way
//   FETCHERS groups of warps that fetch
//   BLOCKS   on a multiprocessor: where sums are short, others multiply while one begins or writes
//   GROUP    tiles of positions before the next output channels: what blocks that run together share in the cache
#include "hone/gpu/conv_wgmma.h"
#include "hone/gpu/math.h"

@finish@
using Math = @math@;
__global__ void __launch_bounds__(256) lay_out(@parameters@, @packed@* __restrict__ packed_at) {
@shape@
  hone::gpu::pack_runs<Math, COLUMNS, @folded@>(shape_at, @w@, reinterpret_cast<char*>(packed_at), blockIdx.x * int64_t{256} + threadIdx.x);
}

__global__ void __launch_bounds__(256 + 128 * FETCHERS, BLOCKS) convolve(@parameters@, const @packed@* __restrict__ packed_at) {
  extern __shared__ __align__(128) float memory_at[];
@shape@
  const auto epilogue_at = [=](int64_t channel_at, int64_t image_at, int64_t pixel_at, float sum_at) {
    finish(@names@, image_at, channel_at, pixel_at, sum_at);
  };
  hone::gpu::run_product<Math, LINES, COLUMNS, TAPS, @step@, @each@, @folded@, STAGES, FETCHERS, BLOCKS, GROUP>(
      shape_at, blockIdx.x, @x@, reinterpret_cast<const char*>(packed_at), memory_at, epilogue_at);
}
