#include "hone/search/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace hone::search::strategy_cases {
namespace {

constexpr StrategyKind kAll[] = {StrategyKind::kBeam, StrategyKind::kGreedy, StrategyKind::kTune};

Seed seed_number(int n) {
  const auto kernel = kernel::parse_kernel(fmt::format(R"(/* hone
language = "c++"
tunables = {{ A = [1, 2, 4, 8], B = [1, 2, 3] }}
constraints = ["A * B <= LIMIT"]
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

std::unique_ptr<Strategy> make(StrategyKind kind, int sources, uint64_t seed = 1, int64_t limit = 100) {
  return make_strategy(kind, seeds(sources), {{"LIMIT", limit}}, seed);
}

using Judge = std::function<Outcome(const Proposal&)>;

Outcome best_at_8_3(const Proposal& p) {
  return {true, std::exp(0.1 * static_cast<double>(p.kernel.config.at("A")) + 0.2 * static_cast<double>(p.kernel.config.at("B")))};
}

Outcome as_good_as_any(const Proposal&) { return {true, 1}; }

/// All it proposes, answered by `judge`, until it has nothing left or `most` are reached.
std::vector<Proposal> play(Strategy& strategy, const Judge& judge, size_t most = 1000, int batch = 2) {
  std::vector<Proposal> all;
  while (all.size() < most) {
    const std::vector<Proposal> next = strategy.next(batch);
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

TEST(Strategy, where_nothing_is_timed_every_source_is_looked_at_once) {
  for (const StrategyKind kind : {StrategyKind::kBeam, StrategyKind::kGreedy, StrategyKind::kTune, StrategyKind::kEvolution}) {
    const auto strategy = make_strategy(kind, seeds(4), {{"LIMIT", 100}}, 1, {.timed = false});
    // One that earlier runs left behind is looked at too, though last.
    Memory memory;
    memory.known.push_back({seed_number(2).kernel.source, {}, 0.1, {}});
    strategy->remember(memory);
    std::set<std::string> sources;
    const auto all = play(*strategy, as_good_as_any);
    for (const Proposal& proposal : all) EXPECT_TRUE(sources.insert(proposal.kernel.source).second) << name_of(kind) << ": a setting of what was accepted";
    EXPECT_EQ(all.size(), kind == StrategyKind::kTune ? 1U : 4U) << name_of(kind);
    EXPECT_EQ(strategy->owed(), 0);
    EXPECT_EQ(strategy->wants_diagnosis(), "");
    // What a model writes meanwhile is looked at as well.
    EXPECT_TRUE(strategy->add(seed_number(9)));
    EXPECT_EQ(play(*strategy, as_good_as_any).size(), 1U) << name_of(kind);
  }
}

TEST(StrategyTest, is_a_function_of_its_seed_and_of_what_it_is_told) {
  for (const StrategyKind kind : kAll) {
    SCOPED_TRACE(name_of(kind));
    EXPECT_EQ(hashes(play(*make(kind, 3, 5), best_at_8_3)), hashes(play(*make(kind, 3, 5), best_at_8_3)));
    bool differs = false;
    for (uint64_t seed = 6; seed < 12; ++seed)
      differs |= hashes(play(*make(kind, 3, 5), best_at_8_3)) != hashes(play(*make(kind, 3, seed), best_at_8_3));
    EXPECT_TRUE(differs) << "the seed does nothing";
  }
}

TEST(StrategyTest, replays_whatever_is_asked_between) {
  // Looking at what was skipped must not change what comes.
  auto one = make(StrategyKind::kBeam, 3), other = make(StrategyKind::kBeam, 3);
  std::vector<std::string> a, b;
  for (int i = 0; i < 8; ++i) {
    for (const Proposal& p : one->next(2)) a.push_back(p.kernel.hash()), one->observe(p, best_at_8_3(p));
    for (const Proposal& p : other->next(2)) b.push_back(p.kernel.hash()), other->observe(p, best_at_8_3(p));
    (void)one->take_skipped();
  }
  EXPECT_EQ(a, b);
}

TEST(StrategyTest, proposes_nothing_twice_and_nothing_excluded) {
  for (const StrategyKind kind : kAll)
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const auto all = play(*make(kind, 3, seed, 10), best_at_8_3);
      const auto names = hashes(all);
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
      for (const Proposal& proposal : all)
        EXPECT_LE(proposal.kernel.config.at("A") * proposal.kernel.config.at("B"), 10);
    }
}

TEST(StrategyTest, looks_at_every_source_before_it_refines_any) {
  for (const StrategyKind kind : {StrategyKind::kBeam, StrategyKind::kGreedy}) {
    auto strategy = make(kind, 5);
    const auto all = play(*strategy, best_at_8_3, 8);
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(all[i].kernel.source, seed_number(static_cast<int>(i)).kernel.source);
      EXPECT_EQ(all[i].kernel.config, seed_number(0).kernel.config);
    }
    EXPECT_NE(all[5].kernel.parent, "");
  }
}

TEST(StrategyTest, a_child_names_its_parent_and_what_was_changed) {
  auto strategy = make(StrategyKind::kGreedy, 1);
  std::map<std::string, Proposal> known;
  for (const Proposal& p : play(*strategy, best_at_8_3)) {
    if (!known.empty()) {
      ASSERT_TRUE(known.contains(p.kernel.parent));
      EXPECT_THAT(p.action, ::testing::AnyOf(::testing::HasSubstr(" -> "), "a random step"));
      EXPECT_NE(p.kernel.config, known.at(p.kernel.parent).kernel.config);
    }
    known.emplace(p.kernel.hash(), p);
  }
}

TEST(StrategyTest, greedy_extends_the_best_only) {
  auto strategy = make(StrategyKind::kGreedy, 2);
  std::string best;
  double best_score = 0;
  std::string parent_of_next;
  for (int i = 0; i < 12; ++i) {
    const auto next = strategy->next(1);
    if (next.empty()) break;
    const Proposal& p = next.front();
    if (i >= 2) {
      EXPECT_EQ(p.kernel.parent, best);
    }
    const Outcome outcome = best_at_8_3(p);
    strategy->observe(p, outcome);
    if (outcome.score > best_score) best_score = outcome.score, best = p.kernel.hash();
  }
}

TEST(StrategyTest, the_beam_extends_sources_of_different_make) {
  auto strategy = make(StrategyKind::kBeam, 3);
  std::set<std::string> sources;
  size_t n = 0;
  for (const Proposal& p : play(*strategy, best_at_8_3, 20))
    if (n++ >= 3) sources.insert(p.kernel.source);
  EXPECT_GE(sources.size(), 2u);
}

TEST(StrategyTest, tuning_stays_with_the_first_source) {
  for (const Proposal& p : play(*make(StrategyKind::kTune, 3), best_at_8_3))
    EXPECT_EQ(p.kernel.source, seed_number(0).kernel.source);
}

TEST(StrategyTest, extends_only_what_was_accepted) {
  // Only the second source works: what comes after the first looks is of it.
  const std::string works = seed_number(1).kernel.source;
  const auto all = play(*make(StrategyKind::kBeam, 3), [&](const Proposal& p) -> Outcome {
    return p.kernel.source == works ? best_at_8_3(p) : Outcome{};
  });
  ASSERT_GT(all.size(), 3u);
  for (size_t i = 3; i < all.size(); ++i) EXPECT_EQ(all[i].kernel.source, works);
}

TEST(StrategyTest, gives_up_when_nothing_is_accepted) {
  for (const StrategyKind kind : kAll)
    EXPECT_EQ(play(*make(kind, 2), [](const Proposal&) { return Outcome{}; }).size(), kind == StrategyKind::kTune ? 1u : 2u);
}

TEST(StrategyTest, tries_the_hopeless_last_and_counts_everything_once) {
  auto strategy = make(StrategyKind::kGreedy, 1);
  Skipped skipped;
  std::vector<int64_t> order;
  for (;;) {
    const auto next = strategy->next(1);
    const Skipped now = strategy->take_skipped();
    skipped.constraint += now.constraint;
    skipped.duplicate += now.duplicate;
    skipped.predicted_slower += now.predicted_slower;
    EXPECT_LE(order.size() + next.size() + static_cast<size_t>(skipped.total()), 12u);
    if (next.empty()) break;
    if (order.size() == 3) {
      EXPECT_GT(skipped.predicted_slower, 0);
    }
    // A = 8 is far ahead.
    const int64_t a = next.front().kernel.config.at("A");
    strategy->observe(next.front(), {true, a == 8 ? 10.0 : 1.0});
    order.push_back(a);
  }
  // Everything was taken up in the end; the good half of the list holds what is good.
  EXPECT_EQ(order.size(), 12u);
  EXPECT_EQ(skipped.total(), 0);
  EXPECT_EQ(std::count(order.begin(), order.begin() + 8, 8), 3);
}

TEST(StrategyTest, counts_what_constraints_exclude_once) {
  auto strategy = make(StrategyKind::kGreedy, 1, 1, 3);
  Skipped skipped;
  for (auto next = strategy->next(2); !next.empty(); next = strategy->next(2)) {
    for (const Proposal& p : next) strategy->observe(p, best_at_8_3(p));
    skipped.constraint += strategy->take_skipped().constraint;
  }
  EXPECT_GT(skipped.constraint, 0);
  EXPECT_LE(skipped.constraint, 8);  // of 12, those with A * B > 3
}

TEST(StrategyTest, what_is_wanted_at_once_waits_for_nothing) {
  for (const StrategyKind kind : {StrategyKind::kBeam, StrategyKind::kGreedy, StrategyKind::kEvolution})
    for (const bool bandit : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(kind), bandit));
      auto strategy = make_strategy(kind, seeds(4), {{"LIMIT", 100}}, 1, {bandit});
      Memory memory;
      for (const int n : {0, 1, 3, 5}) {  // the last two are found among what memory recalls, one of them only there
        memory.first.push_back({seed_number(n), "did well"});
        memory.first.back().seed.kernel.config["A"] = 8;
      }
      strategy->remember(memory);
      for (const Proposal& p : strategy->next(1)) strategy->observe(p, {});
      EXPECT_FALSE(strategy->add(seed_number(0), true)) << "given already";
      for (const int n : {3, 5, 7}) {  // one that waits, one that is recalled, one that is new
        EXPECT_TRUE(strategy->add(seed_number(n), true));
        const auto next = strategy->next(1);
        ASSERT_EQ(next.size(), 1u);
        EXPECT_EQ(next[0].kernel.source, seed_number(n).kernel.source);
        EXPECT_EQ(next[0].kernel.config, seed_number(n).kernel.config);
        strategy->observe(next[0], {});
      }
    }
}

TEST(StrategyTest, takes_a_source_given_twice_for_one) {
  std::vector<Seed> twice = seeds(2);
  twice.push_back(seed_number(0));
  auto strategy = make_strategy(StrategyKind::kBeam, twice, {{"LIMIT", 100}}, 1);
  EXPECT_EQ(strategy->next(5).size(), 2u);
  EXPECT_EQ(strategy->take_skipped().duplicate, 1);
}

diagnose::Action set(const char* tunable, int64_t to, double gain, const char* cause = "balance") {
  diagnose::Action action;
  action.kind = diagnose::Action::Kind::kTunable;
  action.name = tunable;
  action.to = to;
  action.gain = gain;
  action.cause = cause;
  return action;
}

TEST(StrategyTest, what_a_diagnosis_asks_for_goes_before_the_tuner) {
  auto strategy = make(StrategyKind::kGreedy, 2);
  EXPECT_EQ(strategy->wants_diagnosis(), "") << "before every source was looked at";
  const auto first = strategy->next(2);
  ASSERT_EQ(first.size(), 2u);
  strategy->observe(first[0], {true, 1});
  strategy->observe(first[1], {true, 2});
  const std::string parent = first[1].kernel.hash();
  EXPECT_EQ(strategy->wants_diagnosis(), parent);
  diagnose::Action rewrite = set("", 0, 9);
  rewrite.kind = diagnose::Action::Kind::kRewrite;
  // What nobody can do, what is nothing new, what hardly promises anything, what constraints exclude.
  strategy->advise(parent, {rewrite, set("A", 8, 1.4), set("B", 1, 1.3), set("B", 3, 1.001)});
  EXPECT_EQ(strategy->wants_diagnosis(), "");
  const auto next = strategy->next(1);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].kernel.config.at("A"), 8);
  EXPECT_EQ(next[0].kernel.parent, parent);
  EXPECT_DOUBLE_EQ(next[0].predicted, 1.4);
  EXPECT_EQ(next[0].cause, "balance");
  strategy->observe(next[0], {true, 1.5});
  std::set<std::string> seen = {first[0].kernel.hash(), parent, next[0].kernel.hash()};
  for (const Proposal& p : play(*strategy, [](const Proposal&) { return Outcome{true, 1}; })) {
    EXPECT_EQ(p.predicted, 0) << p.action;
    EXPECT_TRUE(seen.insert(p.kernel.hash()).second) << "proposed twice";
  }
  EXPECT_EQ(seen.size(), 2u + 11);   // greed stays with the better source
}

