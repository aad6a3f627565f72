/* hone
language = "c++"
note     = "direct convolution, output channels and positions in registers"
tunables = { OUT = [4, 1, 2, 8], WIDE = [2, 1, 3, 4], ROWS = [2, 1, 4], CHANNELS = [64, 8, 16], PACK = [1, 0], ROWS_INSIDE = [0, 1] }
constraints = ["OUT * WIDE <= 28"]
[[launch]]
kernel = "convolve"
grid   = ["ceil_div(H - 2, ROWS)", "ceil_div(O, OUT)", "B"]
args   = ["x", "w", "y", "i64:C", "i64:O", "i64:H", "i64:W", "shared"]
shared = "align(OUT * C * 9 * 4, 64)"
*/
// A direct 3 x 3 convolution without padding: a register tile is OUT output channels of WIDE vectors of neighbouring positions.
//   OUT, WIDE    the register tile
//   ROWS         output rows a block
//   CHANNELS     input channels that a pass adds; several passes read and write the output again
//   PACK         1: the block's weights are laid out in the order of use first
//   ROWS_INSIDE  1: all rows of a block for one stretch of channels before the next; 0: all channels of a row first
using hone::f32v;

/// COUNT vectors of OUT channels from column j on; n: columns in use of the last vector. `first`: nothing is there to add to.
template <int COUNT, class N>
HONE_INLINE void tile(const float* x, const float* weights, float* y, int64_t H, int64_t W, int64_t step, int64_t tap, int64_t from, int64_t to, int64_t outputs,
                      bool first, N n) {
  constexpr int kWidth = hone::width<f32v>;
  const int64_t plane = (H - 2) * (W - 2);
  f32v sum[OUT][COUNT];
  HONE_UNROLL(8)
  for (int o = 0; o < OUT; ++o) {
    HONE_UNROLL(4)
    for (int v = 0; v < COUNT; ++v) sum[o][v] = first || o >= outputs ? f32v{} : hone::load_n<f32v>(y + o * plane + v * kWidth, n);
  }
  for (int64_t c = from; c < to; ++c) {
    HONE_UNROLL(3)
    for (int ky = 0; ky < 3; ++ky) {
      const float* line = x + c * H * W + ky * W;
      HONE_UNROLL(3)
      for (int kx = 0; kx < 3; ++kx) {
        f32v in[COUNT];
        HONE_UNROLL(4)
        for (int v = 0; v < COUNT; ++v) in[v] = hone::load_n<f32v>(line + kx + v * kWidth, n);
        HONE_UNROLL(8)
        for (int o = 0; o < OUT; ++o) {
          const f32v weight = hone::splat<f32v>(weights[(c * 9 + ky * 3 + kx) * tap + (o < outputs ? o : 0) * step]);
          HONE_UNROLL(4)
          for (int v = 0; v < COUNT; ++v) sum[o][v] += weight * in[v];
        }
      }
    }
  }
  HONE_UNROLL(8)
  for (int o = 0; o < OUT; ++o) {
    if (o >= outputs) break;
    HONE_UNROLL(4)
    for (int v = 0; v < COUNT; ++v) hone::store_n(y + o * plane + v * kWidth, sum[o][v], n);
  }
}

void convolve(const float* x, const float* w, float* y, int64_t C, int64_t O, int64_t H, int64_t W, void* shared, int64_t down, int64_t channel, int64_t image) {
  const int64_t begin = down * ROWS, end = hone::min(begin + ROWS, H - 2), out = channel * OUT, outputs = hone::min<int64_t>(OUT, O - out);
  const float* weights = w + out * C * 9;
  int64_t step = C * 9, tap = 1;
  if constexpr (PACK) {
    float* packed = static_cast<float*>(shared);
    for (int64_t t = 0; t < C * 9; ++t)
      for (int64_t o = 0; o < OUT; ++o) packed[t * OUT + o] = o < outputs ? weights[o * C * 9 + t] : 0;
    weights = packed, step = 1, tap = OUT;
  }
  const auto line = [&](int64_t row, int64_t from, int64_t to) HONE_BODY {
    const float* in = x + image * C * H * W + row * W;
    float* result = y + ((image * O + out) * (H - 2) + row) * (W - 2);
    int64_t j = 0;
    for (; j + WIDE * hone::width<f32v> <= W - 2; j += WIDE * hone::width<f32v>)
      tile<WIDE>(in + j, weights, result + j, H, W, step, tap, from, to, outputs, from == 0, hone::All{});
    for (; j < W - 2; j += hone::width<f32v>)
      tile<1>(in + j, weights, result + j, H, W, step, tap, from, to, outputs, from == 0, hone::min<int64_t>(W - 2 - j, hone::width<f32v>));
  };
  if constexpr (ROWS_INSIDE) {
    for (int64_t c = 0; c < C; c += CHANNELS)
      for (int64_t row = begin; row < end; ++row) line(row, c, hone::min<int64_t>(c + CHANNELS, C));
  } else {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t c = 0; c < C; c += CHANNELS) line(row, c, hone::min<int64_t>(c + CHANNELS, C));
  }
}
