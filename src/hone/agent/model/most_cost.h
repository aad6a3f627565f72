// What a run's models may cost at most, said before it begins. Pure.
#pragma once
#include <optional>
#include <string>

#include "hone/agent/model/config.h"

namespace hone::agent {

/// What a question is reckoned at where calls are counted and money is not: prompts are a third of that in tokens as a rule.
inline constexpr int64_t kPromptTokens = int64_t{64} << 10;

struct MostCost {
  std::optional<int64_t> nanodollars;   ///< absent: nobody knows
  std::string about;                    ///< why that much, or why nobody knows: part of a sentence
};
/// The least of what its budgets allow: dollars, tokens at the dearest rate, calls with kPromptTokens and the longest answer.
[[nodiscard]] MostCost most_cost_of(const ModelsConfig& config);

/// What is said becomes the budget: where the cost is known and no dollars are given, that many are.
void hold_to(const MostCost& most, ModelsConfig& config);

/// "at most $1.2345: 40 calls of …", "free", "the price is not known: …".
[[nodiscard]] std::string text_of(const MostCost& most);

}  // namespace hone::agent
