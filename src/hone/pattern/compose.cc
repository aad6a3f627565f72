#include "hone/pattern/compose.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

namespace hone::pattern {
namespace {

using kernel::Argument;
using task::IntExpr;

using Names = std::map<std::string, std::string, std::less<>>;

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Every whole word that `names` knows, replaced.
std::string renamed(std::string_view text, const Names& names) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const auto it = names.find(text.substr(at, end - at));
    out += it == names.end() ? std::string(text.substr(at, end - at)) : it->second;
    at = end;
  }
  return out;
}

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
  }
  return {};
}

std::string launch_text(const kernel::Launch& launch, const Names& names) {
  std::vector<std::string> arguments;
  for (const Argument& argument : launch.args) arguments.push_back("\"" + argument_text(argument, names) + "\"");
  std::string text = fmt::format("[[launch]]\nkernel = \"{}\"\ngrid   = {}\nargs   = [{}]\n", renamed(launch.function, names),
                                 quoted_list(launch.grid, names), fmt::join(arguments, ", "));
  if (!(launch.shared.is_constant() && launch.shared.constant() == 0))
    text += fmt::format("shared = \"{}\"\n", renamed(launch.shared.to_string(), names));
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

}  // namespace

std::string compose_cpp(const Partition& partition, const std::vector<kernel::Kernel>& kernels) {
  std::vector<std::string> notes, require, constraints, tunables, workspaces;
  std::string launches, bodies;
  for (const auto& [name, type] : partition.between) workspaces.push_back(workspace_text(name, type, false, {}));
  for (size_t k = 0; k < kernels.size(); ++k) {
    const kernel::Header& header = kernels[k].header;
    const std::string suffix = fmt::format("_{}", k + 1);
    Names names;
    for (const auto& tunable : header.tunables) names[tunable.name] = tunable.name + suffix;
    for (const auto& workspace : header.workspaces) names[workspace.name] = workspace.name + suffix;
    for (const auto& launch : header.launches) names[launch.function] = launch.function + suffix;
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
    bodies += fmt::format("\nnamespace part{} {{\n{}}}  // namespace part{}\n", suffix, renamed(body_of(kernels[k]), names), suffix);
    for (const auto& launch : header.launches) bodies += fmt::format("using part{}::{};\n", suffix, names.at(launch.function));
  }
  std::string text = fmt::format("/* hone\nlanguage = \"c++\"\npattern  = \"parts\"\nnote     = \"{} parts: {}\"\n", kernels.size(), fmt::join(notes, " | "));
  if (!require.empty()) text += fmt::format("requires = [{}]\n", fmt::join(require, ", "));
  if (!tunables.empty()) text += fmt::format("tunables = {{ {} }}\n", fmt::join(tunables, ", "));
  if (!constraints.empty()) text += fmt::format("constraints = [{}]\n", fmt::join(constraints, ", "));
  if (!workspaces.empty()) text += fmt::format("workspaces = {{ {} }}\n", fmt::join(workspaces, ", "));
  return text + launches +
         "*/\n// One part after the other; what one leaves to the next lies in the workspaces between*. Tunables, functions\n"
         "// and workspaces of a part carry its number.\n" + bodies;
}

}  // namespace hone::pattern
