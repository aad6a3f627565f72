// Every task under tasks/ has hidden shapes to be tested at when it is optimised at `small`: where the
// draw finds none, a kernel that is right at that one shape only would be promoted. Problem 72, with
// seven symbols, has the fewest: three.
#include <gtest/gtest.h>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/stage.h"
#include "hone/task/testing/suite_files.h"

namespace hone::evaluate {
namespace {

class SuitesHiddenShapes : public ::testing::TestWithParam<std::string_view> {};

TEST_P(SuitesHiddenShapes, EveryTaskHasSome) {
  uint64_t number = 0;
  for (const auto& file : task::suite_files(GetParam())) {
    SCOPED_TRACE(file.string());
    auto task = task::suite_task(file);
    if (!task) continue;
    const auto small = task::select_workloads(std::move(*task), {});
    ASSERT_TRUE(small.has_value());
    ++number;
    for (const uint64_t seed : {1, 2, 3}) {
      if (!base::testing::in_long_part() && number % 3 + 1 != seed) continue;  // each task with one, in turns
      const auto shapes = hidden_shapes(*small, seed);
      EXPECT_GE(shapes.size(), 2U) << "seed " << seed;
      // None of them keeps the oracle busy for long.
      for (const task::Bindings& bindings : shapes) EXPECT_LE(task::minimal_cost(task::instantiate(small->primitive, bindings).value()).flops, 0x1p25);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SuitesHiddenShapes, ::testing::ValuesIn(task::kSuites),
                         [](const auto& suite) { return task::suite_name(suite.param); });
INSTANTIATE_TEST_SUITE_P(LongAll, SuitesHiddenShapes, ::testing::ValuesIn(task::kSuites),
                         [](const auto& suite) { return task::suite_name(suite.param); });

}  // namespace
}  // namespace hone::evaluate
