// The patterns in OpenCL C, one function each: files of patterns/opencl/ filled for a program. Pure. Every function fails
// with kUnavailable where its pattern does not suit the program.
#pragma once
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/library.h"
#include "hone/pattern/program.h"

namespace hone::pattern::opencl {

[[nodiscard]] Result<kernel::Kernel> map(const Program& program);
[[nodiscard]] Result<kernel::Kernel> rows(const Program& program);
[[nodiscard]] Result<kernel::Kernel> split(const Program& program);
/// Of a program whose innermost axis is no inner one.
[[nodiscard]] Result<kernel::Kernel> columns(const Program& program);

/// A product of two inputs and element-wise work on it. Of the task as it is, or of its normal form.
[[nodiscard]] Result<kernel::Kernel> matmul(const task::Task& task);

}  // namespace hone::pattern::opencl
