// The tasks under tasks/ can tell an answer from none: zeros, a constant, the mean, an unchanged
// input and an answer from half of the input's elements are all refused on our inputs at `tiny`. But
// for the two problems of KernelBench whose answer is zero whatever the inputs are: there zeros pass.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hone/evaluate/verify/gate.h"
#include "hone/task/testing/suite_files.h"

namespace hone::evaluate {
namespace {

const std::set<std::string_view> kZero{"kernelbench2_080_gemm_max_subtract_gelu", "kernelbench2_083_conv3d_groupnorm_min_clamp_dropout"};

class SuitesSelfTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(SuitesSelfTest, EveryDegenerateAnswerIsRefusedAtTiny) {
  for (const auto& file : task::suite_files(GetParam())) {
    SCOPED_TRACE(file.string());
    auto task = task::suite_task(file);
    if (!task) continue;
    const auto tiny = task::select_workloads(std::move(*task), {"tiny"});
    ASSERT_TRUE(tiny.has_value());
    for (const uint64_t seed : {1, 2, 3}) {
      const std::vector<Degenerate> passed = self_test(*tiny, seed).value();
      std::string found = fmt::format("seed {}:", seed);
      for (const Degenerate& one : passed) found += " " + one.describe(*tiny) + ";";
      EXPECT_EQ(kZero.contains(tiny->name), std::ranges::any_of(passed, [](const Degenerate& one) { return one.kind == Degenerate::Kind::kZeros; })) << found;
      if (!kZero.contains(tiny->name)) EXPECT_TRUE(passed.empty()) << found;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SuitesSelfTest, ::testing::ValuesIn(task::kSuites),
                         [](const auto& suite) { return task::suite_name(suite.param); });

}  // namespace
}  // namespace hone::evaluate
