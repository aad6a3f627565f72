#include "hone/kernel/kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "hone/kernel/build_case.h"
#include "hone/kernel/grid_limits.h"

namespace hone::kernel {
namespace {

using task::Bindings;
using task::IntExpr;

constexpr int64_t kMostLaunches = 256;

Bindings everything(const Kernel& kernel, const Bindings& bindings, const Limits& limits) {
  Bindings all = limits;
  for (const auto& [name, value] : bindings) all[name] = value;
  for (const auto& [name, value] : kernel.config) all[name] = value;
  return all;
}

Result<int64_t> positive(const IntExpr& expression, const Bindings& values, std::string_view what) {
  HONE_TRY(const int64_t value, expression.eval(values));
  if (value <= 0)
    return fail(ErrorCode::kInput, fmt::format("{} = {} is {}: it must be positive", what,
                                               expression.to_string(), value));
  return value;
}

/// The grid is there already.
Status bind_cluster(const Launch& launch, const Bindings& values, BoundLaunch& bound) {
  int64_t blocks = 1;
  for (size_t d = 0; d < launch.cluster.size(); ++d) {
    HONE_TRY(const int64_t extent, positive(launch.cluster[d], values, "a cluster extent of " + launch.function));
    blocks = extent > kMostClusterBlocks ? extent : blocks * extent;
    if (blocks > kMostClusterBlocks)
      return fail(ErrorCode::kInput, fmt::format("a cluster of {} has {} blocks; {} are the most", launch.function, blocks, kMostClusterBlocks));
    const int64_t grid = d < bound.grid.size() ? bound.grid[d] : 1;
    if (grid % extent != 0)
      return fail(ErrorCode::kInput, fmt::format("the grid of {} has {} blocks along {}, which is no multiple of its cluster's {}",
                                                 launch.function, grid, "xyz"[d], extent),
                  "write for example grid = [\"align(ceil_div(N, 256), 4)\"]");
    bound.cluster.push_back(extent);
  }
  return {};
}

/// The block that the compiler will make of so many warps, and the cluster of so many blocks a program.
Status bind_warps(const Launch& launch, const Bindings& values, BoundLaunch& bound) {
  HONE_TRY(const int64_t warps, positive(launch.warps, values, "warps of " + launch.function));
  if (warps > 32 || (warps & (warps - 1)) != 0)
    return fail(ErrorCode::kInput, fmt::format("{} asks for {} warps: 1, 2, 4, 8, 16 or 32", launch.function, warps));
  HONE_TRY(const int64_t ctas, positive(launch.ctas, values, "ctas of " + launch.function));
  if (ctas != 1) return fail(ErrorCode::kInput, fmt::format("{} asks for {} ctas: hone launches one block a program", launch.function, ctas), "leave ctas out");
  const auto wave = values.find("WAVE");
  bound.block = {warps * (wave == values.end() ? 32 : wave->second)};
  return {};
}

Result<int64_t> bind_number(const Argument& argument, const Bindings& values) {
  double number = argument.number;
  if (argument.form != Argument::Form::kLiteral) {
    HONE_TRY(const int64_t value, argument.value.eval(values));
    using Form = Argument::Form;
    number = static_cast<double>(value);
    if (argument.form == Form::kRoot || argument.form == Form::kOverRoot) number = std::sqrt(number);
    if (argument.form == Form::kOver || argument.form == Form::kOverRoot) number = 1 / number;
  }
  return std::bit_cast<uint32_t>(static_cast<float>(number));
}

/// Nothing where its `when` does not hold. `constants`: of Triton, arguments that this build has as constants.
Result<std::optional<BoundLaunch>> bind_launch(const Launch& launch, int number, const Bindings& values,
                                               const std::vector<std::string>& names, bool by_warps, const std::vector<ArgumentCase>* constants) {
  if (launch.when) {
    HONE_TRY(const int64_t wanted, launch.when->eval(values));
    if (wanted == 0) return std::optional<BoundLaunch>();
  }
  BoundLaunch bound;
  bound.launch = number;
  bound.function = launch.function;
  for (const IntExpr& extent : launch.grid) {
    HONE_TRY(const int64_t value, positive(extent, values, "a grid extent of " + launch.function));
    bound.grid.push_back(value);
  }
  for (const IntExpr& extent : launch.block) {
    HONE_TRY(const int64_t value, positive(extent, values, "a block extent of " + launch.function));
    bound.block.push_back(value);
  }
  if (by_warps) {
    HONE_TRY_VOID(bind_warps(launch, values, bound));
  }
  HONE_TRY_VOID(bind_cluster(launch, values, bound));
  HONE_TRY(bound.shared, launch.shared.eval(values));
  if (bound.shared < 0)
    return fail(ErrorCode::kInput, fmt::format("shared bytes of {} are negative", launch.function));
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const Argument& argument = launch.args[i];
    if (argument.kind == Argument::Kind::kConstant || (constants && !(*constants)[i].constant.empty())) continue;
    BoundArgument out{argument.kind, -1, 0};
    if (argument.kind == Argument::Kind::kTensor) {
      const auto it = std::find(names.begin(), names.end(), argument.tensor);
      if (it == names.end())
        return fail(ErrorCode::kInput,
                    fmt::format("{} takes \"{}\", which is no input, output or workspace",
                                launch.function, argument.tensor),
                    fmt::format("there are: {}", fmt::join(names, ", ")));
      out.tensor = static_cast<int>(it - names.begin());
    } else if (argument.kind == Argument::Kind::kF32) {
      HONE_TRY(out.value, bind_number(argument, values));
    } else if (argument.kind == Argument::Kind::kI32 || argument.kind == Argument::Kind::kI64) {
      HONE_TRY(out.value, argument.value.eval(values));
      if (argument.kind == Argument::Kind::kI32 && out.value != static_cast<int32_t>(out.value))
        return fail(ErrorCode::kInput, fmt::format("{} = {} does not fit an i32 argument of {}",
                                                   argument.value.to_string(), out.value,
                                                   launch.function));
    }
    bound.args.push_back(out);
  }
  // What Triton's compiler adds to every kernel: bytes of the launch's own, and a profiler's, of which there is none.
  if (by_warps) {
    bound.args.push_back({Argument::Kind::kScratch});
    bound.args.push_back({Argument::Kind::kNull});
  }
  return std::optional<BoundLaunch>(std::move(bound));
}

}  // namespace

