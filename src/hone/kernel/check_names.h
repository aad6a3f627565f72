// Whether a kernel's header names only what there is: its expressions symbols of the task, tunables and limits, its arguments
// tensors. What a plan says when it is bound comes later, at some shape, and names that shape's trouble. Pure.
#pragma once
#include "hone/kernel/kernel.h"

namespace hone::kernel {

/// kInput where a name is no symbol, tunable, limit, input, output or workspace: which one, where it stands, and what there is.
[[nodiscard]] Status check_names(const Kernel& kernel, const task::Task& task, const Limits& limits);

}  // namespace hone::kernel
