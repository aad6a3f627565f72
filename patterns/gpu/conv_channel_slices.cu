/* hone
language = "@language@"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { LINES = [@lines@], COLUMNS = [@columns@], TAPS = [@taps@], DEPTHS = [@depths@], STAGES = [@stages@], BLOCKS = [@blocks@], GROUP = [8, 1, 4, 16] }
constraints = [
  "@shared@ + 1024 <= SHARED_MAX // BLOCKS",
  "LINES // 128 * COLUMNS // 2 <= select(BLOCKS == 1, 128, 48)",
]
workspaces = { slices = "@number@[@slices@ * DEPTHS, @slice_lines@]", packed = "@number@[@weights@, DEPTHS]" }

[[launch]]
kernel = "lay_out"
grid   = ["@slices@ // @last_classes@ * (DEPTHS // (2 * @beside@)) * ceil_div(@slice_lines@, 256) + ceil_div(@weights@ * (DEPTHS // @beside@), 256)"]
block  = ["256"]
args   = [@args@, "slices", "packed"]

[[launch]]
kernel = "convolve"
grid   = ["min(SMS * BLOCKS, @tiles@)"]
block  = ["384"]
shared = "@shared@"
args   = [@args@, "slices", "packed"]
*/
// Convolution as implicit matmul on Hopper's matrix units (wgmma), of 16-bit numbers or what is rounded to them or to TF32.
//
// As x lies, a position's channels are a plane apart, so that a product over channels would gather it element by element, again for
// every tap. The first launch lays x out in channel slices: words of 16 bytes, which hold some channels of a position, position after
// position with the zeros around the edges, for each class of taps where there is a stride (and the weights in the units' order). In
// the second launch x needs no arithmetic any more: a tap's factor is a segment of channel slices, some lines further on, that bulk copies
// bring into shared memory as the units read it. hone/gpu/conv_channel_slices.h has the picture, conv_mma.cu the product and its phases.
//
// Bytes: x is read and its channel slices are written once (channels in whole stages of DEPTHS), then read once for every Taps taps and
// COLUMNS output channels, from the second-level cache where a band of rows fits. Operations: those of the product, on positions
// with the zeros between rows (1.8 % of rows of 56), and channels in whole stages.
//
// When it pays: nearly always where the weights hold some hundred numbers for each channel of x under stride 1, as writing x costs
// what the units do in 4 bytes' time: 4 / 4.8e12 s against 2 / 8e14 s a multiplication, so from some 300 products an element on it
// is less than what multiplies; below that, gathering is bound by single loads of two bytes, and slower still.
//   LINES    positions of a tile: large reads fewer weights, and needs registers for the sums
//   COLUMNS  output channels of a tile; more than there are is wasted
//   TAPS     along the last dimension, that a stage serves: many read x less often, and their weights need room
//   DEPTHS   channels of a stage: more wait less often; what channels do not fill is wasted
//   STAGES   in shared memory: one is computed on, the others are on their way
//   BLOCKS   on a multiprocessor: where sums are short, others multiply while one hands over its sums
//   GROUP    tiles of positions before the next output channels: what blocks that run together share in the cache
#include "hone/gpu/conv_channel_slices.h"
#include "hone/gpu/math.h"

@finish@
using Math = @math@;
constexpr int held_at = LINES + ((TAPS - 1) * @step@ + 7) / 8 * 8;
__global__ void __launch_bounds__(256, 4) lay_out(@parameters@, @packed@* __restrict__ slices_at, @packed@* __restrict__ packed_at) {
@shape@
  const hone::gpu::ChannelSlices<@space@, @folded@, DEPTHS> lie_at(shape_at, LINES, held_at);
  const int64_t blocks_at = hone::gpu::slice_blocks<Math>(shape_at, lie_at);
  if (blockIdx.x < blocks_at) {
    hone::gpu::lay_slices<Math>(shape_at, lie_at, @x@, reinterpret_cast<char*>(slices_at), blockIdx.x);
  } else {
    hone::gpu::pack_runs<Math, COLUMNS, @folded@, DEPTHS>(shape_at, @w@, reinterpret_cast<char*>(packed_at), (blockIdx.x - blocks_at) * 256 + threadIdx.x);
  }
}

__global__ void __launch_bounds__(384, BLOCKS) convolve(@parameters@, const @packed@* __restrict__ slices_at, const @packed@* __restrict__ packed_at) {
  extern __shared__ __align__(128) float memory_at[];
@shape@
  const hone::gpu::ChannelSlices<@space@, @folded@, DEPTHS> lie_at(shape_at, LINES, held_at);
  hone::gpu::slice_product<Math, LINES, held_at, COLUMNS, TAPS, @step@, @each@, DEPTHS, STAGES, BLOCKS, GROUP, @one_phase@>(
      shape_at, lie_at, reinterpret_cast<const char*>(slices_at), reinterpret_cast<const char*>(packed_at), memory_at,
      [=](int64_t image_at, int64_t channel_at, int64_t pixel_at, float sum_at) { finish(@names@, image_at, channel_at, pixel_at, sum_at); },
      [=](int64_t image_at, int64_t channel_at, int64_t pixel_at, const float(&sums_at)[hone::gpu::kWord]) {
        finish_words<hone::gpu::kWord>(@names@, image_at, channel_at, pixel_at, sums_at, finish_reads<hone::gpu::kWord>(@names@, image_at, channel_at, pixel_at));
      });
}
