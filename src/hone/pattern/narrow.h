// Casts to integer types that are narrower than what their values are computed in. Pure.
#pragma once
#include "hone/task/task.h"

namespace hone::pattern {

/// Whether a cast to the integer type `to` has to wrap in the type that such values are computed in.
[[nodiscard]] inline bool narrows(task::DType from, task::DType to) {
  if (!task::is_int(to) || from == task::DType::kBool) return false;
  return task::is_float(from) ? task::size_of(to) < 4 : task::size_of(from) > task::size_of(to);
}

}  // namespace hone::pattern
