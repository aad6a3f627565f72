#include "hone/kernel/build_case.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone::kernel {
namespace {

using Kind = Argument::Kind;

std::string pointer_to(task::DType type) {
  switch (type) {
    case task::DType::kF64: return "*fp64";
    case task::DType::kF32: return "*fp32";
    case task::DType::kBF16: return "*bf16";
    case task::DType::kF16: return "*fp16";
    case task::DType::kI64: return "*i64";
    case task::DType::kI32: return "*i32";
    case task::DType::kI16: return "*i16";
    case task::DType::kI8: return "*i8";
    case task::DType::kBool: return "*i1";
  }
  return {};
}

Result<task::DType> type_of(const Kernel& kernel, const task::Task& task, const std::string& tensor) {
  for (const auto& input : task.inputs)
    if (input.name == tensor) return input.type.dtype;
  for (const auto& [name, type] : task.outputs)
    if (name == tensor) return type.dtype;
  for (const Workspace& workspace : kernel.header.workspaces)
    if (workspace.name == tensor) return workspace.type.dtype;
  return fail(ErrorCode::kInput, fmt::format("\"{}\" is no input, output or workspace", tensor));
}

Result<ArgumentCase> case_of(const Kernel& kernel, const task::Task& task, const Argument& argument, const task::Bindings& values) {
  ArgumentCase here;
  switch (argument.kind) {
    case Kind::kTensor: {
      HONE_TRY(const task::DType type, type_of(kernel, task, argument.tensor));
      here.type = pointer_to(type);
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
      here.constant = argument.tensor;
      if (!here.constant.empty()) return here;
      const auto value = argument.value.eval(values);
      if (!value)
        return fail(ErrorCode::kInput, fmt::format("the constant \"={}\" is not known when the kernel is built: {}", argument.value.to_string(), value.error().message),
                    "constants are made of tunables and shapes; what depends on the device is passed as i32:");
      here.constant = std::to_string(*value);
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

std::string case_name(const Kernel& kernel, const task::Task& task, const task::Bindings& bindings) {
  if (row_of(kernel.header.language).threads != Threads::kWarps) return {};
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
