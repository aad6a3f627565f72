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

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

/// The opponent whose ratio, of what `ratio` says, is least; nothing when none took part.
template <class Of>
const Speedup* least(const Row& row, Of ratio) {
  const auto it = std::min_element(row.speedups.begin(), row.speedups.end(),
                                   [&](const Speedup& a, const Speedup& b) { return ratio(a).median < ratio(b).median; });
  return it == row.speedups.end() ? nullptr : &*it;
}

const evaluate::Ratio& whole(const Speedup& s) { return s.ratio; }
const evaluate::Ratio& without_dispatch(const Speedup& s) { return s.without_dispatch(); }

void count(Calls& calls, Comparison said) {
  ++(said == Comparison::kFaster ? calls.faster : said == Comparison::kSlower ? calls.slower : calls.inconclusive);
}

/// By opponent and for kBest; `ratio` says what of a speedup.
template <class Of>
std::map<std::string, Ratios> ratios_by_opponent(const std::vector<Row>& rows, const std::set<std::string>& opponents, Of ratio) {
  const auto collect = [&](const auto& of_row) {
    std::vector<double> values;
    for (const Row& row : rows) {
      if (!row.accepted()) values.push_back(1);
      else if (const Speedup* s = of_row(row)) values.push_back(ratio(*s).median);
    }
    return ratios_of(std::move(values));
  };
  std::map<std::string, Ratios> all;
  for (const std::string& name : opponents) all[name] = collect([&](const Row& row) { return row.against(name); });
  if (!opponents.empty()) all[kBest] = collect([&](const Row& row) { return least(row, ratio); });
  return all;
}

/// {"geomean": {...}, "median": {...}}, a member an opponent.
json ratios_json(const std::map<std::string, Ratios>& all, const std::string& suffix) {
  json geomean = json::object(), median = json::object();
  for (const auto& [name, ratios] : all) {
    geomean[name] = ratios.geomean;
    median[name] = ratios.median;
  }
  return {{"geomean" + suffix, geomean}, {"median" + suffix, median}};
}

json calls_json(const Calls& calls, const std::string& suffix) {
  return {{"faster" + suffix, calls.faster}, {"slower" + suffix, calls.slower}, {"inconclusive" + suffix, calls.inconclusive}};
}

}  // namespace

const Speedup* strongest(const Row& row) { return least(row, whole); }
const Speedup* strongest_without_dispatch(const Row& row) { return least(row, without_dispatch); }

Summary summary_of(const std::vector<Row>& rows) {
  Summary out;
  out.total = static_cast<int>(rows.size());
  int compiled = 0;
  std::set<std::string> opponents;
  std::map<std::string, std::vector<double>> dispatch;
  double least = 0, plain = 0;
  for (const Row& row : rows) {
    least += row.least_ns;
    plain += row.plain_share * row.least_ns;
    compiled += row.compiled ? 1 : 0;
    out.seconds += row.seconds;
    for (const Speedup& s : row.speedups) {
      opponents.insert(s.opponent);
      if (s.dispatch_ns > 0) dispatch[s.opponent].push_back(s.dispatch_ns);
    }
    if (!row.accepted()) continue;
    ++out.accepted;
    count(out.calls, row.comparison);
    const Speedup* const lowest = strongest_without_dispatch(row);
    count(out.calls_without_dispatch, lowest ? lowest->comparison_without_dispatch() : row.comparison);
  }
  if (least > 0) out.plain_share = plain / least;
  if (!rows.empty()) out.compiled_fraction = static_cast<double>(compiled) / static_cast<double>(rows.size());
  out.ratios = ratios_by_opponent(rows, opponents, whole);
  out.ratios_without_dispatch = ratios_by_opponent(rows, opponents, without_dispatch);
  for (auto& [name, values] : dispatch) out.dispatch_ns[name] = median_of(std::move(values));
  return out;
}

json result_json(const std::vector<Row>& rows) {
  const Summary summary = summary_of(rows);
  json all = json::array(), counted = json::object();
  for (const Row& row : rows) all.push_back(to_json(row));
  for (const auto& [name, ratios] : summary.ratios) counted[name] = ratios.rows;
  json head = {{"total", summary.total}, {"accepted", summary.accepted}, {"compiled_fraction", summary.compiled_fraction},
               {"counted", counted}, {"dispatch_ns", summary.dispatch_ns}, {"seconds", summary.seconds}, {"plain_share", summary.plain_share}};
  constexpr const char* kWithout = "_without_dispatch";
  for (const json& part : {ratios_json(summary.ratios, ""), ratios_json(summary.ratios_without_dispatch, kWithout),
                           calls_json(summary.calls, ""), calls_json(summary.calls_without_dispatch, kWithout)})
    head.update(part);
  return {{"rows", all}, {"summary", head}};
}

}  // namespace hone::face::bench
