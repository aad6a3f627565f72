#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/face/bench/page.h"
#include "hone/face/bench/summary.h"
#include "hone/face/report/units.h"

namespace hone::face::bench {
namespace {

/// Text for a cell: no line break, no column of its own, no markup.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string ratio_cell(const Speedup* speedup) {
  if (!speedup) return report::kNone;
  const report::RatioText text = report::ratio_text(speedup->ratio);
  std::string out = fmt::format("{} {}", text.median, cell(text.interval));
  if (speedup->dispatch_ns > 0) out += fmt::format("; {} without dispatch", report::times(speedup->without_dispatch().median));
  return out;
}

std::string call_text(const Row& row) {
  if (!row.accepted()) return row.verdict;
  return row.speedups.empty() ? "accepted" : std::string(evaluate::name_of(row.comparison));
}

std::string means(const Summary& summary) {
  if (summary.ratios.empty()) return "No opponent took part.\n";
  std::string text = "| against | geometric mean | median | without dispatch: mean | median | tasks |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const auto& [name, r] : summary.ratios) {
    const Ratios& less = summary.ratios_without_dispatch.at(name);
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name == kBest ? "the strongest of each row" : cell(name), report::times(r.geomean),
                        report::times(r.median), report::times(less.geomean), report::times(less.median), r.rows);
  }
  if (const std::string line = dispatch_line(summary); !line.empty()) text += "\n" + line + "\n";
  return text + "\n" + plain_line(summary) + "\n";
}

std::string rows_table(const std::vector<Row>& rows) {
  const std::vector<std::string> opponents = opponents_of(rows);
  std::string text = "| task | call |", rule = "| --- | --- |";
  for (const std::string& name : opponents) text += fmt::format(" {} |", cell(name)), rule += " --- |";
  text += " light | pattern | s |\n" + rule + " --- | --- | --- |\n";
  for (const Row& row : rows) {
    text += fmt::format("| {} | {} |", cell(row.task), call_text(row));
    for (const std::string& name : opponents) text += fmt::format(" {} |", row.accepted() ? ratio_cell(row.against(name)) : report::kNone);
    text += fmt::format(" {} | {}{} | {:.0f} |\n", row.sol_fraction > 0 ? fmt::format("{:.2f}", row.sol_fraction) : report::kNone, cell(row.pattern),
                        row.recalled ? " (recalled)" : "", row.seconds);
  }
  return text;
}

}  // namespace

std::string markdown_page(const State& state) {
  const std::vector<Row> rows = state.rows();
  const Summary s = summary_of(rows);
  std::string text = fmt::format("# Bench {}: {}\n\n", state.id, cell(suite_name(state.asked)));
  if (!state.finished()) text += fmt::format("Not finished: {} of {} tasks are done.\n\n", rows.size(), state.entries.size());
  text += fmt::format("{} of {} accepted ({} compiled). Against the strongest opponent of each: {} faster, {} slower, {} inconclusive. {} of work.\n\n",
                      s.accepted, s.total, report::percent(s.compiled_fraction), s.calls.faster, s.calls.slower, s.calls.inconclusive, report::time_s(s.seconds));
  text += means(s) + "\n" + kHowToRead + "\n\n## Conditions\n\n";
  for (const auto& [name, value] : conditions_table(state)) text += fmt::format("- {}: {}\n", name, cell(value));
  text += "\n## Rows\n\n" + rows_table(rows);
  if (const auto lost = losses(rows); !lost.empty()) {
    text += "\n## Losses\n\n";
    for (const Row& row : lost) {
      const Speedup& by = *strongest(row);
      text += fmt::format("- {}: {}\u00D7 {} against {} ({})\n", cell(row.task), report::ratio_text(by.ratio).median,
                          cell(report::ratio_text(by.ratio).interval), cell(by.opponent), evaluate::name_of(by.comparison));
    }
  }
  if (const auto failed = failures(rows); !failed.empty()) {
    text += "\n## Failures\n\n";
    for (const Row& row : failed) text += fmt::format("- {}: {}: {}\n", cell(row.task), row.verdict, cell(row.reason));
  }
  if (const auto absent = absences(rows); !absent.empty()) {
    text += "\n## Absent opponents\n\n";
    for (const auto& [why, tasks] : absent) text += fmt::format("- {}: {}\n", cell(why), cell(fmt::format("{}", fmt::join(tasks, ", "))));
  }
  return text;
}

}  // namespace hone::face::bench
