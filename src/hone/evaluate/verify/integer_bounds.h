// How large the integers may be that a task is tried on at one shape: as large as its types allow, as long as every value
// on the way is defined and the oracle, whose numbers are doubles, is exact. Pure.
#pragma once
#include <vector>

#include "hone/evaluate/verify/inputs.h"

namespace hone::evaluate {

/// For each input: the bound of its indices, and the range of its integers.
[[nodiscard]] std::vector<DrawBounds> draw_bounds(const task::Task& task, const task::ConcreteGraph& graph);

/// Whether integers of so many bits beside the sign, of which only what their types hold is asked for, keep the oracle exact.
[[nodiscard]] bool stays_exact(const task::Task& task, const task::ConcreteGraph& graph, int bits);

}  // namespace hone::evaluate
