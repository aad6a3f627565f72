// The test of a task before any candidate is looked at. Blocking; thread-safe.
#pragma once
#include "hone/base/result.h"
#include "hone/evaluate/facts.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// kInput where the gate would let a degenerate answer through (self_test), saying which. That a task is sound is looked
/// up in `facts` first, if there are any, and kept there.
[[nodiscard]] Status check_task(const task::Task& task, const Facts* facts);

}  // namespace hone::evaluate
