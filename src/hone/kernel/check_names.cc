#include "hone/kernel/check_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::kernel {
namespace {

using task::IntExpr;

/// What expressions may name, and how that is said.
struct Known {
  std::vector<std::string> shapes, tunables, limits;
  [[nodiscard]] std::string to_string() const {
    std::vector<std::string> parts;
    for (const auto& [what, names] : {std::pair{"symbols of the task", &shapes}, {"tunables", &tunables}, {"limits", &limits}})
      if (!names->empty()) parts.push_back(fmt::format("{} {}", what, fmt::join(*names, ", ")));
    return parts.empty() ? "there are no names: write a number" : fmt::format("there are: {}", fmt::join(parts, "; "));
  }
  [[nodiscard]] bool holds(const std::string& name) const {
    return std::ranges::any_of(std::array{&shapes, &tunables, &limits}, [&](const auto* names) { return std::ranges::count(*names, name) > 0; });
  }
};

Status check(const IntExpr& expression, const Known& known, std::string_view where, bool repeated = false) {
  for (const std::string& name : expression.symbols())
    if (!known.holds(name) && !(repeated && name == "STEP"))
      return fail(ErrorCode::kInput, fmt::format("the header's {} names {}, which is nothing here", where, name), known.to_string());
  return {};
}

Status check_launch(const Launch& launch, const Known& known, const std::vector<std::string>& tensors) {
  const bool repeated = launch.repeat.has_value();
  const auto place = [&](std::string_view key) { return fmt::format("\"{}\" of {}", key, launch.function); };
  for (const auto& [key, all] : {std::pair{"grid", &launch.grid}, {"block", &launch.block}, {"cluster", &launch.cluster}})
    for (const IntExpr& extent : *all) HONE_TRY_VOID(check(extent, known, place(key), repeated));
  for (const auto& [key, one] : {std::pair{"shared", &launch.shared}, {"warps", &launch.warps}, {"stages", &launch.stages}, {"ctas", &launch.ctas}})
    HONE_TRY_VOID(check(*one, known, place(key), repeated));
  if (launch.when) HONE_TRY_VOID(check(*launch.when, known, place("when"), repeated));
  if (launch.repeat) HONE_TRY_VOID(check(*launch.repeat, known, place("repeat")));
  for (const Argument& argument : launch.args) {
    if (argument.kind != Argument::Kind::kTensor) HONE_TRY_VOID(check(argument.value, known, place("args"), repeated));
    else if (std::ranges::count(tensors, argument.tensor) == 0)
      return fail(ErrorCode::kInput, fmt::format("the header's {} names \"{}\", which is no input, output or workspace", place("args"), argument.tensor),
                  fmt::format("there are: {}", fmt::join(tensors, ", ")));
  }
  return {};
}

}  // namespace

Status check_names(const Kernel& kernel, const task::Task& task, const Limits& limits) {
  Known known;
  known.shapes = task.symbols();
  for (const Tunable& tunable : kernel.header.tunables) known.tunables.push_back(tunable.name);
  for (const auto& [name, value] : limits) known.limits.push_back(name);
  std::vector<std::string> tensors;
  for (const auto& input : task.inputs) tensors.push_back(input.name);
  for (const auto& [name, type] : task.outputs) tensors.push_back(name);
  for (const Workspace& workspace : kernel.header.workspaces) {
    tensors.push_back(workspace.name);
    for (const IntExpr& extent : workspace.type.dims) HONE_TRY_VOID(check(extent, known, "workspace " + workspace.name));
  }
  for (const IntExpr& condition : kernel.header.require) HONE_TRY_VOID(check(condition, known, "\"requires\""));
  Known without_shapes = known;
  without_shapes.shapes.clear();
  for (const IntExpr& condition : kernel.header.constraints) HONE_TRY_VOID(check(condition, without_shapes, "\"constraints\""));
  for (const std::string& symbol : kernel.header.specialise)
    if (std::ranges::count(known.shapes, symbol) == 0)
      return fail(ErrorCode::kInput, fmt::format("the header's \"specialise\" names {}, which is no symbol of the task", symbol), fmt::format("there are: {}", fmt::join(known.shapes, ", ")));
  for (const Launch& launch : kernel.header.launches) HONE_TRY_VOID(check_launch(launch, known, tensors));
  return {};
}

}  // namespace hone::kernel
