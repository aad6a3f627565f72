// The matmul pattern in C++: patterns/cpp/matmul.cc filled for a contraction. Pure.
#pragma once
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/pattern/contraction.h"

namespace hone::pattern {

/// Source of the kernel. kUnavailable where the result's element-wise part does not vectorise.
[[nodiscard]] Result<std::string> matmul_cpp(const task::Task& task, const Contraction& contraction);

}  // namespace hone::pattern
