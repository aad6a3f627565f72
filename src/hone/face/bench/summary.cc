#include "hone/face/bench/summary.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

namespace hone::face::bench {
namespace {

using evaluate::Comparison;
using nlohmann::json;

Ratios ratios_of(std::vector<double> values) {
  Ratios out;
  out.rows = static_cast<int>(values.size());
  if (values.empty()) return out;
  double logs = 0;
  for (const double v : values) logs += std::log(v);
  out.geomean = std::exp(logs / static_cast<double>(values.size()));
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  out.median = values.size() % 2 == 1 ? values[middle] : std::sqrt(values[middle - 1] * values[middle]);
  return out;
}

}  // namespace

const Speedup* strongest(const Row& row) {
  const auto it = std::min_element(row.speedups.begin(), row.speedups.end(),
                                   [](const Speedup& a, const Speedup& b) { return a.ratio.median < b.ratio.median; });
  return it == row.speedups.end() ? nullptr : &*it;
}

Summary summary_of(const std::vector<Row>& rows) {
  Summary out;
  out.total = static_cast<int>(rows.size());
  int compiled = 0;
  std::set<std::string> opponents;
  for (const Row& row : rows) {
    compiled += row.compiled ? 1 : 0;
    out.seconds += row.seconds;
    for (const Speedup& s : row.speedups) opponents.insert(s.opponent);
    if (!row.accepted()) continue;
    ++out.accepted;
    ++(row.comparison == Comparison::kFaster ? out.faster : row.comparison == Comparison::kSlower ? out.slower : out.inconclusive);
  }
  if (!rows.empty()) out.compiled_fraction = static_cast<double>(compiled) / static_cast<double>(rows.size());
  const auto collect = [&](const auto& of_row) {
    std::vector<double> values;
    for (const Row& row : rows) {
      if (!row.accepted()) values.push_back(1);
      else if (const Speedup* s = of_row(row)) values.push_back(s->ratio.median);
    }
    return ratios_of(std::move(values));
  };
  for (const std::string& name : opponents) out.ratios[name] = collect([&](const Row& row) { return row.against(name); });
  if (!opponents.empty()) out.ratios[kBest] = collect(strongest);
  return out;
}

json result_json(const std::vector<Row>& rows) {
  const Summary summary = summary_of(rows);
  json all = json::array(), geomean = json::object(), median = json::object(), counted = json::object();
  for (const Row& row : rows) all.push_back(to_json(row));
  for (const auto& [name, ratios] : summary.ratios) {
    geomean[name] = ratios.geomean;
    median[name] = ratios.median;
    counted[name] = ratios.rows;
  }
  return {{"rows", all},
          {"summary", {{"total", summary.total}, {"accepted", summary.accepted}, {"compiled_fraction", summary.compiled_fraction},
                       {"geomean", geomean}, {"median", median}, {"counted", counted}, {"faster", summary.faster},
                       {"slower", summary.slower}, {"inconclusive", summary.inconclusive}, {"seconds", summary.seconds}}}};
}

}  // namespace hone::face::bench
