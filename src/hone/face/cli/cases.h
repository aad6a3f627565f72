// Shapes that make different builds of a kernel, for what is built ahead of time.
#pragma once
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::face {

/// One shape of each case (kernel/build_case.h, and by what the header bakes in): the workloads', and those that a verifier may look at. Where each
/// shape is a case, what a verifier looks at cannot be foreseen.
[[nodiscard]] std::vector<task::Bindings> shapes_of_cases(const kernel::Kernel& kernel, const task::Task& task);

}  // namespace hone::face
