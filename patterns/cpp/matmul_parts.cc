/* hone
language = "c++"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { ROWS = [12, 8, 6, 14], COLUMNS = [@wide_tiles@], DEPTH = [256, 512, 128], TALL = [16, 8, 4, 1], WIDE = [8, 4, 16, 2], PARTS = [2, 1, 4], STREAM = [0, 1] }
constraints = ["ROWS * COLUMNS * @bytes@ <= select(VECTOR_BYTES == 64, 28, 12) * VECTOR_BYTES", "COLUMNS * @bytes@ % VECTOR_BYTES == 0", "COLUMNS * @bytes@ >= select(VECTOR_BYTES == 64, 1, 2) * VECTOR_BYTES", "TALL * ROWS * WIDE * COLUMNS * @bytes@ + DEPTH * (TALL * ROWS + WIDE * COLUMNS) * @packed_bytes@ <= L2_BYTES"]
workspaces = { sums = "@sum_type@[@parts@, @batch@, ceil_div(@rows@, TALL * ROWS), ceil_div(@columns@, WIDE * COLUMNS), TALL * ROWS * WIDE * COLUMNS]" }
[[launch]]
kernel = "multiply"
grid   = ["@parts@", "ceil_div(@rows@, TALL * ROWS) * ceil_div(@columns@, WIDE * COLUMNS)", "@batch@"]
args   = [@args@, "sums", "i64:@parts@", "shared"]
shared = "DEPTH * (TALL * ROWS + WIDE * COLUMNS) * @packed_bytes@"
[[launch]]
kernel = "finish"
grid   = ["ceil_div(@rows@, 4)", "ceil_div(@columns@, WIDE * COLUMNS)", "@batch@"]
args   = [@args@, "sums", "i64:@parts@", "shared"]
shared = "WIDE * COLUMNS * @bytes@"
*/
// Matmul in parts: a block takes a part of the depth, packs DEPTH of both factors at a time into its own scratch, where
// they stay in the second-level cache, and adds to its sums of TALL x WIDE register tiles. A second launch adds up the
// parts, in order, and does the element-wise rest.
//
// When it pays: long sums and a small result, where there are fewer blocks than threads and packing both factors first
// would write as much as it reads; and products of a few rows or columns, whose large factor is used once.
//   ROWS, COLUMNS  the register tile: as large as the registers allow
//   DEPTH          packed at a time
//   TALL, WIDE     register tiles in a block
//   PARTS          blocks a thread, at least; never more than 32 DEPTH of the sum in a row
//   STREAM         store past the caches
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr int UNROLL = 2;
constexpr int AHEAD = 0;
constexpr int64_t kTile = int64_t{TALL} * ROWS * WIDE * COLUMNS;

void multiply(@parameters@, @scalar@* sums, int64_t parts_at, void* shared, int64_t part_at, int64_t tile_at, [[maybe_unused]] int64_t batch_at) {
  using Products = @products@;
  const int64_t across_at = hone::ceil_div(@columns_cpp@, WIDE * COLUMNS), tiles_at = hone::ceil_div(@rows_cpp@, TALL * ROWS) * across_at;
  const int64_t top_at = tile_at / across_at * TALL * ROWS, left_at = tile_at % across_at * WIDE * COLUMNS;
  const int64_t rows_at = hone::min<int64_t>(TALL * ROWS, @rows_cpp@ - top_at);
  const int64_t columns_at = hone::min<int64_t>(WIDE * COLUMNS, @columns_cpp@ - left_at);
  const int64_t length_at = hone::align(hone::ceil_div(@depth_cpp@, parts_at), Products::kGroup);
  const int64_t begin_at = hone::min(part_at * length_at, @depth_cpp@), end_at = hone::min(begin_at + length_at, @depth_cpp@);
  @scalar@* to_sums = sums + ((part_at * @batch_cpp@ + batch_at) * tiles_at + tile_at) * kTile;
  @element@* packed_a = (@element@*)shared;
  @element@* packed_b = packed_a + DEPTH * TALL * ROWS;
  int64_t low_at = begin_at;
  do {
    const int64_t many_at = hone::min<int64_t>(DEPTH, end_at - low_at), deep_at = hone::align(many_at, Products::kGroup);
    for (int64_t first_at = top_at; first_at < top_at + rows_at; first_at += ROWS) {
      const int64_t count_at = hone::min<int64_t>(ROWS, @rows_cpp@ - first_at);
      @element@* to_at = packed_a + (first_at - top_at) * deep_at;
@pack_a@    }
    for (int64_t first_at = left_at; first_at < left_at + columns_at; first_at += COLUMNS) {
      const int64_t count_at = hone::min<int64_t>(COLUMNS, @columns_cpp@ - first_at);
      @element@* to_at = packed_b + (first_at - left_at) * deep_at;
@pack_b@    }
    if (low_at == begin_at)
      hone::multiply_segment<Products, ROWS, COLUMNS, true>(to_sums, WIDE * COLUMNS, packed_a, packed_b, deep_at, rows_at, columns_at,
                                                            {0, deep_at}, hone::WholeDepth{});
    else
      hone::multiply_segment<Products, ROWS, COLUMNS, false>(to_sums, WIDE * COLUMNS, packed_a, packed_b, deep_at, rows_at, columns_at,
                                                             {0, deep_at}, hone::WholeDepth{});
    low_at += DEPTH;
  } while (low_at < end_at);
}

void finish(@parameters@, const @scalar@* sums, int64_t parts_at, void* shared, int64_t four_at, int64_t across_at, [[maybe_unused]] int64_t batch_at) {
  @scalar@* sum_row = (@scalar@*)shared;
  const int64_t start = across_at * WIDE * COLUMNS;
  const int64_t count = hone::min<int64_t>(WIDE * COLUMNS, @columns_cpp@ - start);
  const int64_t wide_at = hone::ceil_div(@columns_cpp@, WIDE * COLUMNS), all_at = @batch_cpp@ * hone::ceil_div(@rows_cpp@, TALL * ROWS) * wide_at;
  for (int64_t r_at = four_at * 4; r_at < hone::min((four_at + 1) * 4, @rows_cpp@); ++r_at) {
    const int64_t tile_at = (batch_at * hone::ceil_div(@rows_cpp@, TALL * ROWS) + r_at / (TALL * ROWS)) * wide_at + across_at;
    const @scalar@* from_at = sums + tile_at * kTile + r_at % (TALL * ROWS) * (WIDE * COLUMNS);
    hone::for_each<@vector@, 2>(count, [&](int64_t i, auto n) HONE_BODY {
      @vector@ total_at = hone::load_n<@vector@>(from_at + i, n);
      for (int64_t p_at = 1; p_at < parts_at; ++p_at) total_at += hone::load_n<@vector@>(from_at + p_at * all_at * kTile + i, n);
      hone::store_n(sum_row + i, total_at, n);
    });
    [[maybe_unused]] const int64_t row_at = batch_at * @rows_cpp@ + r_at;
    const @scalar@* product_row = sum_row - start;
@epilogue@  }
@fence@}
