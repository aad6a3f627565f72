// Rows that groups of blocks keep in shared memory, on both emulators: small tiles, so that a block has several, and keeps
// one, some or all of them.
#include <gtest/gtest.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/gpu_rows_testing.h"

namespace hone::pattern {
namespace {

using gpu_rows_testing::Emulated;
using gpu_rows_testing::Given;
using gpu_rows_testing::name_of;

class GpuSharedRows : public testing::TestWithParam<Given> {};

TEST_P(GpuSharedRows, IsAcceptedWhateverItKeeps) {
  const Emulated emulated(GetParam(), {"B=3,D=301", "B=2,D=512"});
  if (!emulated.unavailable().empty()) GTEST_SKIP() << emulated.unavailable();
  for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
    const auto group = gpu::shared_rows(emulated.program(), language);
    ASSERT_TRUE(group) << group.error().to_string();
    const std::vector<kernel::Config> configs = {
        // One tile of several stays, and one group takes all rows; everything stays; a place for the row to come; as many
        // blocks as tiles.
        {{"THREADS", 64}, {"VEC", 1}, {"UNROLL", 1}, {"GROUPS", 1}, {"RESIDENT", 1}, {"KEEP", 1}, {"LEAST", 4}, {"AHEAD", 0}, {"SPREAD", 0}},
        {{"THREADS", 64}, {"VEC", 2}, {"UNROLL", 1}, {"GROUPS", 2}, {"RESIDENT", 2}, {"KEEP", 64}, {"LEAST", 2}, {"AHEAD", 3}, {"SPREAD", 3}},
        {{"THREADS", 64}, {"VEC", 4}, {"UNROLL", 1}, {"GROUPS", 1}, {"RESIDENT", 1}, {"KEEP", 1}, {"LEAST", 1}, {"AHEAD", 1}, {"SPREAD", 1}},
        {{"THREADS", 64}, {"VEC", 1}, {"UNROLL", 4}, {"GROUPS", 132}, {"RESIDENT", 1}, {"KEEP", 64}, {"LEAST", 1}, {"AHEAD", 0}, {"SPREAD", 0}},
    };
    // In `make check`, where a verdict on blocks that wait for each other takes its minute, each of the rows has one of these in one language.
    for (size_t i = 0; i < configs.size(); ++i) {
      const size_t other = (i + (language == kernel::Language::kCuda ? 0 : 1)) % 2;   // neighbours are in two languages
      if (!base::testing::takes_item(i + other * configs.size(), 2 * configs.size())) continue;
      kernel::Kernel kernel = *group;
      kernel.config = configs[i];
      emulated.expect_accepted(kernel);
    }
  }
}

constexpr const char* kOfChannels = "y = (x - mean(x, axis=(0, 2), keepdims=true)) / sqrt(var(x, axis=(0, 2), keepdims=true) + 1e-5)";
constexpr const char* kInThreeRounds = "y = x / sum(abs(x - mean(x, axis=-1, keepdims=true)), axis=-1, keepdims=true)";

const std::vector<Given> kSharedRows = {Given{"softmax_bf16", "y = softmax(x, axis=-1)", {"x=bf16[B,D]"}},
                                      Given{"residual_norm", "y = rms_norm(x + r)", {"x=f32[B,D]", "r=bf16[B,D]"}},
                                      Given{"channel_norm", kOfChannels, {"x=f32[2,B,D]"}},
                                      Given{"three_rounds", kInThreeRounds, {"x=f32[B,D]"}},
                                      Given{"whole_norm", "y = (x - mean(x)) / sqrt(var(x) + 1e-5)", {"x=f32[B,D]"}}};
INSTANTIATE_TEST_SUITE_P(Rows, GpuSharedRows, testing::ValuesIn(base::testing::one_of_each(2, kSharedRows)), name_of);
INSTANTIATE_TEST_SUITE_P(LongAllOfRows, GpuSharedRows, testing::ValuesIn(kSharedRows), name_of);
INSTANTIATE_TEST_SUITE_P(LongRows, GpuSharedRows,
                         testing::Values(Given{"softmax", "y = softmax(x, axis=-1)", {"x=f32[B,D]"}},
                                         Given{"softmax_f64", "y = softmax(x * 2.0, axis=-1)", {"x=f64[B,D]"}},
                                         Given{"layer_norm", "y = layer_norm(x, w, b)", {"x=f32[B,D]", "w=f32[D]", "b=f32[D]"}},
                                         Given{"l1_norm", "y = x / mean(abs(x), axis=1, keepdims=true)", {"x=f32[B,D]"}}), name_of);

}  // namespace
}  // namespace hone::pattern
