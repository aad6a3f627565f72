// Sorted rows on CPUs, and the first of them: patterns/cpp/sort.cc and topk.cc. Pure.
#pragma once
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// A task that is sorts and places of one thing along one axis, with what keeps the first of each; the thing is an input or, where the last
/// axis is sorted, computed element by element. kUnavailable for any other, and where topk_cpp() says more.
[[nodiscard]] Result<kernel::Kernel> sort_cpp(const task::Task& task);

/// The same where outputs have a small part of a row, at the workloads.
[[nodiscard]] Result<kernel::Kernel> topk_cpp(const task::Task& task);

}  // namespace hone::pattern
