#include "hone/engine/champion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::HasSubstr;

constexpr const char* kKernel = R"(/* hone
language = "c++"
[[launch]]
kernel = "f"
grid   = ["B"]
args   = ["x", "y"]
*/
void f(const float* x, float* y, int64_t b) { y[b] = x[b]; }
)";

task::Task task_of(const char* compute, const char* workload) {
  auto task = task::task_from_expressions(compute, {"x=f32[B]"}, {workload});
  if (!task) throw std::runtime_error(task.error().to_string());
  return *task;
}

const Place kHere{"cpu", "some CPU, avx2, 2 threads", "g++ 12.2.0"};

TEST(Champion, HoldsWhereItWasVerified) {
  const task::Task task = task_of("y = x", "B=4");
  const auto kernel = kernel::parse_kernel(kKernel, "");
  const auto file = kernel::parse_kernel(champion_text(*kernel, task, kHere, "2026-11-22"), "");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->hash(), kernel->hash());
  EXPECT_THAT(not_as_verified(*kernel, task, kHere), IsEmpty());  // says nothing
  EXPECT_THAT(not_as_verified(*file, task, kHere), IsEmpty());
}

TEST(Champion, SaysWhatIsNotAsItWas) {
  const auto kernel = kernel::parse_kernel(kKernel, "");
  const auto file = kernel::parse_kernel(champion_text(*kernel, task_of("y = x", "B=4"), kHere, "2026-11-22"), "");
  Place there = kHere;
  there.device = "another CPU";
  there.toolchain = "clang 22";
  EXPECT_THAT(not_as_verified(*file, task_of("y = x", "B=4"), there),
              ElementsAre("device: some CPU, avx2, 2 threads, here another CPU", "toolchain: g++ 12.2.0, here clang 22"));
  EXPECT_THAT(not_as_verified(*file, task_of("y = -x", "B=4"), kHere), ElementsAre(HasSubstr("task: another")));
}

TEST(Champion, DaysAreThoseOfUtc) {
  EXPECT_EQ(day_of(0), "1970-01-01");
  EXPECT_EQ(day_of(1'795'305'599'000), "2026-11-21");
  EXPECT_EQ(day_of(1'795'305'600'000), "2026-11-22");
}

}  // namespace
}  // namespace hone::engine
