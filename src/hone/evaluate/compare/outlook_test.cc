// What would decide, against contests that are then given it.
#include "hone/evaluate/compare/outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/evaluate/measure/contest_testing.h"

namespace hone::evaluate {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

OpponentResult undecided(double median, double low, double high, int pairs, std::string stopped = "time") {
  OpponentResult r;
  r.ratio = {median, low, high};
  r.pairs = pairs;
  r.processes = pairs / 2;
  r.stopped = std::move(stopped);
  return r;
}

TEST(Outlook, WhatIsDecidedNeedsNothing) {
  OpponentResult r = undecided(2, 1.5, 2.5, 20);
  r.comparison = Comparison::kFaster;
  EXPECT_EQ(would_decide(r, 10), "");
}

TEST(Outlook, EqualKernelsAreNotWaitedFor) { EXPECT_THAT(would_decide(undecided(1.0001, 0.999, 1.001, 150, "precise"), 10), StartsWith("nothing: they are equal within 0.1 %")); }

/// The time that is said to be needed; 0: none is.
double asked_for(const OpponentResult& r, double seconds) {
  const std::string said = would_decide(r, seconds);
  const size_t at = said.find("about ");
  return at == std::string::npos ? 0 : std::stod(said.substr(at + 6));
}

TEST(Outlook, TimeGrowsWithTheSquareOfWhatIsMissing) {
  // 1.21 with an interval that just holds 1, and with one that has to be twice as narrow.
  EXPECT_NEAR(asked_for(undecided(1.21, 1.0, 1.5, 100), 100), 120, 1) << "barely";
  const double faster = asked_for(undecided(1.21, 1 / 1.21, 1.8, 100), 100);
  EXPECT_GE(faster, 300);
  EXPECT_LE(faster, 600);
  // The other side of 1 alike.
  EXPECT_EQ(asked_for(undecided(1 / 1.21, 0.6, 1.21, 100), 100), faster);
  // The interval of five processes is wide whatever they are like: a few more narrow it by far more.
  const double few = asked_for(undecided(1.21, 1 / 1.21, 1.8, 10), 100);
  EXPECT_GT(few, 100);
  EXPECT_LT(few, faster);
}

TEST(Outlook, NoiseIsNamedWhereItIsLarge) {
  EXPECT_THAT(would_decide(undecided(1.3, 0.8, 3.2, 40), 20), HasSubstr("a quieter machine"));
  EXPECT_EQ(would_decide(undecided(1.01, 0.995, 1.025, 40), 20).find("quieter"), std::string::npos);
  EXPECT_THAT(would_decide(undecided(1.001, 0.8, 1.25, 40), 20), StartsWith("no budget that is worth it"));
}

TEST(Outlook, TooFewPairsSaySo) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(would_decide(undecided(1.3, 0, infinity, 2), 4), HasSubstr("about 30 s of pairs are the least"));
}

/// The forecast is good enough to be followed: most undecided contests of kernels that differ are called within twice what it asks for.
TEST(Outlook, TheTimeItAsksForDecides) {
  int asked = 0, called = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<Model> models = {{.ns = 1.25e6, .cost_s = 0.2, .noise = 0.2, .luck = 0.2}};
    FakeArena a = arena(models, seed);
    const ContestResult first = play(a, 1, options(12), seed);
    const Comparer& had = *first.opponents[0].comparer;
    if (had.decision() != Comparison::kInconclusive || had.leaning() != Comparison::kFaster) continue;
    const std::string said = would_decide(undecided(had.deciding().median, had.deciding().low, had.deciding().high, had.pairs()), first.seconds);
    const size_t at = said.find("about ");
    if (at == std::string::npos) continue;
    ++asked;
    ContestOptions rules = options(2 * std::stod(said.substr(at + 6)));
    rules.compare.max_pairs = 100'000;
    FakeArena again = arena(models, seed + 100);
    called += play(again, 1, rules, seed).opponents[0].comparer->decision() == Comparison::kFaster ? 1 : 0;
  }
  ASSERT_GE(asked, 4);
  EXPECT_GE(called, asked - 1) << "of " << asked;
}

TEST(Outlook, WithoutACapOnlyTimeEndsAComparison) {
  FakeArena a = arena({{.ns = 1.0005e6, .cost_s = 0.001, .start_s = 0.001, .noise = 0.4, .luck = 0.4}});
  a.deal_s = 0.001;
  ContestOptions rules = options(30);
  rules.compare.max_pairs = 100'000;
  const ContestResult r = play(a, 1, rules);
  EXPECT_GT(r.opponents[0].comparer->pairs(), 2 * CompareOptions().max_pairs);
  EXPECT_GT(r.seconds, 25);
}

}  // namespace
}  // namespace hone::evaluate
