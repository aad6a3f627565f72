#include "hone/search/tune/tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hone/search/tune/prior.h"

namespace hone::search::tune {
namespace {

/// Models learn from at most so many observations: the best, and the newest.
constexpr size_t kMostRows = 200;
/// Candidates of which the first points are chosen as far apart as possible.
constexpr int kSpreadOf = 24;
/// What a hint counts for with each parameter in which a point differs from its own.
constexpr double kHintReach = 0.4;
/// Measurements, of a spread of `kHintSpread` (log cost), that what hints say is worth before any was made.
constexpr double kHintWorth = 5, kHintSpread = 0.3;
/// How much of what hints say is believed at first.
constexpr double kHintTrust = 0.5;

double normal_density(double z) { return 0.3989422804014327 * std::exp(-0.5 * z * z); }
double normal_below(double z) { return 0.5 * std::erfc(-z * 0.7071067811865476); }

}  // namespace

double expected_improvement(const Belief& belief, double best) {
  const double gap = best - belief.mean;
  const double z = gap / belief.deviation;
  return gap * normal_below(z) + belief.deviation * normal_density(z);
}

struct Tuner::State {
  struct Observation {
    Point point;
    std::optional<double> log_cost;
  };

  Space space;
  uint64_t seed;
  int budget;
  TunerOptions options;
  Features features;
  std::vector<Source> sources;
  std::optional<GaussianProcess> gaussian;
  Forest forest;

  std::vector<Observation> told;
  std::vector<std::pair<Hint, double>> hints;     ///< with the log cost of their points
  std::vector<std::pair<Point, double>> pending;  ///< with the log cost that models expect
  PointSet given;                                 ///< asked for or told
  PointMap<Belief> beliefs;                       ///< of what was asked for
  std::vector<Point> pool;                        ///< candidates of the last choice
  int best = -1;                                  ///< in told
  int last_gain = 0;                              ///< evaluations when the best was found, or a restart
  uint64_t asked = 0;
  uint64_t restarts = 0;
  size_t restart_from = 0;                        ///< elites are of what was told since

  State(Space space_in, uint64_t seed_in, int budget_in, std::span<const Experience> warm, const TunerOptions& options_in)
      : space(std::move(space_in)), seed(seed_in), budget(budget_in), options(options_in), features(space), forest(1) {
    for (const Experience& experience : warm)
      if (auto source = Source::make(space, experience, seed)) sources.push_back(std::move(*source));
    if (options.gaussian) gaussian.emplace(columns());
    forest = Forest(columns());
  }

  /// What models see of a point: its features, and what each source thinks of it.
  [[nodiscard]] size_t columns() const { return features.size() + sources.size(); }
  [[nodiscard]] std::vector<float> rows(std::span<const Point> points, const std::vector<std::vector<double>>& opinions) const {
    std::vector<float> encoded(points.size() * columns());
    for (size_t i = 0; i < points.size(); ++i) {
      float* row = encoded.data() + i * columns();
      features.encode(points[i], row);
      for (size_t s = 0; s < sources.size(); ++s) row[features.size() + s] = static_cast<float>(opinions[s][i]) / 2;
    }
    return encoded;
  }
  [[nodiscard]] std::vector<std::vector<double>> opinions_of(std::span<const Point> points) const {
    std::vector<std::vector<double>> all;
    for (const Source& source : sources) all.push_back(source.opinions(points));
    return all;
  }

  /// What the hints, of which there are some, make of a point: each speaks for its neighbourhood.
  [[nodiscard]] double hinted(const Point& point) const {
    double sum = 0, weights = 0;
    for (const auto& [hint, cost] : hints) {
      double expected = cost;
      int differ = 0;
      for (size_t p = 0; p < point.size(); ++p)
        if (point[p] != hint.at[p]) expected += hint.adds[p][point[p]], ++differ;
      const double weight = std::pow(kHintReach, differ);
      sum += weight * expected, weights += weight;
    }
    return sum / weights;
  }

  [[nodiscard]] bool is_new(const Point& point) const { return !given.contains(point); }
  std::optional<Point> draw(base::Rng& rng) const {
    for (int attempt = 0; attempt < 50; ++attempt)
      if (auto point = space.sample(rng); point && is_new(*point)) return point;
    if (space.enumerated() && given.size() < 2 * space.points().size()) {
      const auto all = space.points();
      const size_t start = rng.below(all.size());
      for (size_t i = 0; i < all.size(); ++i)
        if (const Point& point = all[(start + i) % all.size()]; is_new(point)) return point;
    }
    return std::nullopt;
  }

