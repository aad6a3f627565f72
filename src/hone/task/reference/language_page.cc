#include "hone/task/reference/language_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hone/base/embedded.h"
#include "hone/task/graph/bind.h"
#include "hone/task/graph/build.h"
#include "hone/task/language/limits.h"
#include "hone/task/reference/op_facts.h"
#include "hone/task/task_draft.h"

namespace hone::task {
namespace {

std::string word_table(std::span<const Word> words, std::string_view head) {
  std::string text = fmt::format("| {} | meaning |\n| --- | --- |\n", head);
  for (const Word& word : words) text += fmt::format("| `{}` | {} |\n", word.name, word.meaning);
  return text;
}

std::string dtype_table() {
  std::string text = "| type | bytes | unit roundoff | smallest normal number |\n| --- | --- | --- | --- |\n";
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    const auto type = static_cast<DType>(i);
    const std::string roundoff = is_float(type) ? fmt::format("2^{}", std::ilogb(unit_roundoff(type))) : "";
    const std::string normal = is_float(type) ? fmt::format("2^{}", std::ilogb(smallest_normal(type))) : "";
    text += fmt::format("| `{}` | {} | {} | {} |\n", name_of(type), size_of(type), roundoff, normal);
  }
  return text;
}

std::string operator_rows() {
  std::string text = "| operator | operation |\n| --- | --- |\n";
  for (const Operator& row : operator_table())
    text += fmt::format("| `{}` | `{}` |\n", row.text == "|" ? "\\|" : row.text, row.op);
  return text + "| unary `-` | `neg` |\n| `~`, `not` | `logical_not` |\n\nWith a tensor of integers `&`, `|`, `^` and `~` are `bitwise_and`, `bitwise_or`, `bitwise_xor` and `bitwise_not`.\n";
}

std::string kind_table() {
  constexpr std::pair<std::string_view, ParamKind> kKinds[] = {
      {"", ParamKind::kTensor},   {"tensors", ParamKind::kTensors}, {"axis", ParamKind::kAxis},
      {"axes", ParamKind::kAxes}, {"int", ParamKind::kInt},         {"ints", ParamKind::kInts},
      {"padding", ParamKind::kPadding},
      {"dim", ParamKind::kDim},   {"dims", ParamKind::kDims},       {"number", ParamKind::kNumber},
      {"bool", ParamKind::kBool}, {"text", ParamKind::kText},       {"dtype", ParamKind::kDType}};
  std::string text = "| written | takes |\n| --- | --- |\n";
  for (const auto& [name, kind] : kKinds)
    text += fmt::format("| `x{}{}` | {} |\n", name.empty() ? "" : ": ", name, meaning_of(kind));
  return text;
}

/// In lines of the page's width.
std::string synonym_list() {
  std::string text;
  size_t begin = 0;
  for (const Synonym& row : keyword_synonyms()) {
    const std::string item = fmt::format("`{}` for `{}`", row.from, row.to);
    if (text.empty()) {
      text = "  " + item;
    } else if (text.size() + item.size() - begin > 104) {
      text += ",\n";
      begin = text.size();
      text += "  " + item;
    } else {
      text += ", " + item;
    }
  }
  return text;
}

std::string limit_table() {
  std::string text = "| what | at most |\n| --- | --- |\n";
  const auto row = [&](std::string_view what, std::string_view most) {
    text += fmt::format("| {} | {} |\n", what, most);
  };
  const auto number = [](auto value) { return fmt::format("{}", value); };
  row("a task file", fmt::format("{} KiB", kMaxFileBytes >> 10));
  row("its computation", fmt::format("{} bytes, {} operations", kMaxComputeBytes, kMaxOperations));
  row("brackets within brackets", number(kMaxNesting));
  row("operators of one expression in a row", number(kMaxChain));
  row("inputs", number(kMaxInputs));
  row("workloads", number(kMaxWorkloads));
  row("dimensions of a tensor", number(kMaxRank));
  row("elements of a tensor", "2^48");
  row("operands and operators of an extent", number(kMaxExprSize));
  row("bytes of a name", number(kMaxName));
  row("integer arguments such as strides and shifts", "2^31 - 1");
  return text;
}

std::string expanded(std::string_view name) {
  if (name == "task keys") return word_table(task_keys(), "key");
  if (name == "input keys") return word_table(input_keys(), "key");
  if (name == "workload keys") return word_table(workload_keys(), "key");
  if (name == "domains") return word_table(domain_words(), "domain");
  if (name == "structures") return word_table(structure_words(), "structure");
  if (name == "tracks") return word_table(track_words(), "precision");
  if (name == "dtypes") return dtype_table();
  if (name == "operators") return operator_rows();
  if (name == "limits") return limit_table();
  if (name == "kinds") return kind_table();
  if (name == "synonyms") return synonym_list();
  if (name == "op count") return fmt::format("{}", op_table().size());
  if (name == "ops") return op_table_markdown();
  HONE_CHECK(false, name);
}

/// What the reader says to a task that is wrong.
std::string message_of(std::string_view toml) {
  const auto task = parse_task(toml, "task.toml");
  HONE_CHECK(!task.has_value(), "an example of an error is none");
  return "hone: " + task.error().to_string() + "\n";
}

}  // namespace

std::string language_page() {
  const auto source = base::find_embedded("reference/language.md.in");
  HONE_CHECK(source.has_value(), "language.md.in");
  constexpr std::string_view kWrong = "```toml wrong\n";
  std::string page;
  std::string_view rest = *source;
  while (!rest.empty()) {
    const size_t field = rest.find("{{");
    const size_t wrong = rest.find(kWrong);
    const size_t at = std::min(field, wrong);
    page += rest.substr(0, at);
    if (at == std::string_view::npos) break;
    if (at == field) {
      const size_t end = rest.find("}}", at);
      page += expanded(rest.substr(at + 2, end - at - 2));
      rest.remove_prefix(end + 2);
    } else {
      const size_t end = rest.find("```\n", at + kWrong.size());
      const std::string_view toml = rest.substr(at + kWrong.size(), end - at - kWrong.size());
      page += fmt::format("```toml\n{}```\n\n```\n{}```\n", toml, message_of(toml));
      rest.remove_prefix(end + 4);
    }
  }
  return page;
}

}  // namespace hone::task
