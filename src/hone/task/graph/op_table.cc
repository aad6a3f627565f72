#include "hone/task/graph/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace hone::task {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == separator && depth == 0) {
      parts.emplace_back(trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trim(part).empty()) parts.emplace_back(trim(part));
  return parts;
}

ParamKind kind_from(std::string_view name) {
  constexpr std::pair<std::string_view, ParamKind> kKinds[] = {
      {"tensor", ParamKind::kTensor}, {"tensors", ParamKind::kTensors}, {"axis", ParamKind::kAxis},
      {"axes", ParamKind::kAxes},     {"int", ParamKind::kInt},         {"ints", ParamKind::kInts},
      {"padding", ParamKind::kPadding},
      {"dim", ParamKind::kDim},       {"dims", ParamKind::kDims},       {"number", ParamKind::kNumber},
      {"bool", ParamKind::kBool},     {"text", ParamKind::kText},       {"dtype", ParamKind::kDType}};
  for (const auto& [text, kind] : kKinds)
    if (text == name) return kind;
  HONE_CHECK(false, name);
}

int64_t integer_from(std::string_view text) {
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  HONE_CHECK(result.ec == std::errc() && result.ptr == text.data() + text.size(), text);
  return value;
}

Attr default_from(ParamKind kind, std::string_view text) {
  switch (kind) {
    case ParamKind::kAxis:
    case ParamKind::kInt:
      return integer_from(text);
    case ParamKind::kAxes:
    case ParamKind::kInts:
    case ParamKind::kPadding:
      return std::vector<int64_t>{integer_from(text)};
    case ParamKind::kDim:
      return IntExpr(integer_from(text));
    case ParamKind::kDims:
      return Dims{integer_from(text)};
    case ParamKind::kNumber: {
      if (text == "inf") return std::numeric_limits<double>::infinity();
      if (text == "-inf") return -std::numeric_limits<double>::infinity();
      double value = 0;
      const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
      HONE_CHECK(result.ec == std::errc(), text);
      return value;
    }
    case ParamKind::kBool:
      return text == "true";
    default:
      return std::string(text);
  }
}

Param param_from(std::string_view text) {
  Param param;
  if (const size_t equals = text.find('='); equals != std::string_view::npos) {
    param.optional = true;
    const std::string_view value = trim(text.substr(equals + 1));
    text = trim(text.substr(0, equals));
    const size_t colon = text.find(':');
    if (colon != std::string_view::npos) param.kind = kind_from(trim(text.substr(colon + 1)));
    if (value != "none") param.fallback = default_from(param.kind, value);
    param.name = trim(text.substr(0, colon));
    return param;
  }
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) param.kind = kind_from(trim(text.substr(colon + 1)));
  param.name = trim(text.substr(0, colon));
  return param;
}

Op op_from(const OpRow& row, const char* family) {
  Op op;
  op.signature = row.signature;
  const std::string_view signature = op.signature;
  const size_t open = signature.find('(');
  HONE_CHECK(open != std::string_view::npos && signature.back() == ')', signature);
  op.name = signature.substr(0, open);
  for (const std::string& param : split(signature.substr(open + 1, signature.size() - open - 2), ','))
    op.params.push_back(param_from(param));
  op.aliases = split(row.aliases, ' ');
  op.doc = row.doc;
  op.family = family;
  op.infer = row.infer;
  op.lower = row.lower;
  op.prim = row.prim;
  op.results = row.results;
  return op;
}

