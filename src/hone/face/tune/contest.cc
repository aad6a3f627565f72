#include "hone/face/tune/contest.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/search/tune/baselines.h"

namespace hone::face::tuning {

namespace tune = search::tune;

namespace {

constexpr int kMilestones[] = {25, 50, 100, 200};

struct Part {
  std::string_view name;
  void (*remove)(tune::TunerOptions&);
};
constexpr Part kParts[] = {
    {"local", [](tune::TunerOptions& o) { o.local = false; }},
    {"centre", [](tune::TunerOptions& o) { o.centre = false; }},
    {"clip", [](tune::TunerOptions& o) { o.clip = 1; }},
    {"restart", [](tune::TunerOptions& o) { o.stagnation = 0; }},
    {"own", [](tune::TunerOptions& o) { o.own = 0; }},
    {"final", [](tune::TunerOptions& o) { o.final_pass = 0; }},
    {"guard", [](tune::TunerOptions& o) { o.guard = false; }},
};

}  // namespace

Result<Method> method_from(std::string_view name) {
  Method method;
  method.name = std::string(name);
  const auto unknown = [&](std::string_view what) {
    std::string parts;
    for (const Part& part : kParts) parts += fmt::format("{}-{}", parts.empty() ? "" : ", ", part.name);
    return fail(ErrorCode::kUsage, fmt::format("unknown method \"{}\"{}", name, what),
                fmt::format("methods are random, genetic, tuner, warm, forest, mixed; parts to leave out of all but the first two: {}", parts));
  };
  std::string_view rest = name.substr(0, name.find('-'));
  if (rest == "random") method.kind = Method::Kind::kRandom;
  else if (rest == "genetic") method.kind = Method::Kind::kGenetic;
  else if (rest == "warm") method.warm = true;
  else if (rest == "forest") method.options.gaussian = false, method.options.forest = true;
  else if (rest == "mixed") method.options.forest = true;
  else if (rest != "tuner") return unknown("");
  name.remove_prefix(rest.size());
  while (!name.empty()) {
    name.remove_prefix(1);
    rest = name.substr(0, name.find('-'));
    const auto part = std::find_if(std::begin(kParts), std::end(kParts), [&](const Part& p) { return p.name == rest; });
    if (part == std::end(kParts) || method.kind != Method::Kind::kTuner) return unknown(fmt::format(": no part \"{}\"", rest));
    part->remove(method.options);
    name.remove_prefix(rest.size());
  }
  return method;
}

std::unique_ptr<tune::Searcher> searcher_of(const Method& method, const tune::Space& space, std::span<const tune::Experience> warm,
                                            const Contest& contest, int repeat) {
  // Far apart, so that one seed's repeats are not another's.
  const uint64_t seed = contest.seed * 1'000'003 + static_cast<uint64_t>(repeat);
  switch (method.kind) {
    case Method::Kind::kRandom: return tune::random_search(space, seed);
    case Method::Kind::kGenetic: return tune::genetic_search(space, seed);
    default: return std::make_unique<tune::Tuner>(space, seed, contest.evaluations, warm, method.options);
  }
}

tune::Replay replay_of(const Method& method, const tune::TuningCache& cache, std::span<const tune::Experience> warm,
                       const Contest& contest, int repeat) {
  const tune::Space space = cache.space();
  tune::PointMap<size_t> index;
  for (size_t n = 0; n < cache.points.size(); ++n) index[cache.points[n]] = n;
  const auto searcher = searcher_of(method, space, warm, contest, repeat);
  return tune::replay(*searcher, [&](const tune::Point& point) { return cache.measured[index.at(point)].cost; },
                      contest.evaluations, contest.batch);
}

Score score_of(std::string_view space, const Method& method, const tune::TuningCache& cache, std::span<const tune::Replay> replays,
               const Contest& contest) {
  std::vector<double> costs;
  for (const tune::Measured& m : cache.measured)
    if (m.cost) costs.push_back(*m.cost);
  const tune::Baseline baseline(std::move(costs));
  std::vector<tune::Trace> traces;
  Score result{std::string(space), method.name, {}, {}, {}, 0, {}};
  double evaluations = 0;
  for (const tune::Replay& replay : replays) {
    traces.push_back(replay.costs);
    result.search_ms += 1e3 * replay.search_seconds;
    evaluations += static_cast<double>(replay.costs.size());
  }
  result.search_ms /= std::max(1.0, evaluations);
  using Traces = std::span<const tune::Trace>;
  result.p = tune::bootstrap(traces, contest.seed, [&](Traces t) { return tune::score(baseline, t, contest.evaluations); });
  result.expected = tune::bootstrap(traces, contest.seed, [&](Traces t) { return tune::expected_evaluations(baseline, t, contest.evaluations); });
  for (const int n : kMilestones)
    if (n <= contest.evaluations)
      result.fractions.emplace_back(n, tune::bootstrap(traces, contest.seed, [&](Traces t) { return tune::fraction_of_optimum(baseline, t, n); }));
  for (int n = 1; n <= contest.evaluations; ++n) result.curve.push_back(tune::fraction_of_optimum(baseline, traces, n));
  return result;
}

RaceScore race_of(std::string_view space, const Method& method, const tune::TuningCache& cache, const Contest& contest) {
  RaceScore result;
  result.space = space;
  const tune::Space points = cache.space();
  for (int r = 0; r < contest.repeats; ++r) {
    const auto searcher = searcher_of(method, points, {}, contest, r);
    const tune::RacedReplay raced = tune::raced_replay(*searcher, cache, contest.evaluations);
    result.mean_loss += raced.loss / contest.repeats;
    result.mean_share += raced.device_share / contest.repeats;
    result.largest_loss = std::max(result.largest_loss, raced.loss);
    result.largest_share = std::max(result.largest_share, raced.device_share);
  }
  return result;
}

}  // namespace hone::face::tuning
