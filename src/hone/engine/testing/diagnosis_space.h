// Spaces of tunables measured completely, and what diagnoses are worth on them: first actions against what they gained,
// and searches simulated with true metrics, with metrics shuffled between kernels, and with none. For the long tests of
// the CPU and of cards.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/diagnose/rules.h"
#include "hone/engine/testing/fake_run.h"
#include "hone/kernel/kernel.h"
#include "hone/search/advice.h"
#include "hone/search/changes.h"
#include "hone/search/strategy.h"

namespace hone::engine::testing {

using diagnose::Action;
using kernel::Config;
using kernel::Kernel;

struct Entry {
  bool accepted = false;
  double score = 0;
  diagnose::Metrics metrics;
};
struct Space {
  std::string name;
  Kernel kernel;
  kernel::Limits limits;
  std::map<Config, Entry> entries;
  std::string pattern, action;   ///< of the seed that it is made of, where tasks are kept
  std::string task;
  [[nodiscard]] double best() const {
    double most = 0;
    for (const auto& [config, entry] : entries) most = std::max(most, entry.score);
    return most;
  }
};
/// A first action and what came of it.
struct Trial {
  std::string kernel, action, cause;
  double predicted, gained;
};

inline int setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text && *text ? std::atoi(text) : otherwise;
}

/// Of each tunable the default, the least and the greatest value, then two of them, until the space is small enough. Without
/// what is bad a space is flat, and nothing is to be learnt from any metric.
inline void thin_out(kernel::Header& header, size_t most) {
  const auto size = [&] {
    return std::accumulate(header.tunables.begin(), header.tunables.end(), size_t{1},
                           [](size_t n, const auto& t) { return n * t.values.size(); });
  };
  for (kernel::Tunable& tunable : header.tunables) {
    if (size() <= most || tunable.values.size() <= 3) continue;
    const auto [least, greatest] = std::minmax_element(tunable.values.begin(), tunable.values.end());
    std::vector<int64_t> kept = {tunable.values.front()};
    for (const int64_t value : {*least, *greatest})
      if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
    tunable.values = std::move(kept);
  }
  for (auto tunable = header.tunables.rbegin(); tunable != header.tunables.rend() && size() > most; ++tunable)
    if (tunable->values.size() > 2) tunable->values.resize(2);
}

inline void configurations(const kernel::Header& header, const kernel::Limits& limits, size_t tunable, Config& config, std::vector<Config>& all) {
  if (tunable == header.tunables.size()) {
    if (const auto fine = kernel::allowed(header, config, limits); fine && *fine) all.push_back(config);
    return;
  }
  for (const int64_t value : header.tunables[tunable].values) {
    config[header.tunables[tunable].name] = value;
    configurations(header, limits, tunable + 1, config, all);
  }
}

/// The first actions of every configuration: what they gained is in the space.
inline void try_tunables(const Space& space, std::vector<Trial>& trials) {
  for (const auto& [config, entry] : space.entries) {
    if (!entry.accepted) continue;
    for (const Action& action : diagnose::diagnose(entry.metrics, {space.kernel.header, config, space.limits}).actions) {
      if (action.kind != Action::Kind::kTunable) continue;
      Config other = config;
      other[action.name] = action.to;
      const auto found = space.entries.find(other);
      if (found == space.entries.end()) continue;
      trials.push_back({space.name + ", tunables", action.to_string(), action.cause, action.gain,
                        found->second.accepted ? found->second.score / entry.score : 0});
      break;
    }
  }
}

enum class Mode : uint8_t { kTrue, kShuffled, kNone };

/// Evaluations until a configuration within 3 % of the space's best is found, from a random one on.
inline int evaluations(const Space& space, const std::vector<const diagnose::Metrics*>& everybody, Mode mode, uint64_t seed,
                       const search::Changes* changes = nullptr) {
  base::Rng rng(seed);
  std::vector<Config> accepted;
  for (const auto& [config, entry] : space.entries)
    if (entry.accepted) accepted.push_back(config);
  Kernel start = space.kernel;
  start.config = accepted[rng.below(accepted.size())];
  std::map<std::string, Config> by_hash;
  const auto strategy = search::make_strategy(search::StrategyKind::kTune, {{start, "rows", "start"}}, space.limits, seed);
  const double wanted = space.best() / 1.03;
  for (int n = 1; n <= static_cast<int>(space.entries.size()); ++n) {
    if (const std::string hash = strategy->wants_diagnosis(); !hash.empty()) {
      const Config& config = by_hash.at(hash);
      const diagnose::Metrics& metrics = mode == Mode::kShuffled ? *everybody[rng.below(everybody.size())]
                                                                 : space.entries.at(config).metrics;
      // As engine/advisor does: what was learnt goes before what the rules think.
      const bool learnt = changes && mode != Mode::kNone && strategy->expect(hash, changes->expect(metrics, space.kernel.header, config, space.limits));
      strategy->advise(hash, learnt || mode == Mode::kNone ? std::vector<Action>()
                                                           : diagnose::diagnose(metrics, {space.kernel.header, config, space.limits}).actions);
    }
    const auto batch = strategy->next(1);
    if (batch.empty()) break;
    const Entry& entry = space.entries.at(batch[0].kernel.config);
    by_hash[batch[0].kernel.hash()] = batch[0].kernel.config;
    strategy->observe(batch[0], {entry.accepted, entry.score});
    if (entry.score >= wanted) return n;
  }
  return static_cast<int>(space.entries.size());
}

