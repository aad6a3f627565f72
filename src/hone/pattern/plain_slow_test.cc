// Plain kernels for every operation of the task language, compiled, run and judged by the evaluator. Each file
// of test/cases/plain is a task of many outputs, so that few compilers run: every fifth file in `make check`, all in `make check-long`.
#include "hone/pattern/plain.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class Plain : public testing::TestWithParam<TaskFile> {};

TEST_P(Plain, IsAccepted) {
  const auto task = plain_testing::task_at(GetParam(), "");
  ASSERT_TRUE(task) << task.error().to_string();
  plain_testing::expect_accepted(*task, plain_cpp(*task), "-O1");
}

INSTANTIATE_TEST_SUITE_P(Cases, Plain, testing::ValuesIn(base::testing::one_of_each(5, plain_testing::task_files("test/cases/plain"))),
                         [](const auto& parameter) { return parameter.param.name; });
INSTANTIATE_TEST_SUITE_P(LongCases, Plain, testing::ValuesIn(plain_testing::task_files("test/cases/plain")),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
