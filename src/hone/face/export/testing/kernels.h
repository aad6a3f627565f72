// Tasks and hand-written kernels that the tests of export share.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "hone/face/export/export.h"

namespace hone::face::testing {

inline task::Task make_task(const std::string& toml) {
  auto task = task::parse_task(toml, "task.toml");
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  return task.value();
}
inline kernel::Kernel make_kernel(const std::string& source) {
  auto kernel = kernel::parse_kernel(source, "kernel.cc");
  EXPECT_TRUE(kernel.has_value()) << kernel.error().to_string();
  return kernel.value();
}
inline const std::string& content(const std::vector<ExportedFile>& files, const std::string& name) {
  for (const ExportedFile& file : files)
    if (file.name == name) return file.content;
  ADD_FAILURE() << "no file " << name;
  static const std::string none;
  return none;
}

inline const char* const kSoftmaxTask = R"~(
name    = "softmax"
inputs  = { x = "f32[B, D]" }
outputs = { y = "f32[B, D]" }
compute = """
y = softmax(x, axis=-1)
"""
workloads = [ { B = 64, D = 1024 } ]
)~";

/// One block a row, vectors all the way: only for rows of whole vectors.
inline const char* const kSoftmaxFast = R"~(/* hone
language = "c++"
requires = ["D % (16 * UNROLL) == 0"]
tunables = { UNROLL = [2, 4] }
[[launch]]
kernel = "rows"
grid   = ["B"]
args   = ["x", "y", "i64:D"]
*/
#define STEP (UNROLL * hone::lanes<float>)
extern "C" void rows(const float* HONE_RESTRICT x, float* HONE_RESTRICT y, int64_t D, int64_t row) {
  using hone::f32v;
  x += row * D;
  y += row * D;
  f32v top = hone::load<f32v>(x);
  for (int64_t j = 0; j < D; j += STEP)
    for (int u = 0; u < UNROLL; ++u) top = hone::max(top, hone::load<f32v>(x + j + u * hone::lanes<float>));
  const float most = hone::max_of(top);
  f32v total{};
  for (int64_t j = 0; j < D; j += hone::lanes<float>) {
    const f32v e = hone::exp(hone::load<f32v>(x + j) - most);
    hone::store(y + j, e);
    total += e;
  }
  const float scale = 1 / hone::sum(total);
  for (int64_t j = 0; j < D; j += hone::lanes<float>) hone::store(y + j, hone::load<f32v>(y + j) * scale);
}
)~";

/// Any row.
inline const char* const kSoftmaxSimple = R"~(/* hone
language = "c++"
[[launch]]
kernel = "rows"
grid   = ["B"]
args   = ["x", "y", "i64:D"]
*/
#include <cmath>
extern "C" void rows(const float* x, float* y, int64_t D, int64_t row) {
  double top = x[row * D], total = 0;
  for (int64_t j = 0; j < D; ++j) top = x[row * D + j] > top ? x[row * D + j] : top;
  for (int64_t j = 0; j < D; ++j) total += std::exp(x[row * D + j] - top);
  for (int64_t j = 0; j < D; ++j) y[row * D + j] = static_cast<float>(std::exp(x[row * D + j] - top) / total);
}
)~";

/// Names that C++ or the generated code has another use for; two outputs; 16-bit input.
inline const char* const kMapTask = R"~(
name    = "sum-and-product"
inputs  = { begin = "bf16[i, J]", new = "f32[i, J]" }
outputs = { slot = "f32[i, J]", J_ = "f32[i, J]" }
compute = """
b = cast(begin, f32)
slot = b + new
J_ = b * new
"""
workloads = [ { i = 8, J = 100 } ]
)~";

/// A grid of two dimensions; the tile's width goes in as an i32.
inline const char* const kMapTiles = R"~(/* hone
language = "c++"
tunables = { TILE = [32, 64] }
[[launch]]
kernel = "tile"
grid   = ["ceil_div(J, TILE)", "i"]
args   = ["begin", "new", "slot", "J_", "i64:J", "i32:TILE"]
*/
extern "C" {
void tile(const hone::bf16* a, const float* b, float* sum, float* product, int64_t J, int32_t width, int64_t x,
          int64_t y) {
  const int64_t end = (x + 1) * width < J ? (x + 1) * width : J;
  for (int64_t j = x * width; j < end; ++j) {
    const float value = static_cast<float>(a[y * J + j]);
    sum[y * J + j] = value + b[y * J + j];
    product[y * J + j] = value * b[y * J + j];
  }
}
}
)~";

inline const char* const kMeanTask = R"~(
name    = "column_mean"
inputs  = { x = "f32[N, D]" }
outputs = { y = "f32[D]" }
compute = """
y = mean(x, axis=0)
"""
workloads = [ { N = 1000, D = 64 } ]
)~";

/// Two launches with a workspace between them and scratch in the first; where N is small one launch does.
inline const char* const kMeanTwoSteps = R"~(/* hone
language = "c++"
tunables = { ROWS = [64, 128] }
[workspaces]
partial = "zero f64[ceil_div(N, ROWS), D]"
[[launch]]
kernel = "pieces"
grid   = ["ceil_div(N, ROWS)"]
shared = "8 * D"
args   = ["x", "partial", "shared", "i64:N", "i64:D"]
when   = "N > ROWS"
[[launch]]
kernel = "finish"
grid   = ["D"]
args   = ["partial", "y", "i64:N", "i64:D", "i64:ceil_div(N, ROWS)"]
when   = "N > ROWS"
[[launch]]
kernel = "whole"
grid   = ["D"]
args   = ["x", "y", "i64:N", "i64:D"]
when   = "N <= ROWS"
*/
#include <string.h>
extern "C" void pieces(const float* x, double* partial, void* shared, int64_t N, int64_t D, int64_t block) {
  double* sum = static_cast<double*>(shared);
  memset(sum, 0, static_cast<size_t>(D) * sizeof(double));
  for (int64_t i = block * ROWS; i < (block + 1) * ROWS && i < N; ++i)
    for (int64_t j = 0; j < D; ++j) sum[j] += x[i * D + j];
  for (int64_t j = 0; j < D; ++j) partial[block * D + j] += sum[j];
}
extern "C" void finish(const double* partial, float* y, int64_t N, int64_t D, int64_t pieces, int64_t j) {
  double sum = 0;
  for (int64_t p = 0; p < pieces; ++p) sum += partial[p * D + j];
  y[j] = static_cast<float>(sum / static_cast<double>(N));
}
extern "C" void whole(const float* x, float* y, int64_t N, int64_t D, int64_t j) {
  double sum = 0;
  for (int64_t i = 0; i < N; ++i) sum += x[i * D + j];
  y[j] = static_cast<float>(sum / static_cast<double>(N));
}
)~";

}  // namespace hone::face::testing
