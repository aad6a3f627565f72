#include "hone/engine/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone::engine {
namespace {

using evaluate::Comparison;

evaluate::OpponentResult result(const std::string& name, double median, Comparison comparison) {
  evaluate::OpponentResult r;
  r.opponent = name;
  r.ratio = {median, 0.9 * median, 1.1 * median};
  r.comparison = comparison;
  return r;
}

task::Task task_with_weights(std::vector<double> weights) {
  task::Task task;
  for (const double weight : weights) {
    task::Workload workload;
    workload.weight = weight;
    task.workloads.push_back(workload);
  }
  return task;
}

TEST(SummaryTest, the_headline_is_against_the_strongest_opponent_over_all_workloads) {
  evaluate::Promotion promotion;
  promotion.workloads.resize(2);
  // The library is weak on the first and strong on the second.
  promotion.workloads[0].opponents = {result("naive", 4, Comparison::kFaster), result("library", 8, Comparison::kFaster)};
  promotion.workloads[1].opponents = {result("naive", 4, Comparison::kFaster), result("library", 0.5, Comparison::kSlower)};
  promotion.workloads[0].sol_fraction = 0.25;
  promotion.workloads[1].sol_fraction = 1;
  const Headline even = headline_of(promotion, task_with_weights({1, 1}));
  EXPECT_EQ(even.opponent, "library");
  EXPECT_NEAR(even.speedup.median, 2, 1e-12);
  EXPECT_NEAR(even.speedup.low, 1.8, 1e-12);
  EXPECT_EQ(even.comparison, Comparison::kInconclusive) << "faster here and slower there is no call";
  EXPECT_NEAR(even.sol_fraction, 0.5, 1e-12);
  const Headline heavy = headline_of(promotion, task_with_weights({4, 1}));
  EXPECT_EQ(heavy.opponent, "naive") << "8^4 * 0.5 > 4^5";
  EXPECT_EQ(heavy.comparison, Comparison::kFaster);
}

TEST(SummaryTest, an_opponent_that_missed_a_workload_is_no_headline) {
  evaluate::Promotion promotion;
  promotion.workloads.resize(2);
  promotion.workloads[0].opponents = {result("absent", 0.1, Comparison::kSlower), result("naive", 4, Comparison::kFaster)};
  promotion.workloads[1].opponents = {result("naive", 4, Comparison::kFaster)};
  EXPECT_EQ(headline_of(promotion, task_with_weights({1, 1})).opponent, "naive");
  EXPECT_FALSE(against(promotion, task_with_weights({1, 1}), "absent"));
  EXPECT_FALSE(against(promotion, task_with_weights({1, 1}), "unheard of"));
}

TEST(SummaryTest, without_opponents_there_is_the_speed_of_light) {
  evaluate::Promotion promotion;
  promotion.workloads.resize(1);
  promotion.workloads[0].sol_fraction = 0.7;
  const Headline line = headline_of(promotion, task_with_weights({1}));
  EXPECT_EQ(line.opponent, "");
  EXPECT_NEAR(line.sol_fraction, 0.7, 1e-12);
  EXPECT_EQ(headline_of({}, task_with_weights({1})).sol_fraction, 0);
}

TEST(SummaryTest, dispatch_is_taken_off_workload_by_workload) {
  evaluate::Promotion promotion;
  promotion.workloads.resize(2);
  evaluate::OpponentResult small = result("library", 4, Comparison::kFaster), large = result("library", 2, Comparison::kFaster);
  small.opponent_ns = 4000, small.dispatch_ns = 3000;
  large.opponent_ns = 400'000, large.dispatch_ns = 12'000;
  promotion.workloads[0].opponents = {small};
  promotion.workloads[1].opponents = {large};
  const auto line = against(promotion, task_with_weights({1, 1}), "library");
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->speedup.median, std::sqrt(8), 1e-12);
  EXPECT_NEAR(line->without_dispatch.median, std::sqrt(4 * 0.25 * 2 * 0.97), 1e-12);
  EXPECT_NEAR(line->dispatch_ns, 6000, 1e-9);
  // A library without dispatch has the same ratio twice; one whose call is all dispatch keeps a twentieth of its time.
  EXPECT_DOUBLE_EQ(result("naive", 3, Comparison::kFaster).without_dispatch().median, 3);
  small.dispatch_ns = 5000;
  EXPECT_NEAR(small.without_dispatch().median, 4 * evaluate::kLeastWork, 1e-12);
  promotion.workloads[1].opponents[0].dispatch_ns = 0;
  EXPECT_EQ(against(promotion, task_with_weights({1, 1}), "library")->dispatch_ns, 0) << "not measured everywhere";
}

}  // namespace
}  // namespace hone::engine
