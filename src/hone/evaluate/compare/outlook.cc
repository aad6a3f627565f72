#include "hone/evaluate/compare/outlook.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "hone/evaluate/compare/sequence.h"
#include "hone/evaluate/compare/statistics.h"

namespace hone::evaluate {
namespace {

/// Beyond this many times the pairs that there were nobody should wait: less noise is what is missing.
constexpr double kMostTimes = 30;
/// Processes that differ by this factor among themselves say that others use the machine, or that calls are too short.
constexpr double kNoisyProcesses = 1.25;

/// How far the interval of process medians reaches to each side, in their deviations: far where they are few.
double reach(int processes) {
  std::vector<double> medians;
  for (int i = 0; i < processes; ++i) {
    const double q = 2 * (i + 0.5) / processes - 1;
    medians.push_back(std::copysign(q == 0 ? 0 : normal_z(std::abs(q)), q));
  }
  const Interval interval = mean_sequence(medians, kShareOfT * CompareOptions().alpha, kEffectScale);
  return 0.5 * (interval.high - interval.low);
}

/// The fewest processes whose interval reaches no further than `least` deviations; more than `most`: none up to there.
int processes_for(double least, int from, int most) {
  int low = from, high = most + 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (reach(middle) <= least) high = middle;
    else low = middle + 1;
  }
  return low;
}

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
  // By how far apart processes lie, how many of them the interval needs that stops before 1.
  const int processes = std::max(rules.min_processes, r.processes), most = static_cast<int>(kMostTimes) * processes;
  const double deviation = half / reach(processes);
  const int needed = middle == 0 ? most + 1 : processes_for(std::abs(middle) / deviation, processes, most);
  const double times = static_cast<double>(needed) / processes, apart = std::exp(deviation);
  const std::string noise =
      apart > kNoisyProcesses ? fmt::format("a quieter machine, or a workload whose calls are longer: processes lie a factor of {:.2g} apart, and half of that takes a quarter of the time", apart) : "";
  if (needed > most) {
    const std::string close = fmt::format("no budget that is worth it: at {:.3g} they are too close for this noise", r.ratio.median);
    return noise.empty() ? close : close + "; " + noise;
  }
  const std::string more = fmt::format("a larger budget: about {} of pairs at this noise, if the ratio stays near {:.3g}", time_of(std::max(1.2, times) * seconds), r.ratio.median);
  return noise.empty() ? more : more + "; or " + noise;
}

}  // namespace hone::evaluate
