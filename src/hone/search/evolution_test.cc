#include "hone/search/evolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

namespace hone::search {
namespace {

Seed seed_number(int n, const char* tunables = "A = [1, 2, 4, 8, 16], B = [1, 2, 3, 4]") {
  const auto kernel = kernel::parse_kernel(fmt::format(R"(/* hone
language = "c++"
tunables = {{ {} }}
constraints = ["A <= LIMIT"]
[[launch]]
kernel = "f{}"
grid = ["1"]
args = ["x"]
*/
)", tunables, n), "seed");
  return {kernel.value(), fmt::format("pattern{}", n), "look"};
}

std::unique_ptr<Strategy> make(int sources, uint64_t seed = 1, const EvolutionOptions& options = {}, int64_t limit = 100) {
  std::vector<Seed> seeds;
  for (int n = 0; n < sources; ++n) seeds.push_back(seed_number(n));
  return make_evolution(std::move(seeds), {{"LIMIT", limit}}, seed, options);
}

using Judge = std::function<Outcome(const Proposal&)>;

Outcome high_is_good(const Proposal& p) {
  Outcome outcome{true, std::exp(0.1 * static_cast<double>(p.kernel.config.at("A")) + 0.2 * static_cast<double>(p.kernel.config.at("B")))};
  outcome.seconds = 1;
  outcome.behaviour.make = p.kernel.source.substr(0, 90);
  return outcome;
}

std::vector<Proposal> play(Strategy& strategy, const Judge& judge, size_t most = 1000, int batch = 2) {
  std::vector<Proposal> all;
  while (all.size() < most) {
    const auto next = strategy.next(batch);
    EXPECT_LE(next.size(), static_cast<size_t>(batch));
    if (next.empty()) break;
    for (const Proposal& proposal : next) {
      strategy.observe(proposal, judge(proposal));
      all.push_back(proposal);
    }
  }
  return all;
}

std::vector<std::string> hashes(const std::vector<Proposal>& all) {
  std::vector<std::string> names;
  for (const Proposal& proposal : all) names.push_back(proposal.kernel.hash());
  return names;
}

TEST(EvolutionTest, is_a_function_of_its_seed_and_of_what_it_is_told) {
  EXPECT_EQ(hashes(play(*make(3, 5), high_is_good, 40)), hashes(play(*make(3, 5), high_is_good, 40)));
  EXPECT_NE(hashes(play(*make(3, 5), high_is_good, 40)), hashes(play(*make(3, 6), high_is_good, 40)));
}

TEST(EvolutionTest, looks_at_every_source_first_and_at_everything_in_the_end_but_at_nothing_twice) {
  for (const bool bandit : {false, true})
    for (const bool tuner : {false, true}) {
      EvolutionOptions options;
      options.bandit = bandit, options.tuner = tuner;
      const auto all = play(*make(3, 2, options, 8), high_is_good);
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(all[i].kernel.source, seed_number(static_cast<int>(i)).kernel.source);
      EXPECT_EQ(all.size(), 3u * 16);
      const auto names = hashes(all);
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
      for (const Proposal& p : all) EXPECT_LE(p.kernel.config.at("A"), 8);
    }
}

TEST(EvolutionTest, children_name_a_parent_that_worked) {
  std::set<std::string> accepted;
  int children = 0, bred = 0;
  auto strategy = make(4);
  play(*strategy, [&](const Proposal& p) {
    if (!p.kernel.parent.empty()) {
      ++children;
      EXPECT_TRUE(accepted.contains(p.kernel.parent));
      EXPECT_TRUE(p.reason.find("on island") != std::string::npos || p.reason == "what is left") << p.reason;
      bred += p.reason != "what is left";
    }
    Outcome outcome = high_is_good(p);
    outcome.accepted = p.kernel.config.at("A") != 4;
    if (outcome.accepted) accepted.insert(p.kernel.hash());
    else outcome.score = 0;
    return outcome;
  }, 40);
  EXPECT_GT(children, 20);
  EXPECT_GT(bred, 20);
}

TEST(EvolutionTest, a_poor_kernel_of_its_own_kind_keeps_its_place) {
  // Source 1 is a tenth as fast: with a place for each behaviour it goes on to have children.
  const auto children_of_second = [](bool behaviours) {
    EvolutionOptions options;
    options.islands = 1, options.behaviours = behaviours, options.tuner = false;
    int count = 0;
    auto strategy = make(2, 3, options);
    play(*strategy, [&](const Proposal& p) {
      Outcome outcome = high_is_good(p);
      const bool second = p.kernel.source == seed_number(1).kernel.source;
      outcome.behaviour = {};
      outcome.behaviour.launches = second ? 2 : 1;
      if (second) outcome.score *= 0.1, count += !p.kernel.parent.empty();
      return outcome;
    }, 18);
    return count;
  };
  EXPECT_GT(children_of_second(true), 0);
  EXPECT_EQ(children_of_second(false), 0);
}

TEST(EvolutionTest, the_best_moves_on_to_other_islands) {
  // First looks are dealt out: source 0 to island 1, source 1 to island 2. Only migration brings source 1 children to island 1.
  const auto of_second_on_first = [](int migration) {
    EvolutionOptions options;
    options.islands = 2, options.migration = migration, options.tuner = false, options.bandit = false;
    int count = 0;
    auto strategy = make(2, 4, options);
    play(*strategy, [&](const Proposal& p) {
      Outcome outcome = high_is_good(p);
      const bool second = p.kernel.source == seed_number(1).kernel.source;
      if (second) outcome.score *= 10;
      if (second && p.reason.ends_with("island 1")) ++count;
      outcome.behaviour = {};
      outcome.behaviour.launches = second ? 2 : 1;
      return outcome;
    }, 30);
    return count;
  };
  EXPECT_EQ(of_second_on_first(0), 0);
  EXPECT_GT(of_second_on_first(2), 0);
}

TEST(EvolutionTest, what_became_another_ones_code_is_no_parent) {
  auto strategy = make(1, 1);
  std::string first;
  std::set<std::string> twins;
  play(*strategy, [&](const Proposal& p) {
    EXPECT_FALSE(twins.contains(p.kernel.parent));
    if (first.empty()) {
      first = p.kernel.hash();
      return high_is_good(p);
    }
    if (p.kernel.config.at("B") == 2) {
      twins.insert(p.kernel.hash());
      Outcome outcome;
      outcome.twin = first;
      return outcome;
    }
    return high_is_good(p);
  });
  EXPECT_EQ(twins.size(), 5u);
}

TEST(EvolutionTest, takes_in_sources_on_the_way_and_what_memory_recalls) {
  auto strategy = make(1);
  Memory memory;
  Seed known = seed_number(0);
  known.kernel.config["A"] = 8;
  memory.first.push_back({known, "did well"});
  strategy->remember(memory);
  const auto begun = play(*strategy, high_is_good, 4, 1);
  EXPECT_EQ(begun[1].kernel.config.at("A"), 8);
  EXPECT_TRUE(strategy->add(seed_number(7)));
  EXPECT_FALSE(strategy->add(seed_number(7)));
  EXPECT_EQ(strategy->next(1).at(0).kernel.source, seed_number(7).kernel.source);
}

}  // namespace
}  // namespace hone::search