  std::optional<Point> first_point(base::Rng& rng) const;
  std::optional<Point> choose(base::Rng& rng);
  std::optional<Point> warm_point(base::Rng& rng) const;
  std::vector<Point> candidates(base::Rng& rng, bool& finishing) const;
  std::vector<int> elites() const;
  std::vector<Point> sampled(base::Rng& rng, int count) const;
};

std::vector<Point> Tuner::State::sampled(base::Rng& rng, int count) const {
  std::vector<Point> found;
  for (int i = 0; i < count; ++i)
    if (auto point = space.sample(rng); point && is_new(*point)) found.push_back(std::move(*point));
  return found;
}

std::optional<Point> Tuner::State::first_point(base::Rng& rng) const {
  std::vector<Point> drawn = sampled(rng, kSpreadOf);
  if (drawn.empty()) return draw(rng);
  const size_t d = features.size();
  std::vector<float> row(d);
  const auto encoded = [&](const Point& point) {
    std::vector<float> values(d);
    features.encode(point, values.data());
    return values;
  };
  const auto distance = [&](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (size_t c = 0; c < d; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
  };
  std::vector<std::vector<float>> taken;
  for (const Observation& o : told) taken.push_back(encoded(o.point));
  for (const auto& [point, value] : pending) taken.push_back(encoded(point));
  const Point* chosen = nullptr;
  double farthest = -std::numeric_limits<double>::infinity();
  for (const Point& point : drawn) {
    const auto here = encoded(point);
    // The first is near the middle; each further one far from all before it.
    double score = 0;
    if (taken.empty()) {
      if (options.centre) score = -distance(here, std::vector<float>(d, 0.5f));
    } else {
      score = std::numeric_limits<double>::infinity();
      for (const auto& other : taken) score = std::min(score, distance(here, other));
    }
    if (score > farthest) farthest = score, chosen = &point;
  }
  return *chosen;
}

std::optional<Point> Tuner::State::warm_point(base::Rng& rng) const {
  // What the sources think best: of an enumerated space all points are asked about.
  std::vector<Point> drawn;
  if (space.enumerated()) drawn.assign(space.points().begin(), space.points().end());
  else drawn = sampled(rng, 2000);
  const auto opinions = opinions_of(drawn);
  const Point* chosen = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < drawn.size(); ++i) {
    double sum = 0;
    for (const auto& opinion : opinions) sum += opinion[i];
    if (sum < least && is_new(drawn[i])) least = sum, chosen = &drawn[i];
  }
  return chosen ? std::optional(*chosen) : std::nullopt;
}

std::vector<int> Tuner::State::elites() const {
  std::vector<int> order;
  for (size_t i = restart_from; i < told.size(); ++i)
    if (told[i].log_cost) order.push_back(static_cast<int>(i));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return *told[static_cast<size_t>(a)].log_cost < *told[static_cast<size_t>(b)].log_cost; });
  if (order.size() > static_cast<size_t>(options.elites)) order.resize(static_cast<size_t>(options.elites));
  return order;
}

std::vector<Point> Tuner::State::candidates(base::Rng& rng, bool& finishing) const {
  std::vector<Point> found;
  PointSet in_pool;
  const auto add = [&](const Point& point) {
    if (is_new(point) && in_pool.insert(point).second) found.push_back(point);
  };
  const auto done = static_cast<double>(told.size() + pending.size());
  finishing = budget > 0 && options.final_pass > 0 && best >= 0 && done >= (1 - options.final_pass) * budget;
  if (finishing) {
    for (const Point& point : space.neighbours(told[static_cast<size_t>(best)].point)) add(point);
    if (!found.empty()) return found;
    finishing = false;
  }
  if (options.local) {
    for (const int elite : elites()) {
      const Point& centre = told[static_cast<size_t>(elite)].point;
      for (const Point& point : space.neighbours(centre)) add(point);
      // Two parameters at once: what constraints couple cannot move alone.
      for (int i = 0; i < 20; ++i) {
        Point other = centre;
        for (int change = 0; change < 2; ++change) {
          const size_t p = rng.below(other.size());
          other[p] = static_cast<uint16_t>(rng.below(space.parameters()[p].values.size()));
        }
        if (space.allowed(other)) add(other);
      }
    }
    const auto most = static_cast<size_t>(std::max(1, options.pool - options.samples));
    while (found.size() > most) {
      std::swap(found[rng.below(found.size())], found.back());
      found.pop_back();
    }
  }
  const int samples = options.local ? options.samples : options.pool;
  for (const Point& point : sampled(rng, samples)) add(point);
  if (found.empty())
    if (auto point = draw(rng)) found.push_back(*point);
  return found;
}

