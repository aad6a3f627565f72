#include "hone/evaluate/check_task.h"

#include <gmock/gmock.h>

#include "hone/evaluate/oracle/testing.h"

namespace hone::evaluate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Case;

TEST(CheckTask, HintsGoByWhatPassesAndNotByWhatItIsCalled) {
  const Case never("y = any(abs(x) < 0.0, axis=1)", {"x=f32[64,20]"});
  const Status constant = check_task(never.task, nullptr);
  ASSERT_FALSE(constant);
  EXPECT_THAT(constant.error().message, HasSubstr("y: zeros pass"));
  EXPECT_THAT(constant.error().hint, HasSubstr("give x domains in which it varies"));

  const Case same("y = x + 0", {"x=i32[100]"});
  const Status unchanged = check_task(same.task, nullptr);
  ASSERT_FALSE(unchanged);
  EXPECT_THAT(unchanged.error().message, HasSubstr("y: the input x, unchanged, passes"));
  EXPECT_THAT(unchanged.error().hint, Not(HasSubstr("the same everywhere")));
}

}  // namespace
}  // namespace hone::evaluate
