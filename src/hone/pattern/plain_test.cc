// What of plain kernels can be checked without a compiler: every operation has a case, every case a kernel
// whose plan binds, and a misprint changes the text.
#include <gmock/gmock.h>

#include <set>

#include "hone/pattern/library.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/plain_plan.h"
#include "hone/pattern/plain_testing.h"
#include "hone/task/graph/op_table.h"

namespace hone::pattern {
namespace {

TEST(PlainCases, EveryOperationOfTheLanguageIsInOne) {
  std::set<std::string> seen;
  for (const auto& file : plain_testing::task_files("test/cases/plain")) {
    const auto task = task::load_task(file.path);
    ASSERT_TRUE(task) << task.error().to_string();
    for (const task::Node& node : task->surface.nodes) seen.insert(node.op);
  }
  for (const auto& [name, op] : task::op_table()) EXPECT_TRUE(seen.contains(name)) << name;
}

TEST(PlainCases, EveryKernelBinds) {
  for (const auto& file : plain_testing::task_files("test/cases/plain")) {
    const auto task = task::load_task(file.path);
    ASSERT_TRUE(task) << task.error().to_string();
    const kernel::Kernel kernel = plain_cpp(*task);
    for (const auto& workload : task->workloads) {
      const auto plan = kernel::bind(kernel, *task, workload.bindings, {{"THREADS", 2}});
      EXPECT_TRUE(plan) << file.name << ": " << (plan ? "" : plan.error().to_string());
    }
    EXPECT_TRUE(kernel.header.specialise.empty());
    EXPECT_TRUE(kernel.header.require.empty());
  }
}

TEST(NaiveKernel, ExistsForEveryTask) {
  for (const char* folder : {"test/cases/plain", "examples", "tasks"})
    for (const auto& file : plain_testing::task_files(folder)) {
      const auto task = task::load_task(file.path);
      ASSERT_TRUE(task) << task.error().to_string();
      EXPECT_FALSE(naive_cpp(*task).header.launches.empty()) << file.name;
    }
}

TEST(PlainKernel, AMisprintChangesOnePlace) {
  const auto task = task::task_from_expressions("y = softmax(x @ w, axis=-1)", {"x=f32[B,D]", "w=f32[D,E]"}, {"B=4,D=8,E=5"});
  ASSERT_TRUE(task);
  int places = 0;
  const auto right = plain_cpp(*task, [&](const std::string& text, const std::vector<Mistake>&) { return ++places, text; });
  EXPECT_EQ(right.source, plain_cpp(*task).source);
  ASSERT_GT(places, 8);
  std::set<std::string> sources{right.source};
  for (int wanted = 0; wanted < places; ++wanted) {
    int at = 0;
    sources.insert(plain_cpp(*task, [&](const std::string& text, const std::vector<Mistake>& wrong) {
                     return at++ == wanted ? wrong.front().text : text;
                   }).source);
  }
  EXPECT_EQ(static_cast<int>(sources.size()), places + 1);
}

TEST(NaiveKernel, OneVectorAlongTwoDimensionsIsNoLoopNest) {
  for (const char* compute : {"y = x * x.unsqueeze(1)", "y = where(arange(D) >= arange(D).unsqueeze(1), x, 0)"}) {
    const auto task = task::task_from_expressions(compute, {"x=f32[D]"}, {"D=8"});
    ASSERT_TRUE(task) << task.error().to_string();
    EXPECT_EQ(naive_cpp(*task).source, plain_cpp(*task).source) << compute;
  }
}

task::Dims dims(std::initializer_list<const char*> texts) {
  task::Dims result;
  for (const char* text : texts) result.push_back(task::IntExpr::parse(text).value());
  return result;
}

TEST(PlainReshape, PairsTheShortestRunsOfEqualProducts) {
  const auto runs = plain::match_reshape(dims({"A", "B*C", "1", "D"}), dims({"A", "1", "B", "C", "D"}));
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_THAT(runs[0].from, testing::ElementsAre(0));
  EXPECT_THAT(runs[1].from, testing::ElementsAre(1));
  EXPECT_THAT(runs[1].to, testing::ElementsAre(2, 3));
  EXPECT_THAT(runs[2].to, testing::ElementsAre(4));
}

TEST(PlainReshape, WhatNothingMatchesIsOneRun) {
  const auto runs = plain::match_reshape(dims({"A", "B"}), dims({"B", "A"}));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_THAT(runs[0].from, testing::ElementsAre(0, 1));
}

}  // namespace
}  // namespace hone::pattern
