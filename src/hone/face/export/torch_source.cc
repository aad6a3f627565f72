#include "hone/face/export/torch_source.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/face/export/header_file.h"
#include "hone/face/export/names.h"
#include "hone/face/export/python_code.h"
#include "hone/face/export/python_names.h"
#include "hone/face/export/source_text.h"
#include "hone/kernel/build_case.h"

namespace hone::face {
namespace {

using kernel::Kernel;

/// NAME_call(), which ctypes finds: pointers, extents, threads. An exception (no memory) must not reach Python: false.
std::string c_function(const std::string& name, const task::Task& task, const std::string& space) {
  std::vector<std::string> parameters, arguments;
  const auto tensor = [&](std::string_view qualifier, task::DType dtype) {
    parameters.push_back(fmt::format("{}void* p{}", qualifier, parameters.size()));
    arguments.push_back(fmt::format("static_cast<{}{}*>(p{})", qualifier, public_type(dtype), arguments.size()));
  };
  for (const task::InputSpec& input : task.inputs) tensor("const ", input.type.dtype);
  for (const auto& [output, type] : task.outputs) tensor("", type.dtype);
  for (size_t i = 0; i < task.symbols().size(); ++i) {
    parameters.push_back(fmt::format("int64_t n{}", i));
    arguments.push_back(fmt::format("n{}", i));
  }
  parameters.emplace_back("int threads");
  arguments.emplace_back("threads");
  return fmt::format("\n{} {{\n  try {{\n    return {};\n  }} catch (...) {{\n    return false;\n  }}\n}}\n",
                     with_arguments(fmt::format("extern \"C\" bool {}_call", name), parameters, 4),
                     with_arguments(fmt::format("{}::{}", space, name), arguments, 8));
}

std::string verified_text(const TorchOptions& options) {
  if (!options.verified) return "None";
  return fmt::format("{{\"device\": {}, \"toolchain\": {}}}", python_string(options.verified->device), python_string(options.verified->toolchain));
}

Result<TorchSource> cpp_source(const Kernel& kernel, const task::Task& task, const TorchOptions& options, const std::string& name) {
  ExportOptions common = options.common;
  common.name = name;
  HONE_TRY(auto files, export_header(kernel, task, std::nullopt, common));
  TorchSource source;
  source.modules = {"cpu"};
  source.type = "CpuKernel";
  for (ExportedFile& file : files) {
    if (file.name.ends_with(".cc")) file.content += c_function(name, task, common.space);
    source.files.push_back(std::move(file));
  }
  std::vector<std::string> flags;
  for (const std::string& flag : common.flags) flags.push_back(python_string(flag));
  source.object = fmt::format("CpuKernel({}, @SOURCES@,\n    [{}], {},\n    ({}, {}), VERIFIED, @FOLDER@)", python_string(name),
                              fmt::join(flags, ", "), python_string(kernel.header.compiler), task.inputs.size() + task.outputs.size(),
                              task.symbols().size());
  if (common.alignment > 0) source.conditions.push_back(fmt::format("every tensor begins on a multiple of {} bytes", common.alignment));
  return source;
}

/// hone's headers that a file includes, and those that they include; what only the emulator and AMD's cards read stays.
Status add_headers(const std::string& text, std::map<std::string, std::string>& headers) {
  for (const CppPiece& piece : tokenize_cpp(text)) {
    if (piece.kind != CppToken::kDirective || piece.text.find("include") == std::string::npos) continue;
    const size_t begin = piece.text.find('"'), end = piece.text.rfind('"');
    if (begin == std::string::npos || end == begin) continue;
    const std::string name = piece.text.substr(begin + 1, end - begin - 1);
    if (name.starts_with("hone/simt/") || name.starts_with("hone/hip/") || headers.count(name) > 0) continue;
    const auto content = base::find_embedded("include/" + name);
    if (!content) return fail(ErrorCode::kInput, fmt::format("#include \"{}\": hone has no such header", name));
    headers[name] = std::string(*content);
    HONE_TRY_VOID(add_headers(headers[name], headers));
  }
  return {};
}

Result<TorchSource> cuda_source(const Kernel& kernel, const task::Task& task, const std::string& name) {
  TorchSource source;
  source.modules = {"driver", "cuda"};
  source.type = "CudaKernel";
  source.plans = {"plan"};
  HONE_TRY(source.plan, plan_function(kernel, task));
  std::map<std::string, std::string> headers;
  HONE_TRY_VOID(add_headers(kernel.source + "\n#include \"hone/nvrtc/prelude.h\"\n", headers));
  constexpr std::string_view kShims = "include/hone/nvrtc/shim/";
  for (const std::string_view shim : base::list_embedded(kShims)) headers[std::string(shim.substr(8))] = std::string(*base::find_embedded(shim));
  source.files.push_back({"kernel.cu", kernel.source});
  for (auto& [file, text] : headers) source.files.push_back({file, std::move(text)});
  std::vector<std::string> config, specialised;
  for (const auto& [tunable, value] : kernel.config) config.push_back(fmt::format("{}: {}", python_string(tunable), value));
  for (const task::Workload& workload : task.workloads) {
    std::vector<std::string> values;
    for (const std::string& symbol : kernel.header.specialise) {
      const auto it = workload.bindings.find(symbol);
      if (it == workload.bindings.end()) return fail(ErrorCode::kInput, fmt::format("the header specialises {}, which is no shape symbol", symbol));
      values.push_back(fmt::format("{}: {}", python_string(symbol), it->second));
    }
    const std::string one = fmt::format("{{{}}}", fmt::join(values, ", "));
    if (!values.empty() && std::find(specialised.begin(), specialised.end(), one) == specialised.end()) specialised.push_back(one);
  }
  source.object = fmt::format("CudaKernel({}, @SOURCES@,\n    {{{}}}, SYMBOLS, [{}], plan, VERIFIED, @FOLDER@)", python_string(name),
                              fmt::join(config, ", "), fmt::join(specialised, ", "));
  if (!specialised.empty())
    source.conditions.push_back(fmt::format("{} as in one of the verified shapes", fmt::join(kernel.header.specialise, ", ")));
  source.conditions.emplace_back("every tensor begins on a multiple of 64 bytes");
  return source;
}

/// Triton's or TileLang's module as it is, compiled by its package where it runs.
Result<TorchSource> tile_source(const Kernel& kernel, const task::Task& task, const std::string& name, const char* type, const char* package) {
  TorchSource source;
  source.modules = {"tiles"};
  source.type = type;
  source.plans = {"plan"};
  HONE_TRY(source.plan, plan_function(kernel, task));
  source.files.push_back({"kernel.py", kernel.source});
  source.object = fmt::format("{}({}, @SOURCES@, plan, VERIFIED, @FOLDER@)", type, python_string(name));
  source.conditions.push_back(fmt::format("{} is installed", package));
  source.conditions.emplace_back("every tensor begins on a multiple of 64 bytes");
  return source;
}

/// What a build of Triton's takes for granted of its function's arguments, as binary.py reads it.
std::string promises_of(const kernel::FunctionCase& its) {
  std::vector<std::string> all;
  for (const kernel::ArgumentCase& argument : its.arguments)
    all.push_back(python_string(!argument.constant.empty() ? "=" + argument.constant : argument.divisible && argument.type.starts_with('i') ? "16" : ""));
  return fmt::format("({}{})", fmt::join(all, ", "), all.size() == 1 ? "," : "");
}

/// The functions of a build: (symbol, what its compiler laid out or None), by their names in the plan.
Result<std::string> functions_text(const Kernel& kernel, const task::Task& task, const ExportedBuild& made) {
  std::vector<std::string> all;
  const auto fact = [&](const std::string& name) {
    const auto it = made.build.facts.find(name);
    return it == made.build.facts.end() ? int64_t{0} : static_cast<int64_t>(it->second);
  };
  if (kernel.header.language != kernel::Language::kTriton) {
    for (const auto& [function, symbol] : made.build.symbols) all.push_back(fmt::format("{}: ({}, None)", python_string(function), python_string(symbol)));
  } else {
    HONE_TRY(const auto cases, kernel::cases_of(kernel, task, made.bindings));
    const int64_t wave = made.build.card_arch.starts_with("gfx") ? 64 : 32;
    for (const kernel::FunctionCase& its : cases)
      all.push_back(fmt::format("{}: ({}, ({}, {}, {}, {}))", python_string(its.function), python_string(made.build.symbols.at(its.function)), its.warps * wave,
                                fact("dynamic_shared_bytes/" + its.function), fact("scratch_bytes/" + its.function), promises_of(its)));
  }
  return fmt::format("{{{}}}", fmt::join(all, ",\n                   "));
}

/// How many constants and multiples a build of Triton's takes for granted.
Result<std::ptrdiff_t> promises_in(const Kernel& kernel, const task::Task& task, const ExportedBuild& made) {
  std::ptrdiff_t count = 0;
  if (kernel.header.language != kernel::Language::kTriton) return count;
  HONE_TRY(const auto cases, kernel::cases_of(kernel, task, made.bindings));
  for (const kernel::FunctionCase& its : cases)
    count += std::ranges::count_if(its.arguments, [](const kernel::ArgumentCase& argument) { return !argument.constant.empty() || argument.divisible; });
  return count;
}

/// Machine code, the plans that launch it, and which of them is for what. What promises most comes first: it is the fastest where it fits.
Result<TorchSource> binary_source(const Kernel& kernel, const task::Task& task, const TorchOptions& options, const std::string& name) {
  TorchSource source;
  source.modules = {"driver", "binary"};
  source.type = "BinaryKernel";
  if (!options.builds.front().build.lowered) {
    source.plans = {"plan"};
    HONE_TRY(source.plan, plan_function(kernel, task));
  }
  const std::string& arch = options.builds.front().build.card_arch;
  std::vector<std::pair<std::ptrdiff_t, std::string>> builds;  // what takes most for granted comes first
  for (size_t i = 0; i < options.builds.size(); ++i) {
    const ExportedBuild& made = options.builds[i];
    std::string plan = "plan";
    std::vector<std::string> extents;
    for (const auto& [symbol, value] : made.bindings)
      if (made.build.lowered || std::ranges::count(kernel.header.specialise, symbol) > 0) extents.push_back(fmt::format("{}: {}", python_string(symbol), value));
    if (made.build.lowered) {
      plan = fmt::format("plan_{}", i);
      HONE_TRY(const std::string text, plan_function(*made.build.lowered, task));
      source.plan += (source.plans.empty() ? "def " : "\n\ndef ") + plan + text.substr(text.find('('));
      source.plans.push_back(plan);
    }
    HONE_TRY(const std::string functions, functions_text(kernel, task, made));
    const std::string file = fmt::format("{}.{}", i, arch.starts_with("gfx") ? "hsaco" : "cubin");
    source.binaries.push_back({file, made.image});
    HONE_TRY(const std::ptrdiff_t promises, promises_in(kernel, task, made));
    builds.emplace_back(-promises, fmt::format("    {{\"file\": {}, \"extents\": {{{}}}, \"plan\": {},\n     \"functions\": {}}},\n", python_string(file), fmt::join(extents, ", "),
                                               plan, functions));
  }
  std::ranges::stable_sort(builds, {}, [](const auto& build) { return build.first; });
  std::string list;
  for (const auto& [promises, text] : builds) list += text;
  source.object = fmt::format("BUILDS = [\n{}]\nKERNEL = BinaryKernel({}, {}, BUILDS, SYMBOLS, {}, VERIFIED, @FOLDER@)", list, python_string(name), python_string(arch),
                              task.inputs.size() + task.outputs.size());
  source.files.push_back({fmt::format("kernel{}", kernel::row_of(kernel.header.language).suffix), kernel.source});
  source.conditions.push_back(fmt::format("the card's architecture is {}", arch));
  if (options.builds.front().build.lowered) {
    source.conditions.emplace_back("the extents are those of a verified shape");
  } else if (!kernel.header.specialise.empty()) {
    source.conditions.push_back(fmt::format("{} as in one of the verified shapes", fmt::join(kernel.header.specialise, ", ")));
  }
  source.conditions.emplace_back("every tensor begins on a multiple of 64 bytes");
  return source;
}

}  // namespace

Result<std::string> torch_name(const TorchOptions& options, const task::Task& task) {
  std::string name = options.common.name.empty() ? task.name : options.common.name;
  const auto good = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (!options.common.name.empty() &&
      (!std::all_of(name.begin(), name.end(), good) || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || python_name(name, {}) != name))
    return fail(ErrorCode::kInput, fmt::format("\"{}\" is no Python identifier", name), "the package is named so: letters, digits and _");
  for (char& c : name)
    if (!good(c)) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "kernel_");
  return python_name(name, {});
}

