// Budgets as people write them.
#pragma once
#include <string>

#include "hone/engine/run.h"

namespace hone::face {

/// "60s", "5m", "200evals", or both with a comma, into the options' two budgets. kUsage says what is possible.
[[nodiscard]] Status parse_budget(const std::string& text, engine::RunOptions& options);

/// The same where only time is spent: its seconds, `most` at most. kUsage says what is possible.
[[nodiscard]] Result<double> parse_seconds(const std::string& text, double most);

}  // namespace hone::face
