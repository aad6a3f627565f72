/* hone
language = "c++"
pattern  = "conv"
note     = "@note@"
@requires@tunables = { ROWS = [@lines@], COLUMNS = [32, 48, 64, 16, 8], DEPTH = [256, 128, 512], TALL = [@tall@], WIDE = [@wide@], STREAM = [0, 1] }
constraints = ["ROWS * COLUMNS * 4 <= select(VECTOR_BYTES == 64, 28, 12) * VECTOR_BYTES", "COLUMNS * 4 % VECTOR_BYTES == 0", "COLUMNS * 4 >= select(VECTOR_BYTES == 64, 1, 2) * VECTOR_BYTES", "(TALL * ROWS + DEPTH) * WIDE * COLUMNS * 4 <= L2_BYTES"]
workspaces = { packed_w = "f32[@groups@, ceil_div(@outputs@, ROWS) * ROWS * (@depth@)]" }
[[launch]]
kernel = "pack_w"
grid   = ["ceil_div(@depth@, DEPTH)", "ceil_div(@outputs@, ROWS)", "@groups@"]
args   = [@args@, "packed_w"]
[[launch]]
kernel = "convolve"
grid   = ["ceil_div(@outputs@, TALL * ROWS)", "ceil_div(@places@, WIDE * COLUMNS)", "(@images@) * (@groups@)"]
args   = [@args@, "packed_w", "shared"]
shared = "(TALL * ROWS + DEPTH) * WIDE * COLUMNS * 4"
*/
// Convolution as a matrix product whose right factor is never stored: rows are output channels, columns are places of the
// result, the depth is channels by taps. The weights are packed once into panels, DEPTH lines at a time. A block takes
// TALL x WIDE register tiles of an image; DEPTH after DEPTH it packs the patches that its places see into its own scratch,
// with zeros where they look beyond the edge, and adds their products to its sums. Then the element-wise rest of the
// computation runs over these, and the result is written once.
//
// When it pays: always, most where there are output channels enough for a patch to be used often.
//   ROWS, COLUMNS  the register tile: as large as the registers allow; not much taller than there are output channels
//   DEPTH          packed at a time: one panel of it stays in the first-level cache
//   TALL, WIDE     register tiles in a block: tall packs patches less often, small spreads better over threads
//   STREAM         store past the caches
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr int UNROLL = 2;
constexpr int AHEAD = 0;

// Transposed or not; stride, dilation and padding of each dimension.
using Windows = hone::Windows<@windows@>;

void pack_w(@parameters@, float* packed_w, int64_t deep_at, int64_t panel_at, [[maybe_unused]] int64_t group_at) {
  const int64_t depth_at = @depth_cpp@, low_at = deep_at * DEPTH, many_at = hone::min<int64_t>(DEPTH, depth_at - low_at);
  const int64_t lines_at = hone::align(@outputs_cpp@, ROWS), first_at = panel_at * ROWS;
  const int64_t count_at = hone::min<int64_t>(ROWS, @outputs_cpp@ - first_at);
  float* to_at = packed_w + (group_at * depth_at + low_at) * lines_at + first_at * many_at;
@pack_w@}

void convolve(@parameters@, const float* packed_w, void* shared, int64_t down_at, int64_t across_at, int64_t batch_at) {
  using Products = hone::PlainProducts<f32v>;
  const Windows windows_at = {{@from_cpp@}, {@to_cpp@}, {@window_cpp@}};
  const int64_t depth_at = @depth_cpp@, lines_at = hone::align(@outputs_cpp@, ROWS), group_at = batch_at % @groups_cpp@;
  const int64_t first_at = down_at * TALL * ROWS, rows_at = hone::min<int64_t>(TALL * ROWS, @outputs_cpp@ - first_at);
  const int64_t start = across_at * WIDE * COLUMNS;
  const int64_t count = hone::min<int64_t>(WIDE * COLUMNS, @places_cpp@ - start);
  const @x_type@* from_at = @x@ + batch_at * @channels_cpp@ * Windows::product(windows_at.from);
  float *tile_at = (float*)shared, *patches_at = tile_at + TALL * ROWS * WIDE * COLUMNS;
  for (int64_t low_at = 0; low_at < depth_at; low_at += DEPTH) {
    const int64_t many_at = hone::min<int64_t>(DEPTH, depth_at - low_at);
    for (int64_t column_at = 0; column_at < count; column_at += COLUMNS)
      hone::pack_patches<COLUMNS>(patches_at + column_at * many_at, from_at, windows_at, low_at, low_at + many_at, start + column_at,
                                  hone::min<int64_t>(COLUMNS, count - column_at));
    const float* weights_at = packed_w + (group_at * depth_at + low_at) * lines_at + first_at * many_at;
    if (low_at == 0)
      hone::multiply_segment<Products, ROWS, COLUMNS, true>(tile_at, WIDE * COLUMNS, weights_at, patches_at, many_at, rows_at, count, {0, many_at}, hone::WholeDepth{});
    else
      hone::multiply_segment<Products, ROWS, COLUMNS, false>(tile_at, WIDE * COLUMNS, weights_at, patches_at, many_at, rows_at, count, {0, many_at}, hone::WholeDepth{});
  }
  for (int64_t r_at = 0; r_at < rows_at; ++r_at) {
    [[maybe_unused]] const int64_t row_at = batch_at * @outputs_cpp@ + first_at + r_at;
    const float* product_row = tile_at + r_at * (WIDE * COLUMNS) - start;
@epilogue@  }
  if constexpr (STREAM) hone::stream_fence();
}
