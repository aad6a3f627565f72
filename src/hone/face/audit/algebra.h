// Problems that are less than they look, read off the primitive graph: products and normalised values of which only sums are
// needed, and values that are tiny at the extents asked for. Pure.
#pragma once
#include <vector>

#include "hone/face/audit/finding.h"
#include "hone/task/task.h"

namespace hone::face::audit {

/// For each node of the graph and each of its axes, whether everything that uses the node sums it along that axis, by weights
/// that do not depend on where along it: additions, factors that are constant along it, changes of shape and casts to a wider
/// type on the way change nothing of that. Axes of extent 1 say false.
[[nodiscard]] std::vector<std::vector<bool>> only_summed(const task::ConcreteGraph& graph);

/// kSummed, kMoments and kPooled. Names of extents are the task's.
[[nodiscard]] std::vector<Finding> collapses(const task::Task& task, const task::ConcreteGraph& graph);

/// kTiny: outputs that are shares of 1, at any workload of the task.
[[nodiscard]] std::vector<Finding> tiny_values(const task::Task& task);

}  // namespace hone::face::audit