std::optional<Point> Tuner::State::choose(base::Rng& rng) {
  const size_t done = told.size() + pending.size();
  if (!sources.empty() && done < static_cast<size_t>(options.initial_warm)) return warm_point(rng);
  size_t good = 0;
  for (const Observation& o : told) good += o.log_cost.has_value();
  // Who has sources or hints begins with what they say; others look around first.
  const bool know_enough = sources.empty() && hints.empty() ? done >= static_cast<size_t>(options.initial) && good >= 2 : good >= 1;
  if (!know_enough) return sources.empty() ? first_point(rng) : warm_point(rng);
  if (!options.gaussian && !options.forest) return draw(rng);
  if (options.stagnation > 0 && static_cast<int>(told.size()) - last_gain >= options.stagnation) {
    // A restart: neighbourhoods are those of what is found from now on; models keep all they know.
    restart_from = told.size();
    last_gain = static_cast<int>(told.size());
    ++restarts;
  }

  bool finishing = false;
  pool = candidates(rng, finishing);
  if (pool.empty()) return std::nullopt;

  // What models learn from.
  std::vector<double> logs;
  for (const Observation& o : told)
    if (o.log_cost) logs.push_back(*o.log_cost);
  std::vector<double> sorted = logs;
  std::sort(sorted.begin(), sorted.end());
  const double ceiling = sorted[std::min(sorted.size() - 1, static_cast<size_t>(options.clip * static_cast<double>(sorted.size())))];
  std::vector<size_t> learn(told.size());
  std::iota(learn.begin(), learn.end(), size_t{0});
  if (learn.size() > kMostRows) {
    const auto cost = [&](size_t i) { return told[i].log_cost.value_or(std::numeric_limits<double>::infinity()); };
    const auto middle = learn.end() - static_cast<std::ptrdiff_t>(kMostRows / 2);
    std::stable_sort(learn.begin(), middle, [&](size_t a, size_t b) { return cost(a) < cost(b); });
    learn.erase(learn.begin() + static_cast<std::ptrdiff_t>(kMostRows / 2), middle);
  }
  std::vector<Point> points;
  std::vector<double> values;
  for (const size_t i : learn) {
    points.push_back(told[i].point);
    values.push_back(std::min(told[i].log_cost.value_or(ceiling), ceiling));
  }
  for (const auto& [point, value] : pending) {
    points.push_back(point);
    values.push_back(value);
  }

  // The sources' opinion is the mean that models start from.
  const auto learnt_opinions = opinions_of(points), pool_opinions = opinions_of(pool);
  const auto weights = source_weights(learnt_opinions, values, options.guard);
  const auto prior = [&](const std::vector<std::vector<double>>& opinions, size_t i) {
    double sum = 0;
    for (size_t s = 0; s < opinions.size(); ++s) sum += weights[s] * opinions[s][i];
    return opinions.empty() ? 0 : sum / static_cast<double>(opinions.size());
  };
  double slope = 0;
  if (!sources.empty()) {
    // Least squares, drawn towards the prior's slope as strongly as five measurements a spread apart would.
    double mean_p = 0, mean_v = 0, pp = 0, pv = 0;
    for (size_t i = 0; i < values.size(); ++i) mean_p += prior(learnt_opinions, i) / static_cast<double>(values.size()), mean_v += values[i] / static_cast<double>(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double p = prior(learnt_opinions, i) - mean_p;
      pp += p * p;
      pv += p * (values[i] - mean_v);
    }
    slope = std::max(0.0, (pv + 5 * options.prior_weight) / (pp + 5));
  }
  // What diagnoses expect, likewise; the points they were made of prove nothing.
  std::vector<double> learnt_hints(values.size()), pool_hints(pool.size());
  double trust = 0;
  if (!hints.empty()) {
    std::vector<std::pair<double, double>> proofs;
    for (size_t i = 0; i < points.size(); ++i) {
      learnt_hints[i] = hinted(points[i]);
      const bool own = std::any_of(hints.begin(), hints.end(), [&](const auto& h) { return h.first.at == points[i]; });
      if (!own) proofs.emplace_back(learnt_hints[i], values[i] - slope * prior(learnt_opinions, i));
    }
    for (size_t i = 0; i < pool.size(); ++i) pool_hints[i] = hinted(pool[i]);
    double mean_h = 0, mean_v = 0, hh = 0, hv = 0;
    for (const auto& [h, v] : proofs) mean_h += h / static_cast<double>(proofs.size()), mean_v += v / static_cast<double>(proofs.size());
    for (const auto& [h, v] : proofs) hh += (h - mean_h) * (h - mean_h), hv += (h - mean_h) * (v - mean_v);
    const double worth = kHintWorth * kHintSpread * kHintSpread;
    trust = std::clamp((hv + kHintTrust * worth) / (hh + worth), 0.0, 1.0);
  }
  std::vector<float> residual(values.size());
  for (size_t i = 0; i < values.size(); ++i) residual[i] = static_cast<float>(values[i] - slope * prior(learnt_opinions, i) - trust * learnt_hints[i]);

  const auto learnt_rows = rows(points, learnt_opinions), pool_rows = rows(pool, pool_opinions);
  std::vector<Belief> mixed(pool.size(), Belief{0, 0});
  const double share = options.gaussian && options.forest ? 0.5 : 1;
  const auto mix = [&](const std::vector<Belief>& one) {
    for (size_t i = 0; i < pool.size(); ++i) {
      // First and second moments; turned into a deviation below.
      mixed[i].mean += share * one[i].mean;
      mixed[i].deviation += share * (one[i].deviation * one[i].deviation + one[i].mean * one[i].mean);
    }
  };
  if (options.gaussian) {
    const int steps = values.size() < 40 ? 6 : values.size() < 100 ? 2 : asked % 4 == 0 ? 1 : 0;
    gaussian->fit(learnt_rows, residual, steps);
    mix(gaussian->predict(pool_rows, options.own));
  }
  if (options.forest) {
    forest.fit(learnt_rows, residual, rng);
    mix(forest.predict(pool_rows));
  }
  size_t chosen = 0;
  double most = -std::numeric_limits<double>::infinity();
  const double best_value = sorted.front();
  for (size_t i = 0; i < pool.size(); ++i) {
    Belief& belief = mixed[i];
    belief.deviation = std::sqrt(std::max(1e-10, belief.deviation - belief.mean * belief.mean));
    belief.mean += slope * prior(pool_opinions, i) + trust * pool_hints[i];
    const double score = finishing ? -belief.mean : expected_improvement(belief, best_value);
    if (score > most) most = score, chosen = i;
  }
  beliefs[pool[chosen]] = mixed[chosen];
  return pool[chosen];
}

