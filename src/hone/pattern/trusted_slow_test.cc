// The kernels that every task of the suites is trusted to have: plain_cpp, and naive_cpp where it is another
// one, are accepted at the tiny workload.
#include "hone/pattern/library.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class TrustedKernels : public testing::TestWithParam<TaskFile> {};

TEST_P(TrustedKernels, AreAcceptedAtTiny) {
  const auto task = plain_testing::task_at(GetParam(), "tiny");
  ASSERT_TRUE(task) << task.error().to_string();
  const kernel::Kernel plain = plain_cpp(*task), naive = naive_cpp(*task);
  plain_testing::expect_accepted(*task, plain, "-O1");
  if (naive.source != plain.source) plain_testing::expect_accepted(*task, naive, "-O1");
}

INSTANTIATE_TEST_SUITE_P(Tasks, TrustedKernels, testing::ValuesIn(plain_testing::task_files("tasks")),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
