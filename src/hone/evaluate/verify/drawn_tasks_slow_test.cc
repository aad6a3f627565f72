// Tasks drawn from the published distribution (docs/drawn.md) can tell an answer from none, as those under tasks/ can
// (suites_test.cc): zeros, a constant, the mean, an unchanged input and an answer from half of the input's elements
// are refused at `tiny`.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "hone/evaluate/verify/gate.h"
#include "hone/task/drawn/drawn.h"
#include "hone/task/task.h"

namespace hone::evaluate {
namespace {

/// Names what passes for an answer; a line a task.
std::string let_through(uint64_t seed, uint64_t from, uint64_t to) {
  std::string all;
  for (uint64_t i = from; i < to; ++i) {
    const task::drawn::DrawnTask drawn = task::drawn::draw_task(task::drawn::builtin_mix(), seed, i);
    const auto task = task::parse_task(drawn.toml, drawn.name).and_then([](task::Task t) { return task::select_workloads(std::move(t), {"tiny"}); });
    if (!task) {
      all += fmt::format("{}: {}\n", drawn.name, task.error().to_string());
      continue;
    }
    const std::vector<std::string> passed = self_test(*task, 1);
    if (!passed.empty()) all += fmt::format("{}: {}\n", drawn.name, fmt::join(passed, "; "));
  }
  return all;
}

TEST(DrawnTasks, EveryDegenerateAnswerIsRefusedAtTiny) { EXPECT_EQ(let_through(1, 0, 40), ""); }

TEST(LongDrawnTasks, EveryDegenerateAnswerIsRefusedAtTiny) { EXPECT_EQ(let_through(2026, 0, 400), ""); }

}  // namespace
}  // namespace hone::evaluate
