#include "hone/task/graph/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hone/task/graph/infer.h"

namespace hone::task {
namespace {

/// `...` becomes digits, counted from the last leading dimension, so that operands align.
Result<std::string> expand(const std::string& part, int rank, size_t index) {
  const size_t dots = part.find("...");
  std::string letters = part;
  if (dots != std::string::npos) {
    const int hidden = rank - static_cast<int>(part.size() - 3);
    if (hidden < 0 || hidden > 10)
      return wrong(fmt::format("einsum: \"{}\" does not fit operand {} of {} dimensions", part, index, rank));
    std::string digits;
    for (int i = hidden; i > 0; --i) digits += static_cast<char>('0' + i - 1);
    letters = part.substr(0, dots) + digits + part.substr(dots + 3);
  }
  if (static_cast<int>(letters.size()) != rank)
    return wrong(fmt::format("einsum: \"{}\" has {} letters, but operand {} has {} dimensions", part,
                             letters.size(), index, rank));
  return letters;
}

Status check_letters(const std::string& letters, std::string_view what) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const char c = letters[i];
    if (std::isalnum(static_cast<unsigned char>(c)) == 0)
      return wrong(fmt::format("einsum: '{}' is not a letter", c));
    if (letters.find(c, i + 1) != std::string::npos)
      return wrong(fmt::format("einsum: the letter '{}' occurs twice in {}", c, what),
                   what == "the result" ? "" : "take diagonals first, with diagonal(x)");
  }
  return {};
}

/// The letters of the result where none are given.
std::string implied_result(const std::vector<std::string>& operands) {
  std::map<char, int> uses;
  std::string hidden;
  for (const std::string& letters : operands)
    for (const char c : letters) ++uses[c];
  std::string result;
  for (const auto& [c, count] : uses) {
    if (c <= '9')
      hidden.insert(hidden.begin(), c);
    else if (count == 1)
      result += c;
  }
  return hidden + result;
}

}  // namespace

Result<Einsum> parse_einsum(const std::string& text, std::span<const Operand> operands) {
  std::string spec = text;
  std::erase(spec, ' ');
  const size_t arrow = spec.find("->");
  if (spec.find('>') != (arrow == std::string::npos ? arrow : arrow + 1) ||
      (arrow != std::string::npos && spec.find('>', arrow + 2) != std::string::npos))
    return wrong(fmt::format("einsum: \"{}\" has one '->' at most, before the result", text));
  std::vector<std::string> parts{""};
  for (const char c : spec.substr(0, arrow)) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (parts.size() != operands.size())
    return wrong(fmt::format("einsum: \"{}\" names {} operand{}, found {}", text, parts.size(),
                             parts.size() == 1 ? "" : "s", operands.size()));
  Einsum result;
  for (size_t i = 0; i < parts.size(); ++i) {
    HONE_TRY(std::string letters, expand(parts[i], static_cast<int>(operands[i].type.dims.size()), i));
    HONE_TRY_VOID(check_letters(letters, fmt::format("operand {}", i)));
    result.operands.push_back(std::move(letters));
  }
  if (arrow == std::string::npos) {
    result.result = implied_result(result.operands);
    return result;
  }
  std::string out = spec.substr(arrow + 2);
  if (const size_t dots = out.find("..."); dots != std::string::npos) {
    const std::string all = implied_result(result.operands);
    std::string digits;
    for (const char c : all)
      if (c <= '9') digits += c;
    out = out.substr(0, dots) + digits + out.substr(dots + 3);
  }
  HONE_TRY_VOID(check_letters(out, "the result"));
  for (const char c : out)
    if (std::none_of(result.operands.begin(), result.operands.end(),
                     [&](const std::string& letters) { return letters.find(c) != std::string::npos; }))
      return wrong(fmt::format("einsum: no operand has the letter '{}' of the result", c));
  result.result = out;
  return result;
}

Result<Dims> einsum_dims(const Einsum& spec, std::span<const Operand> operands) {
  std::map<char, IntExpr> extents;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t k = 0; k < spec.operands[i].size(); ++k) {
      const IntExpr& extent = operands[i].type.dims[k];
      const auto [it, fresh] = extents.emplace(spec.operands[i][k], extent);
      if (!fresh && !may_equal(it->second, extent))
        return wrong(fmt::format("einsum: the letter '{}' stands for {} and for {}", it->first,
                                 it->second.to_string(), extent.to_string()));
    }
  Dims dims;
  for (const char c : spec.result) dims.push_back(extents.at(c));
  return dims;
}

Ref reduce_to(Ref x, const std::string& letters, const std::string& result) {
  std::vector<int64_t> axes;
  std::string kept;
  Dims dims;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (result.find(letters[i]) == std::string::npos) {
      axes.push_back(static_cast<int64_t>(i));
    } else {
      kept += letters[i];
      dims.push_back(x.dims()[i]);
    }
  }
  x = reshape(sum(x, axes), std::move(dims));
  std::vector<int64_t> perm;
  for (const char c : result) perm.push_back(static_cast<int64_t>(kept.find(c)));
  return transpose(x, std::move(perm));
}

}  // namespace hone::task
