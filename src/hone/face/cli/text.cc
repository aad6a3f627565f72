#include "hone/face/cli/text.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/face/report/units.h"

namespace hone::face {
namespace {

/// Columns a UTF-8 text takes, combining characters aside.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - magnitude));
}

}  // namespace

bool is_terminal(int fd) { return isatty(fd) == 1; }

std::string time_text(double ns) {
  if (ns < 1e3) return significant(ns, 3) + " ns";
  if (ns < 1e6) return significant(ns * 1e-3, 3) + " us";
  if (ns < 1e9) return significant(ns * 1e-6, 3) + " ms";
  return significant(ns * 1e-9, 3) + " s";
}

std::string ratio_text(const evaluate::Ratio& ratio) {
  if (!report::has_interval(ratio)) return fmt::format("{:.2f}x [too few pairs]", ratio.median);
  return fmt::format("{:.2f}x [{:.2f}, {}]", ratio.median, ratio.low, std::isfinite(ratio.high) ? fmt::format("{:.2f}", ratio.high) : "?");
}

std::string bytes_text(double bytes) {
  const char* unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int k = 0;
  while (bytes >= 1024 && k < 4) bytes /= 1024, ++k;
  return significant(bytes, 3) + " " + unit[k];
}

std::string Table::to_string(const std::string& indent) const {
  std::vector<size_t> widths;
  for (const auto& row : rows_)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], width_of(row[c]));
    }
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line = indent;
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      line += rows_[r][c];
      if (c + 1 < rows_[r].size()) line += std::string(widths[c] - width_of(rows_[r][c]) + 2, ' ');
    }
    text += line + "\n";
    if (r > 0) continue;
    line = indent;
    for (size_t c = 0; c < widths.size(); ++c) line += std::string(widths[c], '-') + (c + 1 < widths.size() ? "  " : "");
    text += line + "\n";
  }
  return text;
}

std::string promotion_text(const evaluate::Promotion& promotion, const task::Task& task) {
  Table table({"workload", "against", "", "ratio (95 %)", "opponent", "kernel", "speed of light"});
  for (size_t w = 0; w < promotion.workloads.size(); ++w) {
    const auto& workload = promotion.workloads[w];
    std::string name = w < task.workloads.size() ? task::bindings_text(task.workloads[w].bindings) : "";
    if (name.empty()) name = workload.workload;
    const std::string light = fmt::format("{:.2f}", workload.sol_fraction);
    if (workload.opponents.empty()) table.add({name, "-", "", "", "", time_text(workload.candidate_ns), light});
    for (size_t i = 0; i < workload.opponents.size(); ++i) {
      const auto& o = workload.opponents[i];
      table.add({i == 0 ? name : "", o.opponent, std::string(evaluate::name_of(o.comparison)), ratio_text(o.ratio),
                 time_text(o.opponent_ns), i == 0 ? time_text(workload.candidate_ns) : "", i == 0 ? light : ""});
    }
  }
  std::string text = table.to_string();
  if (const auto& a = promotion.verdict.accuracy)
    text += fmt::format("\n  accuracy: {:.2g} (anchor {:.2g}, bound {:.2g}) on output {}, {} inputs, {}{}\n", a->candidate,
                        a->anchor, a->bound, a->output, a->family, a->shape,
                        a->open ? fmt::format("; {} more draws left open on which side of the bound it lies", a->draws) : "");
  for (const auto& workload : promotion.workloads)
    if (!workload.bound_note.empty()) text += fmt::format("  {}: {}\n", workload.workload, workload.bound_note);
  if (!promotion.only_at.empty()) text += fmt::format("  not generic: verified at {} only, as its requirements, or what ships of it, exclude every other shape that was tried\n", fmt::join(promotion.only_at, "; "));
  if (!promotion.bitwise_deterministic) text += "  two calls on equal inputs differed bitwise\n";
  for (const std::string& why : promotion.absent) text += "  absent: " + why + "\n";
  return text;
}

}  // namespace hone::face
