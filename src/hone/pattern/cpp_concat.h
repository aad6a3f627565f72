// The concat pattern for C++: patterns/cpp/concat.cc. Pure.
#pragma once
#include <string>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// The kernel's source. kUnavailable where the task is not element-wise work on and behind one concatenation.
[[nodiscard]] Result<std::string> concat_cpp(const task::Task& task);

}  // namespace hone::pattern
