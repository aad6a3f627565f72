// Small pieces of text that the parts of GpuWriter share. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/pattern/expression.h"
#include "hone/pattern/program.h"

namespace hone::pattern {

[[nodiscard]] inline std::string thread_type(task::DType dtype) { return value_type(dtype, Way::kThread); }

[[nodiscard]] inline std::string parenthesised(const task::IntExpr& e) {
  const std::string text = e.to_cpp();
  return text.find_first_of(" ?") == std::string::npos ? text : "(" + text + ")";
}

[[nodiscard]] inline bool is_zero(const task::IntExpr& e) { return e.is_constant() && e.constant() == 0; }

[[nodiscard]] inline task::IntExpr product(const Program& program, const std::vector<int>& axes) {
  task::IntExpr all = 1;
  for (const int axis : axes) all = all * program.extent(axis);
  return all;
}

}  // namespace hone::pattern
