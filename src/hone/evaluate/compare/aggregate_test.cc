#include "hone/evaluate/compare/aggregate.h"

#include <gtest/gtest.h>

#include <array>

namespace hone::evaluate {
namespace {

TEST(Aggregate, CountsEveryRowOnceAndFailuresAsOne) {
  const std::array rows{
      SuiteRow{.speedup = 4, .comparison = Comparison::kFaster},
      SuiteRow{.speedup = 0.5, .comparison = Comparison::kSlower},
      SuiteRow{.speedup = 1.01},
      SuiteRow{.speedup = 100, .comparison = Comparison::kFaster, .failed = true},
  };
  const SuiteSummary s = summarise(rows);
  EXPECT_EQ(s.faster, 1);
  EXPECT_EQ(s.slower, 1);
  EXPECT_EQ(s.inconclusive, 1);
  EXPECT_EQ(s.failed, 1);
  EXPECT_EQ(s.rows(), 4);
  EXPECT_NEAR(s.geometric_mean, 1.192169, 1e-6);  // (4 * 0.5 * 1.01 * 1)^(1/4)
  EXPECT_NEAR(s.median, 1.005, 1e-12);
}

TEST(Aggregate, WeightsActInTheGeometricMeanOnly) {
  const std::array rows{SuiteRow{.speedup = 2, .weight = 2}, SuiteRow{.speedup = 16}};
  EXPECT_NEAR(summarise(rows).geometric_mean, 4, 1e-12);
  EXPECT_EQ(summarise(rows).median, 9);
}

TEST(Aggregate, NothingIsOne) {
  EXPECT_EQ(summarise({}).geometric_mean, 1);
  EXPECT_EQ(summarise({}).rows(), 0);
}

}  // namespace
}  // namespace hone::evaluate
