#include "hone/search/strategy.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/search/advice.h"
#include "hone/search/bandit.h"
#include "hone/search/evolution.h"
#include "hone/search/tune/tunables.h"

namespace hone::search {
namespace {

using kernel::Config;
using kernel::Kernel;

/// Sources extended side by side by the beam.
constexpr size_t kBeamWidth = 3;
/// A source that stayed below this share of the best elsewhere is opened late: one after so many proposals.
constexpr double kBehind = 0.9;
constexpr int kLate = 4;
/// Settings that a source which came up while the search was on gets, however it began: its author tuned nothing.
constexpr int kOwed = 6;
/// What is believed of a source whose tuner has asked no model yet: as good as its best, give or take (log score).
constexpr double kUnknown = 0.3;

struct Tried {
  int source = 0;
  Config config;
  Outcome outcome;
  std::optional<double> cost;   ///< that its tuner knows of
};

/// Who may be asked for a proposal, in the order in which a bandit tries them first.
enum Proposer : size_t { kModels, kPatterns, kTuners, kProposers };

class PoolSearch final : public Strategy {
 public:
  PoolSearch(StrategyKind kind, std::vector<Seed> seeds, kernel::Limits limits, uint64_t seed, const StrategyOptions& options)
      : kind_(kind), options_(options), seeds_(std::move(seeds)), limits_(std::move(limits)), seed_(seed) {
    if (kind_ == StrategyKind::kTune && seeds_.size() > 1) seeds_.resize(1);
    // The same text twice (a start kernel that is a pattern's) is one source.
    std::set<std::string> texts;
    skipped_.duplicate = static_cast<int>(
        std::erase_if(seeds_, [&](const Seed& s) { return !texts.insert(s.kernel.source).second; }));
    refining_.resize(seeds_.size());
    for (size_t source = 0; source < seeds_.size(); ++source) unopened_.push_back(static_cast<int>(source));
  }

