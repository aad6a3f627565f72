#include "hone/search/evolution.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/search/advice.h"
#include "hone/search/bandit.h"
#include "hone/search/tune/tunables.h"

namespace hone::search {
namespace {

using kernel::Config;

/// Of a mutation or a crossing that is not allowed or was looked at before.
constexpr int kTries = 30;
/// How often a mutation goes to a neighbouring value, and a crossing is mutated as well.
constexpr double kNeighbour = 0.7, kMutated = 0.3;

/// Ways to change a parent, in the order in which a bandit tries them first.
enum Way : size_t { kTuner, kMutate, kCross, kWays };
constexpr const char* kWayNames[] = {"tuner", "mutation", "crossing"};

struct Elite {
  int source = 0;
  Config config;
  double score = 0;
};

struct Island {
  std::map<Behaviour, Elite> places;
  int told = 0;
  [[nodiscard]] const Elite* best() const {
    const Elite* best = nullptr;
    for (const auto& [behaviour, elite] : places)
      if (!best || elite.score > best->score) best = &elite;
    return best;
  }
  void take(const Behaviour& behaviour, const Elite& elite) {
    const auto [at, fresh] = places.emplace(behaviour, elite);
    if (!fresh && elite.score > at->second.score) at->second = elite;
  }
};

class Evolution final : public Strategy {
 public:
  Evolution(std::vector<Seed> seeds, kernel::Limits limits, uint64_t seed, const EvolutionOptions& options)
      : options_(options), limits_(std::move(limits)), seed_(seed), rng_(seed), islands_(static_cast<size_t>(std::max(1, options.islands))), bandit_(kWays) {
    for (Seed& s : seeds)
      if (!add(std::move(s), false)) ++skipped_.duplicate;
  }

  void remember(const Memory& memory) override {
    HONE_CHECK(given_.empty(), "memory comes before the first proposal");
    for (const Memory::First& first : memory.first) {
      int source = source_of(first.seed.kernel.source);
      if (source < 0) {
        source = static_cast<int>(sources_.size());
        sources_.emplace_back().seed = first.seed;
      }
      recalled_.push_back({source, first.seed.kernel.config, first.reason});
    }
    for (const Memory::Known& known : memory.known)
      if (const int source = source_of(known.source); source >= 0) sources_[static_cast<size_t>(source)].recollections = known.recollections;
  }

  std::vector<Proposal> next(int most) override {
    std::vector<Proposal> batch;
    while (static_cast<int>(batch.size()) < most) {
      if (!at_once_.empty()) {
        open(batch, at_once_);
      } else if (!given_.empty() && !recalled_.empty()) {
        const Recalled recalled = recalled_.front();
        recalled_.pop_front();
        const Seed& seed = sources_[static_cast<size_t>(recalled.source)].seed;
        if (!seen_.contains({recalled.source, recalled.config}))
          propose(batch, recalled.source, recalled.config, "recalled: " + seed.pattern, recalled.reason, seed.kernel.parent, -1);
      } else if (!unopened_.empty()) {
        open(batch, unopened_);
      } else {
        break;
      }
    }
    // Nothing is bred before all first looks are answered.
    if (!batch.empty()) return batch;
    while (static_cast<int>(batch.size()) < most && breed(batch)) {}
    return batch;
  }

