/* hone
language = "@language@"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { THREADS = [256, 128, 512], ROWS = [@rows@], BESIDE = [@beside@] }
constraints = ["ROWS * BESIDE <= 16"]

[[launch]]
kernel = "convolve"
grid   = ["@slices@ * ceil_div(ceil_div(@to_y@, ROWS) * ceil_div(@to_x@, BESIDE), THREADS)"]
block  = ["THREADS"]
args   = [@args@]
*/
// Depthwise convolution: every channel by its own window, so that an element of x meets as many weights as the window
// has, and no more: memory is the bound, x and the result once each. A thread makes BESIDE results next to each other in each of ROWS
// rows. It reads each row of x that any of them sees once, what they see of it, and adds every element to all results that see it; the
// weights stay in registers. What neighbouring threads both read comes from the cache; results leave as words where they stand on
// boundaries.
//
// When it pays: one channel in and out of each group, windows that fit into registers.
//   THREADS  threads a block
//   ROWS     rows of results of a thread: more read fewer rows twice, and take registers
//   BESIDE   results in a row: more work out where they are less often; of 2 bytes they make words
#include "hone/gpu/conv.h"
#include "hone/gpu/math.h"
#include "hone/gpu/words.h"

@finish@
__global__ void __launch_bounds__(THREADS) convolve(@parameters@) {
  // z, y, x; what a convolution in fewer dimensions lacks is 1.
  constexpr int taps_at[3] = {@window@}, stride_at[3] = {@stride@}, dilation_at[3] = {@dilation@}, padding_at[3] = {@padding@};
  const int64_t from_at[3] = {@from@}, to_at[3] = {@to@};

  const int64_t across_at = (to_at[2] + BESIDE - 1) / BESIDE, items_at = (to_at[1] + ROWS - 1) / ROWS * across_at, blocks_at = (items_at + THREADS - 1) / THREADS;
  const int64_t slice_at = hone::gpu::quotient(blockIdx.x, blocks_at);
  const int64_t item_at = (blockIdx.x - slice_at * blocks_at) * THREADS + threadIdx.x;
  if (item_at >= items_at) return;
  const int64_t band_at = hone::gpu::quotient(item_at, across_at), column_at = (item_at - band_at * across_at) * BESIDE, row_at = band_at * ROWS;
  const int64_t plane_at = hone::gpu::quotient(slice_at, to_at[0]), z_at = slice_at - plane_at * to_at[0];
  const int64_t image_at = hone::gpu::quotient(plane_at, @groups@), channel_at = plane_at - image_at * @groups@;

  const int64_t left_at = column_at * stride_at[2] - padding_at[2], top_at = row_at * stride_at[1] - padding_at[1];
  // Elements of a row from the first result's first tap to the last one's last, of which some are inside, and some are seen.
  constexpr int seen_at = (BESIDE - 1) * stride_at[2] + (taps_at[2] - 1) * dilation_at[2] + 1;
  const int begin_at = left_at < 0 ? static_cast<int>(-left_at < seen_at ? -left_at : seen_at) : 0;
  const int end_at = from_at[2] - left_at < seen_at ? static_cast<int>(from_at[2] - left_at) : seen_at;

  float sum_at[ROWS][BESIDE] = {};
  for (int kz = 0; kz < taps_at[0]; ++kz) {
    const int64_t from_z_at = z_at * stride_at[0] - padding_at[0] + kz * dilation_at[0];
    if (from_z_at < 0 || from_z_at >= from_at[0]) continue;
    const auto* slice_of_x_at = @x@ + (plane_at * from_at[0] + from_z_at) * from_at[1] * from_at[2] + left_at;
    float weight_at[taps_at[1]][taps_at[2]];
    HONE_UNROLL
    for (int ky = 0; ky < taps_at[1]; ++ky)
      HONE_UNROLL
      for (int kx = 0; kx < taps_at[2]; ++kx)
        weight_at[ky][kx] = static_cast<float>(@w@[((channel_at * taps_at[0] + kz) * taps_at[1] + ky) * taps_at[2] + kx]);

    HONE_UNROLL
    for (int i = 0; i <= (ROWS - 1) * stride_at[1] + (taps_at[1] - 1) * dilation_at[1]; ++i) {
      const int64_t from_y_at = top_at + i;
      const bool row_inside_at = from_y_at >= 0 && from_y_at < from_at[1];
      float x_at[seen_at];
      HONE_UNROLL
      for (int e = 0; e < seen_at; ++e)
        x_at[e] = row_inside_at && e >= begin_at && e < end_at ? static_cast<float>(slice_of_x_at[from_y_at * from_at[2] + e]) : 0.0f;
      HONE_UNROLL
      for (int r = 0; r < ROWS; ++r)
        HONE_UNROLL
        for (int ky = 0; ky < taps_at[1]; ++ky) {
          if (r * stride_at[1] + ky * dilation_at[1] != i) continue;
          HONE_UNROLL
          for (int n_at = 0; n_at < BESIDE; ++n_at)
            HONE_UNROLL
            for (int kx = 0; kx < taps_at[2]; ++kx) sum_at[r][n_at] += weight_at[ky][kx] * x_at[n_at * stride_at[2] + kx * dilation_at[2]];
        }
    }
  }
  HONE_UNROLL
  for (int r = 0; r < ROWS; ++r) {
    if (row_at + r >= to_at[1]) break;
    const int64_t pixel_at = (z_at * to_at[1] + row_at + r) * to_at[2] + column_at;
    if (column_at + BESIDE <= to_at[2]) {
      finish_words<BESIDE>(@names@, image_at, channel_at, pixel_at, sum_at[r], finish_reads<BESIDE>(@names@, image_at, channel_at, pixel_at));
    } else {
      HONE_UNROLL
      for (int n_at = 0; n_at < BESIDE; ++n_at)
        if (column_at + n_at < to_at[2]) finish(@names@, image_at, channel_at, pixel_at + n_at, sum_at[r][n_at]);
    }
  }
}
