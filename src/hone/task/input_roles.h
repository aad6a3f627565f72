// What the computation does with inputs that reach an operation as they are: through copies, views and widening casts. Pure.
#pragma once
#include <optional>

#include "hone/task/task.h"

namespace hone::task {

/// An integer input that picks elements along an axis and is not declared an index of it; nothing is promised of its
/// values, so that no kernel could be right.
struct UndeclaredIndex {
  const InputSpec* input;
  IntExpr extent;  ///< of the axis
};
[[nodiscard]] std::optional<UndeclaredIndex> undeclared_index(const Task& task);

}  // namespace hone::task
