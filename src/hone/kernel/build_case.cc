#include "hone/kernel/build_case.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::kernel {
namespace {

using Kind = Argument::Kind;

std::string pointer_to(task::DType type) {
  switch (type) {
    case task::DType::kF64: return "*fp64";
    case task::DType::kF32: return "*fp32";
    case task::DType::kBF16: return "*bf16";
    case task::DType::kF16: return "*fp16";
    case task::DType::kF8E4M3: return "*fp8e4nv";
    case task::DType::kF8E5M2: return "*fp8e5";
    case task::DType::kI64: return "*i64";
    case task::DType::kI32: return "*i32";
    case task::DType::kI16: return "*i16";
    case task::DType::kI8: return "*i8";
    case task::DType::kBool: return "*i1";
  }
  return {};
}

Result<task::TensorType> tensor_of(const Kernel& kernel, const task::Task& task, const std::string& tensor) {
  for (const auto& input : task.inputs)
    if (input.name == tensor) return input.type;
  for (const auto& [name, type] : task.outputs)
    if (name == tensor) return type;
  for (const Workspace& workspace : kernel.header.workspaces)
    if (workspace.name == tensor) return workspace.type;
  return fail(ErrorCode::kInput, fmt::format("\"{}\" is no input, output or workspace", tensor));
}

Result<std::string> constant_of(const Argument& argument, const task::Bindings& values) {
  if (!argument.tensor.empty()) return argument.tensor;
  const auto value = argument.value.eval(values);
  if (!value)
    return fail(ErrorCode::kInput, fmt::format("the constant \"={}\" is not known when the kernel is built: {}", argument.value.to_string(), value.error().message),
                "constants are made of tunables and shapes; what depends on the device is passed as i32:");
  return std::to_string(*value);
}

Result<ArgumentCase> case_of(const Kernel& kernel, const task::Task& task, const Argument& argument, const task::Bindings& values) {
  ArgumentCase here;
  switch (argument.kind) {
    case Kind::kTensor: {
      HONE_TRY(const task::TensorType type, tensor_of(kernel, task, argument.tensor));
      here.type = pointer_to(type.dtype);
      here.divisible = true;
      return here;
    }
    case Kind::kI32:
    case Kind::kI64: {
      here.type = argument.kind == Kind::kI32 ? "i32" : "i64";
      const auto value = argument.value.eval(values);
      here.divisible = value && *value % 16 == 0;
      if (value && *value == 1) here = {"", "1", false};
      return here;
    }
    case Kind::kF32: here.type = "fp32"; return here;
    case Kind::kNull: here.constant = "None"; return here;
    case Kind::kConstant: {
      HONE_TRY(here.constant, constant_of(argument, values));
      return here;
    }
    case Kind::kShared:
    case Kind::kScratch: break;
  }
  HONE_CHECK(false, "no argument that a Triton kernel's header can say");
  return here;
}

/// What two launches of one function have in common: a promise counts where both make it. Empty where they do not fit.
std::string unite(ArgumentCase& into, const ArgumentCase& other, const Argument& argument) {
  // An integer that is 1 in one launch only is no constant.
  const bool integer = argument.kind == Kind::kI32 || argument.kind == Kind::kI64;
  if (integer && into.constant != other.constant) {
    into = {argument.kind == Kind::kI32 ? "i32" : "i64", "", false};
    return {};
  }
  into.divisible = into.divisible && other.divisible;
  if (into.constant == other.constant && into.type == other.type) return {};
  return fmt::format("{} and {}", into.constant.empty() ? into.type : into.constant, other.constant.empty() ? other.type : other.constant);
}

}  // namespace

