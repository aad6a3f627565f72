/* hone
language   = "c++"
tunables   = { CHUNK = [4096, 1024, 16384], UNROLL = [4, 8] }
workspaces = { part = "f64[B, ceil_div(D, CHUNK)]" }
note       = "rows in chunks, then the chunks of each row: for few long rows"

[[launch]]
kernel = "chunks"
grid   = ["ceil_div(D, CHUNK)", "B"]
args   = ["x", "part", "i64:D"]

[[launch]]
kernel = "rows"
grid   = ["ceil_div(B, 1024)"]
args   = ["part", "s", "i64:B", "i64:ceil_div(D, CHUNK)"]
*/
// Row sums in two launches with a workspace between them, for the task examples/rowsum.toml: a matrix
// of few long rows keeps all threads busy.
//   hone evaluate examples/kernels/rowsum_split.cc examples/rowsum.toml
using hone::f32v;

void chunks(const float* x, double* part, int64_t D, int64_t chunk, int64_t row) {
  const int64_t begin = chunk * CHUNK;
  hone::Reduce<f32v, UNROLL, hone::Sum> total;
  total.run(hone::min(D - begin, int64_t{CHUNK}),
            [&](int64_t j, auto n) HONE_BODY { return hone::load_n<f32v>(x + row * D + begin + j, n); });
  part[row * ((D + CHUNK - 1) / CHUNK) + chunk] = total.get<0>();
}

void rows(const double* part, float* s, int64_t B, int64_t chunks_a_row, int64_t block) {
  const int64_t end = hone::min((block + 1) * 1024, B);
  for (int64_t row = block * 1024; row < end; ++row) {
    double total = 0;
    for (int64_t c = 0; c < chunks_a_row; ++c) total += part[row * chunks_a_row + c];
    s[row] = static_cast<float>(total);
  }
}
