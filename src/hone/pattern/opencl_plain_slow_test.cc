// Plain loops in OpenCL C for every operation of the task language (test/cases/plain), compiled, run and judged by the
// evaluator. Skips where there is no PoCL.
#include "hone/pattern/opencl_testing.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class OpenClPlain : public testing::TestWithParam<TaskFile> {};

TEST_P(OpenClPlain, IsAccepted) {
  const auto toolchain = opencl_testing::toolchain();
  if (!toolchain) GTEST_SKIP() << "no PoCL";
  const auto task = plain_testing::task_at(GetParam(), "");
  ASSERT_TRUE(task) << task.error().to_string();
  evaluate::EvaluatorOptions options;
  options.repetitions = 1;
  auto evaluator = evaluate::cpu_evaluator(*task, toolchain, options);
  ASSERT_TRUE(evaluator) << evaluator.error().to_string();
  opencl_testing::expect_accepted(**evaluator, plain_opencl(*task), "plain");
}

INSTANTIATE_TEST_SUITE_P(Cases, OpenClPlain, testing::ValuesIn(plain_testing::task_files("test/cases/plain")),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
