#include "hone/evaluate/compare/outlook.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace hone::evaluate {
namespace {

/// Beyond this many times the pairs that there were nobody should wait: less noise is what is missing.
constexpr double kMostTimes = 30;
/// Pairs that differ by this factor among themselves say that others use the machine, or that calls are too short.
constexpr double kNoisyPairs = 1.25;
/// Deviations of a pair that the deciding interval reaches to each side, times the root of the pairs: what mean and signs take at their levels.
constexpr double kReach = 4;

std::string time_of(double seconds) {
  // No more digits than a forecast has.
  const double unit = seconds < 100 ? 10 : 60;
  return fmt::format("{:.0f} s", std::ceil(seconds / unit) * unit);
}

}  // namespace

std::string would_decide(const OpponentResult& r, double seconds) {
  if (r.comparison != Comparison::kInconclusive) return {};
  if (r.stopped == name_of(StopReason::kPrecise) || r.stopped == name_of(StopReason::kEquivalent))
    return fmt::format("nothing: they are equal within {:.2g} %, and more time would only say so more sharply", 100 * r.ratio.relative_half_width());
  if (r.stopped == "clock") return "the same with the card's clock held at one frequency: counted in cycles these pairs say the opposite";
  const CompareOptions rules;
  const double pairs = std::max(1, r.pairs);
  if (!std::isfinite(r.ratio.high) || r.ratio.low <= 0) {
    const double least = std::max({rules.min_pairs / pairs, static_cast<double>(rules.min_processes) / std::max(1, r.processes), 1.0});
    return fmt::format("a larger budget: {} pairs of {} processes are too few for any interval, about {} of pairs are the least", r.pairs, r.processes, time_of(1.5 * least * seconds));
  }
  const double middle = std::log(r.ratio.median), half = middle > 0 ? middle - std::log(r.ratio.low) : std::log(r.ratio.high) - middle;
  // The interval narrows with the square root of the pairs.
  const double times = middle == 0 ? kMostTimes + 1 : (half / middle) * (half / middle);
  const double apart = std::exp(half * std::sqrt(pairs) / kReach);
  const std::string noise =
      apart > kNoisyPairs ? fmt::format("a quieter machine, or a workload whose calls are longer: pairs lie a factor of {:.2g} apart, and half of that takes a quarter of the time", apart) : "";
  if (times > kMostTimes) {
    const std::string close = fmt::format("no budget that is worth it: at {:.3g} they are too close for this noise", r.ratio.median);
    return noise.empty() ? close : close + "; " + noise;
  }
  const std::string more = fmt::format("a larger budget: about {} of pairs at this noise, if the ratio stays near {:.3g}", time_of(std::max(1.2, times) * seconds), r.ratio.median);
  return noise.empty() ? more : more + "; or " + noise;
}

}  // namespace hone::evaluate
