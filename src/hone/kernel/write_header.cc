#include "hone/kernel/write_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/kernel/header_text.h"

namespace hone::kernel {
namespace {

using task::IntExpr;

std::string quoted(const IntExpr& e) { return toml_string(e.to_string()); }

std::string quoted_list(const std::vector<IntExpr>& all) {
  std::vector<std::string> texts;
  for (const IntExpr& e : all) texts.push_back(quoted(e));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// As parse_kernel reads it: "x", "i32:N", "f32:1/sqrt(D)", "=BLOCK".
std::string argument_text(const Argument& argument) {
  const std::string value = argument.value.to_string();
  switch (argument.kind) {
    case Argument::Kind::kTensor: return argument.tensor == "shared" ? "tensor:shared" : argument.tensor;
    case Argument::Kind::kI32: return "i32:" + value;
    case Argument::Kind::kI64: return "i64:" + value;
    case Argument::Kind::kShared: return "shared";
    case Argument::Kind::kNull:
    case Argument::Kind::kScratch: return "null";
    case Argument::Kind::kConstant: return "=" + (argument.tensor.empty() ? value : argument.tensor);
    case Argument::Kind::kF32: break;
  }
  switch (argument.form) {
    case Argument::Form::kLiteral: return fmt::format("f32:{}", argument.number);
    case Argument::Form::kValue: return "f32:" + value;
    case Argument::Form::kOver: return "f32:1/" + value;
    case Argument::Form::kRoot: return fmt::format("f32:sqrt({})", value);
    case Argument::Form::kOverRoot: return fmt::format("f32:1/sqrt({})", value);
  }
  return {};
}

std::string launch_text(const Launch& launch, Threads threads) {
  std::vector<std::string> arguments;
  for (const Argument& argument : launch.args) arguments.push_back(toml_string(argument_text(argument)));
  std::string text = fmt::format("[[launch]]\nkernel = {}\n", toml_string(launch.function));
  if (launch.when) text += fmt::format("when   = {}\n", quoted(*launch.when));
  if (launch.repeat) text += fmt::format("repeat = {}\n", quoted(*launch.repeat));
  if (threads != Threads::kCompiled) text += fmt::format("grid   = {}\n", quoted_list(launch.grid));
  if (threads == Threads::kWarps) {
    text += fmt::format("warps  = {}\nstages = {}\n", quoted(launch.warps), quoted(launch.stages));
    if (!(launch.ctas == IntExpr(1))) text += fmt::format("ctas   = {}\n", quoted(launch.ctas));
  } else if (threads != Threads::kCompiled) {
    if (!launch.block.empty()) text += fmt::format("block  = {}\n", quoted_list(launch.block));
    if (!launch.cluster.empty()) text += fmt::format("cluster = {}\n", quoted_list(launch.cluster));
    if (!(launch.shared == IntExpr(0))) text += fmt::format("shared = {}\n", quoted(launch.shared));
  }
  return text + fmt::format("args   = [{}]\n", fmt::join(arguments, ", "));
}

std::string header_toml(const Header& header) {
  std::string text = fmt::format("\nlanguage = {}\n", toml_string(name_of(header.language)));
  const auto line = [&](std::string_view key, const std::string& value) { text += fmt::format("{} = {}\n", key, value); };
  const auto words = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) line(key, toml_string(value));
  };
  const auto expressions = [&](std::string_view key, const std::vector<IntExpr>& all) {
    if (!all.empty()) line(key, quoted_list(all));
  };
  const auto table = [&](std::string_view key, const std::vector<std::string>& entries) {
    if (!entries.empty()) line(key, fmt::format("{{ {} }}", fmt::join(entries, ", ")));
  };
  words("compiler", header.compiler);
  words("pattern", header.pattern);
  words("action", header.action);
  words("note", header.note);
  expressions("requires", header.require);
  std::vector<std::string> tunables, workspaces, symbols;
  for (const Tunable& tunable : header.tunables) tunables.push_back(fmt::format("{} = [{}]", tunable.name, fmt::join(tunable.values, ", ")));
  for (const Workspace& workspace : header.workspaces)
    workspaces.push_back(fmt::format("{} = {}", workspace.name, toml_string((workspace.zero ? "zero " : "") + workspace.type.to_string())));
  for (const std::string& symbol : header.specialise) symbols.push_back(toml_string(symbol));
  table("tunables", tunables);
  expressions("constraints", header.constraints);
  if (!symbols.empty()) line("specialise", fmt::format("[{}]", fmt::join(symbols, ", ")));
  table("workspaces", workspaces);
  for (const Launch& launch : header.launches) text += launch_text(launch, row_of(header.language).threads);
  return text;
}

}  // namespace

std::string header_comment(const Header& header) {
  const LanguageRow& row = row_of(header.language);
  return fmt::format("{}{}{}", row.open, header_toml(header), row.close);
}

Result<Kernel> with_header(const Kernel& kernel, const Header& header) {
  HONE_TRY(HeaderText text, take_apart(kernel.source, ""));
  text.toml = header_toml(header);
  HONE_TRY(Kernel other, parse_kernel(text.whole(), ""));
  other.author = kernel.author;
  other.parent = kernel.parent;
  return other;
}

}  // namespace hone::kernel
