#include "hone/target/device/cpu_plan.h"

#include <fmt/format.h>

namespace hone::target {
namespace {

Status at_most(size_t have, int most, const char* what) {
  if (have > static_cast<size_t>(most))
    return fail(ErrorCode::kInput, fmt::format("a plan may have at most {} {}, this one has {}", most, what, have));
  return {};
}

}  // namespace

Status fill_cpu_plan(worker::Control& control, const kernel::BoundPlan& plan, int tensors) {
  HONE_TRY_VOID(at_most(plan.launches.size(), worker::kMaxLaunches, "launches"));
  HONE_TRY_VOID(at_most(plan.workspaces.size(), worker::kMaxWorkspaces, "workspaces"));
  HONE_TRY_VOID(at_most(static_cast<size_t>(tensors), worker::kMaxTensors, "inputs and outputs"));
  control.launches = static_cast<uint32_t>(plan.launches.size());
  control.workspaces = static_cast<uint32_t>(plan.workspaces.size());
  control.tensors = static_cast<uint32_t>(tensors);
  for (size_t i = 0; i < plan.workspaces.size(); ++i) {
    const kernel::BoundWorkspace& space = plan.workspaces[i];
    control.workspace[i] = {task::element_count(space.shape) * task::size_of(space.dtype), space.zero, 0};
  }
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const kernel::BoundLaunch& from = plan.launches[i];
    worker::Launch& to = control.launch[i];
    HONE_TRY_VOID(at_most(from.args.size() + from.block.size(), worker::kMaxArguments, "arguments a launch"));
    for (size_t d = 0; d < 3; ++d) to.grid[d] = d < from.grid.size() ? from.grid[d] : 1;
    to.entry = static_cast<uint32_t>(from.launch);
    to.shared_bytes = from.shared;
    to.arguments = static_cast<uint32_t>(from.args.size());
    for (size_t a = 0; a < from.args.size(); ++a)
      to.argument[a] = {static_cast<uint32_t>(from.args[a].kind), from.args[a].tensor, from.args[a].value};
    // A block's extents (a GPU's that is emulated) follow the arguments.
    for (const int64_t extent : from.block)
      to.argument[to.arguments++] = {static_cast<uint32_t>(kernel::Argument::Kind::kI64), -1, extent};
  }
  return {};
}

}  // namespace hone::target
