#include "hone/pattern/draft.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/kernel/write_header.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

constexpr std::string_view kInclude = "#include";

/// In Python imports are what others include, and functions that are not launched: each is there once, whoever calls it.
bool is_include(std::string_view line, bool python) { return python ? line.starts_with("import ") || line.starts_with("from ") : line.starts_with(kInclude); }

template <typename T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

std::string renamed_name(const std::map<std::string, std::string, std::less<>>& names, const std::string& name) {
  const auto it = names.find(name);
  return it == names.end() ? name : it->second;
}

/// The plan under its new names.
kernel::Header renamed_header(kernel::Header header, const Rename& rename) {
  auto symbols = rename.symbols;
  for (const auto& [name, other] : rename.tunables) symbols.emplace(name, IntExpr::symbol(other));
  const auto each = [&](std::vector<IntExpr>& all) {
    for (IntExpr& e : all) e = e.substitute(symbols);
  };
  each(header.require);
  each(header.constraints);
  for (kernel::Tunable& tunable : header.tunables) tunable.name = renamed_name(rename.tunables, tunable.name);
  for (kernel::Workspace& workspace : header.workspaces) {
    workspace.name = renamed_name(rename.tensors, workspace.name);
    each(workspace.type.dims);
  }
  for (kernel::Launch& launch : header.launches) {
    if (!rename.space.empty()) launch.function = rename.space + (is_python(header) ? "_" : "::") + launch.function;
    for (std::vector<IntExpr>* all : {&launch.grid, &launch.block, &launch.cluster}) each(*all);
    for (IntExpr* one : {&launch.shared, &launch.warps, &launch.stages}) *one = one->substitute(symbols);
    if (launch.when) launch.when = launch.when->substitute(symbols);
    if (launch.repeat) launch.repeat = launch.repeat->substitute(symbols);
    for (kernel::Argument& argument : launch.args) {
      argument.tensor = renamed_name(rename.tensors, argument.tensor);
      argument.value = argument.value.substitute(symbols);
    }
  }
  return header;
}

/// Functions of a module that no launch names go to its includes.
void take_functions(Draft& draft) {
  constexpr std::string_view kBetween = "\n\n\n", kDef = "\ndef ";
  std::string text;
  std::swap(text, draft.text);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of('\n', at), end = std::min(text.find(kBetween, std::min(begin, text.size())), text.size());
    at = end;
    if (begin == std::string::npos) break;
    std::string block = text.substr(begin, end - begin);
    block.resize(block.find_last_not_of('\n') + 1);
    const size_t name = block.starts_with(kDef.substr(1)) ? kDef.size() - 1 : block.find(kDef) + kDef.size();
    const std::string_view function = std::string_view(block).substr(name, block.find('(', name) - name);
    const auto& launches = draft.header.launches;
    const bool launched = std::any_of(launches.begin(), launches.end(), [&](const kernel::Launch& launch) { return launch.function == function; });
    if (launched) draft.text += fmt::format("\n\n{}\n", block);
    else add_once(draft.includes, "\n\n" + block);
  }
}

}  // namespace

bool is_python(const kernel::Header& header) { return kernel::row_of(header.language).fence == "python"; }

Draft draft_of(const kernel::Kernel& kernel) {
  Draft draft;
  draft.header = kernel.header;
  const std::string_view source = kernel.source;
  const kernel::LanguageRow& row = kernel::row_of(kernel.header.language);
  const bool python = is_python(kernel.header);
  const size_t end = source.find(row.close, source.find(row.open) + row.open.size());
  HONE_CHECK(end != std::string_view::npos, "a kernel of the library has a header");
  std::string_view rest = source.substr(end + row.close.size());
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n') == std::string_view::npos ? rest.size() : rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    if (is_include(line, python)) add_once(draft.includes, std::string(line.substr(0, line.find('\n'))));
    else (draft.includes.empty() ? draft.about : draft.text) += line;
  }
  if (draft.includes.empty()) std::swap(draft.about, draft.text);
  if (python) take_functions(draft);
  return draft;
}

kernel::Kernel kernel_of(const Draft& draft, const std::string& author) {
  std::string source = kernel::header_comment(draft.header) + draft.about;
  for (const std::string& line : draft.includes) source += line + "\n";
  auto kernel = kernel::parse_kernel(source + draft.text, "pattern " + draft.header.pattern);
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string() + "\n" + source + draft.text);
  kernel->author = author;
  return std::move(*kernel);
}

Draft renamed(Draft draft, const Rename& rename) {
  if (is_python(draft.header)) {
    for (const kernel::Launch& launch : draft.header.launches)
      if (const std::string def = fmt::format("\ndef {}(", launch.function); !rename.space.empty())
        if (const size_t at = draft.text.find(def); at != std::string::npos) draft.text.insert(at + 5, rename.space + "_");
    draft.header = renamed_header(std::move(draft.header), rename);
    return draft;
  }
  draft.header = renamed_header(std::move(draft.header), rename);
  std::string before, after;
  for (const auto& [name, other] : rename.tunables) {
    before += fmt::format("#define {} {}\n", name, other);
    after += fmt::format("#undef {}\n", name);
  }
  if (!rename.space.empty()) {
    before = fmt::format("namespace {} {{\n", rename.space) + before;
    after += fmt::format("}}  // namespace {}\n", rename.space);
  }
  if (!before.empty()) draft.text = before + draft.text + after;
  return draft;
}

Draft joined(const std::vector<Draft>& parts) {
  HONE_CHECK(!parts.empty(), "parts to join");
  Draft all;
  all.header.language = parts.front().header.language;
  all.header.compiler = parts.front().header.compiler;
  for (const Draft& part : parts) {
    const kernel::Header& header = part.header;
    for (const IntExpr& e : header.require) add_once(all.header.require, e);
    all.header.constraints.insert(all.header.constraints.end(), header.constraints.begin(), header.constraints.end());
    all.header.tunables.insert(all.header.tunables.end(), header.tunables.begin(), header.tunables.end());
    all.header.workspaces.insert(all.header.workspaces.end(), header.workspaces.begin(), header.workspaces.end());
    all.header.launches.insert(all.header.launches.end(), header.launches.begin(), header.launches.end());
    for (const std::string& line : part.includes) add_once(all.includes, line);
    all.text += part.about + part.text;
  }
  return all;
}

}  // namespace hone::pattern