namespace {

/// More launches than a plan may have; empty where there are not, or nobody can tell.
std::string too_many_launches(const Kernel& kernel, const Bindings& values) {
  int64_t all = 0;
  for (const Launch& launch : kernel.header.launches) {
    const auto times = launch.repeat ? launch.repeat->eval(values) : 1;
    if (!times) return {};
    if (*times > kMostLaunches) return fmt::format("{} is repeated {} times; {} are the most", launch.function, *times, kMostLaunches);
    for (int64_t step = 0; step < *times; ++step) {
      Bindings here = values;
      if (launch.repeat) here["STEP"] = step;
      const auto when = launch.when ? launch.when->eval(here) : 1;
      all += when && *when != 0 ? 1 : 0;
    }
  }
  return all > kMostLaunches ? fmt::format("the plan has {} launches; {} are the most", all, kMostLaunches) : "";
}

/// A launch with more blocks along an axis than any card takes, or too many launches: what a plan cannot launch it does not apply to, whether
/// its header says so or not. Empty where there is none, or where a grid cannot be told yet.
std::string beyond_launching(const Kernel& kernel, const Bindings& values) {
  if (std::string why = too_many_launches(kernel, values); !why.empty()) return why;
  const Threads threads = row_of(kernel.header.language).threads;
  if (threads != Threads::kBlock && threads != Threads::kWarps) return {};
  for (const Launch& launch : kernel.header.launches) {
    if (launch.repeat) continue;
    if (const auto when = launch.when ? launch.when->eval(values) : 1; !when || *when == 0) continue;
    for (size_t d = 0; d < launch.grid.size(); ++d)
      if (const auto blocks = launch.grid[d].eval(values); blocks && *blocks > kMostGrid[d])
        return fmt::format("{} asks for {} blocks along {}, of which no card takes more than {}", launch.function, *blocks, "xyz"[d], kMostGrid[d]);
  }
  return {};
}

}  // namespace

