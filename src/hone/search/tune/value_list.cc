#include "hone/search/tune/value_list.h"

#include <fmt/format.h>

#include "hone/search/tune/condition.h"

namespace hone::search::tune {
namespace {

constexpr size_t kMostValues = 100000;

/// Variables of comprehensions, outermost first.
struct Scope {
  std::vector<std::string> names;
  std::vector<Value> values;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

bool is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Where `mark` first stands outside brackets and quotations, from `from` on; a word only by itself.
size_t find_outside(std::string_view text, std::string_view mark, size_t from = 0) {
  int depth = 0;
  char quote = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth != 0 || at < from || !text.substr(at).starts_with(mark)) continue;
    const bool word = is_word_letter(mark.front()), begins = at == 0 || !is_word_letter(text[at - 1]);
    const size_t end = at + mark.size();
    if (!word || (begins && (end == text.size() || !is_word_letter(text[end])))) return at;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_outside(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at; (at = find_outside(text, mark, begin)) != std::string_view::npos; begin = at + mark.size()) parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

Error wrong_list(std::string_view text, std::string_view why) {
  return {ErrorCode::kInput, fmt::format("\"{}\": {}", text.substr(0, 200), why)};
}

Result<Value> value_in(std::string_view text, const Scope& scope) {
  HONE_TRY(const Condition expression, Condition::parse(text, scope.names));
  std::vector<const Value*> values;
  for (const Value& value : scope.values) values.push_back(&value);
  const auto value = expression.value(values);
  if (!value) return tl::unexpected(wrong_list(text, "it has no value"));
  return *value;
}

Result<std::vector<Value>> list_in(std::string_view text, const Scope& scope);

/// The text of a call of `name` with nothing behind it.
std::optional<std::string_view> call_of(std::string_view name, std::string_view text) {
  if (!text.starts_with(name)) return std::nullopt;
  text = trimmed(text.substr(name.size()));
  if (!text.starts_with('(') || !text.ends_with(')')) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

Result<std::vector<Value>> range_in(std::string_view arguments, const Scope& scope) {
  std::vector<int64_t> bounds;
  for (const std::string_view part : split_outside(arguments, ",")) {
    HONE_TRY(const Value value, value_in(part, scope));
    const auto* const whole = std::get_if<int64_t>(&value);
    if (!whole || *whole > INT64_MAX / 4 || *whole < INT64_MIN / 4) return tl::unexpected(wrong_list(part, "range() takes whole numbers"));
    bounds.push_back(*whole);
  }
  const int64_t from = bounds.size() > 1 ? bounds[0] : 0, to = bounds.size() > 1 ? bounds[1] : bounds[0], step = bounds.size() > 2 ? bounds[2] : 1;
  if (bounds.size() > 3 || step == 0) return tl::unexpected(wrong_list(arguments, "range() takes one to three whole numbers, a step that is not 0"));
  std::vector<Value> all;
  for (int64_t at = from; step > 0 ? at < to : at > to; at += step) {
    if (all.size() == kMostValues) return tl::unexpected(wrong_list(arguments, "more than 100000 values"));
    all.emplace_back(at);
  }
  return all;
}

/// "EXPRESSION for NAME in LIST if CONDITION …", from `rest`, which begins behind EXPRESSION.
Status comprehend(std::string_view expression, std::string_view rest, const Scope& scope, std::vector<Value>& all) {
  rest = trimmed(rest);
  if (rest.empty()) {
    if (all.size() == kMostValues) return tl::unexpected(wrong_list(expression, "more than 100000 values"));
    HONE_TRY(Value value, value_in(expression, scope));
    all.push_back(std::move(value));
    return {};
  }
  const size_t next_for = find_outside(rest, "for", 1), next_if = find_outside(rest, "if", 1), end = std::min({next_for, next_if, rest.size()});
  const std::string_view clause = rest.substr(0, end), behind = rest.substr(end);
  if (clause.starts_with("if")) {
    HONE_TRY(const Value holds, value_in(clause.substr(2), scope));
    const bool truth = is_number(holds) ? number_of(holds) != 0 : !std::get<std::string>(holds).empty();
    return truth ? comprehend(expression, behind, scope, all) : Status();
  }
  const size_t in = find_outside(clause, "in");
  const std::string_view name = in == std::string_view::npos ? std::string_view() : trimmed(clause.substr(3, in - 3));
  if (name.empty()) return tl::unexpected(wrong_list(clause, "\"for NAME in LIST\" was expected"));
  HONE_TRY(const std::vector<Value> values, list_in(clause.substr(in + 2), scope));
  for (const Value& value : values) {
    Scope inner = scope;
    inner.names.insert(inner.names.begin(), std::string(name));
    inner.values.insert(inner.values.begin(), value);
    HONE_TRY_VOID(comprehend(expression, behind, inner, all));
  }
  return {};
}

Result<std::vector<Value>> list_in(std::string_view text, const Scope& scope) {
  text = trimmed(text);
  std::vector<Value> all;
  if (const auto parts = split_outside(text, "+"); parts.size() > 1) {
    for (const std::string_view part : parts) {
      HONE_TRY(const std::vector<Value> more, list_in(part, scope));
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }
  if (const auto inside = call_of("range", text)) return range_in(*inside, scope);
  for (const char* const same : {"list", "tuple"})
    if (const auto inside = call_of(same, text)) return list_in(*inside, scope);
  const bool list = text.starts_with('[') && text.ends_with(']'), tuple = text.starts_with('(') && text.ends_with(')');
  if (!list && !tuple) return tl::unexpected(wrong_list(text, "this is no list"));
  const std::string_view inside = trimmed(text.substr(1, text.size() - 2));
  if (const size_t comprehension = find_outside(inside, "for"); comprehension != std::string_view::npos) {
    HONE_TRY_VOID(comprehend(inside.substr(0, comprehension), inside.substr(comprehension), scope, all));
    return all;
  }
  for (const std::string_view part : split_outside(inside, ",")) {
    if (trimmed(part).empty()) continue;
    HONE_TRY(Value value, value_in(part, scope));
    all.push_back(std::move(value));
  }
  return all;
}

}  // namespace

Result<std::vector<Value>> parse_values(std::string_view text) { return list_in(text, {}); }

}  // namespace hone::search::tune
