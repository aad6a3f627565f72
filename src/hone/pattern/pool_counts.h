// How many elements each window of a mean counts, by its place instead of by a pooling of ones. Pure.
#pragma once
#include "hone/task/task.h"

namespace hone::pattern {

/// Sums of ones over windows, padded or not, become element-wise work on positions; everything else stays as it is.
[[nodiscard]] task::Task with_pool_counts(const task::Task& task);

}  // namespace hone::pattern
