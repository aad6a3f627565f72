#include "hone/diagnose/profile/ncu.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hone/base/process/process.h"
#include "hone/diagnose/profile/card_metrics.h"

namespace hone::diagnose {
namespace {

using Row = std::vector<std::string>;

/// A line of CSV; quotes are doubled inside quotes. No field of ncu's holds a newline.
Row fields_of(std::string_view line) {
  Row row(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') row.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) row.emplace_back();
    else if (c != '\r') row.back() += c;
  }
  return row;
}

/// "1,234.5" -> 1234.5; NaN for what is no number ("n/a").
double ncu_number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end && !text.empty() ? value : std::numeric_limits<double>::quiet_NaN();
}

/// To base units. What is no known multiple stays as it is.
double scale_of(std::string_view unit) {
  struct Scale {
    std::string_view unit;
    double factor;
  };
  constexpr Scale kScales[] = {{"us", 1e3},   {"usecond", 1e3}, {"ms", 1e6},     {"msecond", 1e6}, {"s", 1e9},   {"second", 1e9},
                               {"Kbyte", 1e3}, {"Mbyte", 1e6},   {"Gbyte", 1e9},  {"Tbyte", 1e12},  {"KB", 1e3},  {"MB", 1e6}};
  for (const Scale& scale : kScales)
    if (scale.unit == unit) return scale.factor;
  return 1;
}

LaunchCounters& launch_of(std::vector<LaunchCounters>& all, const std::string& id, const std::string& kernel) {
  const double number = ncu_number(id);
  const int wanted = std::isnan(number) ? -1 : static_cast<int>(number);
  const auto at = std::find_if(all.begin(), all.end(), [&](const LaunchCounters& l) { return l.id == wanted; });
  if (at != all.end()) return *at;
  all.push_back({wanted, kernel, {}});
  return all.back();
}

}  // namespace

double LaunchCounters::get(std::string_view name) const {
  const auto at = values.find(name);
  return at == values.end() ? std::numeric_limits<double>::quiet_NaN() : at->second;
}

Result<std::vector<LaunchCounters>> read_ncu_csv(std::string_view text) {
  std::vector<LaunchCounters> all;
  Row head, units;
  const auto column = [&](std::string_view name) { return static_cast<size_t>(std::find(head.begin(), head.end(), name) - head.begin()); };
  const auto field = [&](const Row& row, std::string_view name) {
    const size_t at = column(name);
    return at < row.size() ? row[at] : std::string();
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (head.empty() && !line.starts_with("\"ID\"")) continue;
    Row row = fields_of(line);
    if (head.empty()) {
      head = std::move(row);
      continue;
    }
    if (row.size() < 2) continue;
    if (column("Metric Name") < head.size()) {
      const double value = ncu_number(field(row, "Metric Value")) * scale_of(field(row, "Metric Unit"));
      LaunchCounters& launch = launch_of(all, row[0], field(row, "Kernel Name"));
      if (!std::isnan(value)) launch.values[field(row, "Metric Name")] = value;
    } else if (row[0].empty()) {
      units = std::move(row);
    } else {
      LaunchCounters& launch = launch_of(all, row[0], field(row, "Kernel Name"));
      for (size_t i = 0; i < row.size() && i < head.size(); ++i) {
        const double value = ncu_number(row[i]);
        if (!std::isnan(value)) launch.values[head[i]] = value * (i < units.size() ? scale_of(units[i]) : 1);
      }
    }
  }
  if (const std::string_view words = base::line_from(text, "ERR_NVGPUCTRPERM"); head.empty() && !words.empty())
    return fail(ErrorCode::kUnavailable, "counters may not be read by this user (ERR_NVGPUCTRPERM)",
                "let the driver's module be loaded with NVreg_RestrictProfilingToAdminUsers=0, or run as root");
  if (head.empty()) {
    const std::string_view words = base::line_from(text, "==ERROR==");
    return fail(ErrorCode::kUnavailable, fmt::format("Nsight Compute measured nothing{}{}", words.empty() ? "" : ": ", words));
  }
  std::sort(all.begin(), all.end(), [](const LaunchCounters& a, const LaunchCounters& b) { return a.id < b.id; });
  return all;
}

std::vector<std::string> ncu_options() {
  std::string names;
  for (const std::string& counter : wanted_counters()) names += (names.empty() ? "" : ",") + counter;
  return {"--clock-control", "none", "--target-processes", "all", "--csv", "--page", "raw", "--print-units", "base", "--metrics", names};
}

}  // namespace hone::diagnose
