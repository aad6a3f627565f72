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

/// What passes for an answer, by the task that lets it.
std::vector<std::string> let_through(uint64_t seed, uint64_t from, uint64_t to) {
  std::vector<std::string> all;
  for (uint64_t i = from; i < to; ++i) {
    const task::drawn::DrawnTask drawn = task::drawn::draw_task(task::drawn::builtin_mix(), seed, i);
    const auto task = task::parse_task(drawn.toml, drawn.name).and_then([](task::Task t) { return task::select_workloads(std::move(t), {"tiny"}); });
    if (!task) {
      all.push_back(fmt::format("{}: {}", drawn.name, task.error().to_string()));
      continue;
    }
    const std::vector<Degenerate> passed = self_test(*task, 1).value();
    std::string what;
    for (const Degenerate& one : passed) what += "; " + one.describe(*task);
    if (!passed.empty()) all.push_back(drawn.name + what);
  }
  return all;
}

/// One in a hundred at most: at a tiny shape the few numbers of an answer in half precision now and then say too little.
void expect_hardly_any(uint64_t seed, uint64_t tasks) {
  const std::vector<std::string> all = let_through(seed, 0, tasks);
  EXPECT_LE(all.size(), tasks / 100) << fmt::format("{}", fmt::join(all, "\n"));
}

TEST(DrawnTasks, DegenerateAnswersAreRefusedAtTiny) { expect_hardly_any(1, 200); }

TEST(LongDrawnTasks, DegenerateAnswersAreRefusedAtTiny) {
  expect_hardly_any(1, 400);
  for (const uint64_t seed : {2, 3, 5, 11}) expect_hardly_any(seed, 1000);
}

}  // namespace
}  // namespace hone::evaluate
