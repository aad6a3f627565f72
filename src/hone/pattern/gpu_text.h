// Small pieces of text that the parts of GpuWriter share. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/pattern/expression.h"
#include "hone/pattern/program.h"

namespace hone::pattern {

[[nodiscard]] inline std::string thread_type(task::DType dtype) { return value_type(dtype, Way::kThread); }

[[nodiscard]] inline task::IntExpr product(const Program& program, const std::vector<int>& axes) {
  task::IntExpr all = 1;
  for (const int axis : axes) all = all * program.extent(axis);
  return all;
}

}  // namespace hone::pattern