Result<TorchSource> torch_source(const Kernel& kernel, const task::Task& task, const TorchOptions& options, const std::string& name) {
  Result<TorchSource> source = fail(ErrorCode::kInput, fmt::format("a kernel in {} cannot become a PyTorch operator", kernel::name_of(kernel.header.language)),
                                    "export takes kernels in c++, cuda, triton and tilelang");
  if (!options.builds.empty()) source = binary_source(kernel, task, options, name);
  else switch (kernel.header.language) {
    case kernel::Language::kCpp: source = cpp_source(kernel, task, options, name); break;
    case kernel::Language::kCuda: source = cuda_source(kernel, task, name); break;
    case kernel::Language::kTriton: source = tile_source(kernel, task, name, "TritonKernel", "Triton"); break;
    case kernel::Language::kTileLang: source = tile_source(kernel, task, name, "TileLangKernel", "TileLang"); break;
    default: break;
  }
  if (!source) return source;
  source->object = fmt::format("VERIFIED = {}\n{}{}\n", verified_text(options), options.builds.empty() ? "KERNEL = " : "", source->object);
  for (const task::IntExpr& condition : kernel.header.require) {
    std::map<std::string, task::IntExpr, std::less<>> with;
    for (const auto& [tunable, value] : kernel.config) with.emplace(tunable, task::IntExpr(value));
    source->conditions.push_back(condition.substitute(with).to_string());
  }
  return source;
}

