#include "hone/evaluate/launchable.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/shape_search.h"
#include "hone/target/grid_limits.h"
#include "hone/target/simt_device.h"

namespace hone::evaluate {
namespace {

std::string refused_grid(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits, const task::Bindings& bindings) {
  const auto plan = kernel::bind(kernel, task, bindings, limits);
  if (!plan) return {};
  for (const kernel::BoundLaunch& launch : plan->launches)
    for (size_t d = 0; d < launch.grid.size(); ++d)
      if (launch.grid[d] > target::kMostGrid[d])
        return fmt::format("{} asks for a grid of {} blocks at {}, which its requirements admit; a card takes {} at most along {}: have each block "
                           "take several of them, or say requires = [\"{} <= {}\"]",
                           launch.function, fmt::join(launch.grid, " x "), task::bindings_text(bindings), target::kMostGrid[d], "xyz"[d],
                           kernel.header.launches[static_cast<size_t>(launch.launch)].grid[d].to_string(), target::kMostGrid[d]);
  return {};
}

}  // namespace

bool grows(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits) {
  constexpr int64_t kFar = int64_t{1} << 30;
  constexpr double kMostTogether = 1 << 16;  // blocks: more than any device holds
  task::Bindings values = limits;
  for (const auto& [name, value] : kernel.config) values[name] = value;
  for (const std::string& symbol : task.symbols()) values[symbol] = kFar;
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

std::string unlaunchable(const kernel::Kernel& kernel, const task::Task& task, const kernel::Limits& limits, int64_t most_elements, uint64_t seed) {
  if (!target::simt_device(kernel.header.language)) return {};
  base::Rng rng(seed, 0x67726964);
  const task::Bindings& first = task.workloads.front().bindings;
  const auto fits = [&](const task::Bindings& bindings) {
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = first.find(symbol); it != first.end() && bindings.at(symbol) != it->second) return false;
    const auto admitted = kernel::applies(kernel, bindings, limits);
    return admitted && *admitted && is_small(task, bindings, most_elements, std::numeric_limits<double>::infinity());
  };
  for (const std::string& symbol : task.symbols())
    for (const bool alone : {true, false})
      if (const auto shape = long_in(task, symbol, {.most = most_elements, .alone = alone}, fits, rng))
        if (std::string why = refused_grid(kernel, task, limits, *shape); !why.empty()) return why;
  return {};
}

}  // namespace hone::evaluate
