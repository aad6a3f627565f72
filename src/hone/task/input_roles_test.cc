#include "hone/task/input_roles.h"

#include <gtest/gtest.h>

namespace hone::task {
namespace {

Task task_of(const std::string& compute, const std::vector<std::string>& inputs) {
  auto task = task_from_expressions(compute, inputs, {"N=5"});
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

TEST(InputRoles, AnIndexWithoutADomainIsFound) {
  const Task task = task_of("y = take(t, i)", {"t=f32[7,3]", "i=i64[N]"});
  const auto found = undeclared_index(task);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->input->name, "i");
  EXPECT_EQ(found->extent.to_string(), "7");
  EXPECT_FALSE(undeclared_index(task_of("y = t + i", {"t=i64[N]", "i=i64[N]"})));
}

}  // namespace
}  // namespace hone::task
