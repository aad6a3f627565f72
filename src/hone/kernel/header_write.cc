#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/kernel/header_text.h"
#include "hone/kernel/kernel.h"

namespace hone::kernel {
namespace {

using task::IntExpr;

std::string expression_list(const std::vector<IntExpr>& all) {
  std::vector<std::string> texts;
  for (const IntExpr& e : all) texts.push_back(toml_string(e.to_string()));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string expression_text(const IntExpr& e) { return toml_string(e.to_string()); }

std::string argument_text(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kTensor: return toml_string(argument.tensor == "shared" ? "tensor:shared" : argument.tensor);
    case Argument::Kind::kI32: return toml_string("i32:" + argument.value.to_string());
    case Argument::Kind::kI64: return toml_string("i64:" + argument.value.to_string());
    case Argument::Kind::kShared: return toml_string("shared");
    default: HONE_CHECK(false, "an argument that only Triton's kernels have");
  }
  return {};
}

std::string launch_text(const Launch& launch) {
  std::vector<std::string> arguments;
  for (const Argument& argument : launch.args) arguments.push_back(argument_text(argument));
  std::string text = fmt::format("[[launch]]\nkernel = {}\n", toml_string(launch.function));
  if (launch.when) text += fmt::format("when   = {}\n", expression_text(*launch.when));
  if (launch.repeat) text += fmt::format("repeat = {}\n", expression_text(*launch.repeat));
  text += fmt::format("grid   = {}\n", expression_list(launch.grid));
  if (!launch.block.empty()) text += fmt::format("block  = {}\n", expression_list(launch.block));
  if (!launch.cluster.empty()) text += fmt::format("cluster = {}\n", expression_list(launch.cluster));
  if (!(launch.shared.is_constant() && launch.shared.constant() == 0)) text += fmt::format("shared = {}\n", expression_text(launch.shared));
  return text + fmt::format("args   = [{}]\n", fmt::join(arguments, ", "));
}

}  // namespace

std::string header_comment(const Header& header) {
  std::string text = fmt::format("/* hone\nlanguage = {}\n", toml_string(name_of(header.language)));
  const auto line = [&](std::string_view key, const std::string& value) { text += fmt::format("{} = {}\n", key, value); };
  if (!header.compiler.empty()) line("compiler", toml_string(header.compiler));
  if (!header.pattern.empty()) line("pattern", toml_string(header.pattern));
  if (!header.action.empty()) line("action", toml_string(header.action));
  if (!header.note.empty()) line("note", toml_string(header.note));
  if (!header.require.empty()) line("requires", expression_list(header.require));
  const auto table = [&](std::string_view key, const std::vector<std::string>& entries) {
    if (!entries.empty()) line(key, fmt::format("{{ {} }}", fmt::join(entries, ", ")));
  };
  std::vector<std::string> tunables, workspaces, symbols;
  for (const Tunable& tunable : header.tunables) tunables.push_back(fmt::format("{} = [{}]", tunable.name, fmt::join(tunable.values, ", ")));
  for (const Workspace& workspace : header.workspaces)
    workspaces.push_back(fmt::format("{} = {}", workspace.name, toml_string((workspace.zero ? "zero " : "") + workspace.type.to_string())));
  for (const std::string& symbol : header.specialise) symbols.push_back(toml_string(symbol));
  table("tunables", tunables);
  if (!header.constraints.empty()) line("constraints", expression_list(header.constraints));
  if (!symbols.empty()) line("specialise", fmt::format("[{}]", fmt::join(symbols, ", ")));
  table("workspaces", workspaces);
  for (const Launch& launch : header.launches) text += launch_text(launch);
  return text + "*/";
}

}  // namespace hone::kernel
