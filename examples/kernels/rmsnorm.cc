/* hone
language = "c++"
tunables = { ROWS = [4, 1, 16], UNROLL = [4, 2, 8] }
note     = "a row at a time: sum of squares, then scale"

[[launch]]
kernel = "rmsnorm"
grid   = ["ceil_div(B, ROWS)"]
args   = ["x", "w", "y", "i64:B", "i64:D"]
*/
// RMS norm by hand, for the task examples/rmsnorm.toml; docs/kernels.md goes through it line by line.
//   hone evaluate examples/kernels/rmsnorm.cc examples/rmsnorm.toml
using hone::f32v;

void rmsnorm(const float* x, const float* w, float* y, int64_t B, int64_t D, int64_t block) {
  const int64_t end = hone::min((block + 1) * ROWS, B);
  for (int64_t row = block * ROWS; row < end; ++row) {
    const float* in = x + row * D;
    float* out = y + row * D;

    hone::Reduce<f32v, UNROLL, hone::Sum> squares;
    squares.run(D, [&](int64_t j, auto n) HONE_BODY {
      const f32v a = hone::load_n<f32v>(in + j, n);
      return a * a;
    });
    const float scale = static_cast<float>(1 / hone::sqrt(squares.get<0>() / static_cast<double>(D) + 1e-5));

    hone::for_each<f32v, UNROLL>(D, [&](int64_t j, auto n) HONE_BODY {
      const f32v a = hone::load_n<f32v>(in + j, n);
      hone::store_n(out + j, a * scale * hone::load_n<f32v>(w + j, n), n);
    });
  }
}
