// What writers ask about a node: its operands as text, its attributes as numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {

std::string bracket(const Term& term, Binding least) {
  return term.binding >= least ? term.text : "(" + term.text + ")";
}

std::string literal(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value > 0 ? "float('inf')" : "float('-inf')";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string tuple(std::span<const int64_t> values) {
  return fmt::format("({}{})", fmt::join(values, ", "), values.size() == 1 ? "," : "");
}

std::string extents(std::span<const int64_t> values) {
  return values.empty() ? "()" : fmt::format("{}", fmt::join(values, ", "));
}

std::string one_or_tuple(std::span<const int64_t> values) {
  if (values.empty()) return "()";
  const bool equal = std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; });
  return equal ? std::to_string(values[0]) : tuple(values);
}

namespace {

using task::DType;

DType wider(DType a, DType b) {
  const auto kind = [](DType t) { return task::is_float(t) ? 2 : task::is_int(t) ? 1 : 0; };
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  if (task::size_of(a) == task::size_of(b) && a != b) return DType::kF32;  // f16 with bf16
  return task::size_of(a) > task::size_of(b) ? a : b;
}

/// PyTorch's promotion: tensors with dimensions decide, unless those without or numbers are of a
/// higher kind (https://docs.pytorch.org/docs/stable/tensor_attributes.html).
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (task::is_float(*higher)) return higher;
  if (*higher == DType::kBool || task::is_float(*lower)) return wider(*higher, *lower);
  return higher;
}

DType type_as_number(DType type) {
  return task::is_float(type) ? DType::kF32 : task::is_int(type) ? DType::kI64 : DType::kBool;
}

std::string converted(const Term& term, DType type) {
  return fmt::format("{}.to(torch.{})", bracket(term, Binding::kPrimary), task::numpy_name_of(type));
}

}  // namespace

std::string Site::tensor(size_t i) const {
  if (!operands_[i].number) return operands_[i].text;
  return fmt::format("torch.tensor({}, dtype=torch.{})", operands_[i].text, task::numpy_name_of(type(i).dtype));
}

std::string Site::real(size_t i) const {
  if (task::is_float(type(i).dtype) || operands_[i].number) return tensor(i);
  return converted(operands_[i], node_.type.dtype);
}

Term Site::in_result_type(size_t i) const {
  if (operands_[i].number) return call_term(tensor(i));
  if (type(i).dtype == node_.type.dtype) return operands_[i];
  return call_term(converted(operands_[i], node_.type.dtype));
}

Term Site::promoted(size_t i, std::span<const size_t> operands) const {
  std::optional<DType> by_rank[3];  // with dimensions, without, numbers
  for (const size_t k : operands) {
    const int place = operands_[k].number ? 2 : rank(k) == 0 ? 1 : 0;
    const DType type_here = place == 2 ? type_as_number(type(k).dtype) : type(k).dtype;
    by_rank[place] = by_rank[place] ? wider(*by_rank[place], type_here) : type_here;
  }
  std::optional<DType> found = combine(by_rank[0], combine(by_rank[1], by_rank[2]));
  // Division and its like leave integers for the default float type.
  if (found && !task::is_float(*found) && task::is_float(node_.type.dtype)) found = DType::kF32;
  const Term& term = operands_[i];
  if (found == node_.type.dtype || term.number || type(i).dtype == node_.type.dtype) return term;
  return call_term(converted(term, node_.type.dtype));
}

std::optional<Site::Kept> Site::kept(size_t i) const {
  const task::Node* node = &graph_.node(node_.operands[i]);
  if (node->op == "transpose") node = &graph_.node(node->operands[0]);
  if (node->op != "cast") return std::nullopt;
  const task::DType dtype = graph_.node(node->operands[0]).type.dtype;
  const std::string cast = fmt::format(".to(torch.{})", task::numpy_name_of(node->type.dtype)), &text = operands_[i].text;
  const size_t at = text.find(cast);
  if (at == std::string::npos || text.find(cast, at + 1) != std::string::npos) return Kept{dtype, converted(operands_[i], dtype)};
  return Kept{dtype, text.substr(0, at) + text.substr(at + cast.size())};
}

std::optional<size_t> Site::find(std::string_view parameter) const {
  const task::Op* op = task::find_op(node_.op);
  HONE_CHECK(op != nullptr, node_.op);
  return task::operand_position(*op, node_.attrs, parameter);
}

std::string Site::optional_tensor(std::string_view parameter, std::string_view keyword) const {
  const auto position = find(parameter);
  return position ? fmt::format(", {}={}", keyword, tensor(*position)) : std::string();
}

bool Site::flag(std::string_view key) const { return has(key) && node_.attr<bool>(key); }
std::string Site::word(std::string_view key) const {
  return has(key) ? node_.attr<std::string>(key) : std::string();
}

double Site::number(std::string_view key) const {
  const auto it = node_.attrs.find(key);
  HONE_CHECK(it != node_.attrs.end(), key);
  if (const auto* whole = std::get_if<int64_t>(&it->second)) return static_cast<double>(*whole);
  return std::get<double>(it->second);
}

std::string Site::keyword(std::string_view key, double fallback) const {
  const double value = number(key);
  return value == fallback ? std::string() : fmt::format(", {}={}", key, literal(value));
}

std::string Site::keyword_ints(std::string_view key, int64_t fallback) const {
  const std::vector<int64_t> values = integers(key);
  if (std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == fallback; })) return "";
  return fmt::format(", {}={}", key, one_or_tuple(values));
}

std::vector<int64_t> Site::integers(std::string_view key) const {
  const auto it = node_.attrs.find(key);
  HONE_CHECK(it != node_.attrs.end(), key);
  if (const auto* one = std::get_if<int64_t>(&it->second)) return {*one};
  if (const auto* list = std::get_if<std::vector<int64_t>>(&it->second)) return *list;
  if (const auto* one = std::get_if<task::IntExpr>(&it->second)) return evaluate({*one});
  return evaluate(std::get<task::Dims>(it->second));
}

int64_t Site::integer(std::string_view key) const { return integers(key).at(0); }

std::vector<int64_t> Site::evaluate(const task::Dims& dims) const {
  std::vector<int64_t> values;
  for (const task::IntExpr& dim : dims) {
    const auto value = dim.eval(bindings_);
    HONE_CHECK(value.has_value(), dim.to_string());  // emit_pytorch() has evaluated all of them
    values.push_back(*value);
  }
  return values;
}

std::vector<int64_t> Site::shape(size_t i) const { return evaluate(type(i).dims); }
std::vector<int64_t> Site::result_shape() const { return evaluate(node_.type.dims); }

int64_t Site::axis(std::string_view key, size_t of) const {
  const int64_t value = integer(key);
  return value == rank(of) - 1 ? -1 : value;
}

std::string reduced(const Site& site, bool all_is_default) {
  const std::vector<int64_t> axes = site.integers("axis");
  const bool keep = site.flag("keepdims");
  if (all_is_default && !keep && static_cast<int>(axes.size()) == site.rank(0)) return "";
  return fmt::format(", dim={}{}", axes.size() == 1 ? std::to_string(site.axis("axis")) : tuple(axes),
                     keep ? ", keepdim=True" : "");
}

tl::unexpected<Error> no_form(const Site& site, std::string_view reason) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("hone cannot write {}() as PyTorch: {}", site.node().op, reason));
}

}  // namespace hone::evaluate
