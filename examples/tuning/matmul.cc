/* hone
language = "c++"
note     = "packed panels and register tiles, blocks in scratch"
tunables = { ROWS = [12, 4, 6, 8], COLUMNS = [32, 16, 48, 64], DEPTH = [512, 128, 256], TALL = [8, 1, 2, 4], WIDE = [4, 1, 2, 8] }
constraints = ["ROWS * COLUMNS <= 448", "TALL * ROWS * WIDE * COLUMNS <= 65536"]
workspaces = { packed_a = "f32[ceil_div(M, ROWS) * ROWS * K]", packed_b = "f32[ceil_div(N, COLUMNS) * COLUMNS * K]" }
[[launch]]
kernel = "pack_a"
grid   = ["ceil_div(M, ROWS)"]
args   = ["a", "packed_a", "i64:M", "i64:K"]
[[launch]]
kernel = "pack_b"
grid   = ["ceil_div(N, COLUMNS)"]
args   = ["b", "packed_b", "i64:K", "i64:N"]
[[launch]]
kernel = "multiply"
grid   = ["ceil_div(M, TALL * ROWS)", "ceil_div(N, WIDE * COLUMNS)"]
args   = ["packed_a", "packed_b", "y", "i64:M", "i64:K", "i64:N", "shared"]
shared = "TALL * ROWS * WIDE * COLUMNS * 4"
*/
// A matrix product with the loops of hone's own pattern, its register tile and its blocks free to choose.
//   ROWS, COLUMNS  the register tile
//   DEPTH          how much of the sum a pass over the block adds
//   TALL, WIDE     register tiles in a block
using hone::f32v;
using Products = hone::PlainProducts<f32v>;

void pack_a(const float* a, float* packed_a, int64_t M, int64_t K, int64_t panel) {
  const int64_t first = panel * ROWS;
  hone::pack_along<Products, ROWS, true>(packed_a + first * K, hone::min<int64_t>(ROWS, M - first), K,
                                         [&](int64_t i) HONE_BODY { return a + (first + i) * K; });
}

void pack_b(const float* b, float* packed_b, int64_t K, int64_t N, int64_t panel) {
  const int64_t first = panel * COLUMNS;
  hone::pack_lines<Products, COLUMNS, false>(packed_b + first * K, b + first, hone::min<int64_t>(COLUMNS, N - first), K, N);
}

void multiply(const float* packed_a, const float* packed_b, float* y, int64_t M, int64_t K, int64_t N, void* shared, int64_t down, int64_t across) {
  float* tile = static_cast<float*>(shared);
  const int64_t row = down * TALL * ROWS, column = across * WIDE * COLUMNS;
  const int64_t rows = hone::min<int64_t>(TALL * ROWS, M - row), columns = hone::min<int64_t>(WIDE * COLUMNS, N - column);
  hone::multiply_block<Products, ROWS, COLUMNS, DEPTH>(tile, WIDE * COLUMNS, packed_a + row * K, packed_b + column * K, K, rows, columns);
  for (int64_t r = 0; r < rows; ++r)
    hone::for_each<f32v, 2>(columns, [&](int64_t j, auto n) HONE_BODY {
      hone::store_n(y + (row + r) * N + column + j, hone::load_n<f32v>(tile + r * (WIDE * COLUMNS) + j, n), n);
    });
}
