#include "hone/face/cli/budget.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace hone::face {

Status parse_budget(const std::string& text, engine::RunOptions& options) {
  const auto wrong = [&](const std::string& part) {
    return fail(ErrorCode::kUsage, fmt::format("\"{}\" is no budget", part), "for example 30s, 5m, 1h, 200evals, or 5m,200evals: whichever ends first");
  };
  options.budget_seconds = 0;
  size_t start = 0;
  while (start <= text.size()) {
    size_t end = text.find(',', start);
    if (end == std::string::npos) end = text.size();
    const std::string part = text.substr(start, end - start);
    char* unit = nullptr;
    const double number = std::strtod(part.c_str(), &unit);
    const std::string suffix = unit;
    if (unit == part.c_str() || !(number > 0) || number > 1e7) return wrong(part);
    const bool evaluations = suffix == "evals" || suffix == "eval";
    if (evaluations && number != std::floor(number)) return wrong(part);
    if (suffix == "s" || suffix.empty()) options.budget_seconds = number;
    else if (suffix == "m" || suffix == "min") options.budget_seconds = 60 * number;
    else if (suffix == "h") options.budget_seconds = 3600 * number;
    else if (evaluations) options.budget_evaluations = static_cast<int>(number);
    else return wrong(part);
    start = end + 1;
  }
  return {};
}

Result<double> parse_seconds(const std::string& text, double most) {
  engine::RunOptions options;
  HONE_TRY_VOID(parse_budget(text, options));
  if (options.budget_evaluations > 0 || options.budget_seconds > most)
    return fail(ErrorCode::kUsage, fmt::format("\"{}\" is no budget here", text), fmt::format("a time of {:.0f} s at most, for example 30s or 5m", most));
  return options.budget_seconds;
}

}  // namespace hone::face
