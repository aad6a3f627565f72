/* hone
language = "@language@"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { THREADS = [256, 128, 512], ROWS = [@rows@] }

[[launch]]
kernel = "convolve"
grid   = ["@slices@ * ceil_div(ceil_div(@to_y@, ROWS) * @to_x@, THREADS)"]
block  = ["THREADS"]
args   = [@args@]
*/
// Depthwise convolution: every channel by its own window, so that an element of x meets as many weights as the window
// has, and no more: memory is the bound. A thread makes ROWS results below each other of one column. It reads each row of
// x that any of them sees once, the window's width of it, and adds every element to all results that see it; the
// weights stay in registers. Neighbouring threads have neighbouring columns: what they read twice comes from the cache.
//
// When it pays: one channel in and out of each group, windows that fit into registers.
//   THREADS  threads a block
//   ROWS     results of a thread: more read fewer rows twice, and take registers
#include "hone/gpu/conv.h"
#include "hone/gpu/math.h"

@finish@
__global__ void __launch_bounds__(THREADS) convolve(@parameters@) {
  // z, y, x; what a convolution in fewer dimensions lacks is 1.
  constexpr int taps_at[3] = {@window@}, stride_at[3] = {@stride@}, dilation_at[3] = {@dilation@}, padding_at[3] = {@padding@};
  const int64_t from_at[3] = {@from@}, to_at[3] = {@to@};

  const int64_t items_at = (to_at[1] + ROWS - 1) / ROWS * to_at[2], blocks_at = (items_at + THREADS - 1) / THREADS;
  const int64_t slice_at = hone::gpu::quotient(blockIdx.x, blocks_at);
  const int64_t item_at = (blockIdx.x - slice_at * blocks_at) * THREADS + threadIdx.x;
  if (item_at >= items_at) return;
  const int64_t band_at = hone::gpu::quotient(item_at, to_at[2]), column_at = item_at - band_at * to_at[2], row_at = band_at * ROWS;
  const int64_t plane_at = hone::gpu::quotient(slice_at, to_at[0]), z_at = slice_at - plane_at * to_at[0];
  const int64_t image_at = hone::gpu::quotient(plane_at, @groups@), channel_at = plane_at - image_at * @groups@;

  const int64_t left_at = column_at * stride_at[2] - padding_at[2], top_at = row_at * stride_at[1] - padding_at[1];
  bool inside_at[taps_at[2]];
  HONE_UNROLL
  for (int kx = 0; kx < taps_at[2]; ++kx) inside_at[kx] = left_at + kx * dilation_at[2] >= 0 && left_at + kx * dilation_at[2] < from_at[2];

  float sum_at[ROWS] = {};
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
      float x_at[taps_at[2]];
      HONE_UNROLL
      for (int kx = 0; kx < taps_at[2]; ++kx)
        x_at[kx] = row_inside_at && inside_at[kx] ? static_cast<float>(slice_of_x_at[from_y_at * from_at[2] + kx * dilation_at[2]]) : 0.0f;
      HONE_UNROLL
      for (int r = 0; r < ROWS; ++r)
        HONE_UNROLL
        for (int ky = 0; ky < taps_at[1]; ++ky) {
          if (r * stride_at[1] + ky * dilation_at[1] != i) continue;
          HONE_UNROLL
          for (int kx = 0; kx < taps_at[2]; ++kx) sum_at[r] += weight_at[ky][kx] * x_at[kx];
        }
    }
  }
  HONE_UNROLL
  for (int r = 0; r < ROWS; ++r)
    if (row_at + r < to_at[1]) finish(@names@, image_at, channel_at, (z_at * to_at[1] + row_at + r) * to_at[2] + column_at, sum_at[r]);
}