std::string kernel_object(const TorchSource& source, std::string_view sources, std::string_view folder) {
  std::string text = source.object;
  const auto put = [&](std::string_view mark, std::string_view value) {
    if (const size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), value);
  };
  put("@SOURCES@", sources);
  put("@FOLDER@", folder);
  return text;
}

std::vector<std::string> torch_provenance(const Kernel& kernel, const task::Task& task, const TorchOptions& options) {
  const Provenance& from = options.common.provenance;
  std::vector<std::string> lines{fmt::format("task      {}, {}", task.name, task.hash()), fmt::format("kernel    {}", kernel.hash()),
                                 fmt::format("accuracy  track \"{}\"", task::name_of(task.track))};
  if (!options.verified) {
    lines.emplace_back("verified  no: exported without a verdict");
    return lines;
  }
  lines.push_back(fmt::format("verified  {}{}{}, {}", from.date, from.date.empty() ? "" : ", ", options.verified->device, options.verified->toolchain));
  for (const std::string& shape : from.shapes) lines.push_back("          " + shape);
  if (!from.measured.empty()) lines.push_back("measured  " + from.measured);
  return lines;
}

std::string runtime_module(const std::string& name) {
  const auto text = base::find_embedded(fmt::format("export_python/{}.py", name));
  HONE_CHECK(text.has_value(), name);
  return std::string(*text);
}

}  // namespace hone::face