  void observe(const Proposal& proposal, const Outcome& outcome) override {
    const auto known = given_.find(proposal.kernel.hash());
    HONE_CHECK(known != given_.end(), "an answer to what was never proposed");
    const Given& given = known->second;
    advice_.observe(proposal, outcome);
    const bool good = outcome.accepted && outcome.score > 0;
    std::optional<double> cost = good ? std::optional(1 / outcome.score) : std::nullopt;
    // Whose code is another's takes as long: worth knowing for the tuner, and nothing to breed from.
    if (const auto twin = scores_.find(outcome.twin); twin != scores_.end()) cost = 1 / twin->second;
    tell(given.source, proposal.kernel.config, cost);
    if (given.way >= 0) bandit_.told(static_cast<size_t>(given.way), best_ > 0 && good ? outcome.score / best_ : 0, outcome.seconds);
    if (!good) return;
    scores_[proposal.kernel.hash()] = outcome.score;
    best_ = std::max(best_, outcome.score);
    const Elite elite{given.source, proposal.kernel.config, outcome.score};
    if (const auto [at, first] = worked_.emplace(given.source, elite); !first && elite.score > at->second.score) at->second = elite;
    Island& island = islands_[given.island];
    island.take(options_.behaviours ? outcome.behaviour : Behaviour(), elite);
    if (options_.migration > 0 && ++island.told % options_.migration == 0) migrate(given.island);
  }

  bool add(Seed seed, bool at_once) override {
    if (const int known = source_of(seed.kernel.source); known >= 0) {
      if (!at_once || seen_.contains({known, seed.kernel.config})) return false;
      std::erase(unopened_, known);
      sources_[static_cast<size_t>(known)].seed = std::move(seed);
      at_once_.push_back(known);
      return true;
    }
    (at_once ? at_once_ : unopened_).push_back(static_cast<int>(sources_.size()));
    sources_.emplace_back().seed = std::move(seed);
    return true;
  }

  std::string wants_diagnosis() const override {
    if (!unopened_.empty() || !recalled_.empty()) return {};
    const Elite* const elite = islands_[turn_ % islands_.size()].best();
    if (!elite) return {};
    std::string hash = kernel_of(*elite).hash();
    return advice_.has(hash) ? std::string() : hash;
  }
  void advise(const std::string& kernel, std::vector<diagnose::Action> actions) override { advice_.put(kernel, std::move(actions)); }
  Skipped take_skipped() override { return std::exchange(skipped_, {}); }

 private:
  struct Source {
    Seed seed;
    std::vector<Recollection> recollections;
    std::unique_ptr<tune::TunablesTuner> tuner;
    std::vector<std::pair<Config, std::optional<double>>> told;  ///< before there was a tuner
  };
  struct Given {
    int source = 0, way = -1;  ///< way: -1: nobody's
    size_t island = 0;
  };
  struct Recalled {
    int source = 0;
    Config config;
    std::string reason;
  };

  [[nodiscard]] int source_of(const std::string& text) const {
    const auto at = std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) { return s.seed.kernel.source == text; });
    return at == sources_.end() ? -1 : static_cast<int>(at - sources_.begin());
  }
  [[nodiscard]] kernel::Kernel kernel_of(const Elite& elite) const {
    kernel::Kernel kernel = sources_[static_cast<size_t>(elite.source)].seed.kernel;
    kernel.config = elite.config;
    return kernel;
  }
  [[nodiscard]] bool fresh(int source, const Config& config) {
    if (seen_.contains({source, config})) return false;
    const auto allowed = kernel::allowed(sources_[static_cast<size_t>(source)].seed.kernel.header, config, limits_);
    if (allowed && *allowed) return true;
    ++skipped_.constraint;
    return false;
  }

  void open(std::vector<Proposal>& batch, std::deque<int>& from) {
    const int source = from.front();
    from.pop_front();
    const Seed& seed = sources_[static_cast<size_t>(source)].seed;
    if (!seen_.contains({source, seed.kernel.config}))
      propose(batch, source, seed.kernel.config, seed.action.empty() ? "start" : fmt::format("{}: {}", seed.pattern, seed.action), "first look at this source",
              seed.kernel.parent, -1);
  }

