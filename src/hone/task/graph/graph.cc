#include "hone/task/graph/graph.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "hone/task/graph/attr_text.h"
#include "hone/task/graph/foreign.h"

namespace hone::task {
namespace {

/// In the order of Prim.
constexpr std::string_view kPrimNames[] = {
    "input", "constant", "symbol", "iota",
#define HONE_ELEMENTWISE(prim, name, ...) name,
#include "hone/task/graph/elementwise.h"
#undef HONE_ELEMENTWISE
    "broadcast", "reshape", "transpose", "slice", "concat", "pad", "flip",
    "sum", "prod", "max", "min", "any", "all", "argmax", "argmin",
    "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp", "linear_scan",
    "dot", "conv", "conv_transpose", "pool_max", "pool_sum",
    "gather", "take_along_axis", "sort", "argsort", "scatter_add", "scatter_max", "scatter_min"};

std::string joined(const Dims& dims) {
  std::string text;
  for (const IntExpr& dim : dims) text += (text.empty() ? "" : ", ") + dim.to_string();
  return text;
}

struct AttrPrinter {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return number_text(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return "\"" + v + "\""; }
  std::string operator()(const std::vector<int64_t>& v) const {
    std::string text;
    for (const int64_t x : v) text += (text.empty() ? "" : ", ") + std::to_string(x);
    return "[" + text + "]";
  }
  std::string operator()(const IntExpr& v) const { return v.to_string(); }
  std::string operator()(const Dims& v) const { return "[" + joined(v) + "]"; }
};

}  // namespace

static_assert(std::size(kPrimNames) == static_cast<size_t>(Prim::kScatterMin) + 1);

std::string_view name_of(Prim op) { return kPrimNames[static_cast<size_t>(op)]; }

bool is_elementwise(Prim op) { return op > Prim::kIota && op < Prim::kBroadcast; }
bool is_reduction(Prim op) { return op >= Prim::kSum && op <= Prim::kArgMin; }
bool is_scan(Prim op) { return op >= Prim::kCumSum && op <= Prim::kLinearScan; }
bool is_scatter(Prim op) { return op >= Prim::kScatterAdd && op <= Prim::kScatterMin; }

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string attr_text(const Attr& attr) { return std::visit(AttrPrinter{}, attr); }

std::string attrs_text(const Attrs& attrs) {
  std::string text;
  for (const auto& [key, value] : attrs)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, attr_text(value));
  return text;
}

std::string TensorType::to_string() const { return fmt::format("{}[{}]", name_of(dtype), joined(dims)); }

Result<TensorType> TensorType::parse(std::string_view text) {
  const auto wrong = [](size_t at, std::string message, std::string hint = {}) {
    return fail(ErrorCode::kInput, std::move(message), std::move(hint), fmt::format("column {}", at + 1));
  };
  const auto skip = [&](size_t at) {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    return at;
  };
  size_t at = skip(0);
  size_t end = at;
  while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
  const std::string_view name = text.substr(at, end - at);
  const auto dtype = dtype_from(name);
  if (!dtype && at == text.size())
    return wrong(at, "expected an element type, found nothing", "types are written f32[B, D]");
  if (!dtype)
    return wrong(at,
                 fmt::format("expected an element type, found '{}'", name.empty() ? text.substr(at) : name),
                 !foreign_dtype_hint(name).empty()
                     ? foreign_dtype_hint(name)
                     : "types are written f32[B, D] with f64, f32, bf16, f16, f8e4m3, f8e5m2, i64, i32, i16, i8 or bool");
  TensorType type{*dtype, {}};
  at = skip(end);
  if (at == text.size()) return type;
  if (text[at] != '[')
    return wrong(at, fmt::format("expected '[' after the element type, found '{}'", text[at]));
  ++at;
  if (const size_t close = skip(at); close < text.size() && text[close] == ']') {
    if (skip(close + 1) != text.size()) return wrong(close + 1, "expected the end after ']'");
    return type;
  }
  while (true) {
    int depth = 0;
    end = at;
    while (end < text.size() && (depth > 0 || (text[end] != ',' && text[end] != ']'))) {
      if (text[end] == '(') ++depth;
      if (text[end] == ')') --depth;
      ++end;
    }
    if (end == text.size())
      return wrong(end, depth > 0 ? "expected ')', found the end" : "expected ',' or ']', found the end");
    if (skip(at) == end)
      return wrong(end, fmt::format("expected an extent, found '{}'", text[end]), "such as 64, B or 2*D");
    auto dim = IntExpr::parse(text.substr(at, end - at));
    if (!dim) {
      Error error = std::move(dim).error();
      size_t column = 1;
      if (error.context.rfind("column ", 0) == 0)
        std::from_chars(error.context.data() + 7, error.context.data() + error.context.size(), column);
      return wrong(at + column - 1, std::move(error.message), std::move(error.hint));
    }
    type.dims.push_back(std::move(*dim));
    at = end + 1;
    if (text[end] == ']') break;
  }
  if (skip(at) != text.size()) return wrong(at, "expected the end after ']'");
  return type;
}

std::string Graph::to_string() const {
  std::string text;
  for (size_t id = 0; id < nodes.size(); ++id) {
    const Node& n = nodes[id];
    text += fmt::format("%{} = {}", id, n.op);
    for (const int operand : n.operands) text += fmt::format(" %{}", operand);
    if (!n.attrs.empty()) text += " {" + attrs_text(n.attrs) + "}";
    text += " : " + n.type.to_string() + "\n";
  }
  for (size_t i = 0; i < outputs.size(); ++i) text += fmt::format("{} = %{}\n", output_names[i], outputs[i]);
  return text;
}

}  // namespace hone::task