Tuner::Tuner(Space space, uint64_t seed, int budget, std::span<const Experience> warm, TunerOptions options)
    : state_(std::make_unique<State>(std::move(space), seed, budget, warm, options)) {}
Tuner::~Tuner() = default;

std::vector<Point> Tuner::ask(int most) {
  State& s = *state_;
  std::vector<Point> batch;
  while (static_cast<int>(batch.size()) < most) {
    base::Rng rng(s.seed, 0x74756e65 + s.asked);
    auto point = s.choose(rng);
    if (!point) break;
    ++s.asked;
    s.given.insert(*point);
    // Until it is told, a point counts as what models expect of it.
    const auto known = s.beliefs.find(*point);
    double value = 0;
    if (known != s.beliefs.end()) value = known->second.mean;
    else if (s.best >= 0) value = *s.told[static_cast<size_t>(s.best)].log_cost;
    s.pending.emplace_back(*point, value);
    batch.push_back(std::move(*point));
  }
  return batch;
}

void Tuner::tell(const Point& point, std::optional<double> cost) {
  State& s = *state_;
  std::erase_if(s.pending, [&](const auto& waiting) { return waiting.first == point; });
  s.given.insert(point);
  std::optional<double> log_cost;
  if (cost && *cost > 0 && std::isfinite(*cost)) log_cost = std::log(*cost);
  s.told.push_back({point, log_cost});
  if (log_cost && (s.best < 0 || *log_cost < *s.told[static_cast<size_t>(s.best)].log_cost)) {
    s.best = static_cast<int>(s.told.size()) - 1;
    s.last_gain = static_cast<int>(s.told.size());
  }
}

void Tuner::hint(Hint hint) {
  State& s = *state_;
  const auto told = std::find_if(s.told.begin(), s.told.end(), [&](const State::Observation& o) { return o.point == hint.at && o.log_cost; });
  if (told != s.told.end()) s.hints.emplace_back(std::move(hint), *told->log_cost);
}

const Space& Tuner::space() const { return state_->space; }

std::optional<Point> Tuner::champion() const {
  return state_->best < 0 ? std::nullopt : std::optional(state_->told[static_cast<size_t>(state_->best)].point);
}

std::optional<Belief> Tuner::belief(const Point& point) const {
  const auto known = state_->beliefs.find(point);
  return known == state_->beliefs.end() ? std::nullopt : std::optional(known->second);
}

std::span<const Point> Tuner::looked_at() const { return state_->pool; }

}  // namespace hone::search::tune
