// How long PyTorch eager takes for each task of the suites under tasks/ at `small`, on two threads:
// what the workload is defined by (tasks/README.md). Prints a table. The limits hold for any machine
// within a factor of several of the one that they were chosen on. Skips where there is no torch.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "hone/evaluate/baseline/testing/forwards.h"
#include "hone/task/testing/suite_files.h"

namespace hone::evaluate {
namespace {

constexpr double kLeastMs = 0.5, kMostMs = 200;

class SuitesTime : public ::testing::TestWithParam<std::string_view> {};

TEST_P(SuitesTime, EagerTakesHalfAMillisecondToAFifthOfASecondAtSmall) {
  SKIP_WITHOUT_TORCH();
  std::vector<std::string> names;
  std::vector<Forward> forwards;
  for (const auto& file : task::suite_files(GetParam())) {
    SCOPED_TRACE(file.string());
    const auto task = task::suite_task(file);
    ASSERT_TRUE(task.has_value());
    const auto graph = task::instantiate(task->primitive, task::find_workload(*task, "small")->bindings);
    ASSERT_TRUE(graph.has_value());
    auto forward = forward_of(*task, *graph);
    ASSERT_TRUE(forward.has_value()) << forward.error().to_string();
    forward->repeats = 15;
    names.push_back(task->name);
    forwards.push_back(std::move(*forward));
  }
  const auto results = run_forwards(forwards, 2, std::chrono::minutes(20));
  ASSERT_TRUE(results.has_value()) << results.error().to_string();
  for (size_t i = 0; i < names.size(); ++i) {
    SCOPED_TRACE(names[i]);
    ASSERT_EQ((*results)[i].error, "") << forwards[i].source;
    std::vector<double> ms = (*results)[i].ms;
    std::sort(ms.begin(), ms.end());
    const double median = ms.at(ms.size() / 2);
    fmt::print("{:9.2f} ms, least {:7.2f}  {}\n", median, ms.front(), names[i]);
    EXPECT_GE(median, kLeastMs);
    EXPECT_LE(median, kMostMs);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SuitesTime, ::testing::ValuesIn(task::kSuites),
                         [](const auto& suite) { return task::suite_name(suite.param); });

}  // namespace
}  // namespace hone::evaluate