std::vector<Family> families() {
  return {elementwise_family(), activation_family(), reduction_family(), scan_family(),  softmax_family(),
          norm_family(),        matmul_family(),     conv_family(),      pool_family(),  attention_family(),
          loss_family(),        shape_family(),      index_family(),     create_family()};
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Edits (insert, delete, replace, swap) between two words.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

const std::map<std::string, Op, std::less<>>& op_table() {
  static const auto table = [] {
    std::map<std::string, Op, std::less<>> ops;
    for (const Family& family : families())
      for (const OpRow& row : family.rows) {
        Op op = op_from(row, family.title);
        const std::string name = op.name;
        HONE_CHECK(ops.emplace(name, std::move(op)).second, name);
      }
    return ops;
  }();
  return table;
}

const Op* find_op(std::string_view name) {
  static const auto aliases = [] {
    std::map<std::string, const Op*, std::less<>> index;
    for (const auto& [main, op] : op_table()) {
      HONE_CHECK(index.emplace(main, &op).second, main);
      for (const std::string& alias : op.aliases) HONE_CHECK(index.emplace(alias, &op).second, alias);
    }
    return index;
  }();
  const auto it = aliases.find(name);
  return it == aliases.end() ? nullptr : it->second;
}

std::vector<std::string> all_op_names() {
  std::vector<std::string> names;
  for (const auto& [main, op] : op_table()) {
    names.push_back(main);
    names.insert(names.end(), op.aliases.begin(), op.aliases.end());
  }
  return names;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  constexpr size_t kLongest = 40;  // the table of edits is quadratic, and no name is that long
  if (name.size() > kLongest) return "";
  // One letter is too little to tell a slip from another name; case aside.
  const size_t allowed = name.size() <= 1 ? 0 : name.size() <= 4 ? 1 : name.size() <= 7 ? 2 : 3;
  size_t best = allowed + 1;
  std::string found;
  for (const std::string& candidate : known) {
    const size_t d = edit_distance(lower_case(name), lower_case(candidate));
    if (d < best && d < candidate.size()) {
      best = d;
      found = candidate;
    }
  }
  return found.empty() ? "" : fmt::format("did you mean '{}'?", found);
}

const std::vector<std::pair<std::string, std::vector<const Op*>>>& ops_by_family() {
  static const auto list = [] {
    std::vector<std::pair<std::string, std::vector<const Op*>>> result;
    for (const Family& family : families()) {
      result.emplace_back(family.title, std::vector<const Op*>{});
      for (const OpRow& row : family.rows) {
        const std::string_view signature = row.signature;
        result.back().second.push_back(&op_table().find(signature.substr(0, signature.find('(')))->second);
      }
    }
    return result;
  }();
  return list;
}

std::string_view meaning_of(ParamKind kind) {
  switch (kind) {
    case ParamKind::kTensor:
      return "a tensor or a number";
    case ParamKind::kTensors:
      return "a list of tensors";
    case ParamKind::kAxis:
      return "an axis (an integer)";
    case ParamKind::kAxes:
      return "an axis or a list of axes";
    case ParamKind::kInt:
      return "an integer";
    case ParamKind::kInts:
      return "an integer or a list of integers";
    case ParamKind::kPadding:
      return "an integer, a list of integers, \"same\" or \"valid\"";
    case ParamKind::kDim:
      return "an integer or a shape expression";
    case ParamKind::kDims:
      return "a shape, such as [B, 2*D]";
    case ParamKind::kNumber:
      return "a number";
    case ParamKind::kBool:
      return "true or false";
    case ParamKind::kText:
      return "a text in quotes";
    case ParamKind::kDType:
      return "an element type, such as f32";
  }
  return "";
}

std::optional<size_t> operand_position(const Op& op, const Attrs& attrs, std::string_view param) {
  const auto it = attrs.find("given");
  std::vector<std::string> given;
  if (it != attrs.end()) {
    given = split(std::get<std::string>(it->second), ' ');
  } else {
    for (const Param& p : op.params)
      if (p.kind == ParamKind::kTensor && !p.optional) given.push_back(p.name);
  }
  const auto found = std::find(given.begin(), given.end(), param);
  if (found == given.end()) return std::nullopt;
  return static_cast<size_t>(found - given.begin());
}

std::optional<size_t> Call::find(std::string_view param) const { return operand_position(op, attrs, param); }

}  // namespace hone::task
