#include "hone/target/toolchain/gpu_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/target/toolchain/simt_source.h"

namespace hone::target {
namespace {

constexpr std::string_view kCudaPrelude =
    "#include <float.h>\n#include <limits.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    "#include <type_traits>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";

constexpr std::string_view kNvrtcPrelude = "#include \"hone/nvrtc/prelude.h\"\n";
constexpr std::string_view kHipPrelude = "#include \"hone/hip/hip.h\"\n";

bool known(const kernel::Kernel& kernel, const task::Task& task, const std::string& tensor) {
  const auto named = [&](const auto& item) { return item.name == tensor; };
  return std::any_of(task.inputs.begin(), task.inputs.end(), named) ||
         std::any_of(task.outputs.begin(), task.outputs.end(), [&](const auto& output) { return output.first == tensor; }) ||
         std::any_of(kernel.header.workspaces.begin(), kernel.header.workspaces.end(), named);
}

Status check_arguments(const kernel::Kernel& kernel, const task::Task& task) {
  for (const kernel::Launch& launch : kernel.header.launches)
    for (const kernel::Argument& argument : launch.args) {
      if (argument.kind == kernel::Argument::Kind::kShared)
        return fail(ErrorCode::kInput, fmt::format("{} takes \"shared\": a GPU kernel declares extern __shared__ instead", launch.function));
      if (argument.kind == kernel::Argument::Kind::kTensor && !known(kernel, task, argument.tensor))
        return fail(ErrorCode::kInput, fmt::format("{} takes \"{}\", which is no input, output or workspace", launch.function, argument.tensor));
    }
  return {};
}

}  // namespace

Result<std::string> gpu_unit(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, bool nvrtc) {
  const bool cuda = kernel.header.language == kernel::Language::kCuda;
  const std::string file = cuda ? "kernel.cu" : "kernel.hip";
  HONE_TRY_VOID(refuse_assembly(kernel.source, file));
  HONE_TRY_VOID(check_arguments(kernel, task));
  std::string text(!cuda ? kHipPrelude : nvrtc ? kNvrtcPrelude : kCudaPrelude);
  for (const auto& [name, value] : kernel.config) text += fmt::format("#define {} {}\n", name, value);
  for (const std::string& symbol : kernel.header.specialise) {
    const auto it = bindings.find(symbol);
    if (it == bindings.end()) return fail(ErrorCode::kInput, fmt::format("the header specialises {}, which is no shape symbol", symbol));
    text += fmt::format("#define {} {}LL\n", symbol, it->second);
  }
  return text + fmt::format("#line 1 \"{}\"\n{}\n", file, kernel.source);
}

}  // namespace hone::target
