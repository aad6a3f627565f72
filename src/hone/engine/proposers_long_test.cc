// What evolution's parts, the bandit over proposers and dropping code that was measured are worth: evaluations to within 95 % of the
// best kernel there is, on made-up tasks (docs/search.md has the table).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "hone/engine/testing/fake_run.h"
#include "hone/search/evolution.h"

namespace hone::engine {
namespace {

using testing::Truth;

constexpr uint64_t kSeeds = 50;
constexpr int kBudget = 150;
constexpr int kSources = 8;

struct World {
  Truth truth;
  std::vector<search::Seed> seeds;
  double best_ns = 0;
  bool twins = false;   ///< tunable C does nothing in sources of odd number: the same machine code
  std::map<std::string, int> number;

  World(uint64_t seed, bool with_twins) : truth{seed, 0.1, 0.2, 0}, twins(with_twins) {
    for (int n = 0; n < kSources; ++n) {
      seeds.push_back(testing::fake_seed(n));
      number[seeds.back().kernel.source] = n;
    }
    for (const search::Seed& s : seeds) {
      kernel::Kernel kernel = s.kernel;
      for (const int64_t a : kernel.header.tunables[0].values)
        for (const int64_t b : kernel.header.tunables[1].values)
          for (const int64_t c : kernel.header.tunables[2].values) {
            kernel.config = {{"A", a}, {"B", b}, {"C", c}};
            if (a * b > 16 || !truth.right(code(kernel))) continue;
            const double ns = truth.time_ns(code(kernel));
            best_ns = best_ns == 0 ? ns : std::min(best_ns, ns);
          }
    }
  }
  /// The kernel that it becomes.
  [[nodiscard]] kernel::Kernel code(kernel::Kernel kernel) const {
    if (twins && number.at(kernel.source) % 2 == 1) kernel.config["C"] = 0;
    return kernel;
  }
};

/// Evaluations until one within 95 % of the best; the budget and one more where there was none. `drop`: twins are no evaluations.
int until(const World& world, search::Strategy& strategy, bool drop) {
  std::map<std::string, std::string> known;
  double first_ns = 0;
  for (int n = 0; n < kBudget;) {
    const auto next = strategy.next(2);
    if (next.empty()) break;
    bool found = false;
    for (const search::Proposal& p : next) {
      const kernel::Kernel kernel = world.code(p.kernel);
      const auto [at, fresh] = known.emplace(kernel.hash(), p.kernel.hash());
      search::Outcome outcome;
      outcome.seconds = 1;
      if (drop && !fresh) {
        outcome.twin = at->second;
        strategy.observe(p, outcome);
        continue;
      }
      ++n;
      outcome.accepted = world.truth.right(kernel);
      if (outcome.accepted) {
        const double ns = world.truth.time_ns(kernel);
        if (first_ns == 0) first_ns = ns;
        outcome.score = first_ns / ns;
        outcome.behaviour.make = p.kernel.header.note;
        outcome.behaviour.launches = 1 + world.number.at(p.kernel.source) % 2;
        outcome.behaviour.balance = ns < 1.5 * world.best_ns ? 1 : 0;
        found |= 0.95 * ns <= world.best_ns;
      }
      strategy.observe(p, outcome);
    }
    if (found) return n;
  }
  return kBudget + 1;
}

struct Figures {
  double mean = 0, median = 0;
  int never = 0;
};

using Make = std::function<std::unique_ptr<search::Strategy>(const World&, uint64_t seed)>;

Figures figures(const char* name, const Make& make, bool twins = false, bool drop = false) {
  std::vector<int> all;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const World world(seed, twins);
    all.push_back(until(world, *make(world, seed), drop));
  }
  std::sort(all.begin(), all.end());
  Figures f;
  for (const int n : all) f.mean += static_cast<double>(n) / kSeeds, f.never += n > kBudget;
  f.median = 0.5 * (all[kSeeds / 2 - 1] + all[kSeeds / 2]);
  fmt::print("| {} | {:.1f} | {:.1f} | {} |\n", name, f.mean, f.median, f.never);
  return f;
}

Make pool(search::StrategyKind kind, bool bandit = false) {
  return [=](const World& world, uint64_t seed) {
    search::StrategyOptions options;
    options.bandit = bandit;
    return search::make_strategy(kind, world.seeds, {}, seed, options);
  };
}

Make evolution(const std::function<void(search::EvolutionOptions&)>& change = [](auto&) {}) {
  search::EvolutionOptions options;
  change(options);
  return [=](const World& world, uint64_t seed) { return search::make_evolution(world.seeds, {}, seed, options); };
}

TEST(ProposersTest, parts_and_what_they_are_worth) {
  using search::StrategyKind;
  const Figures beam = figures("beam", pool(StrategyKind::kBeam));
  figures("beam, a bandit over proposers", pool(StrategyKind::kBeam, true));
  figures("greedy", pool(StrategyKind::kGreedy));
  const Figures whole = figures("evolution", evolution());
  figures("evolution, one island", evolution([](auto& o) { o.islands = 1; }));
  figures("evolution, no migration", evolution([](auto& o) { o.migration = 0; }));
  figures("evolution, no places for behaviours", evolution([](auto& o) { o.behaviours = false; }));
  figures("evolution, ways in turn, no bandit", evolution([](auto& o) { o.bandit = false; }));
  const Figures blind = figures("evolution, no tuner among its ways", evolution([](auto& o) { o.tuner = false; }));
  // Each must be a search: a draw among all kernels without repetition needs far more on average.
  EXPECT_LT(beam.mean, 0.7 * kBudget);
  EXPECT_LT(whole.mean, 0.7 * kBudget);
  EXPECT_LT(whole.mean, 1.2 * blind.mean);
}

TEST(ProposersTest, code_that_is_measured_once) {
  using search::StrategyKind;
  const Figures all = figures("beam, half of the sources have twins, all measured", pool(StrategyKind::kBeam), true, false);
  const Figures once = figures("beam, twins dropped", pool(StrategyKind::kBeam), true, true);
  EXPECT_LT(once.mean, all.mean);
  const Figures bred = figures("evolution, half of the sources have twins, all measured", evolution(), true, false);
  const Figures bred_once = figures("evolution, twins dropped", evolution(), true, true);
  EXPECT_LT(bred_once.mean, bred.mean);
}

}  // namespace
}  // namespace hone::engine
