// Texts that convolutions and pools in C++ share: parameters of hone::Windows (hone/cpu/windows.h). Pure.
#pragma once
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/task/task.h"

namespace hone::pattern {

/// "H, 2 * W"
[[nodiscard]] inline std::string list_of(const std::vector<task::IntExpr>& extents) {
  std::vector<std::string> all;
  for (const task::IntExpr& e : extents) all.push_back(e.to_cpp());
  return fmt::format("{}", fmt::join(all, ", "));
}

/// "hone::Each<1, 2>"
[[nodiscard]] inline std::string each_of(const std::vector<int64_t>& numbers) { return fmt::format("hone::Each<{}>", fmt::join(numbers, ", ")); }

}  // namespace hone::pattern