  void propose(std::vector<Proposal>& batch, int source, const Config& config, std::string action, std::string reason, const std::string& parent, int way) {
    Proposal proposal;
    proposal.kernel = sources_[static_cast<size_t>(source)].seed.kernel;
    proposal.kernel.config = config;
    proposal.kernel.parent = parent;
    proposal.action = std::move(action);
    proposal.reason = std::move(reason);
    seen_.insert({source, config});
    // First looks are dealt out, children stay where they were bred.
    const size_t island = way < 0 ? dealt_++ % islands_.size() : turn_ % islands_.size();
    given_[proposal.kernel.hash()] = {source, way, island};
    if (way >= 0) bandit_.asked(static_cast<size_t>(way));
    batch.push_back(std::move(proposal));
  }

  void tell(int source, const Config& config, std::optional<double> cost) {
    Source& s = sources_[static_cast<size_t>(source)];
    if (s.tuner) s.tuner->tell(config, cost);
    else s.told.emplace_back(config, cost);
  }

  void migrate(size_t from) {
    Island& to = islands_[(from + 1) % islands_.size()];
    const Island& island = islands_[from];
    const Elite* const best = island.best();
    for (const auto& [behaviour, elite] : island.places)
      if (&elite == best) return to.take(behaviour, elite);
  }

  /// The better of two places drawn.
  [[nodiscard]] const Elite* parent_of(const Island& island) {
    if (island.places.empty()) return nullptr;
    const auto draw = [&] { return &std::next(island.places.begin(), static_cast<long>(rng_.below(island.places.size())))->second; };
    const Elite* const a = draw();
    const Elite* const b = draw();
    return a->score >= b->score ? a : b;
  }

  void mutate(const kernel::Header& header, Config& config) {
    std::vector<const kernel::Tunable*> free;
    for (const kernel::Tunable& tunable : header.tunables)
      if (tunable.values.size() > 1) free.push_back(&tunable);
    if (free.empty()) return;
    const kernel::Tunable& tunable = *free[rng_.below(free.size())];
    std::vector<int64_t> values = tunable.values;
    std::sort(values.begin(), values.end());
    const auto at = static_cast<size_t>(std::find(values.begin(), values.end(), config[tunable.name]) - values.begin());
    if (at < values.size() && rng_.uniform() < kNeighbour) {
      const bool up = at == 0 || (at + 1 < values.size() && rng_.below(2) == 1);
      config[tunable.name] = values[up ? at + 1 : at - 1];
    } else {
      config[tunable.name] = values[rng_.below(values.size())];
    }
  }

  /// Of the parent's source: each tunable from one or the other, the nearest value where the other has it not.
  [[nodiscard]] Config crossed(const Elite& a, const Elite& b) {
    Config config = a.config;
    for (const kernel::Tunable& tunable : sources_[static_cast<size_t>(a.source)].seed.kernel.header.tunables) {
      const auto other = b.config.find(tunable.name);
      if (other == b.config.end() || rng_.below(2) == 0) continue;
      config[tunable.name] = *std::min_element(tunable.values.begin(), tunable.values.end(), [&](int64_t x, int64_t y) {
        return std::abs(x - other->second) < std::abs(y - other->second);
      });
    }
    return config;
  }

