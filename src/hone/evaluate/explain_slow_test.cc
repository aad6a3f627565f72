// What an explanation waits for.
#include "hone/evaluate/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/clock.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::evaluate {
namespace {

using ::testing::HasSubstr;

TEST(ExplainSlow, a_kernel_that_goes_on_for_ever_shows_it_within_its_time) {
  auto toolchain = target::cpp_toolchain();
  if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
  const task::Task task = *task::task_from_expressions("y = exp(x)", {"x=f32[B, D]"}, {"B=4,D=4096"});
  Loader loader(task, std::move(*toolchain), 1);
  const kernel::Kernel endless = *kernel::parse_kernel("/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nargs = [\"x\", \"y\", \"i64:D\"]\n*/\n"
                                                      "void f(const float* x, float* y, int64_t D, int64_t row) {\n  volatile int64_t stay = D;\n  while (stay > 0) stay = D;\n  y[row * D] = x[row * D];\n}\n",
                                                      "kernel");
  ASSERT_TRUE(loader.build(endless, task.workloads.front().bindings));
  Spent spent;
  for (const auto& [given, shows] : {std::pair(std::chrono::seconds(6), true), {std::chrono::seconds(2), false}}) {
    const int64_t began = base::system_clock().now_ns();
    const auto said = explain(endless, {VerdictKind::kDoesNotFinish, "", "", {}}, loader, {}, spent, given);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->reproduced, shows) << said->reason << said->detail;
    // Two seconds are too few to say of a machine under load that a kernel never ends.
    EXPECT_THAT(said->detail, HasSubstr("Not looked into"));
    EXPECT_LT(static_cast<double>(base::system_clock().now_ns() - began) * 1e-9, static_cast<double>(given.count()) + 10);
  }
}

}  // namespace
}  // namespace hone::evaluate
