#include "hone/search/tune/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hone/base/random.h"
#include "hone/base/result.h"

namespace hone::search::tune {
namespace {

constexpr double kClose = 1.05;
constexpr double kCutoff = 0.05;

}  // namespace

Baseline::Baseline(std::vector<double> costs) : sorted_(std::move(costs)) {
  HONE_CHECK(!sorted_.empty(), "a baseline of nothing");
  std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
}

double Baseline::after(int k) const {
  const auto n = static_cast<double>(sorted_.size());
  const double number = std::round(k * (n + 1) / (k + 1.0));
  return sorted_[static_cast<size_t>(std::clamp(number, 1.0, n)) - 1];
}

int Baseline::cutoff(int most) const {
  const double target = optimum() + kCutoff * (median() - optimum());
  for (int k = 1; k < most; ++k)
    if (after(k) <= target) return k;
  return most;
}

double score(const Baseline& baseline, std::span<const Trace> traces, int evaluations) {
  const int cutoff = baseline.cutoff(evaluations);
  std::vector<double> best(traces.size(), baseline.worst());
  double sum = 0;
  int counted = 0;
  for (int t = 0; t < cutoff; ++t) {
    for (size_t i = 0; i < traces.size(); ++i)
      if (static_cast<size_t>(t) < traces[i].size())
        if (const auto& cost = traces[i][static_cast<size_t>(t)]) best[i] = std::min(best[i], *cost);
    const double base = baseline.after(t + 1);
    if (!(base > baseline.optimum())) continue;  // a space where random draws are at the optimum at once
    sum += (base - mean(best)) / (base - baseline.optimum());
    ++counted;
  }
  return counted > 0 ? sum / counted : 0;
}

double fraction_of_optimum(const Baseline& baseline, std::span<const Trace> traces, int evaluations) {
  double sum = 0;
  for (const Trace& trace : traces) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t t = 0; t < std::min(trace.size(), static_cast<size_t>(evaluations)); ++t)
      if (trace[t]) best = std::min(best, *trace[t]);
    sum += baseline.optimum() / best;
  }
  return sum / static_cast<double>(traces.size());
}

double expected_evaluations(const Baseline& baseline, std::span<const Trace> traces, int evaluations) {
  double spent = 0;
  int found = 0;
  for (const Trace& trace : traces) {
    const size_t most = std::min(trace.size(), static_cast<size_t>(evaluations));
    size_t t = 0;
    while (t < most && !(trace[t] && *trace[t] <= kClose * baseline.optimum())) ++t;
    found += t < most;
    spent += static_cast<double>(t < most ? t + 1 : most);
  }
  return found > 0 ? spent / found : std::numeric_limits<double>::infinity();
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

namespace detail {

std::vector<Trace> resample(std::span<const Trace> traces, uint64_t seed, uint64_t number) {
  base::Rng rng(seed, 0x626f6f74 + number);
  std::vector<Trace> drawn;
  drawn.reserve(traces.size());
  for (size_t i = 0; i < traces.size(); ++i) drawn.push_back(traces[rng.below(traces.size())]);
  return drawn;
}

Interval interval_of(double value, std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) { return samples[static_cast<size_t>(share * static_cast<double>(samples.size() - 1) + 0.5)]; };
  return {value, at(0.025), at(0.975)};
}

}  // namespace detail
}  // namespace hone::search::tune