  [[nodiscard]] std::optional<Config> suggested(int source) {
    Source& s = sources_[static_cast<size_t>(source)];
    if (!s.tuner) {
      s.tuner = std::make_unique<tune::TunablesTuner>(s.seed.kernel.header, limits_, seed_ + static_cast<uint64_t>(source), s.recollections);
      for (const auto& [config, cost] : s.told) s.tuner->tell(config, cost);
    }
    while (const auto next = s.tuner->ask())
      if (!seen_.contains({source, next->config})) return next->config;
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Config> child(const Elite& parent, Way way) {
    const kernel::Header& header = sources_[static_cast<size_t>(parent.source)].seed.kernel.header;
    if (way == kTuner) return suggested(parent.source);
    const int skipped = skipped_.constraint;
    for (int i = 0; i < kTries; ++i) {
      Config config = parent.config;
      if (way == kCross) {
        const Elite* const other = parent_of(islands_[rng_.below(islands_.size())]);
        if (other) config = crossed(parent, *other);
        if (rng_.uniform() < kMutated) mutate(header, config);
      } else {
        mutate(header, config);
      }
      if (fresh(parent.source, config)) return config;
    }
    // Drawn over and over: no count of what there is.
    skipped_.constraint = skipped;
    return std::nullopt;
  }

  /// What the parent's diagnosis asks for, if it has one that was not tried yet.
  bool advised(std::vector<Proposal>& batch, const Elite& parent) {
    const std::string hash = kernel_of(parent).hash();
    for (const diagnose::Action& action : advice_.of(hash)) {
      Config config = parent.config;
      const auto value = config.find(action.name);
      if (value == config.end()) continue;
      value->second = action.to;
      if (!fresh(parent.source, config)) continue;
      propose(batch, parent.source, config, action.to_string(), fmt::format("{}: predicted {:.2f}x", action.cause, action.gain), hash, kTuner);
      batch.back().predicted = action.gain;
      batch.back().cause = action.cause;
      return true;
    }
    return false;
  }

  /// One more child on the island whose turn it is; false when nothing is left.
  bool breed(std::vector<Proposal>& batch) {
    for (size_t i = 0; i < islands_.size(); ++i, ++turn_) {
      const Elite* const drawn = parent_of(islands_[turn_ % islands_.size()]);
      if (!drawn) continue;
      const Elite parent = *drawn;
      if (advised(batch, parent)) return ++turn_, true;
      bool able[kWays] = {options_.tuner, true, true};
      for (size_t ways = 0; ways < kWays; ++ways) {
        const std::optional<size_t> way = options_.bandit ? bandit_.choose(able) : in_turn(able);
        if (!way) break;
        if (const auto config = child(parent, static_cast<Way>(*way))) {
          propose(batch, parent.source, *config, changes(parent.config, *config), fmt::format("{} on island {}", kWayNames[*way], turn_ % islands_.size() + 1),
                  kernel_of(parent).hash(), static_cast<int>(*way));
          return ++turn_, true;
        }
        able[*way] = false;
      }
    }
    return last_resort(batch);
  }

  /// Whatever a tuner still knows of any source that works.
  bool last_resort(std::vector<Proposal>& batch) {
    for (const auto& [source, elite] : worked_)
      if (const auto config = suggested(source)) {
        propose(batch, source, *config, changes(elite.config, *config), "what is left", kernel_of(elite).hash(), kTuner);
        return true;
      }
    return false;
  }

  [[nodiscard]] std::optional<size_t> in_turn(std::span<const bool> able) {
    for (size_t i = 0; i < kWays; ++i)
      if (const size_t way = next_way_++ % kWays; able[way]) return way;
    return std::nullopt;
  }

  [[nodiscard]] static std::string changes(const Config& from, const Config& to) {
    std::string action;
    for (const auto& [name, value] : to)
      if (const auto before = from.find(name); before != from.end() && before->second != value)
        action += fmt::format("{}{} {} -> {}", action.empty() ? "" : ", ", name, before->second, value);
    return action;
  }

  EvolutionOptions options_;
  kernel::Limits limits_;
  uint64_t seed_;
  base::Rng rng_;
  std::vector<Source> sources_;
  std::deque<int> at_once_, unopened_;
  std::deque<Recalled> recalled_;
  std::vector<Island> islands_;
  Bandit bandit_;
  std::map<std::string, Given> given_;
  std::map<std::string, double> scores_;  ///< of what was accepted
  std::map<int, Elite> worked_;           ///< the best of each source
  std::set<std::pair<int, Config>> seen_;
  double best_ = 0;
  size_t turn_ = 0, dealt_ = 0, next_way_ = 0;
  Advice advice_;
  Skipped skipped_;
};

}  // namespace

std::unique_ptr<Strategy> make_evolution(std::vector<Seed> seeds, const kernel::Limits& limits, uint64_t seed, const EvolutionOptions& options) {
  return std::make_unique<Evolution>(std::move(seeds), limits, seed, options);
}

}  // namespace hone::search
