#include "hone/evaluate/memory_need.h"

#include <gmock/gmock.h>

namespace hone::evaluate {
namespace {

constexpr double kGib = 1 << 30;

task::Task doubled(const std::string& workload) { return task::task_from_expressions("y = x * 2", {"x=f32[N]"}, {workload}).value(); }

TEST(MemoryNeed, CountsBuffersACallMoreAndAWholeLook) {
  // 2 GiB in, 2 GiB out: two contents, one call more, 24 bytes for each of 2^29 elements.
  const task::Task task = doubled("N=536870912");
  const auto plays = plan_workloads(task, nullptr, -1).value();
  EXPECT_NEAR(memory_need(task, plays) / kGib, 4 * plays[0].slots + 4 + 12, 0.1);
}

TEST(MemoryNeed, SaysBothNumbersAndWhatToDo) {
  const task::Task task = doubled("N=536870912");
  const auto plays = plan_workloads(task, nullptr, -1).value();
  EXPECT_TRUE(check_memory(task, plays, int64_t{64} << 30));
  EXPECT_TRUE(check_memory(task, plays, -1));
  const Status refused = check_memory(task, plays, int64_t{20} << 30);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("GiB of memory, of which 20.0 GiB are available"));
  EXPECT_THAT(refused.error().hint, ::testing::HasSubstr("smaller workloads"));
}

TEST(MemoryNeed, SmallTasksFitSmallMachines) {
  const task::Task task = doubled("N=1000");
  EXPECT_TRUE(check_memory(task, plan_workloads(task, nullptr, -1).value(), int64_t{1} << 30));
}

}  // namespace
}  // namespace hone::evaluate
