// Maxima and sums over windows on GPUs: patterns/gpu/pool.cu filled for a task. Pure.
#pragma once
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern::gpu {

/// Whether a task pools at all: then no other pattern takes it in one piece.
[[nodiscard]] bool has_pooling(const task::Task& task);

/// kUnavailable where the task is anything but one pooling of an input (cast to a wider type, at most) and element-wise
/// work on its result. How many elements a window counts, as ceil_mode and count_include_pad need it, is part of that.
[[nodiscard]] Result<kernel::Kernel> pool(const task::Task& task, kernel::Language language);

}  // namespace hone::pattern::gpu
