// A task and a launch plan as Python functions: what an exported package and a KernelBench file share. Pure. Fails
// (kInput) where the plan names what does not exist, (kUnavailable) where the task has no PyTorch form.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::face {

struct TaskCode {
  /// Definitions of INPUTS, OUTPUTS (name, element type), SYMBOLS, extents(), shapes(), composition() and
  /// MAKES_TENSORS; needs torch, torch.nn.functional as F, and math.
  std::string text;
  std::vector<std::string> tensors;  ///< Python names of the inputs
  std::vector<std::string> given;    ///< symbols that no input's shape gives: keyword arguments of extents()
};
[[nodiscard]] Result<TaskCode> task_code(const task::Task& task);

/// plan(): a GPU kernel's workspaces and launches for extents (in the order of SYMBOLS), SMS, SHARED_MAX and WAVE; None
/// where a requirement does not hold. With what export/python/plan.py's bind() checks it fails exactly where
/// kernel::bind() does.
[[nodiscard]] Result<std::string> plan_function(const kernel::Kernel& kernel, const task::Task& task);

}  // namespace hone::face
