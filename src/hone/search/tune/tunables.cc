#include "hone/search/tune/tunables.h"

#include <algorithm>

namespace hone::search::tune {
namespace {

/// Somebody chose the default configuration with care: less has to be learnt before a model is of use.
constexpr int kInitial = 3;
/// What setting a tunable to another value than the one somebody chose costs, before anything is known of it (log cost).
constexpr double kLeaving = 0.2;

/// In the tuner's terms: the values of each tunable are those that were seen.
std::optional<Experience> experience_of(const std::vector<kernel::Tunable>& tunables, const Recollection& recollection) {
  Experience experience;
  for (const kernel::Tunable& tunable : tunables) experience.parameters.push_back({tunable.name, {}});
  for (size_t i = 0; i < recollection.configs.size() && i < recollection.costs.size(); ++i) {
    Point point;
    for (Parameter& parameter : experience.parameters) {
      const auto value = recollection.configs[i].find(parameter.name);
      if (value == recollection.configs[i].end()) break;
      const auto at = std::find(parameter.values.begin(), parameter.values.end(), Value(value->second));
      point.push_back(static_cast<uint16_t>(at - parameter.values.begin()));
      if (at == parameter.values.end()) parameter.values.emplace_back(value->second);
    }
    if (point.size() != tunables.size()) continue;
    experience.points.push_back(std::move(point));
    experience.costs.push_back(recollection.costs[i]);
  }
  return experience.points.empty() ? std::nullopt : std::optional(std::move(experience));
}

/// Nothing for a configuration with values beyond the lists.
std::optional<Point> point_at(const std::vector<kernel::Tunable>& tunables, const kernel::Config& config) {
  Point point;
  for (const kernel::Tunable& tunable : tunables) {
    const auto value = config.find(tunable.name);
    const auto at = value == config.end() ? tunable.values.end() : std::find(tunable.values.begin(), tunable.values.end(), value->second);
    if (at == tunable.values.end()) return std::nullopt;
    point.push_back(static_cast<uint16_t>(at - tunable.values.begin()));
  }
  return point;
}

}  // namespace

Result<Space> tunables_space(const kernel::Header& header, const kernel::Limits& limits) {
  std::vector<Parameter> parameters;
  for (const kernel::Tunable& tunable : header.tunables) parameters.push_back({tunable.name, {tunable.values.begin(), tunable.values.end()}});
  std::vector<Rule> rules;
  for (const task::IntExpr& constraint : header.constraints) {
    task::Bindings known;
    std::vector<size_t> uses;
    for (const std::string& name : constraint.symbols()) {
      const auto tunable = std::find_if(header.tunables.begin(), header.tunables.end(), [&](const kernel::Tunable& t) { return t.name == name; });
      if (tunable != header.tunables.end()) uses.push_back(static_cast<size_t>(tunable - header.tunables.begin()));
      else if (const auto limit = limits.find(name); limit != limits.end()) known.insert(*limit);
    }
    std::sort(uses.begin(), uses.end());
    std::vector<kernel::Tunable> named;
    for (const size_t t : uses) named.push_back(header.tunables[t]);
    auto holds = [constraint, known, uses, named](const Point& point) {
      task::Bindings values = known;
      for (size_t i = 0; i < uses.size(); ++i) values[named[i].name] = named[i].values[point[uses[i]]];
      const auto truth = constraint.eval(values);
      return truth && *truth != 0;
    };
    rules.push_back({std::move(uses), std::move(holds)});
  }
  return Space::make(std::move(parameters), {}, std::move(rules));
}

kernel::Config config_at(const std::vector<kernel::Tunable>& tunables, const Point& point) {
  kernel::Config config;
  for (size_t t = 0; t < point.size(); ++t) config[tunables[t].name] = tunables[t].values[point[t]];
  return config;
}

TunablesTuner::TunablesTuner(const kernel::Header& header, const kernel::Limits& limits, uint64_t seed, std::span<const Recollection> warm)
    : tunables_(header.tunables) {
  auto space = tunables_space(header, limits);
  TunerOptions options;
  options.initial = kInitial;
  std::vector<Experience> experiences;
  for (const Recollection& recollection : warm)
    if (auto experience = experience_of(tunables_, recollection)) experiences.push_back(std::move(*experience));
  if (space) tuner_ = std::make_unique<Tuner>(std::move(*space), seed, 0, experiences, options);
}

std::optional<TunablesTuner::Suggestion> TunablesTuner::ask() {
  if (!tuner_) return std::nullopt;
  const auto asked = tuner_->ask(1);
  if (asked.empty()) return std::nullopt;
  return Suggestion{config_at(tunables_, asked.front()), tuner_->belief(asked.front())};
}

void TunablesTuner::tell(const kernel::Config& config, std::optional<double> cost) {
  // A fixed configuration beyond the lists teaches nothing about them.
  if (const auto point = tuner_ ? point_at(tunables_, config) : std::nullopt) tuner_->tell(*point, cost);
}

void TunablesTuner::hint(const kernel::Config& config, std::span<const Effect> effects) {
  const auto point = tuner_ ? point_at(tunables_, config) : std::nullopt;
  if (!point) return;
  Hint hint{*point, {}};
  for (const kernel::Tunable& tunable : tunables_) hint.adds.emplace_back(tunable.values.size());
  for (const Effect& effect : effects)
    for (size_t t = 0; t < tunables_.size(); ++t) {
      const auto& values = tunables_[t].values;
      const auto at = std::find(values.begin(), values.end(), effect.to);
      if (tunables_[t].name == effect.tunable && at != values.end()) hint.adds[t][static_cast<size_t>(at - values.begin())] = -effect.log_gain;
    }
  tuner_->hint(std::move(hint));
}

void TunablesTuner::chosen_well(const kernel::Config& config) {
  std::vector<Effect> effects;
  for (const kernel::Tunable& tunable : tunables_)
    for (const int64_t value : tunable.values)
      if (const auto now = config.find(tunable.name); now != config.end() && now->second != value) effects.push_back({tunable.name, value, -kLeaving});
  hint(config, effects);
}

std::vector<kernel::Config> TunablesTuner::looked_at() const {
  std::vector<kernel::Config> configs;
  if (tuner_)
    for (const Point& point : tuner_->looked_at()) configs.push_back(config_at(tunables_, point));
  return configs;
}

}  // namespace hone::search::tune
