// The matmul patterns in C++: patterns/cpp/matmul.cc and matmul_parts.cc filled for a contraction. Pure.
#pragma once
#include <vector>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/pattern/contraction.h"
#include "hone/pattern/library.h"

namespace hone::pattern {

/// Most promising first. kUnavailable where the result's element-wise part does not vectorise.
[[nodiscard]] Result<std::vector<Offer>> matmul_cpp(const task::Task& task, const Contraction& contraction);

}  // namespace hone::pattern
