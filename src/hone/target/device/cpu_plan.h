// A bound plan in the words of the programs that run CPU kernels (worker/protocol.h). Pure.
#pragma once
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/target/worker/protocol.h"

namespace hone::target {

/// Launches, workspaces and the number of `tensors` (inputs and outputs). kInput for a plan with more than the protocol holds.
[[nodiscard]] Status fill_cpu_plan(worker::Control& control, const kernel::BoundPlan& plan, int tensors);

}  // namespace hone::target
