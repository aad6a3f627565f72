#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/face/bench/bench.h"
#include "hone/face/bench/page.h"
#include "hone/face/bench/summary.h"
#include "hone/face/report/units.h"

namespace hone::face::bench {

namespace {

/// A comparison is made inside one track; a suite may have tasks of several.
std::string tracks_of(const State& state) {
  std::set<std::string> names;
  for (const Entry& entry : state.entries)
    if (const auto task = task_of(entry, state.asked)) names.emplace(task::name_of(task->track));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string suite_name(const Asked& asked) {
  std::vector<std::string> names;
  if (!asked.drawn.empty()) names.push_back("drawn " + asked.drawn);
  for (const std::string& path : asked.suite) {
    const std::filesystem::path p(path);
    names.push_back(p.extension() == ".toml" ? p.stem().string() : p.filename().empty() ? p.parent_path().filename().string() : p.filename().string());
  }
  if (names.size() > 3) return fmt::format("{} and {} more", names.front(), names.size() - 1);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::pair<std::string, std::string>> conditions_table(const State& state) {
  const Asked& asked = state.asked;
  std::vector<std::pair<std::string, std::string>> table = {
      {"device", state.conditions.place.device},
      {"target", state.conditions.place.target},
      {"toolchain", state.conditions.place.toolchain},
      {"hone", state.conditions.hone},
      {"PyTorch", state.conditions.pytorch.empty() ? "none took part" : state.conditions.pytorch},
      {"begun", report::date_utc(state.created_unix_ms)},
      {"last change", report::date_utc(state.updated_unix_ms)},
      {"command", state.command},
      {"tasks", asked.drawn.empty() ? "read from files" : "drawn: " + asked.drawn},
      {"track", tracks_of(state)},
      {"workloads", asked.workloads.empty() ? "each task\u2019s own default" : fmt::format("{}", fmt::join(asked.workloads, ", "))},
      {"opponents", asked.options.opponents}};
  if (!asked.options.languages.empty()) table.emplace_back("languages", asked.options.languages);
  std::string budget;
  if (asked.options.budget_seconds > 0) budget = report::time_s(asked.options.budget_seconds);
  if (asked.options.budget_evaluations > 0) budget += fmt::format("{}{} evaluations", budget.empty() ? "" : ", ", asked.options.budget_evaluations);
  table.emplace_back("budget of a task", budget);
  const auto rows = state.rows();
  const auto recalled = std::count_if(rows.begin(), rows.end(), [](const Row& r) { return r.recalled; });
  table.emplace_back("recalled", fmt::format("{} champions of earlier runs, verified and measured anew", recalled));
  return table;
}

std::vector<std::string> opponents_of(const std::vector<Row>& rows) {
  std::set<std::string> names;
  for (const Row& row : rows)
    for (const Speedup& s : row.speedups) names.insert(s.opponent);
  return {names.begin(), names.end()};
}

bool tells_dispatch(const Summary& summary, const std::string& opponent) {
  return opponent == kBest ? !summary.dispatch_ns.empty() : summary.dispatch_ns.contains(opponent);
}

std::string plain_line(const Summary& summary) {
  return fmt::format("Of the tasks’ least time together (modelled) plain loops hold {:.1f} %, tasks without a kernel included.", 100 * summary.plain_share);
}

std::string dispatch_line(const Summary& summary) {
  if (summary.dispatch_ns.empty()) return {};
  std::vector<std::string> costs;
  for (const auto& [name, ns] : summary.dispatch_ns) costs.push_back(fmt::format("{} ({})", report::time_ns(ns), name));
  const Calls& calls = summary.calls_without_dispatch;
  return fmt::format("Dispatch, an empty call, takes {}. With that taken off each opponent\u2019s time: {} faster, {} slower, {} inconclusive; "
                     "geometric mean {} against the strongest of each row.",
                     fmt::join(costs, ", "), calls.faster, calls.slower, calls.inconclusive,
                     report::times(summary.ratios_without_dispatch.at(kBest).geomean));
}

std::vector<Row> losses(const std::vector<Row>& rows) {
  std::vector<Row> all;
  for (const Row& row : rows)
    if (const Speedup* s = strongest(row); row.accepted() && s && s->ratio.median <= 1) all.push_back(row);
  std::stable_sort(all.begin(), all.end(),
                   [](const Row& a, const Row& b) { return strongest(a)->ratio.median < strongest(b)->ratio.median; });
  return all;
}

std::vector<Row> failures(const std::vector<Row>& rows) {
  std::vector<Row> all;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(all), [](const Row& r) { return !r.accepted(); });
  return all;
}

std::vector<std::pair<std::string, std::vector<std::string>>> absences(const std::vector<Row>& rows) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Row& row : rows)
    if (row.accepted())
      for (const std::string& why : row.absent) by_reason[why].push_back(row.task);
  std::vector<std::pair<std::string, std::vector<std::string>>> all(by_reason.begin(), by_reason.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return all;
}

}  // namespace hone::face::bench
