// PyTorch as the evaluator's opponents.
#pragma once
#include <vector>

#include "hone/evaluate/evaluator.h"

namespace hone::evaluate {

/// "pytorch eager", "pytorch compiled" and "pytorch autotuned". They look for PyTorch, and are absent with a reason, when
/// the evaluator starts them. `threads` 0: all that we may run on.
[[nodiscard]] std::vector<Opponent> pytorch_opponents(const task::Task& task, int threads);
/// The same on a card; stages lie on it.
[[nodiscard]] std::vector<Opponent> pytorch_opponents(const task::Task& task, const target::CardInfo& card);

}  // namespace hone::evaluate
