// How good a search is, by the tuning community's measures (Willemsen et al., "A Methodology for Comparing
// Auto-Tuning Optimization Algorithms"): against the expected best of random draws, from replays of a space of which
// everything is known. Pure; thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hone::search::tune {

/// A space's valid costs, and what random draws make of them.
class Baseline {
 public:
  /// `costs`: those of all configurations that work; at least one.
  explicit Baseline(std::vector<double> costs);
  [[nodiscard]] double optimum() const { return sorted_.back(); }
  [[nodiscard]] double median() const { return sorted_[sorted_.size() / 2]; }
  [[nodiscard]] double worst() const { return sorted_.front(); }
  /// Expected best cost of k >= 1 draws: with N costs from worst to best, number round(k (N + 1) / (k + 1)).
  [[nodiscard]] double after(int k) const;
  /// The draws after which the baseline has passed optimum + 0.05 (median - optimum); at most `most`, at least 1.
  [[nodiscard]] int cutoff(int most) const;

 private:
  std::vector<double> sorted_;  ///< worst first
};

/// One replay: the cost of each evaluation in order, nothing for failed ones.
using Trace = std::vector<std::optional<double>>;

/// P: mean over evaluations 1..cutoff of (baseline - F) / (baseline - optimum), F the mean over the traces of the best
/// so far. Before anything worked a trace counts with the space's worst cost; one that ended early keeps its last.
[[nodiscard]] double score(const Baseline& baseline, std::span<const Trace> traces, int evaluations);

/// Mean over the traces of optimum / best after `evaluations`; 0 for one in which nothing worked.
[[nodiscard]] double fraction_of_optimum(const Baseline& baseline, std::span<const Trace> traces, int evaluations);

/// Expected evaluations until a cost within 5 % of the optimum: those of all traces (up to the first such cost, or all
/// `evaluations`) over the number of traces that found one. Infinite where none did.
[[nodiscard]] double expected_evaluations(const Baseline& baseline, std::span<const Trace> traces, int evaluations);

struct Interval {
  double value = 0, low = 0, high = 0;
};
/// `statistic` over the traces with its 95 % interval: percentiles of 1000 bootstrap samples of the traces.
template <class Statistic>
[[nodiscard]] Interval bootstrap(std::span<const Trace> traces, uint64_t seed, const Statistic& statistic);

/// The mean over spaces of a score, the geometric mean of ratios.
[[nodiscard]] double mean(std::span<const double> values);
[[nodiscard]] double geometric_mean(std::span<const double> values);

namespace detail {
[[nodiscard]] std::vector<Trace> resample(std::span<const Trace> traces, uint64_t seed, uint64_t number);
[[nodiscard]] Interval interval_of(double value, std::vector<double> samples);
inline constexpr int kBootstrapSamples = 1000;
}  // namespace detail

template <class Statistic>
Interval bootstrap(std::span<const Trace> traces, uint64_t seed, const Statistic& statistic) {
  std::vector<double> samples;
  for (int i = 0; i < detail::kBootstrapSamples; ++i) {
    const auto drawn = detail::resample(traces, seed, static_cast<uint64_t>(i));
    samples.push_back(statistic(std::span<const Trace>(drawn)));
  }
  return detail::interval_of(statistic(traces), std::move(samples));
}

}  // namespace hone::search::tune
