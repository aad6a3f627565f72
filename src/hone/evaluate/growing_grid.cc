#include "hone/evaluate/growing_grid.h"

#include <algorithm>

namespace hone::evaluate {

bool grows(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits) {
  constexpr int64_t kFar = int64_t{1} << 30;
  constexpr double kMostTogether = 1 << 16;  // blocks: more than any device holds
  task::Bindings values = limits;
  for (const auto& [name, value] : kernel.config) values[name] = value;
  for (const std::string& symbol : task.symbols()) values[symbol] = kFar;
  // Who says in its requirements how many blocks there must be room for counts on those.
  if (std::ranges::any_of(kernel.header.require, [](const task::IntExpr& condition) { return condition.symbols().contains("SMS"); })) return false;
  return std::ranges::all_of(kernel.header.launches, [&](const kernel::Launch& launch) {
    double blocks = 1;
    for (const task::IntExpr& extent : launch.grid) {
      if (extent.symbols().contains("SMS")) return false;
      const auto value = extent.eval(values);
      if (!value) return true;  // too large even to say
      blocks *= static_cast<double>(*value);
    }
    return blocks > kMostTogether;
  });
}

}  // namespace hone::evaluate