  void remember(const Memory& memory) override {
    HONE_CHECK(given_.empty(), "memory comes before the first proposal");
    const auto source_of = [&](const std::string& text) {
      const auto at = std::find_if(seeds_.begin(), seeds_.end(), [&](const Seed& s) { return s.kernel.source == text; });
      return at == seeds_.end() ? -1 : static_cast<int>(at - seeds_.begin());
    };
    for (const Memory::First& first : memory.first) {
      int source = source_of(first.seed.kernel.source);
      if (source < 0) {
        if (kind_ == StrategyKind::kTune) continue;
        source = static_cast<int>(seeds_.size());
        seeds_.push_back(first.seed);
        refining_.emplace_back();
      }
      recalled_.push_back({source, first.seed.kernel.config, first.reason});
    }
    std::vector<std::pair<double, int>> order;
    for (const int source : unopened_) order.emplace_back(1, source);
    for (const Memory::Known& known : memory.known) {
      const int source = source_of(known.source);
      if (source < 0) continue;
      refining_[static_cast<size_t>(source)].recollections = known.recollections;
      if (source > 0) refining_[static_cast<size_t>(source)].opening = known.best;
      for (auto& [share, of] : order)
        if (of == source) share = known.share.value_or(1);
    }
    // The first stays first: scores are over it. A source that is recalled needs no first look beyond that.
    std::stable_sort(order.begin() + (order.empty() ? 0 : 1), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    unopened_.clear();
    for (size_t i = 0; i < order.size(); ++i) {
      const auto [share, source] = order[i];
      const bool recalled = std::any_of(recalled_.begin(), recalled_.end(), [&](const Recalled& r) { return r.source == source; });
      if (i > 0 && recalled) continue;
      (i > 0 && share < kBehind ? late_ : unopened_).push_back(source);
    }
  }

  std::vector<Proposal> next(int most) override {
    std::vector<Proposal> batch;
    // What was good elsewhere, then every source once, in order of promise, before any is refined.
    while (static_cast<int>(batch.size()) < most) {
      if (!at_once_.empty()) open(batch, at_once_);
      else if (!given_.empty() && !recalled_.empty()) recall(batch);
      else if (!unopened_.empty() && (given_.empty() || !options_.bandit || !options_.timed)) open(batch, unopened_);
      else break;
    }
    if (!options_.timed) {
      while (static_cast<int>(batch.size()) < most && !late_.empty()) open(batch, late_);
      return batch;
    }
    if (options_.bandit && !given_.empty()) return by_gain(std::move(batch), most);
    if (!batch.empty() || !unopened_.empty()) return batch;
    while (static_cast<int>(batch.size()) < most) {
      if (!late_.empty() && ++since_late_ % kLate == 0) open(batch, late_);
      else if (extend(batch)) continue;
      else if (!late_.empty()) open(batch, late_);
      else break;
    }
    return batch;
  }

  void observe(const Proposal& proposal, const Outcome& outcome) override {
    const auto known = std::find_if(given_.begin(), given_.end(), [&](const auto& g) { return g.first == proposal.kernel.hash(); });
    HONE_CHECK(known != given_.end(), "an answer to what was never proposed");
    advice_.observe(proposal, outcome);
    std::optional<double> cost = cost_of(outcome);
    // Whose code is another's takes as long: worth knowing for the tuner, and no parent.
    if (const auto twin = scores_.find(outcome.twin); twin != scores_.end()) cost = 1 / twin->second;
    if (cost && outcome.twin.empty()) scores_[proposal.kernel.hash()] = outcome.score;
    if (const auto arm = arms_.find(proposal.kernel.hash()); arm != arms_.end())
      bandit_.told(arm->second, best_ > 0 && outcome.accepted ? outcome.score / best_ : 0, outcome.seconds);
    if (outcome.accepted) best_ = std::max(best_, outcome.score);
    tried_.push_back({known->second, proposal.kernel.config, outcome, cost});
    if (auto& refining = refining_[static_cast<size_t>(known->second)]; refining.tuner) refining.tuner->tell(tried_.back().config, cost);
  }

  bool add(Seed seed, bool at_once) override {
    const auto known = std::find_if(seeds_.begin(), seeds_.end(), [&](const Seed& s) { return s.kernel.source == seed.kernel.source; });
    const int source = static_cast<int>(known - seeds_.begin());
    if (known != seeds_.end()) {
      if (!at_once || seen_.contains({source, seed.kernel.config})) return false;
      std::erase(unopened_, source);
      std::erase(late_, source);
      refining_[static_cast<size_t>(source)].opening.reset();
      seeds_[static_cast<size_t>(source)] = std::move(seed);
      at_once_.push_back(source);
      return true;
    }
    (at_once ? at_once_ : unopened_).push_back(source);
    if (!at_once) owed_[source] = kOwed;
    seeds_.push_back(std::move(seed));
    refining_.emplace_back();
    return true;
  }

  int owed() override {
    if (!options_.timed) return 0;
    int all = 0;
    for (const auto& [source, left] : owed_) all += left > 0 && best_of(source) != nullptr && suggestion(source) != nullptr ? left : 0;
    return all;
  }

  std::string wants_diagnosis() const override {
    if (!options_.timed || !unopened_.empty() || !recalled_.empty()) return {};
    const auto from = parents();
    if (from.empty()) return {};
    std::string hash = kernel_of(*from.front()).hash();
    return advice_.has(hash) ? std::string() : hash;
  }

  void advise(const std::string& kernel, std::vector<diagnose::Action> actions) override { advice_.put(kernel, std::move(actions)); }

  bool expect(const std::string& kernel, std::vector<tune::Effect> effects) override {
    const auto tried = std::find_if(tried_.begin(), tried_.end(), [&](const Tried& t) { return kernel_of(t).hash() == kernel; });
    if (tried == tried_.end() || effects.empty()) return false;
    Refining& refining = refining_[static_cast<size_t>(tried->source)];
    if (refining.tuner) refining.tuner->hint(tried->config, effects);
    refining.expected.insert_or_assign(tried->config, std::move(effects));
    return true;
  }

  Skipped take_skipped() override { return std::exchange(skipped_, {}); }

 private:
  /// A source whose tunables are being searched.
  struct Refining {
    std::optional<tune::TunablesTuner> tuner;
    std::optional<tune::TunablesTuner::Suggestion> next;  ///< asked for, not yet proposed
    std::vector<Recollection> recollections;
    std::map<Config, std::vector<tune::Effect>> expected; ///< of changes to a configuration that was diagnosed
    std::optional<Config> opening;                        ///< the first configuration to look at; the default where there is none
  };
  /// A configuration that did well elsewhere.
  struct Recalled {
    int source = 0;
    Config config;
    std::string reason;
  };

  void open(std::vector<Proposal>& batch, std::deque<int>& from) {
    const int source = from.front();
    from.pop_front();
    const Seed& seed = seeds_[static_cast<size_t>(source)];
    const Config config = refining_[static_cast<size_t>(source)].opening.value_or(seed.kernel.config);
    if (seen_.contains({source, config})) return;
    add(batch, source, config, seed.action.empty() ? "start" : fmt::format("{}: {}", seed.pattern, seed.action),
        "first look at this source", seed.kernel.parent);
  }

  void recall(std::vector<Proposal>& batch) {
    const Recalled recalled = std::move(recalled_.front());
    recalled_.pop_front();
    if (seen_.contains({recalled.source, recalled.config})) return;
    const Seed& seed = seeds_[static_cast<size_t>(recalled.source)];
    add(batch, recalled.source, recalled.config, fmt::format("recalled: {}", seed.pattern.empty() ? seed.action : seed.pattern), recalled.reason,
        seed.kernel.parent);
  }

  static std::optional<double> cost_of(const Outcome& outcome) {
    return outcome.accepted && outcome.score > 0 ? std::optional(1 / outcome.score) : std::nullopt;
  }

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

  Kernel kernel_of(const Tried& tried) const {
    Kernel kernel = seeds_[static_cast<size_t>(tried.source)].kernel;
    kernel.config = tried.config;
    return kernel;
  }

  /// The best accepted kernel of a source; null where there is none.
  const Tried* best_of(int source) const {
    const Tried* best = nullptr;
    for (const Tried& t : tried_)
      if (t.source == source && t.outcome.accepted && t.outcome.score > 0 && (best == nullptr || t.outcome.score > best->outcome.score)) best = &t;
    return best;
  }

  /// The best accepted kernel of each source, best first.
  std::vector<const Tried*> parents() const {
    std::vector<const Tried*> best(seeds_.size(), nullptr);
    for (const Tried& t : tried_) {
      const Tried*& of_source = best[static_cast<size_t>(t.source)];
      if (t.outcome.accepted && t.outcome.score > 0 && (of_source == nullptr || t.outcome.score > of_source->outcome.score)) of_source = &t;
    }
    std::erase(best, nullptr);
    std::stable_sort(best.begin(), best.end(), [](const Tried* a, const Tried* b) { return a->outcome.score > b->outcome.score; });
    if (kind_ != StrategyKind::kBeam && best.size() > 1) best.erase(best.begin() + 1, best.end());
    return best;
  }

  /// The tuner's next suggestion for a source; nothing when all was tried.
  const tune::TunablesTuner::Suggestion* suggestion(int source) {
    Refining& refining = refining_[static_cast<size_t>(source)];
    if (!refining.tuner) {
      refining.tuner.emplace(seeds_[static_cast<size_t>(source)].kernel.header, limits_, seed_ + static_cast<uint64_t>(source),
                             refining.recollections);
      for (const Tried& t : tried_)
        if (t.source == source) refining.tuner->tell(t.config, t.cost);
      const Seed& seed = seeds_[static_cast<size_t>(source)];
      if (refining.recollections.empty() && seed.chosen) refining.tuner->chosen_well(seed.kernel.config);
      for (const auto& [config, effects] : refining.expected) refining.tuner->hint(config, effects);
    }
    // What a diagnosis asked for meanwhile needs no second look.
    if (refining.next && seen_.contains({source, refining.next->config})) refining.next.reset();
    while (!refining.next) {
      refining.next = refining.tuner->ask();
      if (!refining.next || !seen_.contains({source, refining.next->config})) break;
      refining.next.reset();
    }
    return refining.next ? &*refining.next : nullptr;
  }

  /// Counts what was left aside beside `config`: excluded one-step changes, and candidates that models rank behind it.
  void count_skipped(int source, const Config& parent, const Config& config) {
    const auto& header = seeds_[static_cast<size_t>(source)].kernel.header;
    for (const auto& tunable : header.tunables)
      for (const int64_t value : tunable.values) {
        Config other = parent;
        other[tunable.name] = value;
        const auto fine = kernel::allowed(header, other, limits_);
        if ((!fine || !*fine) && excluded_.insert({source, std::move(other)}).second) ++skipped_.constraint;
      }
    for (Config& other : refining_[static_cast<size_t>(source)].tuner->looked_at())
      if (other != config && !seen_.contains({source, other}) && set_aside_.insert({source, std::move(other)}).second)
        ++skipped_.predicted_slower;
  }

  /// What the parent's diagnosis asks for, if it has one that was not tried yet.
  bool advised(std::vector<Proposal>& batch, const Tried& parent) {
    const Kernel kernel = kernel_of(parent);
    for (const diagnose::Action& action : advice_.of(kernel.hash())) {
      Config config = parent.config;
      const auto value = config.find(action.name);
      if (value == config.end() || seen_.contains({parent.source, [&] { value->second = action.to; return config; }()})) continue;
      const auto fine = kernel::allowed(kernel.header, config, limits_);
      if (!fine || !*fine) continue;
      add(batch, parent.source, config, action.to_string(), fmt::format("{}: predicted {:.2f}x", action.cause, action.gain), kernel.hash());
      batch.back().predicted = action.gain;
      batch.back().cause = action.cause;
      return true;
    }
    return false;
  }

  /// Where the proposal is one change of a kernel that was diagnosed: what is expected of that, to be held against what comes.
  static void predict(const std::map<Config, std::vector<tune::Effect>>& expected, const Config& parent, Proposal& proposal) {
    const auto known = expected.find(parent);
    if (known == expected.end()) return;
    for (const tune::Effect& effect : known->second) {
      Config changed = parent;
      changed[effect.tunable] = effect.to;
      if (changed != proposal.kernel.config || effect.log_gain <= 0) continue;
      proposal.predicted = std::exp(effect.log_gain);
      proposal.cause = kLearnt;
    }
  }

  /// One more proposal; false when there is nothing left.
  bool extend(std::vector<Proposal>& batch) {
    const auto from = parents();
    if (from.empty()) return false;
    const double top = std::log(from.front()->outcome.score);
    const Tried* chosen = nullptr;
    double most = 0;
    size_t width = 0;
    for (const Tried* parent : from) {
      const auto* next = suggestion(parent->source);
      if (next == nullptr) continue;
      const tune::Belief belief = next->belief.value_or(tune::Belief{-std::log(parent->outcome.score), kUnknown});
      const double gain = tune::expected_improvement(belief, -top);
      if (chosen == nullptr || gain > most) chosen = parent, most = gain;
      if (++width == kBeamWidth) break;
    }
    // Every other one is for a source that came up meanwhile, until it had its share: the beam may be full of others.
    for (auto& [source, left] : owed_) {
      const Tried* const best = left > 0 ? best_of(source) : nullptr;
      if (best == nullptr || (chosen != nullptr && (chosen->source == source || since_owed_ % 2 == 0)) || suggestion(source) == nullptr) continue;
      chosen = best;
      break;
    }
    ++since_owed_;
    if (chosen == nullptr) return false;
    if (const auto owed = owed_.find(chosen->source); owed != owed_.end()) --owed->second;
    if (advised(batch, *chosen)) return true;
    auto& refining = refining_[static_cast<size_t>(chosen->source)];
    const auto next = *std::exchange(refining.next, std::nullopt);
    std::string action;
    for (const auto& [name, value] : next.config)
      if (const int64_t before = chosen->config.at(name); before != value)
        action += fmt::format("{}{} {} -> {}", action.empty() ? "" : ", ", name, before, value);
    const Kernel parent = kernel_of(*chosen);
    add(batch, chosen->source, next.config, std::move(action),
        next.belief ? fmt::format("predicted {:.2f} of the best", std::exp(-next.belief->mean - top)) : "to learn about the tunables",
        parent.hash());
    if (next.belief) batch.back().expected = std::exp(-next.belief->mean);
    predict(refining.expected, chosen->config, batch.back());
    count_skipped(chosen->source, chosen->config, next.config);
    return true;
  }

  /// Proposals of whoever gains most a second.
  std::vector<Proposal> by_gain(std::vector<Proposal> batch, int most) {
    bool able[kProposers] = {true, true, true};
    const auto is_model = [&](int source) { return seeds_[static_cast<size_t>(source)].kernel.author.starts_with("model:"); };
    while (static_cast<int>(batch.size()) < most) {
      const bool models = std::any_of(unopened_.begin(), unopened_.end(), is_model);
      able[kModels] = able[kModels] && models;
      able[kPatterns] = able[kPatterns] && !(std::all_of(unopened_.begin(), unopened_.end(), is_model) && late_.empty());
      const auto chosen = bandit_.choose(able);
      if (!chosen) break;
      const size_t before = batch.size();
      if (*chosen == kTuners) {
        able[kTuners] = extend(batch);
      } else {
        const auto at = std::find_if(unopened_.begin(), unopened_.end(), [&](int s) { return is_model(s) == (*chosen == kModels); });
        if (at == unopened_.end()) {
          open(batch, late_);
        } else {
          std::rotate(unopened_.begin(), at, at + 1);
          open(batch, unopened_);
        }
      }
      if (batch.size() == before) continue;
      arms_[batch.back().kernel.hash()] = *chosen;
      bandit_.asked(*chosen);
    }
    return batch;
  }

  StrategyKind kind_;
  StrategyOptions options_;
  Bandit bandit_{kProposers};
  std::map<std::string, size_t> arms_;      ///< who proposed a kernel, where a bandit chose
  std::map<std::string, double> scores_;    ///< of what was accepted
  double best_ = 0;
  std::vector<Seed> seeds_;
  kernel::Limits limits_;
  uint64_t seed_;
  std::deque<int> at_once_, unopened_, late_;
  std::deque<Recalled> recalled_;
  int since_late_ = 0, since_owed_ = 0;
  std::map<int, int> owed_;                 ///< settings that sources from outside are still to get
  std::vector<Tried> tried_;
  std::vector<std::pair<std::string, int>> given_;
  std::set<std::pair<int, Config>> seen_, excluded_, set_aside_;
  std::vector<Refining> refining_;
  Advice advice_;
  Skipped skipped_;
};

constexpr std::string_view kNames[] = {"beam", "greedy", "tune", "evolution"};

}  // namespace

std::string_view name_of(StrategyKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<StrategyKind> strategy_from(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<StrategyKind>(i);
  return std::nullopt;
}

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, std::vector<Seed> seeds, const kernel::Limits& limits,
                                        uint64_t seed, const StrategyOptions& options) {
  // Nothing is bred where nobody is fitter.
  if (kind == StrategyKind::kEvolution && options.timed) return make_evolution(std::move(seeds), limits, seed);
  return std::make_unique<PoolSearch>(kind, std::move(seeds), limits, seed, options);
}

}  // namespace hone::search
