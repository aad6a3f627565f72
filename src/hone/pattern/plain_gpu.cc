#include "hone/pattern/plain_gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/opencl_text.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

/// What differs between CUDA or HIP and OpenCL C.
struct Tongue {
  const char *kernel, *space, *whole, *threads, *block;   ///< before a kernel and a pointer, integers, threads a block, which one
  std::string (*storage)(task::DType);
};
constexpr Tongue kGpu = {"__global__ void", "", "long long", "32", "blockIdx.x * 32LL + threadIdx.x", storage_type};
constexpr Tongue kOpenCl = {"__attribute__((reqd_work_group_size(ITEMS, 1, 1)))\n__kernel void", "__global ", "long", "ITEMS",
                            "get_global_id(0)", opencl::storage};

/// "const float*" or "float*"; empty for what is no tensor.
std::string pointer_to(const std::string& tensor, const task::Task& task, const kernel::Kernel& plain, const Tongue& tongue) {
  for (const auto& input : task.inputs)
    if (input.name == tensor) return fmt::format("{}const {}*", tongue.space, tongue.storage(input.type.dtype));
  for (const auto& [name, type] : task.outputs)
    if (name == tensor) return fmt::format("{}{}*", tongue.space, tongue.storage(type.dtype));
  for (const auto& workspace : plain.header.workspaces)
    if (workspace.name == tensor) return fmt::format("{}{}*", tongue.space, tongue.storage(workspace.type.dtype));
  return {};
}

struct Parts {
  std::string workspaces, launches, entries;
};

/// The launch on a GPU of one function: a thread for each of its blocks.
void add_launch(const kernel::Launch& launch, const task::Task& task, const kernel::Kernel& plain, const Tongue& tongue, Parts& parts) {
  std::vector<std::string> parameters, given, arguments;
  task::IntExpr blocks = 1;
  for (const task::IntExpr& extent : launch.grid) blocks = blocks * extent;
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const kernel::Argument& argument = launch.args[i];
    const std::string name = fmt::format("a{}", i);
    if (argument.kind == kernel::Argument::Kind::kTensor) {
      parameters.push_back(fmt::format("{} {}", pointer_to(argument.tensor, task, plain, tongue), name));
      given.push_back(fmt::format("\"{}\"", argument.tensor));
      arguments.push_back(name);
    } else if (argument.kind == kernel::Argument::Kind::kShared) {
      // Scratch that a CPU's block has to itself lies in a workspace.
      const std::string space = fmt::format("scratch_of_{}", launch.function);
      parts.workspaces += fmt::format("{}{} = \"i64[({}) * ceil_div({}, 8)]\"", parts.workspaces.empty() ? "" : ", ", space,
                                      blocks.to_string(), launch.shared.to_string());
      parameters.push_back(fmt::format("{}* {}, {} {}_size", *tongue.space ? "__global long" : "int64_t", name, tongue.whole, name));
      given.push_back(fmt::format("\"{}\", \"i64:ceil_div({}, 8)\"", space, launch.shared.to_string()));
      arguments.push_back(fmt::format("{0} + block * {0}_size", name));
    } else {
      parameters.push_back(fmt::format("{} {}", tongue.whole, name));
      given.push_back(fmt::format("\"i64:{}\"", argument.value.to_string()));
      arguments.push_back(name);
    }
  }
  for (size_t d = 0; d < launch.grid.size(); ++d) {
    parameters.push_back(fmt::format("{} g{}", tongue.whole, d));
    given.push_back(fmt::format("\"i64:{}\"", launch.grid[d].to_string()));
  }
  if (launch.grid.size() == 1) {
    arguments.emplace_back("block");
  } else {
    arguments.emplace_back("block % g0");
    arguments.emplace_back(launch.grid.size() == 2 ? "block / g0" : "block / g0 % g1");
    if (launch.grid.size() == 3) arguments.emplace_back("block / (g0 * g1)");
  }
  parts.launches += fmt::format("[[launch]]\nkernel = \"{}_grid\"\ngrid   = [\"ceil_div({}, {})\"]\nblock  = [\"{}\"]\nargs   = [{}]\n",
                                launch.function, blocks.to_string(), tongue.threads, tongue.threads, fmt::join(given, ", "));
  std::string count = "g0";
  for (size_t d = 1; d < launch.grid.size(); ++d) count += fmt::format(" * g{}", d);
  parts.entries += fmt::format(
      "\n{5} {0}_grid({1}) {{\n"
      "  const {6} block = {2};\n"
      "  if (block < {3}) {0}({4});\n}}\n",
      launch.function, fmt::join(parameters, ", "), tongue.block, count, fmt::join(arguments, ", "), tongue.kernel, tongue.whole);
}

/// Functions of the device.
std::string on_device(std::string functions) {
  constexpr std::string_view kBegin = "\nvoid ";
  for (size_t at = 0; (at = functions.find(kBegin, at)) != std::string::npos; at += kBegin.size() + 11)
    functions.replace(at, kBegin.size(), "\n__device__ void ");
  return functions;
}

}  // namespace

kernel::Kernel plain_gpu(const task::Task& task, kernel::Language language) {
  const PlainText text = plain_text(task);
  const kernel::Kernel plain = plain_cpp(task);
  Parts parts;
  parts.workspaces = text.workspaces;
  for (const kernel::Launch& launch : plain.header.launches) add_launch(launch, task, plain, kGpu, parts);
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

kernel::Kernel plain_opencl(const task::Task& task) {
  const PlainText text = plain_text(task, {}, Dialect::kOpenCl);
  const kernel::Kernel plain = plain_cpp(task);
  Parts parts;
  parts.workspaces = text.workspaces;
  for (const kernel::Launch& launch : plain.header.launches) add_launch(launch, task, plain, kOpenCl, parts);
  Slots slots;
  slots["workspaces"] = parts.workspaces.empty() ? "" : "workspaces = { " + parts.workspaces + " }\n";
  slots["launches"] = parts.launches;
  slots["functions"] = text.functions;
  slots["entries"] = parts.entries;
  return finished(opencl::with_helpers(fill_pattern("patterns/opencl/plain.cl", slots)), "plain");
}

}  // namespace hone::pattern
