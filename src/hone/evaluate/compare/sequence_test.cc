#include "hone/evaluate/compare/sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hone/base/random.h"

namespace hone::evaluate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Sequence, CoinWealthIsAFairGame) {
  // Under a fair coin the next toss leaves expected wealth unchanged.
  for (int n = 0; n < 40; ++n) {
    for (int heads = 0; heads <= n; ++heads) {
      const double now = std::exp(log_coin_wealth(heads, n));
      const double next = 0.5 * std::exp(log_coin_wealth(heads, n + 1)) +
                          0.5 * std::exp(log_coin_wealth(heads + 1, n + 1));
      ASSERT_NEAR(next, now, 1e-9 * now) << heads << " of " << n;
    }
  }
}

TEST(Sequence, MedianEndsAreTheLastOnesTheCoinRefutes) {
  for (int n = 1; n <= 300; ++n) {
    std::vector<double> sorted;
    for (int i = 0; i < n; ++i) sorted.push_back(i);
    const Interval got = median_sequence(sorted, 0.01);
    int rank = -1;
    while (2 * (rank + 1) < n && log_coin_wealth(rank + 1, n) >= std::log(100.0)) ++rank;
    ASSERT_EQ(got.low, rank < 0 ? -kInfinity : rank) << n;
    ASSERT_EQ(got.high, rank < 0 ? kInfinity : n - 1 - rank) << n;
  }
}

TEST(Sequence, TooFewValuesSayNothing) {
  EXPECT_EQ(median_sequence({}, 0.01).low, -kInfinity);
  EXPECT_EQ(mean_sequence({}, 0.01, 4).low, -kInfinity);
  EXPECT_EQ(mean_sequence(std::vector{1.0}, 0.01, 4).high, kInfinity);
  EXPECT_EQ(mean_sequence(std::vector{1.0, 1.001, 1.0}, 0.01, 4).high, kInfinity);
}

TEST(Sequence, MeanEndsHaveExactlyTheRequiredEvidence) {
  const std::vector<double> values{0.03, 0.05, 0.04, 0.06, 0.02, 0.05};
  const double scale = 4, alpha = 0.01, k = 6;
  const Interval got = mean_sequence(values, alpha, scale);
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / k;
  for (const double v : values) squares += (v - mean) * (v - mean);
  for (const double end : {got.low, got.high}) {
    const double y = (mean - end) * (mean - end) * k / squares;  // t^2 / (k - 1)
    const double g = 1 + k * scale * scale;
    const double evidence = std::pow((1 + y) / (1 + y / g), k / 2) / std::sqrt(g);
    EXPECT_NEAR(evidence, 1 / alpha, 1e-6 / alpha);
  }
}

TEST(Sequence, EitherEverMissesTheTruthInAtMostAlphaOfRuns) {
  constexpr int kTrials = 400;
  int median_missed = 0, mean_missed = 0;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    base::Rng rng(trial, 2);
    std::vector<double> sorted, values;
    bool median_in = true, mean_in = true;
    for (int n = 0; n < 200; ++n) {
      const double x = rng.normal();
      values.push_back(x);
      sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), x), x);
      median_in = median_in && median_sequence(sorted, 0.05).contains(0);
      mean_in = mean_in && mean_sequence(values, 0.05, 4).contains(0);
    }
    median_missed += !median_in;
    mean_missed += !mean_in;
  }
  // 5 % of 400 is 20, three standard deviations more is 33.
  EXPECT_LE(median_missed, 33);
  EXPECT_LE(mean_missed, 33);
  EXPECT_GT(median_missed + mean_missed, 0) << "so wide that nothing is tested";
}

}  // namespace
}  // namespace hone::evaluate
