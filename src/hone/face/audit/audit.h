// hone audit: what is wrong with a task as a benchmark, before anybody writes a kernel for it. Blocking.
#pragma once
#include <string>

#include "hone/base/result.h"
#include "hone/face/audit/finding.h"
#include "hone/task/task.h"

namespace hone::face::audit {

/// The workload that is audited where the user names none: "tiny" if the task has it, else the one with the fewest elements.
[[nodiscard]] Result<task::Task> cheapest_workload(task::Task task);

/// `task` at its first workload. `whole` is the same task with every workload of its file: for what only large ones show.
[[nodiscard]] Result<Audited> audit_task(const task::Task& task, const task::Task& whole, uint64_t seed, int threads);

}  // namespace hone::face::audit
