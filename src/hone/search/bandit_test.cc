#include "hone/search/bandit.h"

#include <gtest/gtest.h>

#include <array>

namespace hone::search {
namespace {

constexpr bool kAll[] = {true, true, true};

TEST(BanditTest, asks_everybody_once_in_order_and_nobody_who_is_not_able) {
  Bandit bandit(3);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(bandit.choose(kAll), i);
    bandit.asked(i);
  }
  const bool last[] = {false, false, true}, none[] = {false, false, false};
  EXPECT_EQ(bandit.choose(last), 2u);
  EXPECT_FALSE(bandit.choose(none).has_value());
}

/// How often each of three is chosen of `rounds`, whose answers improve the best by `factor` and take `seconds`.
std::array<int, 3> chosen(std::array<double, 3> factor, std::array<double, 3> seconds, int rounds = 60) {
  Bandit bandit(3);
  std::array<int, 3> times{};
  for (int i = 0; i < rounds; ++i) {
    const size_t arm = bandit.choose(kAll).value();
    bandit.asked(arm);
    bandit.told(arm, factor[arm], seconds[arm]);
    ++times[arm];
  }
  return times;
}

TEST(BanditTest, prefers_who_gains_most_a_second_and_forgets_nobody) {
  const auto by_gain = chosen({1.0, 1.2, 1.02}, {1, 1, 1});
  EXPECT_GT(by_gain[1], 30);
  EXPECT_GT(by_gain[0], 1);
  // The same gain for a tenth of the time.
  const auto by_time = chosen({1.1, 1.1, 1.1}, {10, 1, 10});
  EXPECT_GT(by_time[1], by_time[0]);
  EXPECT_GT(by_time[1], by_time[2]);
}

TEST(BanditTest, follows_where_gains_move_to) {
  Bandit bandit(2);
  const bool both[] = {true, true};
  std::array<int, 2> late{};
  for (int i = 0; i < 200; ++i) {
    const size_t arm = bandit.choose(both).value();
    bandit.asked(arm);
    const bool good = (i < 50) == (arm == 0);
    bandit.told(arm, good ? 1.1 : 1, 1);
    if (i >= 120) ++late[arm];
  }
  EXPECT_GT(late[1], late[0]);
}

TEST(BanditTest, spreads_a_batch_before_anything_is_told) {
  Bandit bandit(3);
  std::array<int, 3> times{};
  for (int i = 0; i < 9; ++i) {
    const size_t arm = bandit.choose(kAll).value();
    bandit.asked(arm);
    ++times[arm];
  }
  for (const int n : times) EXPECT_EQ(n, 3);
}

}  // namespace
}  // namespace hone::search