TEST(StrategyTest, what_is_expected_of_changes_is_tried_and_held_against_what_comes) {
  auto strategy = make(StrategyKind::kTune, 1);
  const auto first = strategy->next(1);
  strategy->observe(first[0], {true, 1});
  const std::string parent = first[0].kernel.hash();
  EXPECT_FALSE(strategy->expect("nobody", {{"A", 8, 0.5}}));
  EXPECT_FALSE(strategy->expect(parent, {}));
  EXPECT_TRUE(strategy->expect(parent, {{"A", 2, -0.4}, {"A", 4, -0.3}, {"A", 8, 0.5}, {"B", 2, -0.3}, {"B", 3, -0.4}}));
  strategy->advise(parent, {});
  EXPECT_EQ(strategy->wants_diagnosis(), "");
  const auto next = strategy->next(1);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].kernel.config, (kernel::Config{{"A", 8}, {"B", 1}}));
  EXPECT_NEAR(next[0].predicted, std::exp(0.5), 1e-9);
  EXPECT_EQ(next[0].cause, kLearnt);
  auto evolution = make_strategy(StrategyKind::kEvolution, seeds(1), {{"LIMIT", 100}}, 1);
  const auto bred = evolution->next(1);
  evolution->observe(bred[0], {true, 1});
  EXPECT_FALSE(evolution->expect(bred[0].kernel.hash(), {{"A", 8, 0.5}})) << "it wants actions";
}

TEST(StrategyTest, a_cause_that_keeps_promising_too_much_is_no_longer_listened_to) {
  auto strategy = make(StrategyKind::kTune, 1);
  int asked = 0;
  double score = 1;
  // Each try is a little better, so that it is diagnosed next, and far from what was promised.
  for (int i = 0; i < 11; ++i) {
    if (const std::string hash = strategy->wants_diagnosis(); !hash.empty())
      strategy->advise(hash, {set("A", 8, 3), set("A", 4, 3), set("B", 3, 3), set("B", 2, 3)});
    const auto next = strategy->next(1);
    ASSERT_EQ(next.size(), 1u);
    asked += next[0].predicted > 0;
    strategy->observe(next[0], {true, score += 0.001});
  }
  EXPECT_EQ(asked, 3);
}

TEST(StrategyTest, names_go_both_ways) {
  for (const StrategyKind kind : kAll) EXPECT_EQ(strategy_from(name_of(kind)), kind);
  EXPECT_FALSE(strategy_from("luck"));
}

}  // namespace
}  // namespace hone::search::strategy_cases
