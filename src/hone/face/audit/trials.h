// What an audit finds by drawing inputs as the evaluator does: answers that the gate lets through on every family of inputs.
// Blocking; everything drawn follows from the seed.
#pragma once
#include <vector>

#include "hone/base/result.h"
#include "hone/face/audit/finding.h"
#include "hone/task/task.h"

namespace hone::face::audit {

/// kConstant, kUnread, kAtOne, kPasses and kLeftOut for a task with one workload. Of an output that is constant nothing else is
/// said.
[[nodiscard]] std::vector<Finding> found_by_trial(const task::Task& task, const task::ConcreteGraph& graph, uint64_t seed, int threads);

}  // namespace hone::face::audit
