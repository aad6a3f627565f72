// What a strategy makes of what earlier runs know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "hone/search/strategy.h"

namespace hone::search::remember_cases {
namespace {

Seed seed_number(int n) {
  const auto kernel = kernel::parse_kernel(fmt::format(R"(/* hone
language = "c++"
tunables = {{ A = [1, 2, 4, 8], B = [1, 2, 3, 4, 5] }}
[[launch]]
kernel = "f{}"
grid = ["1"]
args = ["x"]
*/
)", n), "seed");
  return {kernel.value(), fmt::format("pattern{}", n), "look"};
}

std::vector<Seed> seeds(int count) {
  std::vector<Seed> all;
  for (int n = 0; n < count; ++n) all.push_back(seed_number(n));
  return all;
}

Seed with(Seed seed, int64_t a, int64_t b) {
  seed.kernel.config = {{"A", a}, {"B", b}};
  return seed;
}

Outcome best_at_8_5(const Proposal& p) {
  return {true, std::exp(0.1 * static_cast<double>(p.kernel.config.at("A")) + 0.2 * static_cast<double>(p.kernel.config.at("B")))};
}

std::vector<Proposal> play(Strategy& strategy, size_t most) {
  std::vector<Proposal> all;
  while (all.size() < most) {
    const std::vector<Proposal> next = strategy.next(1);
    if (next.empty()) break;
    strategy.observe(next[0], best_at_8_5(next[0]));
    all.push_back(next[0]);
  }
  return all;
}

/// Which of the seeds each proposal is of.
std::vector<int> sources(const std::vector<Proposal>& all, int count) {
  std::vector<int> numbers;
  for (const Proposal& proposal : all)
    for (int n = 0; n < count; ++n)
      if (seed_number(n).kernel.source == proposal.kernel.source) numbers.push_back(n);
  return numbers;
}

TEST(RememberTest, looks_at_the_first_seed_then_at_what_is_recalled_then_at_the_rest) {
  const auto strategy = make_strategy(StrategyKind::kBeam, seeds(4), {}, 1);
  Memory memory;
  memory.first = {{with(seed_number(2), 4, 2), "good elsewhere"}, {with(seed_number(2), 8, 2), "too"}, {with(seed_number(9), 1, 1), "a text of its own"}};
  strategy->remember(memory);
  const std::vector<Proposal> all = play(*strategy, 6);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_THAT(sources(all, 10), ::testing::ElementsAre(0, 2, 2, 9, 1, 3)) << "a source that was recalled needs no first look";
  EXPECT_EQ(all[1].kernel.config, with(seed_number(2), 4, 2).kernel.config);
  EXPECT_EQ(all[1].reason, "good elsewhere");
}

TEST(RememberTest, proposes_nothing_twice) {
  const auto strategy = make_strategy(StrategyKind::kBeam, seeds(2), {}, 1);
  Memory memory;
  memory.first = {{seed_number(0), "the first itself"}, {seed_number(1), "its default"}};
  strategy->remember(memory);
  std::set<std::string> hashes;
  const std::vector<Proposal> all = play(*strategy, 1000);
  for (const Proposal& proposal : all) EXPECT_TRUE(hashes.insert(proposal.kernel.hash()).second);
  EXPECT_EQ(all.size(), 40u) << "and leaves nothing out";
}

TEST(RememberTest, opens_late_what_stayed_far_behind_but_opens_it) {
  const auto strategy = make_strategy(StrategyKind::kBeam, seeds(4), {}, 1);
  Memory memory;
  for (const auto& [n, share] : {std::pair(1, 0.3), {2, 0.92}, {3, 0.95}})
    memory.known.push_back({seed_number(n).kernel.source, {}, share, with(seed_number(n), 2, n).kernel.config});
  strategy->remember(memory);
  const std::vector<Proposal> all = play(*strategy, 12);
  const std::vector<int> order = sources(all, 4);
  ASSERT_GE(order.size(), 12u);
  EXPECT_EQ(order[0], 0);
  EXPECT_EQ(order[1], 3);
  EXPECT_EQ(order[2], 2);
  const auto late = std::find(order.begin(), order.end(), 1) - order.begin();
  EXPECT_GT(late, 4);
  ASSERT_LT(late, 12);
  for (const auto& [place, n] : {std::pair<ptrdiff_t, int>(1, 3), {2, 2}, {late, 1}})
    EXPECT_EQ(all[static_cast<size_t>(place)].kernel.config, with(seed_number(n), 2, n).kernel.config) << "where it was best elsewhere";
}

TEST(RememberTest, tunes_from_what_was_measured_elsewhere) {
  // Elsewhere everything was measured, in other units.
  Recollection there;
  for (const int64_t a : {1, 2, 4, 8})
    for (const int64_t b : {1, 2, 3, 4, 5}) {
      Proposal p;
      p.kernel = with(seed_number(0), a, b).kernel;
      there.configs.push_back(p.kernel.config);
      there.costs.push_back(100 / best_at_8_5(p).score);
    }
  const auto evaluations = [&](bool warm, uint64_t seed) {
    const auto strategy = make_strategy(StrategyKind::kTune, seeds(1), {}, seed);
    Memory memory;
    if (warm) memory.known.push_back({seed_number(0).kernel.source, {there}, 1, {}});
    strategy->remember(memory);
    const std::vector<Proposal> all = play(*strategy, 20);
    size_t n = 0;
    while (n < all.size() && all[n].kernel.config != with(seed_number(0), 8, 5).kernel.config) ++n;
    return n;
  };
  size_t warm = 0, cold = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    EXPECT_LE(evaluations(true, seed), 2u);
    warm += evaluations(true, seed);
    cold += evaluations(false, seed);
  }
  EXPECT_LT(2 * warm, cold);
}

TEST(RememberTest, says_what_it_expects_once_a_model_was_asked) {
  const auto strategy = make_strategy(StrategyKind::kTune, seeds(1), {}, 1);
  const std::vector<Proposal> all = play(*strategy, 12);
  EXPECT_FALSE(all.front().expected);
  int with_belief = 0;
  for (const Proposal& proposal : all)
    if (proposal.expected) {
      ++with_belief;
      EXPECT_GT(*proposal.expected, 0.1);
      EXPECT_LT(*proposal.expected, 100);
    }
  EXPECT_GE(with_belief, 4);
}

}  // namespace
}  // namespace hone::search::remember_cases
