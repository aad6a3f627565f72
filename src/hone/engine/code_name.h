// What a kernel comes to once it is built and its plan is bound: two kernels of one name do the same, instruction by instruction, at
// a task's workloads. Pure.
#pragma once
#include <string>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::engine {

/// Empty where it was not built, where nobody knows what its code is, and where its plan does not bind.
[[nodiscard]] std::string code_name(const kernel::Kernel& kernel, const Result<target::BuildOutcome>& built, const task::Task& task,
                                    const kernel::Limits& limits);

}  // namespace hone::engine
