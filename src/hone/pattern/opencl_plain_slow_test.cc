// Plain loops in OpenCL C for every operation of the task language (test/cases/plain), compiled, run and judged by the
// checks that every candidate gets. Skips where there is no PoCL.
#include <set>

#include "hone/pattern/opencl_testing.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

class OpenClPlain : public testing::TestWithParam<TaskFile> {};

TEST_P(OpenClPlain, IsAccepted) {
  const auto task = plain_testing::task_at(GetParam(), "");
  ASSERT_TRUE(task) << task.error().to_string();
  const auto verifier = opencl_testing::verifier(*task);
  if (!verifier) GTEST_SKIP() << "no PoCL";
  opencl_testing::expect_accepted(*verifier, plain_opencl(*task), "plain");
}

/// `make check` takes what OpenCL C spells otherwise than C++, where the loops are tested too: elements of 16 bits, masks and
/// small integers, reductions to NaN and places, sorting and products. `make check-long` takes the others.
std::vector<TaskFile> files(bool checked) {
  const std::set<std::string> chosen{"halves", "programs", "reductions", "sorts"};
  std::vector<TaskFile> all = plain_testing::task_files("test/cases/plain");
  std::erase_if(all, [&](const TaskFile& file) { return chosen.contains(file.name) != checked; });
  return all;
}

std::string name_of_file(const testing::TestParamInfo<TaskFile>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Cases, OpenClPlain, testing::ValuesIn(files(true)), name_of_file);
INSTANTIATE_TEST_SUITE_P(LongCases, OpenClPlain, testing::ValuesIn(files(false)), name_of_file);

}  // namespace
}  // namespace hone::pattern
