// The decisions about a whole program: pure functions.
#include "hone/face/program/optimise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace hone::face {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(ShareBudgetTest, GoesByWhatATaskMayGain) {
  const auto shares = share_budget({300, 100, 0, 100}, 60, 5);
  EXPECT_DOUBLE_EQ(std::accumulate(shares.begin(), shares.end(), 0.0), 60);
  EXPECT_DOUBLE_EQ(shares[2], 0);
  EXPECT_DOUBLE_EQ(shares[1], shares[3]);
  EXPECT_DOUBLE_EQ(shares[0] - 5, 3 * (shares[1] - 5));
}

TEST(ShareBudgetTest, LeavesOutTheSmallestWhereNotAllGetEnough) {
  EXPECT_THAT(share_budget({1, 3, 2}, 10, 5), ElementsAre(0, 5, 5));
  EXPECT_THAT(share_budget({1, 3, 2}, 2, 5), ElementsAre(0, 5, 0));  // one look costs what it costs
  EXPECT_THAT(share_budget({0, 0}, 60, 5), ElementsAre(0, 0));
  EXPECT_THAT(share_budget({}, 60, 5), IsEmpty());
}

evaluate::OutputCheck check_of(double eager_max, double ours_max) {
  evaluate::OutputCheck check;
  check.name = "result 0";
  check.dtype = "f32";
  check.eager = {1, eager_max, eager_max / 4, 0, 0};
  check.ours = {1, ours_max, ours_max / 4, 0, 0};
  return check;
}

TEST(AccuracyTest, IsBoundByPytorchsOwnError) {
  const evaluate::OutputOff average{1, 1e-5, 2.5e-6, 0, 0};
  EXPECT_EQ(accuracy_reason(check_of(1e-5, 3e-5), average), "");
  EXPECT_THAT(accuracy_reason(check_of(1e-5, 5e-5), average), HasSubstr("off by up to 5e-05"));
  EXPECT_EQ(accuracy_reason(check_of(1e-9, 3e-5), average), "");  // eager was lucky this once
  EXPECT_EQ(accuracy_reason(check_of(0, 9e-7), {}), "");          // a few roundoffs are honest
  EXPECT_NE(accuracy_reason(check_of(0, 1.1e-6), {}), "");
  auto mean_square = check_of(1e-5, 3e-5);
  mean_square.ours.rms = 3e-5;
  EXPECT_THAT(accuracy_reason(mean_square, average), HasSubstr("mean square"));
}

TEST(AccuracyTest, CountsWhatIsNotFiniteOrNotEqual) {
  auto check = check_of(1e-5, 1e-5);
  check.ours.broken = 1;
  EXPECT_THAT(accuracy_reason(check, {}), HasSubstr("not finite"));
  check.eager.broken = 1;
  EXPECT_EQ(accuracy_reason(check, {}), "");
  check.ours.differ = 1;
  EXPECT_THAT(accuracy_reason(check, {}), HasSubstr("1 elements differ"));
  check.ours.differ = 0;
  check.wrong = "its shape is [2] where the module's is [3]";
  EXPECT_THAT(accuracy_reason(check, {}), HasSubstr("shape"));
}

TEST(CulpritsTest, AreFoundByHalves) {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h"};
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{{}, {"a"}, {"h"}, {"d"}, {"a", "b"}, {"c", "h"}, names}) {
    int asked = 0;
    const auto found = culprits(names, [&](const std::vector<std::string>& on) -> Result<bool> {
      ++asked;
      return std::none_of(on.begin(), on.end(), [&](const std::string& name) { return std::find(bad.begin(), bad.end(), name) != bad.end(); });
    });
    ASSERT_TRUE(found);
    EXPECT_THAT(*found, ::testing::UnorderedElementsAreArray(bad));
    EXPECT_LE(asked, 1 + 4 * static_cast<int>(bad.size()));
  }
}

TEST(CulpritsTest, TwoThatFailOnlyTogetherLoseOne) {
  const auto found = culprits({"a", "b", "c"}, [&](const std::vector<std::string>& on) -> Result<bool> { return on.size() < 2 || on[0] != "a" || on.back() != "c"; });
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, UnorderedElementsAre("c"));
}

}  // namespace
}  // namespace hone::face
