#include "hone/pattern/plain_gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/names.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

/// "const float*" or "float*"; empty for what is no tensor.
std::string pointer_to(const std::string& tensor, const task::Task& task, const kernel::Kernel& plain) {
  for (const auto& input : task.inputs)
    if (input.name == tensor) return fmt::format("const {}*", storage_type(input.type.dtype));
  for (const auto& [name, type] : task.outputs)
    if (name == tensor) return fmt::format("{}*", storage_type(type.dtype));
  for (const auto& workspace : plain.header.workspaces)
    if (workspace.name == tensor) return fmt::format("{}*", storage_type(workspace.type.dtype));
  return {};
}

struct Parts {
  std::string workspaces, launches, entries;
};

/// The launch on a GPU of one function: a thread for each of its blocks.
void add_launch(const kernel::Launch& launch, const task::Task& task, const kernel::Kernel& plain, Parts& parts) {
  std::vector<std::string> parameters, given, arguments;
  task::IntExpr blocks = 1;
  for (const task::IntExpr& extent : launch.grid) blocks = blocks * extent;
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const kernel::Argument& argument = launch.args[i];
    const std::string name = fmt::format("a{}", i);
    if (argument.kind == kernel::Argument::Kind::kTensor) {
      parameters.push_back(fmt::format("{} {}", pointer_to(argument.tensor, task, plain), name));
      given.push_back(fmt::format("\"{}\"", argument.tensor));
      arguments.push_back(name);
    } else if (argument.kind == kernel::Argument::Kind::kShared) {
      // Scratch that a CPU's block has to itself lies in a workspace.
      const std::string space = fmt::format("scratch_of_{}", launch.function);
      parts.workspaces += fmt::format("{}{} = \"i64[({}) * ceil_div({}, 8)]\"", parts.workspaces.empty() ? "" : ", ", space,
                                      blocks.to_string(), launch.shared.to_string());
      parameters.push_back(fmt::format("int64_t* {0}, long long {0}_size", name));
      given.push_back(fmt::format("\"{}\", \"i64:ceil_div({}, 8)\"", space, launch.shared.to_string()));
      arguments.push_back(fmt::format("{0} + block * {0}_size", name));
    } else {
      parameters.push_back(fmt::format("long long {}", name));
      given.push_back(fmt::format("\"i64:{}\"", argument.value.to_string()));
      arguments.push_back(name);
    }
  }
  for (size_t d = 0; d < launch.grid.size(); ++d) {
    parameters.push_back(fmt::format("long long g{}", d));
    given.push_back(fmt::format("\"i64:{}\"", launch.grid[d].to_string()));
  }
  if (launch.grid.size() == 1) {
    arguments.emplace_back("block");
  } else {
    arguments.emplace_back("block % g0");
    arguments.emplace_back(launch.grid.size() == 2 ? "block / g0" : "block / g0 % g1");
    if (launch.grid.size() == 3) arguments.emplace_back("block / (g0 * g1)");
  }
  parts.launches += fmt::format("[[launch]]\nkernel = \"{}_grid\"\ngrid   = [\"ceil_div({}, 32)\"]\nblock  = [\"32\"]\nargs   = [{}]\n",
                                launch.function, blocks.to_string(), fmt::join(given, ", "));
  std::string count = "g0";
  for (size_t d = 1; d < launch.grid.size(); ++d) count += fmt::format(" * g{}", d);
  parts.entries += fmt::format(
      "\n__global__ void {0}_grid({1}) {{\n"
      "  const long long block = blockIdx.x * 32LL + threadIdx.x;\n"
      "  if (block < {2}) {0}({3});\n}}\n",
      launch.function, fmt::join(parameters, ", "), count, fmt::join(arguments, ", "));
}

/// Functions of the device.
std::string on_device(std::string functions) {
  constexpr std::string_view kBegin = "\nvoid ";
  for (size_t at = 0; (at = functions.find(kBegin, at)) != std::string::npos; at += kBegin.size() + 11)
    functions.replace(at, kBegin.size(), "\n__device__ void ");
  return functions;
}

}  // namespace

kernel::Kernel plain_kernel(const task::Task& task, kernel::Language language) {
  const PlainText text = plain_text(task);
  const kernel::Kernel plain = plain_kernel(task);
  Parts parts;
  parts.workspaces = text.workspaces;
  for (const kernel::Launch& launch : plain.header.launches) add_launch(launch, task, plain, parts);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["workspaces"] = parts.workspaces.empty() ? "" : "workspaces = { " + parts.workspaces + " }\n";
  slots["launches"] = parts.launches;
  slots["functions"] = on_device(text.functions);
  slots["entries"] = parts.entries;
  auto kernel = kernel::parse_kernel(fill_pattern("patterns/gpu/plain.cu", slots), "plain.cu");
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string());
  kernel->author = "pattern:plain";
  return *kernel;
}

kernel::Kernel plain_gpu(const task::Task& task, kernel::Language language) {
  const Names names(task);
  return names.given(plain_kernel(names.task(), language));
}

}  // namespace hone::pattern
