/* hone
language = "c++"
note     = "a 3 x 3 x 3 stencil, output rows in registers"
tunables = { LINES = [4, 1, 2, 6], WIDE = [2, 1, 3, 4], PLANES = [4, 1, 8], STRIP = [64, 8], STREAM = [0, 1], AHEAD = [0, 1], PLANES_INSIDE = [0, 1] }
constraints = ["LINES * WIDE <= 24", "PLANES_INSIDE == 0 or PLANES > 1"]
[[launch]]
kernel = "pool"
grid   = ["ceil_div(H - 2, STRIP)", "ceil_div(D - 2, PLANES)", "B * C"]
args   = ["x", "y", "i64:D", "i64:H", "i64:W"]
*/
// The mean of 3 x 3 x 3 neighbours: a register tile is LINES output lines of WIDE vectors, and each line of x that it needs is
// summed over the three planes and three shifts once.
//   LINES, WIDE    the register tile
//   PLANES, STRIP  output planes and lines a block
//   STREAM         store past the caches
//   AHEAD          ask for the line after the tile's last one
//   PLANES_INSIDE  1: the planes of a block go fastest; 0: its lines do
using hone::f32v;

template <int DOWN, int COUNT, class N>
HONE_INLINE void tile(const float* x, float* y, int64_t H, int64_t W, N n) {
  constexpr int kWidth = hone::width<f32v>;
  f32v sum[DOWN][COUNT] = {};
  HONE_UNROLL(8)
  for (int line = 0; line < DOWN + 2; ++line) {
    f32v part[COUNT] = {};
    HONE_UNROLL(3)
    for (int z = 0; z < 3; ++z) {
      const float* in = x + (z * H + line) * W;
      HONE_UNROLL(3)
      for (int k = 0; k < 3; ++k) {
        HONE_UNROLL(4)
        for (int v = 0; v < COUNT; ++v) part[v] += hone::load_n<f32v>(in + k + v * kWidth, n);
      }
      if constexpr (AHEAD)
        if (line == DOWN + 1) hone::prefetch(in + W);
    }
    HONE_UNROLL(8)
    for (int out = 0; out < DOWN; ++out) {
      if (out > line || line > out + 2) continue;
      HONE_UNROLL(4)
      for (int v = 0; v < COUNT; ++v) sum[out][v] += part[v];
    }
  }
  HONE_UNROLL(8)
  for (int out = 0; out < DOWN; ++out) {
    HONE_UNROLL(4)
    for (int v = 0; v < COUNT; ++v) hone::put<STREAM>(y + out * (W - 2) + v * kWidth, sum[out][v] * (1.0f / 27), n);
  }
}

template <int DOWN>
HONE_INLINE void lines(const float* x, float* y, int64_t H, int64_t W) {
  int64_t j = 0;
  for (; j + WIDE * hone::width<f32v> <= W - 2; j += WIDE * hone::width<f32v>) tile<DOWN, WIDE>(x + j, y + j, H, W, hone::All{});
  for (; j < W - 2; j += hone::width<f32v>) tile<DOWN, 1>(x + j, y + j, H, W, hone::min<int64_t>(W - 2 - j, hone::width<f32v>));
}

void pool(const float* x, float* y, int64_t D, int64_t H, int64_t W, int64_t strip, int64_t slab, int64_t volume) {
  const int64_t top = strip * STRIP, bottom = hone::min<int64_t>(top + STRIP, H - 2), first = slab * PLANES, last = hone::min<int64_t>(first + PLANES, D - 2);
  const auto at = [&](int64_t z, int64_t row, int64_t count) HONE_BODY {
    const float* in = x + ((volume * D + z) * H + row) * W;
    float* out = y + ((volume * (D - 2) + z) * (H - 2) + row) * (W - 2);
    if (count == LINES) return lines<LINES>(in, out, H, W);
    for (int64_t i = 0; i < count; ++i) lines<1>(in + i * W, out + i * (W - 2), H, W);
  };
  if constexpr (PLANES_INSIDE) {
    for (int64_t row = top; row < bottom; row += LINES)
      for (int64_t z = first; z < last; ++z) at(z, row, hone::min<int64_t>(LINES, bottom - row));
  } else {
    for (int64_t z = first; z < last; ++z)
      for (int64_t row = top; row < bottom; row += LINES) at(z, row, hone::min<int64_t>(LINES, bottom - row));
  }
  if constexpr (STREAM) hone::stream_fence();
}
