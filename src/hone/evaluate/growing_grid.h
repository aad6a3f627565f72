// Whether a kernel's blocks may count on being there together, asked of its plan alone. Pure; deterministic.
#pragma once
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Whether the grids of all its launches grow with the shape beyond any device, whose multiprocessors they do not ask for: their blocks
/// cannot count on being there together. False for a grid that is fixed, or as large as the device makes it, and where its requirements say
/// how many blocks the device must have room for.
[[nodiscard]] bool grows(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits);

}  // namespace hone::evaluate
