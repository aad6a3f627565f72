/* hone
language = "c++"
note     = "tiles, read by rows or by columns or through scratch"
tunables = { TALL = [32, 16, 64, 128], WIDE = [32, 8, 16, 64, 128], WAY = [1, 0, 2], PAD = [0, 1], STREAM = [0, 1], AHEAD = [0, 1], DOWN_FIRST = [0, 1] }
constraints = ["STREAM == 0 or WAY > 0", "PAD == 0 or WAY == 2"]
[[launch]]
kernel = "transpose"
grid   = ["ceil_div(M, TALL) * ceil_div(N, WIDE)"]
args   = ["x", "y", "i64:M", "i64:N", "shared"]
shared = "align(TALL * (WIDE + 16) * 4, 64)"
*/
// A transpose tile by tile.
//   TALL, WIDE  the tile, in rows and columns of x
//   WAY         0: rows are read in order and written scattered; 1: rows are written in order and read scattered; 2: the tile is
//               brought into scratch in order, and written in order from there
//   PAD         lines of the scratch tile are 16 elements apart from a power of two
//   STREAM      store past the caches
//   AHEAD       ask for the next row of the tile
//   DOWN_FIRST  neighbouring blocks lie below each other, not beside each other
using hone::f32v;

void transpose(const float* x, float* y, int64_t M, int64_t N, void* shared, int64_t block) {
  const int64_t down = hone::ceil_div(M, TALL), across = hone::ceil_div(N, WIDE);
  const int64_t row = (DOWN_FIRST ? block % down : block / across) * TALL, column = (DOWN_FIRST ? block / down : block % across) * WIDE;
  const int64_t rows = hone::min<int64_t>(TALL, M - row), columns = hone::min<int64_t>(WIDE, N - column);
  const float* from = x + row * N + column;
  float* to = y + column * M + row;
  int64_t stride = N;
  if constexpr (WAY == 0) {
    for (int64_t i = 0; i < rows; ++i) {
      if constexpr (AHEAD)
        for (int64_t j = 0; j < columns; j += 16) hone::prefetch(from + (i + 1) * N + j);
      for (int64_t j = 0; j < columns; ++j) to[j * M + i] = from[i * N + j];
    }
    return;
  }
  if constexpr (WAY == 2) {
    constexpr int64_t kLine = WIDE + 16 * PAD;
    float* tile = static_cast<float*>(shared);
    for (int64_t i = 0; i < rows; ++i) {
      if constexpr (AHEAD)
        for (int64_t j = 0; j < columns; j += 16) hone::prefetch(from + (i + 1) * N + j);
      hone::for_each<f32v, 1>(columns, [&](int64_t j, auto n) HONE_BODY { hone::store_n(tile + i * kLine + j, hone::load_n<f32v>(from + i * N + j, n), n); });
    }
    from = tile, stride = kLine;
  }
  for (int64_t j = 0; j < columns; ++j) {
    if constexpr (AHEAD && WAY == 1)
      if (j % 16 == 0)
        for (int64_t i = 0; i < rows; ++i) hone::prefetch(from + i * N + j + 16);
    hone::for_each<f32v, 1>(rows, [&](int64_t i, auto n) HONE_BODY {
      f32v v{};
      if constexpr (__is_same(decltype(n), hone::All)) {
        HONE_UNROLL(16)
        for (int k = 0; k < hone::width<f32v>; ++k) v[k] = from[(i + k) * stride + j];
      } else {
        for (int k = 0; k < n; ++k) v[k] = from[(i + k) * stride + j];
      }
      hone::put<STREAM>(to + j * M + i, v, n);
    });
  }
  if constexpr (STREAM) hone::stream_fence();
}