Result<bool> applies(const Kernel& kernel, const Bindings& bindings, const Limits& limits) {
  const Bindings values = everything(kernel, bindings, limits);
  for (const IntExpr& condition : kernel.header.require) {
    HONE_TRY(const int64_t truth, condition.eval(values));
    if (truth == 0) return false;
  }
  return beyond_launching(kernel, values).empty();
}

Result<bool> allowed(const Header& header, const Config& config, const Limits& limits) {
  Bindings values = limits;
  for (const auto& [name, value] : config) values[name] = value;
  for (const IntExpr& condition : header.constraints) {
    HONE_TRY(const int64_t truth, condition.eval(values));
    if (truth == 0) return false;
  }
  return true;
}

Result<BoundPlan> bind(const Kernel& kernel, const task::Task& task, const Bindings& bindings,
                       const Limits& limits) {
  const Bindings values = everything(kernel, bindings, limits);
  HONE_TRY(const bool fits, applies(kernel, bindings, limits));
  if (!fits) {
    if (std::string why = beyond_launching(kernel, values); !why.empty()) return fail(ErrorCode::kInput, std::move(why), "have each block do more, or say in `requires` how far it goes");
    std::vector<std::string> conditions;
    for (const IntExpr& c : kernel.header.require) conditions.push_back(c.to_string());
    return fail(ErrorCode::kInput, fmt::format("the kernel requires {}, which does not hold here",
                                               fmt::join(conditions, " and ")));
  }
  BoundPlan plan;
  std::vector<std::string> names;
  for (const auto& input : task.inputs) names.push_back(input.name);
  for (const auto& [name, type] : task.outputs) names.push_back(name);
  for (const Workspace& workspace : kernel.header.workspaces) {
    names.push_back(workspace.name);
    task::Shape shape;
    for (const IntExpr& extent : workspace.type.dims) {
      HONE_TRY(const int64_t value,
               positive(extent, values, "an extent of workspace " + workspace.name));
      shape.push_back(value);
    }
    plan.workspaces.push_back({workspace.type.dtype, std::move(shape), workspace.zero});
  }
  const bool by_warps = row_of(kernel.header.language).threads == Threads::kWarps;
  std::vector<FunctionCase> cases;
  if (by_warps) {
    HONE_TRY(cases, cases_of(kernel, task, bindings));
  }
  for (size_t number = 0; number < kernel.header.launches.size(); ++number) {
    const Launch& launch = kernel.header.launches[number];
    const auto its = std::find_if(cases.begin(), cases.end(), [&](const FunctionCase& c) { return c.function == launch.function; });
    int64_t times = 1;
    if (launch.repeat) {
      HONE_TRY(times, launch.repeat->eval(values));
      if (times < 0) return fail(ErrorCode::kInput, fmt::format("{} is repeated {} times", launch.function, times));
    }
    for (int64_t step = 0; step < times; ++step) {
      Bindings here = values;
      if (launch.repeat) here["STEP"] = step;
      HONE_TRY(auto bound, bind_launch(launch, static_cast<int>(number), here, names, by_warps, its == cases.end() ? nullptr : &its->arguments));
      if (bound) plan.launches.push_back(std::move(*bound));
    }
  }
  if (plan.launches.empty())
    return fail(ErrorCode::kInput, "no launch of the plan applies to this workload");
  return plan;
}

}  // namespace hone::kernel