Result<std::vector<FunctionCase>> cases_of(const Kernel& kernel, const task::Task& task, const task::Bindings& bindings) {
  task::Bindings values = bindings;
  for (const auto& [name, value] : kernel.config) values[name] = value;
  std::vector<FunctionCase> cases;
  for (const Launch& launch : kernel.header.launches) {
    if (launch.when)
      if (const auto wanted = launch.when->eval(values); wanted && *wanted == 0) continue;
    FunctionCase here;
    here.function = launch.function;
    HONE_TRY(here.warps, launch.warps.eval(values));
    HONE_TRY(here.stages, launch.stages.eval(values));
    for (const Argument& argument : launch.args) {
      HONE_TRY(ArgumentCase its, case_of(kernel, task, argument, values));
      here.arguments.push_back(std::move(its));
    }
    const auto there = std::find_if(cases.begin(), cases.end(), [&](const FunctionCase& c) { return c.function == here.function; });
    if (there == cases.end()) {
      cases.push_back(std::move(here));
      continue;
    }
    std::string why;
    if (there->warps != here.warps || there->stages != here.stages) why = "warps or stages";
    if (there->arguments.size() != here.arguments.size()) why = "numbers of arguments";
    for (size_t i = 0; why.empty() && i < here.arguments.size(); ++i) {
      why = unite(there->arguments[i], here.arguments[i], launch.args[i]);
      if (!why.empty()) why = fmt::format("arguments {}: {}", i + 1, why);
    }
    if (!why.empty())
      return fail(ErrorCode::kInput, fmt::format("{} is launched twice with different {}", launch.function, why),
                  "a kernel is built once for all its launches: write a second @triton.jit function that calls the same helper");
  }
  return cases;
}

Result<std::vector<TileLaunch>> tile_launches(const Kernel& kernel, const task::Task& task, const task::Bindings& bindings) {
  task::Bindings values = bindings;
  for (const auto& [name, value] : kernel.config) values[name] = value;
  std::vector<TileLaunch> all;
  for (size_t number = 0; number < kernel.header.launches.size(); ++number) {
    const Launch& launch = kernel.header.launches[number];
    if (launch.when)
      if (const auto wanted = launch.when->eval(values); wanted && *wanted == 0) continue;
    TileLaunch& here = all.emplace_back();
    here.launch = number;
    here.function = launch.function;
    for (const Argument& argument : launch.args) {
      if (argument.kind == Kind::kConstant) {
        HONE_TRY(std::string constant, constant_of(argument, values));
        here.constants.push_back(std::move(constant));
        continue;
      }
      TileArgument& its = here.arguments.emplace_back();
      here.tensors.push_back(argument.kind == Kind::kTensor ? argument.tensor : "");
      if (argument.kind != Kind::kTensor) {
        its.dtype = argument.kind == Kind::kI32 ? "int32" : "int64";
        HONE_TRY(its.value, argument.value.eval(values));
        continue;
      }
      HONE_TRY(const task::TensorType type, tensor_of(kernel, task, argument.tensor));
      its.dtype = task::numpy_name_of(type.dtype);
      its.shape.emplace();
      for (const task::IntExpr& extent : type.dims) {
        HONE_TRY(const int64_t value, extent.eval(values));
        its.shape->push_back(value);
      }
    }
  }
  return all;
}

namespace {

std::string name_of_tiles(const std::vector<TileLaunch>& launches) {
  std::string name;
  for (const TileLaunch& launch : launches) {
    name += fmt::format("{}/{}", launch.function, fmt::join(launch.constants, ","));
    for (const TileArgument& argument : launch.arguments)
      name += argument.shape ? fmt::format("/{}[{}]", argument.dtype, fmt::join(*argument.shape, ",")) : fmt::format("/{}:{}", argument.dtype, argument.value);
    name += ';';
  }
  return name;
}

}  // namespace

std::string case_name(const Kernel& kernel, const task::Task& task, const task::Bindings& bindings) {
  const Threads threads = row_of(kernel.header.language).threads;
  if (threads == Threads::kCompiled) return tile_launches(kernel, task, bindings).map(name_of_tiles).value_or("refused");
  if (threads != Threads::kWarps) return {};
  const auto cases = cases_of(kernel, task, bindings);
  if (!cases) return "refused";
  std::string name;
  for (const FunctionCase& c : *cases) {
    name += fmt::format("{}/{}/{}", c.function, c.warps, c.stages);
    for (const ArgumentCase& a : c.arguments) name += fmt::format(",{}{}{}", a.type, a.constant, a.divisible ? "/16" : "");
    name += ';';
  }
  return name;
}

}  // namespace hone::kernel
