// The same at the small workload, built as they are used.
#include "hone/pattern/library.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class TrustedKernels : public testing::TestWithParam<TaskFile> {};

TEST_P(TrustedKernels, AreAcceptedAtSmall) {
  const auto task = plain_testing::task_at(GetParam(), "small");
  ASSERT_TRUE(task) << task.error().to_string();
  const kernel::Kernel plain = plain_cpp(*task), naive = naive_cpp(*task);
  plain_testing::expect_accepted(*task, plain, "-O3");
  if (naive.source != plain.source) plain_testing::expect_accepted(*task, naive, "-O3");
}

INSTANTIATE_TEST_SUITE_P(LongAllTasks, TrustedKernels, testing::ValuesIn(plain_testing::task_files("tasks")),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
