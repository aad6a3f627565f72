#include "hone/engine/summary.h"

#include <algorithm>
#include <cmath>

namespace hone::engine {
namespace {

/// Of medians and ends of intervals, each for itself.
evaluate::Ratio mean_of(const std::vector<evaluate::Ratio>& ratios, const std::vector<double>& weights) {
  std::vector<double> medians, lows, highs;
  for (const evaluate::Ratio& ratio : ratios) {
    medians.push_back(ratio.median);
    lows.push_back(std::max(ratio.low, 1e-9));
    highs.push_back(ratio.high);
  }
  return {evaluate::weighted_geometric_mean(medians, weights), evaluate::weighted_geometric_mean(lows, weights),
          evaluate::weighted_geometric_mean(highs, weights)};
}

}  // namespace

using evaluate::Comparison;
using evaluate::OpponentResult;
using evaluate::Promotion;

std::optional<Headline> against(const Promotion& promotion, const task::Task& task, const std::string& opponent) {
  Headline line;
  line.opponent = opponent;
  std::vector<evaluate::Ratio> ratios, without;
  std::vector<double> dispatch, sol, weights;
  std::optional<Comparison> all;
  for (size_t w = 0; w < promotion.workloads.size(); ++w) {
    const auto& workload = promotion.workloads[w];
    const auto it = std::find_if(workload.opponents.begin(), workload.opponents.end(),
                                 [&](const OpponentResult& o) { return o.opponent == opponent; });
    if (it == workload.opponents.end()) return std::nullopt;
    ratios.push_back(it->ratio);
    without.push_back(it->without_dispatch());
    dispatch.push_back(it->dispatch_ns);
    weights.push_back(w < task.workloads.size() ? task.workloads[w].weight : 1);
    sol.push_back(std::max(workload.sol_fraction, 1e-9));
    all = all && *all != it->comparison ? Comparison::kInconclusive : it->comparison;
  }
  if (ratios.empty()) return std::nullopt;
  line.speedup = mean_of(ratios, weights);
  line.without_dispatch = mean_of(without, weights);
  if (std::all_of(dispatch.begin(), dispatch.end(), [](double ns) { return ns > 0; }))
    line.dispatch_ns = evaluate::weighted_geometric_mean(dispatch, weights);
  line.sol_fraction = evaluate::weighted_geometric_mean(sol, weights);
  line.comparison = all.value_or(Comparison::kInconclusive);
  return line;
}

Headline headline_of(const Promotion& promotion, const task::Task& task) {
  Headline strongest;
  std::vector<double> sol, weights;
  for (size_t w = 0; w < promotion.workloads.size(); ++w) {
    sol.push_back(std::max(promotion.workloads[w].sol_fraction, 1e-9));
    weights.push_back(w < task.workloads.size() ? task.workloads[w].weight : 1);
  }
  strongest.sol_fraction = evaluate::weighted_geometric_mean(sol, weights);
  if (promotion.workloads.empty()) return strongest;
  for (const OpponentResult& o : promotion.workloads.front().opponents) {
    const auto line = against(promotion, task, o.opponent);
    if (line && (strongest.opponent.empty() || line->speedup.median < strongest.speedup.median)) strongest = *line;
  }
  return strongest;
}

}  // namespace hone::engine
