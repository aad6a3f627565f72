/* hone
language = "c++"
pattern  = "matmul"
note     = "@note@"
@requires@tunables = { ROWS = [12, 8, 6, 14], COLUMNS = [@wide_tiles@], DEPTH = [256, 512, 1024], TALL = [@tall@], WIDE = [@wide@], STREAM = [0, 1] }
constraints = ["ROWS * COLUMNS * @bytes@ <= select(VECTOR_BYTES == 64, 28, 12) * VECTOR_BYTES", "COLUMNS * @bytes@ % VECTOR_BYTES == 0", "COLUMNS * @bytes@ >= select(VECTOR_BYTES == 64, 1, 2) * VECTOR_BYTES", "TALL * ROWS * WIDE * COLUMNS * @bytes@ <= L2_BYTES"]
workspaces = { packed_a = "@type@[@a_batch@, ceil_div(@rows@, ROWS) * ROWS * (ceil_div(@depth@, @group@) * @group@)]", packed_b = "@type@[@b_batch@, ceil_div(@columns@, COLUMNS) * COLUMNS * (ceil_div(@depth@, @group@) * @group@)]" }
[[launch]]
kernel = "pack_a"
grid   = ["@a_grid@", "@a_batch@"]
args   = [@args@, "packed_a"]
[[launch]]
kernel = "pack_b"
grid   = ["@b_grid@", "@b_batch@"]
args   = [@args@, "packed_b"]
[[launch]]
kernel = "multiply"
grid   = ["ceil_div(@rows@, TALL * ROWS)", "ceil_div(@columns@, WIDE * COLUMNS)", "@batch@"]
args   = [@args@, "packed_a", "packed_b", "shared"]
shared = "TALL * ROWS * WIDE * COLUMNS * @bytes@"
*/
// Matmul: both factors are packed into panels once, whatever their layout and type were; then each block
// makes TALL x WIDE register tiles of the result. The sums stay in the block's scratch, which fits the
// second-level cache, until all of DEPTH after DEPTH is added; then the element-wise rest of the
// computation runs over them, and the result is written once.
//
// When it pays: products of more than a few rows and columns. Each packed value is used ROWS (or COLUMNS)
// times from a register, DEPTH values of a panel stay in the first-level cache, TALL panels of a in the second.
//   ROWS, COLUMNS  the register tile: as large as the registers allow
//   DEPTH          how much of the sum a pass over the block adds
//   TALL, WIDE     register tiles in a block: large reads less, small spreads better over threads
//   STREAM         store past the caches
using hone::f32v;
using hone::f64v;
using hone::i32v;
using hone::i64v;

constexpr int UNROLL = 2;
constexpr int AHEAD = 0;

void pack_a(@parameters@, @element@* packed_a, int64_t block_at, [[maybe_unused]] int64_t batch_at) {
@pack_a@}

void pack_b(@parameters@, @element@* packed_b, int64_t block_at, [[maybe_unused]] int64_t batch_at) {
@pack_b@}

void multiply(@parameters@, const @element@* packed_a, const @element@* packed_b, void* shared, int64_t down_at,
              int64_t across_at, [[maybe_unused]] int64_t batch_at) {
  @scalar@* tile_at = (@scalar@*)shared;
  constexpr int kGroup = @products@::kGroup;
  const int64_t first_at = down_at * TALL * ROWS;
  const int64_t rows_at = hone::min<int64_t>(TALL * ROWS, @rows_cpp@ - first_at);
  const int64_t start = (@across@) * WIDE * COLUMNS;
  const int64_t count = hone::min<int64_t>(WIDE * COLUMNS, @columns_cpp@ - start);
  const int64_t deep_at = hone::align(@depth_cpp@, kGroup);
@clip@  hone::multiply_block<@products@, ROWS, COLUMNS, DEPTH>(
      tile_at, WIDE * COLUMNS, packed_a + (@a_at@hone::align(@rows_cpp@, ROWS) + first_at) * deep_at,
      packed_b + (@b_at@hone::align(@columns_cpp@, COLUMNS) + start) * deep_at, deep_at, rows_at, count@clipped@);
  for (int64_t r_at = 0; r_at < rows_at; ++r_at) {
    const int64_t row_at = batch_at * @rows_cpp@ + first_at + r_at;
    const @scalar@* product_row = tile_at + r_at * (WIDE * COLUMNS) - start;
@epilogue@  }
@fence@}
