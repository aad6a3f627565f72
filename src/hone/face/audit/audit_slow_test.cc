// What is found in KernelBench's level 2, which tasks/README.md lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "hone/face/audit/audit.h"
#include "hone/task/testing/suite_files.h"

namespace hone::face::audit {
namespace {

TEST(AuditLevel2, ProblemsThatAreLessThanTheyLook) {
  std::map<Kind, std::set<int>> found;
  for (const auto& file : task::suite_files("kernelbench/level2")) {
    const auto task = task::suite_task(file);
    ASSERT_TRUE(task.has_value());
    const auto tiny = cheapest_workload(*task);
    ASSERT_TRUE(tiny.has_value());
    EXPECT_EQ(tiny->workloads[0].name, "tiny");
    const auto audited = audit_task(*tiny, *task, 1, 2);
    ASSERT_TRUE(audited.has_value());
    for (const Finding& finding : audited->findings) found[finding.kind].insert(std::stoi(file.stem().string()));
  }
  EXPECT_EQ(found[Kind::kConstant], (std::set{80, 83}));
  EXPECT_EQ(found[Kind::kAtOne], (std::set{23}));
  EXPECT_EQ(found[Kind::kSummed], (std::set{13, 14, 18, 42, 44, 51}));
  EXPECT_EQ(found[Kind::kMoments], (std::set{23, 27, 77}));
  EXPECT_EQ(found[Kind::kPooled], (std::set{50, 65, 98}));
  EXPECT_EQ(found[Kind::kTiny], (std::set{66}));
  EXPECT_EQ(found[Kind::kPasses], (std::set<int>{}));
}

}  // namespace
}  // namespace hone::face::audit
