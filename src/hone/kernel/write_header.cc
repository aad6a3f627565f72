#include "hone/kernel/write_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/kernel/header_text.h"

namespace hone::kernel {
namespace {

std::string quoted_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(quoted_text(text));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

std::vector<std::string> texts_of(const std::vector<task::IntExpr>& expressions) {
  std::vector<std::string> all;
  for (const task::IntExpr& e : expressions) all.push_back(e.to_string());
  return all;
}

std::string launch_text(const Launch& launch, bool by_warps) {
  std::string text = fmt::format("\n[[launch]]\nkernel = {}\ngrid   = {}\n", quoted_text(launch.function), quoted_list(texts_of(launch.grid)));
  if (!launch.block.empty() && !by_warps) text += fmt::format("block  = {}\n", quoted_list(texts_of(launch.block)));
  if (by_warps) text += fmt::format("warps  = {}\nstages = {}\n", quoted_text(launch.warps.to_string()), quoted_text(launch.stages.to_string()));
  std::vector<std::string> arguments;
  for (const Argument& argument : launch.args) arguments.push_back(argument_text(argument));
  text += fmt::format("args   = {}\n", quoted_list(arguments));
  if (launch.when) text += fmt::format("when   = {}\n", quoted_text(launch.when->to_string()));
  return text;
}

}  // namespace

std::string argument_text(const Argument& argument) {
  const std::string value = argument.value.to_string();
  switch (argument.kind) {
    case Argument::Kind::kTensor: return argument.tensor;
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

Result<Kernel> with_header(const Kernel& kernel, const Header& header) {
  const bool by_warps = row_of(header.language).threads == Threads::kWarps;
  std::string toml = fmt::format("\nlanguage = {}\n", quoted_text(std::string(name_of(header.language))));
  const auto list = [&](const char* key, const std::vector<std::string>& texts) {
    if (!texts.empty()) toml += fmt::format("{} = {}\n", key, quoted_list(texts));
  };
  list("requires", texts_of(header.require));
  if (!header.tunables.empty()) {
    std::vector<std::string> all;
    for (const Tunable& tunable : header.tunables) all.push_back(fmt::format("{} = [{}]", tunable.name, fmt::join(tunable.values, ", ")));
    toml += fmt::format("tunables = {{ {} }}\n", fmt::join(all, ", "));
  }
  list("constraints", texts_of(header.constraints));
  list("specialise", header.specialise);
  if (!header.workspaces.empty()) {
    std::vector<std::string> all;
    for (const Workspace& workspace : header.workspaces)
      all.push_back(fmt::format("{} = {}", workspace.name, quoted_text(fmt::format("{}{}[{}]", workspace.zero ? "zero " : "", task::name_of(workspace.type.dtype),
                                                                                 fmt::join(texts_of(workspace.type.dims), ", ")))));
    toml += fmt::format("workspaces = {{ {} }}\n", fmt::join(all, ", "));
  }
  for (const auto& [key, text] : {std::pair{"pattern", &header.pattern}, {"action", &header.action}, {"note", &header.note}})
    if (!text->empty()) toml += fmt::format("{} = {}\n", key, quoted_text(*text));
  for (const Launch& launch : header.launches) toml += launch_text(launch, by_warps);
  HONE_TRY(HeaderText text, take_apart(kernel.source, ""));
  text.toml = toml;
  HONE_TRY(Kernel other, parse_kernel(text.whole(), ""));
  other.author = kernel.author;
  other.parent = kernel.parent;
  return other;
}

}  // namespace hone::kernel
