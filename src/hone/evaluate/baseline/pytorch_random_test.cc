// The generators of random cases, without PyTorch: there is one for every operation, what it writes
// is a task, and cases are varied.
#include <gtest/gtest.h>

#include <set>

#include "hone/evaluate/baseline/testing/random_ops.h"
#include "hone/task/task.h"

namespace hone::evaluate::testing {
namespace {

TEST(PytorchRandom, EveryOperationHasAGenerator) {
  for (const auto& [name, op] : task::op_table())
    EXPECT_TRUE(generators().contains(name)) << name << " has no generator in baseline/testing/random_*.h";
  for (const auto& [name, generator] : generators())
    EXPECT_TRUE(task::op_table().contains(name)) << name << " is no operation of the table";
}

TEST(PytorchRandom, GeneratorsWriteVariedTasks) {
  for (const auto& [name, generator] : generators()) {
    std::set<std::string> seen;
    const task::Op& op = *task::find_op(name);
    for (int i = 0; i < kCases; i += 8) {
      const RandomCase c = random_case(op, generator, i);
      EXPECT_EQ(c.compute, random_case(op, generator, i).compute);
      const auto made = task::task_from_expressions(c.compute, c.declarations(), {});
      EXPECT_TRUE(made.has_value()) << c.compute << " of "
                                    << fmt::format("{}", fmt::join(c.declarations(), " ")) << ": "
                                    << made.error().to_string();
      seen.insert(fmt::format("{} {}", c.compute, fmt::join(c.declarations(), " ")));
    }
    EXPECT_GT(seen.size(), name == "diag" ? 8U : 12U) << name;
  }
}

}  // namespace
}  // namespace hone::evaluate::testing
