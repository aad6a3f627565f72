#include "hone/search/tune/score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"

namespace hone::search::tune {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> costs;
  for (int i = 1; i <= n; ++i) costs.push_back(i);
  return costs;
}

TEST(ScoreTest, the_baseline_is_the_formula) {
  const Baseline baseline(one_to(99));
  EXPECT_EQ(baseline.optimum(), 1);
  EXPECT_EQ(baseline.median(), 50);
  EXPECT_EQ(baseline.worst(), 99);
  // Number k (N + 1) / (k + 1) from the worst: 50, 66.7 -> 67, 75, 80 of 99.
  EXPECT_EQ(baseline.after(1), 50);
  EXPECT_EQ(baseline.after(2), 33);
  EXPECT_EQ(baseline.after(3), 25);
  EXPECT_EQ(baseline.after(4), 20);
  EXPECT_EQ(baseline.after(100000), 1);
  // Passed at 1 + 0.05 * 49 = 3.45: the first k with round(100 k / (k + 1)) >= 97, as 97th from the worst costs 3.
  EXPECT_EQ(baseline.cutoff(200), 28);
  EXPECT_EQ(baseline.cutoff(10), 10);
}

TEST(ScoreTest, the_baseline_is_what_random_draws_do) {
  const Baseline baseline(one_to(999));
  base::Rng rng(3);
  for (const int k : {1, 5, 20}) {
    double sum = 0;
    for (int i = 0; i < 20000; ++i) {
      double best = 1e9;
      for (int d = 0; d < k; ++d) best = std::min(best, 1.0 + static_cast<double>(rng.below(999)));
      sum += best / 20000;
    }
    EXPECT_NEAR(baseline.after(k), sum, 0.03 * sum + 1) << k;
  }
}

TEST(ScoreTest, one_is_the_optimum_at_once_and_zero_the_baseline) {
  const Baseline baseline(one_to(99));
  const std::vector<Trace> at_once(3, Trace(200, 1.0));
  EXPECT_DOUBLE_EQ(score(baseline, at_once, 200), 1);
  Trace as_random;
  for (int k = 1; k <= 200; ++k) as_random.push_back(baseline.after(k));
  EXPECT_NEAR(score(baseline, std::vector<Trace>{as_random}, 200), 0, 1e-12);
  // Failures count as evaluations: nothing found is worse than random.
  EXPECT_LT(score(baseline, std::vector<Trace>{Trace(200, std::nullopt)}, 200), -1);
}

TEST(ScoreTest, by_hand) {
  // Costs 1..5, two evaluations, not cut off before: the baseline is number 3 (cost 3) and number 4 (cost 2) from the worst.
  const Baseline baseline(one_to(5));
  ASSERT_EQ(baseline.after(1), 3);
  ASSERT_EQ(baseline.after(2), 2);
  ASSERT_EQ(baseline.cutoff(2), 2);
  // F: (4 + 5) / 2, the second's first having failed and so counting as the worst; then (2 + 1) / 2.
  const std::vector<Trace> traces{{4.0, 2.0}, {std::nullopt, 1.0}};
  EXPECT_NEAR(score(baseline, traces, 2), ((3 - 4.5) / 2 + (2 - 1.5) / 1) / 2, 1e-12);
}

TEST(ScoreTest, fractions_and_expected_evaluations) {
  const Baseline baseline(one_to(10));
  const std::vector<Trace> traces{{4.0, 1.0, 2.0}, {std::nullopt, 5.0, 2.0}, {2.0, 2.0, 1.0}};
  EXPECT_NEAR(fraction_of_optimum(baseline, traces, 1), (0.25 + 0 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(fraction_of_optimum(baseline, traces, 3), (1 + 0.5 + 1) / 3, 1e-12);
  // Found after 2 and 3; the second spent all 3: 8 evaluations for two finds.
  EXPECT_DOUBLE_EQ(expected_evaluations(baseline, traces, 3), 4);
  EXPECT_TRUE(std::isinf(expected_evaluations(baseline, traces, 1)));
}

TEST(ScoreTest, intervals_hold_the_value_and_narrow_with_repeats) {
  const Baseline baseline(one_to(100));
  base::Rng rng(5);
  const auto traces = [&](int n) {
    std::vector<Trace> all;
    for (int i = 0; i < n; ++i) {
      Trace trace;
      for (int k = 0; k < 20; ++k) trace.push_back(1.0 + static_cast<double>(rng.below(100)));
      all.push_back(trace);
    }
    return all;
  };
  const auto statistic = [&](std::span<const Trace> t) { return fraction_of_optimum(baseline, t, 20); };
  const auto few = traces(10), many = traces(400);
  const Interval a = bootstrap(few, 1, statistic), b = bootstrap(many, 1, statistic);
  for (const Interval& i : {a, b}) {
    EXPECT_LE(i.low, i.value);
    EXPECT_GE(i.high, i.value);
  }
  EXPECT_LT(b.high - b.low, 0.5 * (a.high - a.low));
  EXPECT_EQ(bootstrap(few, 1, statistic).low, a.low);
}

}  // namespace
}  // namespace hone::search::tune
