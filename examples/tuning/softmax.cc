/* hone
language = "c++"
note     = "three passes over a row, each unrolled by itself"
tunables = { ROWS = [4, 32], FIRST = [4, 1, 8], SECOND = [2, 1, 4], THIRD = [4, 1, 2], KEEP = [1, 0, 2], STREAM = [0, 1], AHEAD = [0, 1] }
constraints = ["STREAM == 0 or KEEP != 1"]
[[launch]]
kernel = "softmax"
grid   = ["ceil_div(B, ROWS)"]
args   = ["x", "y", "i64:B", "i64:D", "shared"]
shared = "align(D * 4, 64)"
*/
// Softmax row by row: the maximum, the sum of the exponentials, the quotients.
//   ROWS                  rows a block
//   FIRST, SECOND, THIRD  vectors in flight in each pass
//   KEEP                  the exponentials: 0: are computed once more; 1: wait in the output; 2: wait in scratch
//   STREAM                store past the caches
//   AHEAD                 ask for the next row in the second pass
using hone::f32v;

void softmax(const float* x, float* y, int64_t B, int64_t D, void* shared, int64_t block) {
  const int64_t end = hone::min<int64_t>((block + 1) * ROWS, B);
  for (int64_t row = block * ROWS; row < end; ++row) {
    const float* in = x + row * D;
    float* out = y + row * D;
    float* kept = KEEP == 2 ? static_cast<float*>(shared) : out;
    hone::Reduce<f32v, FIRST, hone::Max> most;
    most.run(D, [&](int64_t j, auto n) HONE_BODY { return hone::load_n<f32v>(in + j, n); });
    const float top = most.get<0>();
    hone::Reduce<f32v, SECOND, hone::Sum> sum;
    sum.run(D, [&](int64_t j, auto n) HONE_BODY {
      if constexpr (AHEAD) hone::prefetch(in + D + j);
      const f32v e = hone::exp(hone::load_n<f32v>(in + j, n) - top);
      if constexpr (KEEP > 0) hone::store_n(kept + j, e, n);
      return e;
    });
    const float scale = static_cast<float>(1 / sum.get<0>());
    hone::for_each<f32v, THIRD>(D, [&](int64_t j, auto n) HONE_BODY {
      if constexpr (KEEP > 0) hone::put<STREAM>(out + j, hone::load_n<f32v>(kept + j, n) * scale, n);
      else hone::put<STREAM>(out + j, hone::exp(hone::load_n<f32v>(in + j, n) - top) * scale, n);
    });
  }
  if constexpr (STREAM) hone::stream_fence();
}
