#include "hone/face/mcp/speed.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/target/calibrate/speed_of_light.h"

namespace hone::face::mcp {

using nlohmann::json;

namespace {

/// Repetitions further apart than this say that somebody else used the machine.
constexpr double kNoisy = 1.25;

/// How far times are to be believed, by how far apart the repetitions' ratios lie.
json noise_of(int pairs, double spread) {
  json noise = {{"pairs", pairs}};
  if (pairs < 2) {
    noise["says"] = "one pair: nothing is known of noise";
    return noise;
  }
  noise["largest_over_least_ratio"] = spread;
  noise["says"] = spread > kNoisy ? "noisy: others used the machine, or calls are too short; least times are disturbed least, compare_kernels decides between two kernels"
                                  : "steady; compare_kernels decides between two kernels that are close";
  return noise;
}

}  // namespace

json speed_of(const evaluate::Screening& screening, const task::Task& task, const std::vector<double>& bounds, const std::vector<evaluate::LightBound>& light) {
  std::vector<double> fractions, weights, least_fractions, least_ratios;
  json workloads = json::array();
  double spread = 1;
  for (size_t w = 0; w < screening.median_ns.size() && w < bounds.size(); ++w) {
    fractions.push_back(bounds[w] / screening.median_ns[w]);
    weights.push_back(task.workloads[w].weight);
    json row = {{"name", task.workloads[w].name}, {"shape", task::bindings_text(task.workloads[w].bindings)}, {"median_ns", screening.median_ns[w]},
                {"bound_ns", bounds[w]}, {"fraction_of_speed_of_light", fractions.back()}, {"speedup_over_plain_loops", {{"median", screening.ratio.at(w)}}}};
    if (w < screening.ratio_low.size()) {
      row["speedup_over_plain_loops"]["low"] = screening.ratio_low[w], row["speedup_over_plain_loops"]["high"] = screening.ratio_high[w];
      spread = std::max(spread, screening.ratio_high[w] / std::max(screening.ratio_low[w], 1e-12));
    }
    if (w < screening.least_ns.size() && screening.least_ns[w] > 0) {
      const double least = screening.least_ns[w], other = screening.yardstick_least_ns.at(w);
      least_fractions.push_back(bounds[w] / least);
      json& at = row["at_the_least_time"] = {{"ns", least}, {"fraction_of_speed_of_light", least_fractions.back()}};
      if (w < light.size()) at["bytes_per_ns"] = light[w].bytes / least;
      if (other > 0) at["speedup_over_plain_loops"] = other / least, least_ratios.push_back(other / least);
    }
    if (fractions.back() > 1 || (!least_fractions.empty() && least_fractions.size() == fractions.size() && least_fractions.back() > 1))
      row["bound_note"] = fmt::format("{}; it was measured again beside this kernel, and the less counts", target::kAboveLight);
    workloads.push_back(std::move(row));
  }
  // Over all workloads; nobody is told a ratio without how far the repetitions lay apart.
  json speedup = {{"median", screening.score}};
  if (!weights.empty() && screening.ratio_low.size() == weights.size())
    speedup["low"] = evaluate::weighted_geometric_mean(screening.ratio_low, weights), speedup["high"] = evaluate::weighted_geometric_mean(screening.ratio_high, weights);
  json out = {{"speedup_over_plain_loops", std::move(speedup)}, {"fraction_of_speed_of_light", evaluate::weighted_geometric_mean(fractions, weights)},
              {"workloads", std::move(workloads)}, {"noise", noise_of(screening.repetitions, spread)}};
  if (!weights.empty() && least_fractions.size() == weights.size()) {
    out["at_the_least_times"] = {{"fraction_of_speed_of_light", evaluate::weighted_geometric_mean(least_fractions, weights)}};
    if (least_ratios.size() == weights.size()) out["at_the_least_times"]["speedup_over_plain_loops"] = evaluate::weighted_geometric_mean(least_ratios, weights);
  }
  return out;
}

}  // namespace hone::face::mcp
