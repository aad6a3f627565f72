#include "hone/search/strategy.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/search/tune/additive_model.h"

namespace hone::search {
namespace {

using kernel::Config;
using kernel::Kernel;

/// Parents extended side by side by the beam.
constexpr size_t kBeamWidth = 3;
/// Share of proposals drawn at random from the whole space, so that the model sees more than slopes.
constexpr double kExplore = 0.2;
constexpr int kPoolLimit = 64;
/// A prediction this far (in log score) behind the best is not worth a build.
constexpr double kHopeless = 0.35;

struct Tried {
  int source = 0;
  Config config;
  Outcome outcome;
};

class PoolSearch final : public Strategy {
 public:
  PoolSearch(StrategyKind kind, std::vector<Seed> seeds, kernel::Limits limits, uint64_t seed)
      : kind_(kind), seeds_(std::move(seeds)), limits_(std::move(limits)), rng_(seed, 0x7365) {
    if (kind_ == StrategyKind::kTune && seeds_.size() > 1) seeds_.resize(1);
    // The same text twice (a start kernel that is a pattern's) is one source.
    std::set<std::string> texts;
    skipped_.duplicate = static_cast<int>(
        std::erase_if(seeds_, [&](const Seed& s) { return !texts.insert(s.kernel.source).second; }));
  }

  std::vector<Proposal> next(int most) override {
    std::vector<Proposal> batch;
    // Every source once, in order of promise, before any is refined.
    while (opened_ < seeds_.size() && static_cast<int>(batch.size()) < most) {
      const int source = static_cast<int>(opened_++);
      const Seed& seed = seeds_[static_cast<size_t>(source)];
      add(batch, source, seed.kernel.config, seed.action.empty() ? "start" : fmt::format("{}: {}", seed.pattern, seed.action),
          "first look at this source", seed.kernel.parent);
    }
    if (!batch.empty() || opened_ < seeds_.size()) return batch;
    while (static_cast<int>(batch.size()) < most && extend(batch)) {}
    return batch;
  }

  void observe(const Proposal& proposal, const Outcome& outcome) override {
    const auto known = std::find_if(given_.begin(), given_.end(), [&](const auto& g) { return g.first == proposal.kernel.hash(); });
    HONE_CHECK(known != given_.end(), "an answer to what was never proposed");
    tried_.push_back({known->second, proposal.kernel.config, outcome});
    if (outcome.accepted) model_.add(known->second, proposal.kernel.config, std::log(outcome.score));
  }

  bool add(Seed seed) override {
    const bool known = std::any_of(seeds_.begin(), seeds_.end(), [&](const Seed& s) { return s.kernel.source == seed.kernel.source; });
    if (!known) seeds_.push_back(std::move(seed));
    return !known;
  }

  Skipped take_skipped() override { return std::exchange(skipped_, {}); }

 private:
  void add(std::vector<Proposal>& batch, int source, const Config& config, std::string action, std::string reason,
           const std::string& parent) {
    Proposal proposal;
    proposal.kernel = seeds_[static_cast<size_t>(source)].kernel;
    proposal.kernel.config = config;
    proposal.kernel.parent = parent;
    proposal.action = std::move(action);
    proposal.reason = std::move(reason);
    const std::string hash = proposal.kernel.hash();
    seen_.insert({source, config});
    if (set_aside_.erase({source, config}) > 0) --skipped_.predicted_slower;
    given_.emplace_back(hash, source);
    batch.push_back(std::move(proposal));
  }

  /// Accepted kernels, best first, of different sources first for the beam.
  std::vector<const Tried*> parents() const {
    std::vector<const Tried*> all;
    for (const Tried& t : tried_)
      if (t.outcome.accepted) all.push_back(&t);
    std::stable_sort(all.begin(), all.end(), [](const Tried* a, const Tried* b) { return a->outcome.score > b->outcome.score; });
    if (kind_ != StrategyKind::kBeam) {
      if (all.size() > 1) all.erase(all.begin() + 1, all.end());
      return all;
    }
    std::vector<const Tried*> beam;
    std::set<int> sources;
    for (const Tried* t : all)
      if (beam.size() < kBeamWidth && sources.insert(t->source).second) beam.push_back(t);
    for (const Tried* t : all)
      if (beam.size() < kBeamWidth && std::find(beam.begin(), beam.end(), t) == beam.end()) beam.push_back(t);
    return beam;
  }

