// Arithmetic, comparisons, logic, real functions, choice and casts.
#include <fmt/format.h>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

struct Operator {
  std::string_view text;
  Binding binding;
};

Operator operator_from(std::string_view text) {
  if (text == "+" || text == "-") return {text, Binding::kSum};
  if (text == "*" || text == "/" || text == "//" || text == "%") return {text, Binding::kProduct};
  if (text == "**") return {text, Binding::kPower};
  if (text == "&") return {text, Binding::kAnd};
  if (text == "|") return {text, Binding::kOr};
  if (text == "^") return {text, Binding::kXor};
  if (text == "<<" || text == ">>") return {text, Binding::kShift};
  return {text, Binding::kComparison};
}

Binding tighter(Binding binding) { return static_cast<Binding>(static_cast<int>(binding) + 1); }

constexpr size_t kBoth[] = {0, 1};

/// detail: the operator.
Result<Term> infix(const Site& site, std::string_view detail) {
  const Operator op = operator_from(detail);
  // ** groups to the right, comparisons not at all, the others to the left.
  const bool left_groups = op.binding != Binding::kComparison && op.binding != Binding::kPower;
  const Binding left = left_groups ? op.binding : tighter(op.binding);
  const Binding right = op.binding == Binding::kPower ? Binding::kUnary : tighter(op.binding);
  const bool compares = op.binding == Binding::kComparison;
  const Term a = compares ? site.operand(0) : site.promoted(0, kBoth);
  const Term b = compares ? site.operand(1) : site.promoted(1, kBoth);
  Term term;
  term.text = fmt::format("{} {} {}", bracket(a, left), op.text, bracket(b, right));
  term.binding = op.binding;
  term.number = a.number && b.number;
  return term;
}

/// detail: the operator.
Result<Term> prefix(const Site& site, std::string_view detail) {
  Term term;
  term.text = fmt::format("{}{}", detail, bracket(site.operand(0), Binding::kUnary));
  term.binding = Binding::kUnary;
  term.number = site.operand(0).number;
  return term;
}

/// detail: the function of torch.
Result<Term> unary(const Site& site, std::string_view detail) {
  return call_term(fmt::format("torch.{}({})", detail, site.tensor(0)));
}

/// As unary, where Python's math has the function too and numbers stay numbers.
Result<Term> unary_or_math(const Site& site, std::string_view detail) {
  if (!site.operand(0).number) return unary(site, detail);
  Term term = call_term(fmt::format("math.{}({})", detail, site.argument(0)));
  term.number = true;
  return term;
}

/// detail: the function of torch. A number's reciprocal (root) is a quotient of numbers.
Result<Term> inverse(const Site& site, std::string_view detail) {
  if (!site.operand(0).number) return unary(site, detail);
  Term term;
  term.text = detail == "rsqrt" ? fmt::format("1 / math.sqrt({})", site.argument(0))
                                : fmt::format("1 / {}", bracket(site.operand(0), Binding::kUnary));
  term.binding = Binding::kProduct;
  term.number = true;
  return term;
}

/// detail: the function of torch, of two tensors.
Result<Term> binary(const Site& site, std::string_view detail) {
  const Term a = site.promoted(0, kBoth), b = site.promoted(1, kBoth);
  return call_term(fmt::format("torch.{}({}, {})", detail, a.number ? site.tensor(0) : a.text,
                               b.number ? site.tensor(1) : b.text));
}

/// detail: "min" or "max". Against a number a user writes clamp, which takes NaN on as well.
Result<Term> extreme(const Site& site, std::string_view detail) {
  const bool first = site.operand(0).number, second = site.operand(1).number;
  if (first && second) {
    Term term = call_term(fmt::format("{}({}, {})", detail, site.argument(0), site.argument(1)));
    term.number = true;
    return term;
  }
  if (!first && !second) return binary(site, detail == "max" ? "maximum" : "minimum");
  return call_term(fmt::format("torch.clamp({}, {}={})", site.promoted(first ? 1 : 0, kBoth).text,
                               detail == "max" ? "min" : "max", site.argument(first ? 0 : 1)));
}

Result<Term> where(const Site& site, std::string_view) {
  constexpr size_t kChoices[] = {1, 2};
  const Term a = site.promoted(1, kChoices), b = site.promoted(2, kChoices);
  // Of two numbers PyTorch makes its default type.
  return call_term(fmt::format("torch.where({}, {}, {})", site.argument(0),
                               a.number && b.number ? site.tensor(1) : a.text,
                               a.number && b.number ? site.tensor(2) : b.text));
}

Result<Term> clamp(const Site& site, std::string_view) {
  const auto low = site.find("min"), high = site.find("max");
  // Bounds are both numbers or both tensors.
  const bool tensors = (low && !site.operand(*low).number) || (high && !site.operand(*high).number);
  std::string bounds;
  if (low) bounds += fmt::format(", min={}", tensors ? site.tensor(*low) : site.argument(*low));
  if (high) bounds += fmt::format(", max={}", tensors ? site.tensor(*high) : site.argument(*high));
  return call_term(fmt::format("torch.clamp({}{})", site.tensor(0), bounds));
}

