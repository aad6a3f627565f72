#include "hone/evaluate/compare/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "hone/base/random.h"

namespace hone::evaluate {
namespace {

TEST(Statistics, Median) {
  EXPECT_EQ(median(std::array{3.0}), 3);
  EXPECT_EQ(median(std::array{3.0, 1.0}), 2);
  EXPECT_EQ(median(std::array{9.0, 1.0, 4.0}), 4);
  EXPECT_EQ(median(std::array{9.0, 1.0, 4.0, 1e9}), 6.5);
}

TEST(Statistics, RobustDeviationEstimatesNormalSpreadAndIgnoresOutliers) {
  base::Rng rng(7);
  std::vector<double> values;
  for (int i = 0; i < 4000; ++i) values.push_back(5 + 2 * rng.normal());
  EXPECT_NEAR(robust_deviation(values), 2, 0.1);
  for (int i = 0; i < 400; ++i) values[static_cast<size_t>(i)] = 1e12;
  EXPECT_NEAR(robust_deviation(values), 2, 0.4);
}

TEST(Statistics, GeometricMean) {
  EXPECT_NEAR(geometric_mean(std::array{2.0, 8.0}), 4, 1e-12);
  EXPECT_NEAR(geometric_mean(std::array{2.0, 16.0}, std::array{2.0, 1.0}), 4, 1e-12);
}

TEST(Statistics, QuantileInterpolates) {
  const std::array sorted{0.0, 10.0, 20.0};
  EXPECT_EQ(quantile_of_sorted(sorted, 0), 0);
  EXPECT_EQ(quantile_of_sorted(sorted, 0.25), 5);
  EXPECT_EQ(quantile_of_sorted(sorted, 1), 20);
}

TEST(Statistics, StudentAndNormalMatchTables) {
  EXPECT_NEAR(student_t(0.95, 1), 12.7062, 1e-3);
  EXPECT_NEAR(student_t(0.95, 2), 4.30265, 1e-4);
  EXPECT_NEAR(student_t(0.95, 3), 3.18245, 1e-4);
  EXPECT_NEAR(student_t(0.95, 4), 2.77645, 1e-4);
  EXPECT_NEAR(student_t(0.99, 9), 3.24984, 1e-4);
  EXPECT_NEAR(student_t(0.95, 30), 2.04227, 1e-4);
  EXPECT_NEAR(normal_z(0.95), 1.959964, 1e-5);
  EXPECT_NEAR(student_t(0.95, 3000), normal_z(0.95), 1e-3);
}

TEST(Statistics, MedianIntervalCoversAtItsRate) {
  EXPECT_TRUE(std::isinf(median_interval(std::array{1.0, 2.0, 3.0}, 0.95).low));
  int covered = 0;
  for (uint64_t trial = 0; trial < 1000; ++trial) {
    base::Rng rng(trial, 1);
    std::vector<double> values;
    for (int i = 0; i < 41; ++i) values.push_back(rng.normal());
    std::sort(values.begin(), values.end());
    covered += median_interval(values, 0.9).contains(0);
  }
  EXPECT_GE(covered, 880);
  EXPECT_LE(covered, 960);
}

}  // namespace
}  // namespace hone::evaluate
