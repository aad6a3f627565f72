#include "hone/pattern/compose.h"

#include <algorithm>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "hone/pattern/opencl_text.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using kernel::Argument;
using task::IntExpr;

using Names = Slots;

std::string quoted_list(const std::vector<IntExpr>& all, const Names& names) {
  std::vector<std::string> texts;
  for (const IntExpr& e : all) texts.push_back("\"" + renamed(e.to_string(), names) + "\"");
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string argument_text(const Argument& argument, const Names& names) {
  switch (argument.kind) {
    case Argument::Kind::kTensor: return renamed(argument.tensor, names);
    case Argument::Kind::kI32: return "i32:" + renamed(argument.value.to_string(), names);
    case Argument::Kind::kI64: return "i64:" + renamed(argument.value.to_string(), names);
    case Argument::Kind::kShared: return "shared";
    default: break;  // Triton's alone
  }
  return {};
}

std::string launch_text(const kernel::Launch& launch, const Names& names) {
  std::vector<std::string> arguments;
  for (const Argument& argument : launch.args) arguments.push_back("\"" + argument_text(argument, names) + "\"");
  std::string text = fmt::format("[[launch]]\nkernel = \"{}\"\ngrid   = {}\n", renamed(launch.function, names), quoted_list(launch.grid, names));
  if (!launch.block.empty()) text += fmt::format("block  = {}\n", quoted_list(launch.block, names));
  if (!launch.cluster.empty()) text += fmt::format("cluster = {}\n", quoted_list(launch.cluster, names));
  text += fmt::format("args   = [{}]\n", fmt::join(arguments, ", "));
  if (!(launch.shared.is_constant() && launch.shared.constant() == 0))
    text += fmt::format("shared = \"{}\"\n", renamed(launch.shared.to_string(), names));
  if (launch.repeat) text += fmt::format("repeat = \"{}\"\n", renamed(launch.repeat->to_string(), names));
  if (launch.when) text += fmt::format("when   = \"{}\"\n", renamed(launch.when->to_string(), names));
  return text;
}

std::string workspace_text(const std::string& name, const task::TensorType& type, bool zero, const Names& names) {
  return fmt::format("{} = \"{}{}\"", name, zero ? "zero " : "", renamed(type.to_string(), names));
}

/// The source behind its header comment.
std::string_view body_of(const kernel::Kernel& kernel) {
  const std::string_view source = kernel.source;
  return source.substr(source.find("*/", source.find("/* hone")) + 2);
}

/// Names of a kernel's text that another kernel's may clash with, and what they become.
Names suffixed(const kernel::Kernel& kernel, const std::string& suffix) {
  Names names;
  for (const auto& tunable : kernel.header.tunables) names[tunable.name] = tunable.name + suffix;
  for (const auto& workspace : kernel.header.workspaces) names[workspace.name] = workspace.name + suffix;
  for (const auto& launch : kernel.header.launches) names[launch.function] = launch.function + suffix;
  for (const std::string_view device : {"__device__ void ", "__device__ inline void "})
    for (size_t at = 0; (at = kernel.source.find(device, at)) != std::string::npos;) {
      const size_t begin = at + device.size();
      size_t end = begin;
      while (end < kernel.source.size() && in_word(kernel.source[end])) ++end;
      const std::string name = kernel.source.substr(begin, end - begin);
      names[name] = name + suffix;
      at = end;
    }
  return names;
}

/// Names that a piece of OpenCL C gives: its functions and macros.
std::vector<std::string> given_names(std::string_view text) {
  static const std::regex given("\n(?:#define ([A-Za-z_][A-Za-z_0-9]*)|(?:__kernel )?[A-Za-z_][A-Za-z_0-9]* ([A-Za-z_][A-Za-z_0-9]*)\\()");
  std::vector<std::string> names;
  const std::string all = "\n" + std::string(text);
  for (std::sregex_iterator it(all.begin(), all.end(), given), end; it != end; ++it)
    names.push_back((*it)[(*it)[1].matched ? 1 : 2].str());
  return names;
}

/// The blocks of a kernel's helpers, and what stands behind them.
struct OpenClText {
  std::vector<std::string> helpers;
  std::string rest;
};
OpenClText taken_apart(std::string_view body) {
  const size_t begin = body.find(opencl::kHelpersBegin), end = body.find(opencl::kHelpersEnd);
  HONE_CHECK(begin != std::string_view::npos && end != std::string_view::npos, "a part without helpers");
  OpenClText text;
  text.rest = std::string(body.substr(0, begin)) + std::string(body.substr(end + opencl::kHelpersEnd.size()));
  const std::string_view blocks = body.substr(begin + opencl::kHelpersBegin.size(), end - begin - opencl::kHelpersBegin.size());
  for (size_t at = 0; at < blocks.size();) {
    const size_t next = std::min(blocks.find(opencl::kHelperEnd, at), blocks.size());
    text.helpers.emplace_back(blocks.substr(at, next - at));
    at = next + opencl::kHelperEnd.size();
  }
  return text;
}

/// The header comment of all parts together, without its language and its end.
std::string header_text(const Partition& partition, const std::vector<kernel::Kernel>& kernels) {
  std::vector<std::string> notes, require, constraints, tunables, workspaces;
  std::string launches;
  for (const auto& [name, type] : partition.between) workspaces.push_back(workspace_text(name, type, false, {}));
  for (size_t k = 0; k < kernels.size(); ++k) {
    const kernel::Header& header = kernels[k].header;
    const std::string suffix = fmt::format("_{}", k + 1);
    const Names names = suffixed(kernels[k], suffix);
    notes.push_back(header.note);
    for (const IntExpr& e : header.require)
      if (const std::string text = "\"" + renamed(e.to_string(), names) + "\""; std::find(require.begin(), require.end(), text) == require.end())
        require.push_back(text);
    for (const IntExpr& e : header.constraints) constraints.push_back("\"" + renamed(e.to_string(), names) + "\"");
    for (const auto& tunable : header.tunables)
      tunables.push_back(fmt::format("{}{} = [{}]", tunable.name, suffix, fmt::join(tunable.values, ", ")));
    for (const auto& workspace : header.workspaces)
      workspaces.push_back(workspace_text(workspace.name + suffix, workspace.type, workspace.zero, names));
    for (const auto& launch : header.launches) launches += launch_text(launch, names);
  }
  std::string text = fmt::format("pattern  = \"parts\"\nnote     = \"{} parts: {}\"\n", kernels.size(), fmt::join(notes, " | "));
  if (!require.empty()) text += fmt::format("requires = [{}]\n", fmt::join(require, ", "));
  if (!tunables.empty()) text += fmt::format("tunables = {{ {} }}\n", fmt::join(tunables, ", "));
  if (!constraints.empty()) text += fmt::format("constraints = [{}]\n", fmt::join(constraints, ", "));
  if (!workspaces.empty()) text += fmt::format("workspaces = {{ {} }}\n", fmt::join(workspaces, ", "));
  return text + launches;
}

/// `body` without its #include lines, which go to `includes` (each once): they belong in front of all parts.
std::string without_includes(std::string_view body, std::vector<std::string>& includes) {
  std::string out;
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find('\n', at), body.size() - 1) + 1;
    const std::string line(body.substr(at, end - at));
    at = end;
    if (!line.starts_with("#include")) out += line;
    else if (std::find(includes.begin(), includes.end(), line) == includes.end()) includes.push_back(line);
  }
  return out;
}

