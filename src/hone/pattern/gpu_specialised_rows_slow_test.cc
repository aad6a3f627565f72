// Rows that some waves read and others write, on the emulator of CUDA: small tiles, so that a block has several of a row, or
// none, and its ring has room for one row, for some, or for a part of one.
#include <gtest/gtest.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/gpu_rows_testing.h"

namespace hone::pattern::gpu_specialised_rows_slow_cases {
namespace {

using gpu_rows_testing::Emulated;
using gpu_rows_testing::Given;
using gpu_rows_testing::name_of;

/// Each pattern's kernel with each of some settings, on the emulator of CUDA; in `make check`, where a verdict on waves that wait for
/// each other takes its minute, with one of them.
using Pattern = Result<kernel::Kernel> (*)(const Program&, kernel::Language);
void expect_accepted(const Given& given, Pattern pattern, const std::vector<kernel::Config>& configs) {
  const Emulated emulated(given, {"B=23,D=301", "B=2,D=512"});
  if (!emulated.unavailable().empty()) GTEST_SKIP() << emulated.unavailable();
  const auto specialised = pattern(emulated.program(), kernel::Language::kCuda);
  ASSERT_TRUE(specialised) << specialised.error().to_string();
  for (size_t i = 0; i < configs.size(); ++i) {
    if (!base::testing::takes_item(i, configs.size())) continue;
    kernel::Kernel kernel = *specialised;
    kernel.config = configs[i];
    emulated.expect_accepted(kernel);
  }
}

class GpuSpecialisedRows : public testing::TestWithParam<Given> {};

TEST_P(GpuSpecialisedRows, IsAcceptedWhateverTheRing) {
  expect_accepted(GetParam(), gpu::specialised_rows, {
      // One tile of several stays, and one group takes all rows; all places that there are; a row to come for each row, and
      // a wave for each word; as many blocks as tiles.
      {{"THREADS", 64}, {"VEC", 1}, {"UNROLL", 1}, {"GROUPS", 1}, {"RESIDENT", 1}, {"KEEP", 1}, {"LEAST", 4}, {"AHEAD", 0}, {"EXCHANGERS", 1}},
      {{"THREADS", 64}, {"VEC", 2}, {"UNROLL", 1}, {"GROUPS", 2}, {"RESIDENT", 2}, {"KEEP", 64}, {"LEAST", 2}, {"AHEAD", 64}, {"EXCHANGERS", 2}},
      {{"THREADS", 64}, {"VEC", 4}, {"UNROLL", 1}, {"GROUPS", 1}, {"RESIDENT", 1}, {"KEEP", 64}, {"LEAST", 1}, {"AHEAD", 1}, {"EXCHANGERS", 4}},
      {{"THREADS", 32}, {"VEC", 1}, {"UNROLL", 4}, {"GROUPS", 132}, {"RESIDENT", 1}, {"KEEP", 64}, {"LEAST", 1}, {"AHEAD", 0}, {"EXCHANGERS", 4}},
  });
}

class GpuSpecialisedClusters : public testing::TestWithParam<Given> {};

TEST_P(GpuSpecialisedClusters, AreAccepted) {
  expect_accepted(GetParam(), gpu::specialised_cluster, {
      // One tile of several stays; fewer clusters than rows, which go on, and all places that there are; sixteen blocks of
      // which some have nothing of a row; words of a run that a thread takes in two halves.
      {{"CLUSTER", 2}, {"SPARE", 65}, {"THREADS", 64}, {"VEC", 1}, {"UNROLL", 1}, {"KEEP", 1}, {"AHEAD", 0}, {"EXCHANGERS", 1}},
      {{"CLUSTER", 4}, {"SPARE", 31}, {"THREADS", 32}, {"VEC", 2}, {"UNROLL", 1}, {"KEEP", 64}, {"AHEAD", 64}, {"EXCHANGERS", 2}},
      {{"CLUSTER", 16}, {"SPARE", 6}, {"THREADS", 32}, {"VEC", 1}, {"UNROLL", 1}, {"KEEP", 64}, {"AHEAD", 64}, {"EXCHANGERS", 4}},
      {{"CLUSTER", 8}, {"SPARE", 14}, {"THREADS", 32}, {"VEC", 4}, {"UNROLL", 16}, {"KEEP", 64}, {"AHEAD", 1}, {"EXCHANGERS", 2}},
  });
}

constexpr const char* kOfChannels = "y = (x - mean(x, axis=(0, 2), keepdims=true)) / sqrt(var(x, axis=(0, 2), keepdims=true) + 1e-5)";

const std::vector<Given> kRows = {Given{"softmax_bf16", "y = softmax(x, axis=-1)", {"x=bf16[B,D]"}},
                                  Given{"residual_norm", "y = rms_norm(x + r)", {"x=f32[B,D]", "r=bf16[B,D]"}},
                                  Given{"whole_norm", "y = (x - mean(x)) / sqrt(var(x) + 1e-5)", {"x=f32[B,D]"}},
                                  Given{"channel_norm", kOfChannels, {"x=f32[2,B,D]"}},
                                  Given{"softmax", "y = softmax(x, axis=-1)", {"x=f32[B,D]"}},
                                  Given{"softmax_f64", "y = softmax(x * 2.0, axis=-1)", {"x=f64[B,D]"}},
                                  Given{"layer_norm", "y = layer_norm(x, w, b)", {"x=f32[B,D]", "w=f32[D]", "b=f32[D]"}},
                                  Given{"log_softmax", "y = log_softmax(x, axis=-1)", {"x=f16[B,D]"}},
                                  Given{"l1_norm", "y = x / mean(abs(x), axis=1, keepdims=true)", {"x=f32[B,D]"}}};
// Of narrow and mixed elements, one row and rows in pieces the ones in rings, the others in clusters; all in both in `make check-long`.
INSTANTIATE_TEST_SUITE_P(Rows, GpuSpecialisedRows, testing::Values(kRows[0], kRows[2]), name_of);
INSTANTIATE_TEST_SUITE_P(Rows, GpuSpecialisedClusters, testing::Values(kRows[1], kRows[3]), name_of);
INSTANTIATE_TEST_SUITE_P(LongRows, GpuSpecialisedRows, testing::ValuesIn(kRows), name_of);
INSTANTIATE_TEST_SUITE_P(LongRows, GpuSpecialisedClusters, testing::ValuesIn(kRows), name_of);

}  // namespace
}  // namespace hone::pattern::gpu_specialised_rows_slow_cases
