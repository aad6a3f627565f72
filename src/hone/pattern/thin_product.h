// Products without rows or without columns (a matrix times a vector, an inner product) as what they are for
// a loop nest: multiply element by element, then sum. Pure.
#pragma once
#include <optional>

#include "hone/task/task.h"

namespace hone::pattern {

/// The task with every such kDot replaced by kMul and kSum; nothing where there is none.
[[nodiscard]] std::optional<task::Task> thin_products_as_sums(const task::Task& task);

}  // namespace hone::pattern