Result<Term> lerp(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.lerp({}, {}, {})", site.real(0), site.real(1),
                               site.operand(2).number ? site.argument(2) : site.real(2)));
}

Result<Term> cast(const Site& site, std::string_view) {
  Term term = call_term(fmt::format("{}.to(torch.{})", bracket(site.operand(0), Binding::kPrimary),
                                    task::numpy_name_of(site.node().type.dtype)));
  // PyTorch's own cast does not saturate.
  if (const task::DType to = site.node().type.dtype; task::is_f8(to) && site.type(0).dtype != to)
    term.text = fmt::format("{}{}.clamp({}, {}).to(torch.{})", bracket(site.operand(0), Binding::kPrimary), task::is_f8(site.type(0).dtype) ? ".float()" : "",
                            literal(-task::largest(to)), literal(task::largest(to)), task::numpy_name_of(to));
  if (site.operand(0).number)
    term.text = fmt::format("torch.tensor({}, dtype=torch.{})", site.argument(0),
                            task::numpy_name_of(site.node().type.dtype));
  // The same type gives the same tensor.
  term.alias = site.operand(0).alias && site.type(0).dtype == site.node().type.dtype;
  term.strided = site.operand(0).strided;
  return term;
}

Result<Term> constant(const Site& site, std::string_view) {
  Term term;
  term.number = true;
  const task::Attr& value = site.node().attrs.find("value")->second;
  if (const auto* truth = std::get_if<bool>(&value)) {
    term.text = *truth ? "True" : "False";
  } else if (const auto* real = std::get_if<double>(&value)) {
    term.text = literal(*real);
  } else {
    term.text = std::to_string(site.integer("value"));
  }
  if (term.text.front() == '-') term.binding = Binding::kUnary;
  return term;
}

constexpr WriterRow kElementwiseWriters[] = {
    {"constant", constant},
    {"symbol", constant},
    {"add", infix, "+"},
    {"sub", infix, "-"},
    {"mul", infix, "*"},
    {"div", infix, "/"},
    {"floor_divide", infix, "//"},
    {"mod", infix, "%"},
    {"pow", infix, "**"},
    {"eq", infix, "=="},
    {"ne", infix, "!="},
    {"lt", infix, "<"},
    {"le", infix, "<="},
    {"gt", infix, ">"},
    {"ge", infix, ">="},
    {"logical_and", infix, "&"},
    {"logical_or", infix, "|"},
    {"logical_xor", infix, "^"},
    {"logical_not", prefix, "~"},
    {"bitwise_and", infix, "&"},
    {"bitwise_or", infix, "|"},
    {"bitwise_xor", infix, "^"},
    {"bitwise_not", prefix, "~"},
    {"left_shift", infix, "<<"},
    {"right_shift", infix, ">>"},
    {"neg", prefix, "-"},
    {"maximum", extreme, "max"},
    {"minimum", extreme, "min"},
    {"atan2", binary, "atan2"},
    {"where", where},
    {"clamp", clamp},
    {"lerp", lerp},
    {"cast", cast},
    {"exp", unary_or_math, "exp"},
    {"expm1", unary_or_math, "expm1"},
    {"log", unary_or_math, "log"},
    {"log2", unary_or_math, "log2"},
    {"log10", unary_or_math, "log10"},
    {"log1p", unary_or_math, "log1p"},
    {"sqrt", unary_or_math, "sqrt"},
    {"sin", unary_or_math, "sin"},
    {"cos", unary_or_math, "cos"},
    {"tan", unary_or_math, "tan"},
    {"asin", unary_or_math, "asin"},
    {"acos", unary_or_math, "acos"},
    {"atan", unary_or_math, "atan"},
    {"sinh", unary_or_math, "sinh"},
    {"cosh", unary_or_math, "cosh"},
    {"tanh", unary_or_math, "tanh"},
    {"erf", unary_or_math, "erf"},
    {"floor", unary_or_math, "floor"},
    {"ceil", unary_or_math, "ceil"},
    {"trunc", unary_or_math, "trunc"},
    {"rsqrt", inverse, "rsqrt"},
    {"reciprocal", inverse, "reciprocal"},
    {"abs", unary, "abs"},
    {"sign", unary, "sign"},
    {"exp2", unary, "exp2"},
    {"round", unary, "round"},
    {"isnan", unary, "isnan"},
    {"isinf", unary, "isinf"},
    {"isfinite", unary, "isfinite"},
};

}  // namespace

std::span<const WriterRow> elementwise_writers() { return kElementwiseWriters; }

}  // namespace hone::evaluate
