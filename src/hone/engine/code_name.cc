#include "hone/engine/code_name.h"

#include <fmt/format.h>

#include "hone/base/hash.h"

namespace hone::engine {
namespace {

std::string plan_text(const kernel::BoundPlan& plan) {
  std::string text;
  const auto put = [&](const auto& values) {
    for (const int64_t value : values) text += fmt::format(" {}", value);
    text += ';';
  };
  for (const kernel::BoundLaunch& launch : plan.launches) {
    text += fmt::format("launch {} {} {}:", launch.launch, launch.function, launch.shared);
    put(launch.grid);
    put(launch.block);
    if (!launch.cluster.empty()) put(launch.cluster);
    for (const kernel::BoundArgument& argument : launch.args)
      text += fmt::format("{} {} {},", static_cast<int>(argument.kind), argument.tensor, argument.value);
  }
  for (const kernel::BoundWorkspace& space : plan.workspaces) {
    text += fmt::format("workspace {} {}:", static_cast<int>(space.dtype), space.zero);
    put(space.shape);
  }
  return text;
}

}  // namespace

std::string code_name(const kernel::Kernel& kernel, const Result<target::BuildOutcome>& built, const task::Task& task, const kernel::Limits& limits) {
  const auto* const build = built ? std::get_if<target::Build>(&*built) : nullptr;
  if (!build || build->code.empty()) return {};
  // The same code in another plan (a grid, a workspace) is another kernel.
  std::string text = build->code;
  for (const task::Workload& workload : task.workloads) {
    const auto plan = target::plan_of(kernel, *build, task, workload.bindings, limits);
    if (!plan) return {};
    text += plan_text(*plan);
  }
  return base::content_hash(text);
}

}  // namespace hone::engine
