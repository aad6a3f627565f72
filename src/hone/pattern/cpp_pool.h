// Maxima and sums over windows on CPUs: patterns/cpp/pool.cc filled for a task. Pure.
#pragma once
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// A task that is one pooling, over one to three dimensions, of an input in f32, bf16 or f16, computed in f32, and element-wise work on its
/// result. kUnavailable for any other.
[[nodiscard]] Result<kernel::Kernel> pool_cpp(const task::Task& task);

}  // namespace hone::pattern