/// Prints a table of shares by a key; gives the share of all.
inline double print_held(const std::vector<Trial>& trials, const char* title) {
  std::map<std::string, std::pair<int, int>> by_cause;
  int all = 0;
  for (const Trial& t : trials) {
    auto& [tried, kept] = by_cause[t.cause];
    const bool good = search::held(t.predicted, t.gained);
    ++tried, kept += good, all += good;
  }
  const double share = trials.empty() ? 0 : static_cast<double>(all) / static_cast<double>(trials.size());
  fmt::print("\n{}: {} of {} first actions gained at least a third of what was predicted ({:.0f} %)\n", title, all, trials.size(),
             100 * share);
  for (const auto& [cause, counts] : by_cause) fmt::print("  {:24} {:3} of {:3}\n", cause, counts.second, counts.first);
  return share;
}

/// What every change of one tunable did, in every space of another task.
inline search::Changes changes_elsewhere(const std::vector<Space>& spaces, const std::string& task) {
  search::Changes changes;
  for (const Space& space : spaces) {
    if (space.task == task) continue;
    for (const auto& [config, entry] : space.entries) {
      if (!entry.accepted || entry.metrics.all().empty()) continue;
      for (const kernel::Tunable& tunable : space.kernel.header.tunables)
        for (const int64_t value : tunable.values) {
          Config other = config;
          other[tunable.name] = value;
          const auto found = space.entries.find(other);
          if (found == space.entries.end() || value == config.at(tunable.name)) continue;
          changes.add(entry.metrics, diagnose::role_of(tunable.name, space.kernel.header), config.at(tunable.name), value,
                         found->second.accepted ? std::log(found->second.score / entry.score) : -1);
        }
    }
  }
  return changes;
}

/// Evaluations to within 3 % of the best: the means over spaces and seeds by Mode, and how many more shuffled metrics cost,
/// with the half width of its 95 % interval.
struct Worth {
  double total[3] = {}, more = 0, interval = 0;
};
/// `learnt`: by what changes did to the other tasks' kernels, instead of by rules.
inline Worth print_worth(const std::vector<Space>& spaces, bool learnt = false) {
  std::vector<const diagnose::Metrics*> everybody;
  for (const Space& space : spaces)
    for (const auto& [config, entry] : space.entries)
      if (entry.accepted) everybody.push_back(&entry.metrics);
  constexpr int kSeeds = 60;
  Worth worth;
  double* const total = worth.total;
  double difference = 0, squares = 0;
  int pairs = 0;
  fmt::print("\nevaluations to within 3 % of the best (mean of {} seeds): true metrics, shuffled, none\n", kSeeds);
  for (const Space& space : spaces) {
    double mean[3] = {};
    const search::Changes changes = learnt ? changes_elsewhere(spaces, space.task) : search::Changes();
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      int n[3];
      for (const Mode mode : {Mode::kTrue, Mode::kShuffled, Mode::kNone}) {
        n[static_cast<int>(mode)] = evaluations(space, everybody, mode, seed, learnt ? &changes : nullptr);
        mean[static_cast<int>(mode)] += static_cast<double>(n[static_cast<int>(mode)]) / kSeeds;
      }
      difference += n[1] - n[0], squares += (n[1] - n[0]) * (n[1] - n[0]), ++pairs;
    }
    for (int m = 0; m < 3; ++m) total[m] += mean[m] / static_cast<double>(spaces.size());
    fmt::print("  {:16} {:6.1f} {:6.1f} {:6.1f}\n", space.name, mean[0], mean[1], mean[2]);
  }
  const double mean = difference / pairs, error = std::sqrt((squares / pairs - mean * mean) / pairs);
  worth.more = mean, worth.interval = 1.96 * error;
  fmt::print("  {:16} {:6.1f} {:6.1f} {:6.1f}; shuffled - true {:.2f} +- {:.2f}\n", "all", total[0], total[1], total[2], mean,
             1.96 * error);
  return worth;
}

}  // namespace hone::engine::testing
