// The texts of a synthetic run: its task file, its kernels, what a compiler said of one.
#pragma once
#include <fmt/format.h>

#include <string>

namespace hone::face::testing {

inline constexpr const char* kSyntheticTask =
    "name = \"rmsnorm\"\n"
    "compute = \"\"\"\nms = mean(x * x, axis=-1, keepdims=true)\ny = x * rsqrt(ms + 1e-5) * w\n\"\"\"\n"
    "workloads = [\n  { name = \"large\", B = 4096, D = 8192 },\n"
    "  { name = \"decode\", weight = 3, B = 8, D = 8192 },\n  { name = \"odd\", B = 777, D = 1000 },\n]\n"
    "\n[inputs]\nx = \"f32[B, D]\"\nw = \"f32[D]\"\n\n[outputs]\ny = \"f32[B, D]\"\n";

inline std::string synthetic_log() {
  std::string log;
  for (int i = 0; i < 40; ++i)
    log += fmt::format(
        "kernel.cc:{}:31: error: no matching function for call to 'load_n<f32v>(const float*&, int)'\n"
        "  {} |   const f32v a = hone::load_n<f32v>(x + j, {});\n      |                  ^~~~~~\n",
        20 + i, 20 + i, i);
  return log;
}

inline std::string synthetic_source(const std::string& pattern, const std::string& hostile) {
  return "/* hone\nlanguage = \"c++\"\npattern  = \"" + pattern +
         "\"\nnote     = \"Each thread takes rows whole; two passes, the second out of cache.\"\n" +
         R"k(requires = ["D >= 16"]
tunables = { AHEAD = [0, 1, 2], ROWS = [1, 2, 4, 8, 16, 32], STREAM = [0, 1], UNROLL = [1, 2, 4, 8] }
[[launch]]
kernel = "rows"
grid   = ["ceil_div(B, ROWS)"]
args   = ["x", "w", "y", "i64:B", "i64:D"]
*/
// The mean of squares in one pass over the row, the scaled row in the next.
#include "hone/cpu.h"

using hone::f32v;

void rows(const float* x, const float* w, float* y, int64_t B, int64_t D, int64_t block) {
  const int64_t end = hone::min((block + 1) * ROWS, B);
  for (int64_t row = block * ROWS; row < end; ++row) {
    const float* in = x + row * D;
    hone::Reduce<f32v, UNROLL, hone::Sum> squares;
    squares.run(D, [&](int64_t j, auto n) {
      if constexpr (AHEAD == 2) hone::prefetch(in + j + 512);
      const f32v a = hone::load_n<f32v>(in + j, n);
      return a * a;
    });
    const float scale = static_cast<float>(1 / std::sqrt(squares.get<0>() / D + 1e-5));
    hone::for_each<f32v, UNROLL>(D, [&](int64_t j, auto n) {
      const f32v a = hone::load_n<f32v>(in + j, n), b = hone::load_n<f32v>(w + j, n);
      hone::put<STREAM>(y + row * D + j, a * scale * b, n);
    });
  }
  if constexpr (STREAM) hone::fence();
}
)k" + (hostile.empty() ? "" : "// " + hostile + "\n");
}

}  // namespace hone::face::testing
