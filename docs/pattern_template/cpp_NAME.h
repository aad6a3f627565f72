// The NAME pattern for C++: patterns/cpp/NAME.cc. Pure.
#pragma once
#include <string>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// The kernel's source. kUnavailable, with a reason, where the task has not the form.
[[nodiscard]] Result<std::string> NAME_cpp(const task::Task& task);

}  // namespace hone::pattern
