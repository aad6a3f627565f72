// Convolutions on CPUs: patterns/cpp/conv.cc filled for a task. Pure.
#pragma once
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// A task that is one convolution or transposed convolution, in one to three dimensions of space, of inputs in f32, bf16 or f16,
/// summed in f32, and element-wise work on its result, which runs along all of space at once. kUnavailable for any other.
[[nodiscard]] Result<kernel::Kernel> conv_cpp(const task::Task& task);

}  // namespace hone::pattern
