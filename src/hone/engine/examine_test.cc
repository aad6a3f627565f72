// What a run does with diagnoses that cost much.
#include "hone/engine/examine.h"

#include <gmock/gmock.h>

#include "hone/engine/testing/fake_run.h"

namespace hone::engine {
namespace {

TEST(Examine, DiagnosesStopWhenTheyHaveHadTheirShare) {
  base::FakeClock clock;
  testing::FakeEvaluator evaluator(clock, {}, {}, {}, 1e5);
  int asked = 0;
  const ExamineInRun examine = within_seconds(
      [&](evaluate::Evaluator&, const kernel::Kernel&, bool) -> Result<Examined> {
        ++asked;
        clock.advance_ns(4'000'000'000);
        return Examined{};
      },
      clock, 9);
  const kernel::Kernel kernel;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(examine(evaluator, kernel, false)) << i;
  const auto late = examine(evaluator, kernel, false);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(asked, 3);
  // The one that is shown in the end is looked at all the same.
  EXPECT_TRUE(examine(evaluator, kernel, true));
  EXPECT_EQ(asked, 4);
}

/// Time of the search between diagnoses is not theirs, nor is what the champion's took.
TEST(Examine, OnlyTheirOwnTimeCounts) {
  base::FakeClock clock;
  testing::FakeEvaluator evaluator(clock, {}, {}, {}, 1e5);
  const ExamineInRun examine = within_seconds(
      [&](evaluate::Evaluator&, const kernel::Kernel&, bool) -> Result<Examined> {
        clock.advance_ns(1'000'000'000);
        return Examined{};
      },
      clock, 2);
  const kernel::Kernel kernel;
  clock.advance_ns(60'000'000'000);
  EXPECT_TRUE(examine(evaluator, kernel, true));
  EXPECT_TRUE(examine(evaluator, kernel, true));
  EXPECT_TRUE(examine(evaluator, kernel, false));
  clock.advance_ns(60'000'000'000);
  EXPECT_TRUE(examine(evaluator, kernel, false));
  EXPECT_FALSE(examine(evaluator, kernel, false));
}

}  // namespace
}  // namespace hone::engine