  struct Idea {
    int source;
    Config config;
    std::string action, parent;
    double predicted;
  };

  [[nodiscard]] bool consider(std::vector<Idea>& pool, int source, Config config, std::string action, const std::string& parent) {
    const auto& header = seeds_[static_cast<size_t>(source)].kernel.header;
    const auto fine = kernel::allowed(header, config, limits_);
    if (!fine || !*fine) {
      if (excluded_.insert({source, config}).second) ++skipped_.constraint;
      return false;
    }
    if (seen_.contains({source, config})) return false;
    for (const Idea& idea : pool)
      if (idea.source == source && idea.config == config) return false;
    const double predicted = model_.predict(source, config);
    pool.push_back({source, std::move(config), std::move(action), parent, predicted});
    return true;
  }

  std::string hash_of(const Tried& tried) const {
    Kernel kernel = seeds_[static_cast<size_t>(tried.source)].kernel;
    kernel.config = tried.config;
    return kernel.hash();
  }

  /// One more proposal; false when there is nothing left.
  bool extend(std::vector<Proposal>& batch) {
    const auto from = parents();
    if (from.empty()) return false;
    std::vector<Idea> pool;
    for (const Tried* parent : from) {
      const auto& header = seeds_[static_cast<size_t>(parent->source)].kernel.header;
      const std::string hash = hash_of(*parent);
      for (const auto& tunable : header.tunables)
        for (const int64_t value : tunable.values) {
          Config config = parent->config;
          const int64_t before = std::exchange(config[tunable.name], value);
          if (before != value)
            (void)consider(pool, parent->source, std::move(config), fmt::format("{} {} -> {}", tunable.name, before, value), hash);
        }
    }
    const double top = std::log(from.front()->outcome.score);
    const bool hopeless = std::none_of(pool.begin(), pool.end(), [&](const Idea& idea) { return idea.predicted > top - kHopeless; });
    const bool explore = hopeless || rng_.uniform() < kExplore;
    if (explore) {
      std::vector<Idea> random;
      for (int attempt = 0; attempt < 8 * kPoolLimit && random.size() < 4; ++attempt) {
        const Tried* parent = from[rng_.below(from.size())];
        Config config = parent->config;
        for (const auto& tunable : seeds_[static_cast<size_t>(parent->source)].kernel.header.tunables)
          if (rng_.below(2)) config[tunable.name] = tunable.values[rng_.below(tunable.values.size())];
        if (config != parent->config) (void)consider(random, parent->source, std::move(config), "a random step", hash_of(*parent));
      }
      if (!random.empty()) pool = std::move(random);
    }
    if (pool.empty()) return false;
    std::stable_sort(pool.begin(), pool.end(), [](const Idea& a, const Idea& b) { return a.predicted > b.predicted; });
    const Idea& best = pool.front();
    // What the model ranks far behind stays unbuilt; it is counted once.
    for (size_t i = 1; i < pool.size(); ++i)
      if (set_aside_.insert({pool[i].source, pool[i].config}).second) ++skipped_.predicted_slower;
    add(batch, best.source, best.config, best.action, fmt::format("predicted {:.2f} of the best", std::exp(best.predicted - top)), best.parent);
    return true;
  }

  StrategyKind kind_;
  std::vector<Seed> seeds_;
  kernel::Limits limits_;
  base::Rng rng_;
  size_t opened_ = 0;
  std::vector<Tried> tried_;
  std::vector<std::pair<std::string, int>> given_;
  std::set<std::pair<int, Config>> seen_, excluded_, set_aside_;
  AdditiveModel model_;
  Skipped skipped_;
};

constexpr std::string_view kNames[] = {"beam", "greedy", "tune"};

}  // namespace

std::string_view name_of(StrategyKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<StrategyKind> strategy_from(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<StrategyKind>(i);
  return std::nullopt;
}

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, std::vector<Seed> seeds, const kernel::Limits& limits,
                                        uint64_t seed) {
  return std::make_unique<PoolSearch>(kind, std::move(seeds), limits, seed);
}

}  // namespace hone::search
