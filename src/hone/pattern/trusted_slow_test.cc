// The kernels that every task of the suites is trusted to have: plain_cpp, and naive_cpp where it is another
// one, are accepted at the tiny workload: in `make check` those of tasks that together show every operation, type
// and domain, in `make check-long` those of the others.
#include "hone/base/file.h"
#include "hone/base/testing/covering.h"
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

/// The operations, types and domains of a task, from its text.
std::set<std::string> shown_by(const TaskFile& file) {
  std::set<std::string> all;
  const std::string text = base::read_file(file.path).value();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    all.merge(base::testing::names_applied(line.substr(0, line.find('#'))));
    at = end + 1;
  }
  return all;
}

std::vector<TaskFile> tasks(bool checked) { return base::testing::part_of(plain_testing::task_files("tasks"), checked, shown_by); }
std::string name_of_task(const testing::TestParamInfo<TaskFile>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Tasks, TrustedKernels, testing::ValuesIn(base::testing::one_of_each(6, tasks(true))), name_of_task);
INSTANTIATE_TEST_SUITE_P(LongTasksThatCover, TrustedKernels, testing::ValuesIn(tasks(true)), name_of_task);
INSTANTIATE_TEST_SUITE_P(LongTasks, TrustedKernels, testing::ValuesIn(tasks(false)), name_of_task);

}  // namespace
}  // namespace hone::pattern