constexpr std::string_view kAboutParts =
    "*/\n// One part after the other; what one leaves to the next lies in the workspaces between*. Tunables, functions\n"
    "// and workspaces of a part carry its number.\n";

}  // namespace

std::string compose_cpp(const Partition& partition, const std::vector<kernel::Kernel>& kernels) {
  std::string bodies;
  std::vector<std::string> includes;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::string suffix = fmt::format("_{}", k + 1);
    const Names names = suffixed(kernels[k], suffix);
    bodies += fmt::format("\nnamespace part{} {{\n{}}}  // namespace part{}\n", suffix, without_includes(renamed(body_of(kernels[k]), names), includes), suffix);
    for (const auto& launch : kernels[k].header.launches) bodies += fmt::format("using part{}::{};\n", suffix, names.at(launch.function));
  }
  return fmt::format("/* hone\nlanguage = \"c++\"\n{}{}{}{}", header_text(partition, kernels), kAboutParts, fmt::join(includes, ""), bodies);
}

std::string compose_gpu(const Partition& partition, const std::vector<kernel::Kernel>& kernels) {
  std::string bodies;
  std::vector<std::string> includes;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::string suffix = fmt::format("_{}", k + 1);
    bodies += fmt::format("\n// ---- part {} ----\n", k + 1) + without_includes(renamed(body_of(kernels[k]), suffixed(kernels[k], suffix)), includes);
  }
  return fmt::format("/* hone\nlanguage = \"{}\"\n{}{}{}{}", kernel::name_of(kernels.front().header.language), header_text(partition, kernels), kAboutParts,
                     fmt::join(includes, ""), bodies);
}

std::string compose_opencl(const Partition& partition, const std::vector<kernel::Kernel>& kernels) {
  std::string bodies;
  std::vector<std::string> helpers;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::string suffix = fmt::format("_{}", k + 1);
    Names names = suffixed(kernels[k], suffix);
    const OpenClText text = taken_apart(body_of(kernels[k]));
    for (const std::string& name : given_names(text.rest)) names[name] = name + suffix;
    // A helper that hangs on a tunable is this part's own, and so is what hangs on such a helper.
    for (bool more = true; more;) {
      more = false;
      for (const std::string& helper : text.helpers) {
        if (renamed(helper, names) == helper) continue;
        for (const std::string& name : given_names(helper)) more |= names.emplace(name, name + suffix).second;
      }
    }
    for (const std::string& helper : text.helpers) {
      std::string own = renamed(helper, names);
      if (std::find(helpers.begin(), helpers.end(), own) == helpers.end()) helpers.push_back(std::move(own));
    }
    bodies += fmt::format("\n// ---- part {} ----\n", k + 1) + renamed(text.rest, names);
  }
  return fmt::format("/* hone\nlanguage = \"opencl\"\n{}{}{}\n{}", header_text(partition, kernels), kAboutParts,
                     fmt::join(helpers, "\n"), bodies);
}

}  // namespace hone::pattern
