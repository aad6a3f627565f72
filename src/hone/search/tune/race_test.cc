#include "hone/search/tune/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hone/base/random.h"

namespace hone::search::tune {
namespace {

struct Outcome {
  size_t winner;
  std::vector<int> times;
};

Outcome run(size_t entrants, const std::function<double(size_t, int)>& time, RaceOptions options = {}) {
  Race race(entrants, options);
  std::vector<int> taken(entrants, 0);
  for (auto round = race.round(); !round.empty(); round = race.round())
    for (const size_t e : round) race.tell(e, time(e, taken[e]++));
  return {race.winner(), taken};
}

TEST(RaceTest, measures_losers_little_and_finalists_much) {
  base::Rng rng(1);
  const auto result = run(50, [&](size_t e, int) { return (1 + 0.05 * static_cast<double>(e)) * (1 + 0.005 * rng.normal()); });
  EXPECT_EQ(result.winner, 0u);
  for (size_t e = 4; e < 50; ++e) EXPECT_EQ(result.times[e], 3);
  EXPECT_GT(result.times[0], 3);
}

TEST(RaceTest, is_not_deceived_by_the_first_look) {
  // Number 1 is slow at first, as a device that still wakes up makes it, within the margin.
  const auto result = run(2, [](size_t e, int n) { return e == 0 ? 1.02 : n < 3 ? 1.08 : 0.95; });
  EXPECT_EQ(result.winner, 1u);
}

TEST(RaceTest, close_ones_are_told_apart_as_far_as_noise_allows) {
  int right = 0, repetitions = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    base::Rng rng(seed);
    const auto result = run(8, [&](size_t e, int) { return (1 + 0.01 * static_cast<double>(e)) * (1 + 0.01 * rng.normal()); });
    right += result.winner <= 1;
    for (const int n : result.times) repetitions += n;
  }
  EXPECT_GE(right, 97);
  EXPECT_LT(repetitions, 100 * 8 * 28);
}

TEST(RaceTest, finalists_take_turns) {
  Race race(3, {.first = 1, .repetitions = 4});
  EXPECT_THAT(race.round(), ::testing::ElementsAre(0, 1, 2));
  for (size_t e = 0; e < 3; ++e) race.tell(e, 1.0);
  const auto second = race.round();
  for (const size_t e : second) race.tell(e, 1.0);
  const auto third = race.round();
  EXPECT_THAT(second, ::testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_THAT(third, ::testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_NE(second, third);
}

TEST(RaceTest, keeps_its_limits) {
  const auto result = run(40, [](size_t, int) { return 1.0; }, {.first = 2, .finalists = 5, .repetitions = 10});
  int more = 0;
  for (const int n : result.times) {
    EXPECT_LE(n, 10);
    more += n > 2;
  }
  EXPECT_EQ(more, 5);
  EXPECT_EQ(run(1, [](size_t, int) { return 1.0; }).winner, 0u);
}

}  // namespace
}  // namespace hone::search::tune
