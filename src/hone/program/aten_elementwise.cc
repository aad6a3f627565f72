// Element-wise operators, activations, casts.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

Written unary(const Site& site, std::string_view operation) { return written(fmt::format("{}({})", operation, site.any({"self", "input"}))); }

/// Integers of PyTorch's and of the language differ in some operators: these are for floats and, where both agree, the rest.
Written binary(const Site& site, std::string_view sign) {
  std::string other = site.text("other");
  if (const double alpha = site.number("alpha", 1); alpha != 1) other = fmt::format("{} * {}", site.text("alpha"), other);
  return written(fmt::format("{} {} {}", site.text("self"), sign, other));
}

Written reversed(const Site& site, std::string_view) {
  if (site.number("alpha", 1) != 1) return no_word(site, "alpha");
  return written(fmt::format("{} - {}", site.text("other"), site.text("self")));
}

/// Of two, by name.
Written pair(const Site& site, std::string_view operation) { return written(fmt::format("{}({}, {})", operation, site.text("self"), site.any({"other", "exponent"}))); }

bool is_bool(const Site& site, std::string_view name) {
  const Argument* value = site.node().find(name);
  return value == nullptr || (value->ref() == nullptr ? !value->integer() || std::get_if<bool>(&value->value) != nullptr : site.type_of(name).dtype == task::DType::kBool);
}

/// Of truth values: any element type has them.
Written truths(const Site& site, std::string_view sign) {
  const auto truth = [&](std::string_view name) { return is_bool(site, name) ? site.text(name) : fmt::format("({} != 0)", site.text(name)); };
  return written(fmt::format("{} {} {}", truth("self"), sign, truth("other")));
}

Written denial(const Site& site, std::string_view) { return written(is_bool(site, "self") ? fmt::format("logical_not({})", site.text("self")) : fmt::format("{} == 0", site.text("self"))); }

/// Bits of whole numbers, and of truth values.
Written of_bits(const Site& site, std::string_view sign) {
  if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
  return written(fmt::format("{} {} {}", site.text("self"), sign, site.text("other")));
}

Written negation(const Site& site, std::string_view) { return written(fmt::format("~{}", site.text("self"))); }

/// As i64, which holds every power that the type may be divided by, and back.
Written in_whole_numbers(const Site& site, const std::string& text) {
  if (!site.type().dtype || !task::is_int(*site.type().dtype)) return no_word(site, "of an element type that the language lacks");
  return written(site.type().dtype == task::DType::kI64 ? text : fmt::format("cast({}, {})", text, task::name_of(*site.type().dtype)));
}

std::string widened(const Site& site, std::string_view name) { return site.type_of(name).dtype == task::DType::kI64 ? site.text(name) : fmt::format("cast({}, i64)", site.text(name)); }

constexpr int64_t kMostBits = 62;

/// x << n and x >> n: times a power of 2, and rounded down where divided by one, where the graph tells that n is within the type's bits.
Written shifted(const Site& site, std::string_view sign) {
  const Argument* by = site.node().find("other");
  const Argument* self = site.node().find("self");
  if (by == nullptr || self == nullptr) return no_word(site, "of nothing");
  if (self->ref() == nullptr) return of_bits(site, sign == "*" ? "<<" : ">>");
  std::string power;
  if (const auto bits = by->ref() == nullptr ? by->integer() : std::nullopt) {
    if (*bits < 0 || *bits > kMostBits) return of_bits(site, sign == "*" ? "<<" : ">>");
    power = fmt::format("{}", int64_t{1} << *bits);
  } else if (by->ref() != nullptr) {
    const auto most = largest_of(site.program(), by->ref()->node);
    if (!most || *most > kMostBits) return of_bits(site, sign == "*" ? "<<" : ">>");
    power = fmt::format("(2 ** {})", widened(site, "other"));
  } else {
    return no_word(site, "by a number that is not whole");
  }
  return in_whole_numbers(site, fmt::format("({} {} {})", widened(site, "self"), sign, power));
}

/// x & n, where n's bits are in a row: what is left of a division, divided. All above some bit: what is left is taken away.
Written masked_bits(const Site& site, std::string_view) {
  const Argument* mask = site.node().find("other");
  if (is_bool(site, "self") || mask == nullptr || mask->ref() != nullptr || !mask->integer()) return of_bits(site, "&");
  const std::string x = widened(site, "self");
  const auto is_low = [](int64_t bits) { return bits >= 0 && bits < (int64_t{1} << kMostBits) && (bits & (bits + 1)) == 0; };
  const int64_t bits = *mask->integer(), from = bits > 0 ? bits & -bits : 1;
  if (bits == 0) return in_whole_numbers(site, x + " * 0");
  if (bits < 0) {
    if (!is_low(~bits)) return of_bits(site, "&");
    return in_whole_numbers(site, fmt::format("({} - {} % {})", x, x, ~bits + 1));
  }
  if (!is_low(bits / from)) return of_bits(site, "&");
  if (from == 1) return in_whole_numbers(site, fmt::format("({} % {})", x, bits + 1));
  return in_whole_numbers(site, fmt::format("({} // {} % {} * {})", x, from, bits / from + 1, from));
}

/// What Dynamo makes of addcmul() and addcdiv() with a value.
Written multiplied_and_added(const Site& site, std::string_view) { return written(fmt::format("{} * {} + {}", site.text("a"), site.text("b"), site.text("c"))); }

/// The longer side of a right angle, times what it is short of.
Written hypotenuse(const Site& site, std::string_view) {
  const std::string a = fmt::format("abs({})", site.text("self")), b = fmt::format("abs({})", site.text("other"));
  const std::string longer = fmt::format("maximum({}, {})", a, b), ratio = fmt::format("(minimum({}, {}) / where({} > 0, {}, 1))", a, b, longer, longer);
  return written(fmt::format("where(isinf({0}), {0}, {0} * sqrt(1 + {1} * {1}))", longer, ratio));
}

/// In fp32 where the type is narrower, so that what is made of several operations is rounded once.
std::string at_least_f32(const Site& site, std::string_view name) {
  const Argument* value = site.node().find(name);
  const bool narrow = value != nullptr && value->ref() != nullptr && site.type_of(name).dtype && task::is_narrow(*site.type_of(name).dtype);
  return narrow ? fmt::format("cast({}, f32)", site.text(name)) : site.text(name);
}

Written in_own_type(const Site& site, const std::string& text) {
  if (!site.type().dtype || !task::is_float(*site.type().dtype)) return no_word(site, "of integers");
  return written(task::is_narrow(*site.type().dtype) ? fmt::format("cast({}, {})", text, task::name_of(*site.type().dtype)) : text);
}

/// log(exp(a) + exp(b)), of powers of e or of 2: the larger, and what the other adds to it. Of two that are the same infinity, that one.
Written logarithm_of_sum(const Site& site, std::string_view base) {
  const std::string a = at_least_f32(site, "self"), b = at_least_f32(site, "other");
  const std::string more = base == "2" ? fmt::format("log1p(exp2(-abs({} - {}))) * {}", a, b, number_text(1 / std::log(2.0))) : fmt::format("log1p(exp(-abs({} - {})))", a, b);
  return in_own_type(site, fmt::format("where(isinf({0}) & ({0} == {1}), {0}, maximum({0}, {1}) + {2})", a, b, more));
}

/// Of the hyperbolic functions' inverses those forms that lose nothing near 0 (near 1) and do not overflow.
Written inverse_hyperbolic(const Site& site, std::string_view operation) {
  if (!site.type().dtype || site.type_of("self").dtype != site.type().dtype) return no_word(site, "of integers");
  const std::string x = at_least_f32(site, "self"), a = fmt::format("abs({})", x);
  if (operation == "acosh") return in_own_type(site, fmt::format("log1p({0} - 1 + sqrt({0} - 1) * sqrt({0} + 1))", x));
  if (operation == "atanh") return in_own_type(site, fmt::format("sign({0}) * 0.5 * log1p(2 * {1} / (1 - {1}))", x, a));
  const std::string root = fmt::format("where({0} > 1e9, {0}, sqrt(1 + minimum({0}, 1e9) * minimum({0}, 1e9)))", a);
  return in_own_type(site, fmt::format("where(isinf({0}), {0}, sign({0}) * log1p({1} + {1} * ({1} / (1 + {2}))))", x, a, root));
}

/// The one that is a number where the other is NaN.
Written extreme_of_numbers(const Site& site, std::string_view operation) {
  const std::string a = site.text("self"), b = site.text("other");
  if (!site.type().dtype || !task::is_float(*site.type().dtype)) return pair(site, operation);
  if (site.type_of("self").dtype != site.type().dtype || site.type_of("other").dtype != site.type().dtype) return no_word(site, "of two element types");
  return written(fmt::format("where(isnan({0}), {1}, where(isnan({1}), {0}, {2}({0}, {1})))", a, b, operation));
}

Written step_at_0(const Site& site, std::string_view) {
  if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
  return written(fmt::format("where({0} == 0, {1}, cast({0} > 0, {2}))", site.text("self"), site.text("values"), task::name_of(*site.type().dtype)));
}

/// -x log x
Written entropy(const Site& site, std::string_view) {
  const std::string x = at_least_f32(site, "self");
  return in_own_type(site, fmt::format("where({0} > 0, -{0} * log(where({0} > 0, {0}, 1)), where({0} < 0, {0} - inf, {0} * 0))", x));
}

Written close(const Site& site, std::string_view) {
  const auto& type = site.type_of("self").dtype;
  if (!type || !task::is_float(*type) || site.type_of("other").dtype != *type) return no_word(site, "of integers");
  const std::string a = site.text("self"), b = site.text("other"), apart = fmt::format("abs({} - {})", a, b);
  std::string text = fmt::format("({0} == {1}) | (isfinite({2}) & ({2} <= {3} + abs({4} * {1})))", a, b, apart, number_text(site.number("atol", 1e-8)), number_text(site.number("rtol", 1e-5)));
  if (site.flag("equal_nan")) text += fmt::format(" | (isnan({}) & isnan({}))", a, b);
  return written(std::move(text));
}

/// One of the infinities.
Written is_infinity(const Site& site, std::string_view which) {
  const auto& type = site.type_of("self").dtype;
  if (!type || !task::is_float(*type)) return no_word(site, "of integers");
  return written(fmt::format("{} == {}", site.text("self"), which));
}

/// Whether a number is below 0, or the 0 that divides 1 into minus infinity.
Result<std::string> sign_bit(const Site& site, std::string_view name) {
  const Argument* value = site.node().find(name);
  if (value == nullptr) throw std::out_of_range(std::string(name));
  if (value->ref() == nullptr) return std::string(value->number() && std::signbit(*value->number()) ? "true" : "false");
  const auto& type = site.type_of(name).dtype;
  if (!type || *type == task::DType::kBool) return no_word(site, "of an element type that the language lacks");
  return task::is_float(*type) ? fmt::format("(({0} < 0) | (({0} == 0) & (1 / {0} < 0)))", site.text(name)) : fmt::format("({} < 0)", site.text(name));
}

Written signed_bit(const Site& site, std::string_view) {
  HONE_TRY(std::string text, sign_bit(site, "self"));
  return written(std::move(text));
}

Written with_sign_of(const Site& site, std::string_view) {
  if (!site.type().dtype || site.type_of("self").dtype != site.type().dtype || !task::is_float(*site.type().dtype)) return no_word(site, "of integers");
  HONE_TRY(const std::string negative, sign_bit(site, "other"));
  if (negative == "true" || negative == "false") return written(fmt::format("{}abs({})", negative == "true" ? "-" : "", site.text("self")));
  return written(fmt::format("where({0}, -abs({1}), abs({1}))", negative, site.text("self")));
}

/// a[i + 1] b[i + 2] - a[i + 2] b[i + 1] along an axis of three, counted round.
Written cross_product(const Site& site, std::string_view) {
  const task::Shape& shape = site.type().shape;
  int64_t axis = -1;
  if (site.has("dim")) axis = site.integer("dim", -1);
  else if (site.node().op == "aten.cross.default") axis = std::find(shape.begin(), shape.end(), 3) - shape.begin();
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  if (axis < 0 || shape.at(static_cast<size_t>(axis)) != 3) return no_word(site, "called as nobody calls it");
  const auto rolled = [&](std::string_view name, int by) {
    const std::string text = site.type_of(name).shape == shape ? site.text(name) : fmt::format("broadcast_to({}, {})", site.text(name), list_text(shape));
    return fmt::format("roll({}, -{}, {})", text, by, axis);
  };
  return written(fmt::format("{} * {} - {} * {}", rolled("self", 1), rolled("other", 2), rolled("self", 2), rolled("other", 1)));
}

/// What is left of a division that is rounded towards 0: with the sign of what is divided.
Written left_over(const Site& site, std::string_view) {
  const Argument* other = site.node().find("other");
  const std::string by = other != nullptr && other->ref() == nullptr && other->number() ? number_text(std::abs(*other->number())) : fmt::format("abs({})", site.text("other"));
  if (!site.type().dtype) return no_word(site, "of an element type that the language lacks");
  if (!task::is_float(*site.type().dtype)) {   // rounded down, and what is left has the divisor's sign, else it is less by one divisor
    const std::string x = site.text("self"), y = site.text("other");
    return written(fmt::format("{0} % {1} - where(({0} % {1} != 0) & (({0} < 0) != ({1} < 0)), {1}, 0)", x, y));
  }
  return written(fmt::format("where({0} < 0, -(abs({0}) % {1}), abs({0}) % {1})", site.text("self"), by));
}

Written rounded_division(const Site& site, std::string_view) {
  const std::string mode = site.word("rounding_mode");
  if (mode == "floor") return written(fmt::format("{} // {}", site.text("self"), site.text("other")));
  if (mode == "trunc" && task::is_float(site.type().dtype.value_or(task::DType::kI64)))
    return written(fmt::format("trunc({} / {})", site.text("self"), site.text("other")));
  if (mode == "trunc" && site.type().dtype)
    return written(fmt::format("{0} // {1} + where(({0} % {1} != 0) & (({0} < 0) != ({1} < 0)), 1, 0)", site.text("self"), site.text("other")));
  if (mode.empty()) return binary(site, "/");
  return no_word(site, "rounding_mode=" + mode);
}

Written floor_division(const Site& site, std::string_view) { return written(fmt::format("{} // {}", site.text("self"), site.text("other"))); }

Written square(const Site& site, std::string_view) { return written(fmt::format("{0} * {0}", site.text("self"))); }

Written clamped(const Site& site, std::string_view) {
  const std::string low = site.any({"min", "min_val"}), high = site.any({"max", "max_val"});
  return written(fmt::format("clamp({}, {}, {})", site.text("self"), low, high));
}

/// An activation with one number, by the argument's name.
Written with_number(const Site& site, std::string_view detail) {
  const size_t at = detail.find(' ');
  const std::string_view argument = detail.substr(at + 1);
  return written(fmt::format("{}({}, {})", detail.substr(0, at), site.text("self"), number_text(site.number(argument, 0))));
}

/// After eval() the slope is the middle of those that training draws.
Written fixed_slope(const Site& site, std::string_view) {
  if (site.flag("training")) return no_word(site, "that draws random numbers");
  std::string text = fmt::format("leaky_relu({}, {})", site.text("self"), number_text((site.number("lower", 1.0 / 8) + site.number("upper", 1.0 / 3)) / 2));
  return site.node().several ? Written(std::vector<std::string>{std::move(text), ""}) : written(std::move(text));
}

Written elu(const Site& site, std::string_view) {
  if (site.number("scale", 1) != 1 || site.number("input_scale", 1) != 1) return no_word(site, "with scales");
  return written(fmt::format("elu({}, {})", site.text("self"), number_text(site.number("alpha", 1))));
}

Written gelu(const Site& site, std::string_view) {
  return written(fmt::format("gelu({}{})", site.text("self"), site.word("approximate") == "tanh" ? ", approximate=\"tanh\"" : ""));
}

Written softplus(const Site& site, std::string_view) {
  return written(fmt::format("softplus({}, {}, {})", site.text("self"), number_text(site.number("beta", 1)), number_text(site.number("threshold", 20))));
}

Written where(const Site& site, std::string_view) {
  return written(fmt::format("where({}, {}, {})", site.text("condition"), site.text("self"), site.text("other")));
}

Written where_of_prims(const Site& site, std::string_view) { return written(fmt::format("where({}, {}, {})", site.text("pred"), site.text("a"), site.text("b"))); }

Written masked(const Site& site, std::string_view) { return written(fmt::format("where({}, {}, {})", site.text("mask"), site.text("value"), site.text("self"))); }

Written cast(const Site& site, std::string_view) {
  if (!site.type().dtype) return no_word(site, "to an element type that the language lacks");
  return written(fmt::format("cast({}, {})", site.text("self"), task::name_of(*site.type().dtype)));
}

Written lerp(const Site& site, std::string_view) { return written(fmt::format("lerp({}, {}, {})", site.text("self"), site.text("end"), site.text("weight"))); }

/// self + value * a op b
Written fused(const Site& site, std::string_view sign) {
  const double value = site.number("value", 1);
  return written(fmt::format("{} + {}{} {} {}", site.text("self"), value == 1 ? "" : site.text("value") + " * ", site.text("tensor1"), sign, site.text("tensor2")));
}

/// Brought to the nearest of few values and back. As PyTorch does: by a product with 1 / scale, so that no element is rounded the other way.
Written quantised(const Site& site, std::string_view detail) {
  std::string scale = site.text("scale"), zero = site.text("zero_point"), inverse = fmt::format("reciprocal({})", scale);
  if (detail == "number") {
    const auto number = static_cast<float>(site.number("scale", 1));
    scale = number_text(number);
    inverse = number_text(1.0F / number);
  } else if (detail == "channels") {
    task::Shape shape(site.type().shape.size(), 1);
    const auto axis = static_cast<size_t>(site.axis("axis", "self", 0));
    shape.at(axis) = site.type().shape.at(axis);
    for (std::string* text : {&scale, &zero, &inverse}) *text = fmt::format("reshape({}, {})", *text, list_text(shape));
  }
  return written(fmt::format("(clamp(round({} * {}) + {}, {}, {}) - {}) * {}", site.text("self"), inverse, zero, number_text(static_cast<double>(site.integer("quant_min", 0))),
                             number_text(static_cast<double>(site.integer("quant_max", 0))), zero, scale));
}

Written glu(const Site& site, std::string_view) { return written(fmt::format("glu({}, axis={})", site.text("self"), site.axis("dim", "self", -1))); }

constexpr Row kElementwise[] = {
    {"aten.relu.default", unary, "relu"},
    {"aten.relu6.default", unary, "relu6"},
    {"aten.sigmoid.default", unary, "sigmoid"},
    {"aten.tanh.default", unary, "tanh"},
    {"aten.exp.default", unary, "exp"},
    {"aten.exp2.default", unary, "exp2"},
    {"aten.expm1.default", unary, "expm1"},
    {"aten.log.default", unary, "log"},
    {"aten.log2.default", unary, "log2"},
    {"aten.log10.default", unary, "log10"},
    {"aten.log1p.default", unary, "log1p"},
    {"aten.sqrt.default", unary, "sqrt"},
    {"aten.rsqrt.default", unary, "rsqrt"},
    {"aten.reciprocal.default", unary, "reciprocal"},
    {"aten.abs.default", unary, "abs"},
    {"aten.neg.default", unary, "neg"},
    {"aten.sign.default", unary, "sign"},
    {"aten.floor.default", unary, "floor"},
    {"aten.ceil.default", unary, "ceil"},
    {"aten.round.default", unary, "round"},
    {"aten.trunc.default", unary, "trunc"},
    {"aten.sin.default", unary, "sin"},
    {"aten.cos.default", unary, "cos"},
    {"aten.tan.default", unary, "tan"},
    {"aten.asin.default", unary, "asin"},
    {"aten.acos.default", unary, "acos"},
    {"aten.atan.default", unary, "atan"},
    {"aten.sinh.default", unary, "sinh"},
    {"aten.cosh.default", unary, "cosh"},
    {"aten.erf.default", unary, "erf"},
    {"aten.isnan.default", unary, "isnan"},
    {"aten.isinf.default", unary, "isinf"},
    {"aten.silu.default", unary, "silu"},
    {"aten.mish.default", unary, "mish"},
    {"aten.selu.default", unary, "selu"},
    {"aten.hardswish.default", unary, "hardswish"},
    {"aten.hardsigmoid.default", unary, "hardsigmoid"},
    {"aten.log_sigmoid.default", unary, "log_sigmoid"},
    {"aten.add.Tensor", binary, "+"},
    {"aten.add.Scalar", binary, "+"},
    {"aten.sub.Tensor", binary, "-"},
    {"aten.sub.Scalar", binary, "-"},
    {"aten.subtract.Tensor", binary, "-"},
    {"aten.rsub.Tensor", reversed},
    {"aten.rsub.Scalar", reversed},
    {"aten.mul.Tensor", binary, "*"},
    {"aten.mul.Scalar", binary, "*"},
    {"aten.multiply.Tensor", binary, "*"},
    {"aten.div.Tensor", binary, "/"},
    {"aten.div.Scalar", binary, "/"},
    {"aten.divide.Tensor", binary, "/"},
    {"aten.true_divide.Tensor", binary, "/"},
    {"aten.div.Tensor_mode", rounded_division},
    {"aten.div.Scalar_mode", rounded_division},
    {"aten.floor_divide.default", floor_division},
    {"aten.floor_divide.Scalar", floor_division},
    {"aten.remainder.Tensor", binary, "%"},
    {"aten.remainder.Scalar", binary, "%"},
    {"aten.pow.Tensor_Scalar", pair, "pow"},
    {"aten.pow.Tensor_Tensor", pair, "pow"},
    {"aten.pow.Scalar", pair, "pow"},
    {"aten.square.default", square},
    {"aten.eq.Tensor", binary, "=="},
    {"aten.eq.Scalar", binary, "=="},
    {"aten.ne.Tensor", binary, "!="},
    {"aten.ne.Scalar", binary, "!="},
    {"aten.lt.Tensor", binary, "<"},
    {"aten.lt.Scalar", binary, "<"},
    {"aten.le.Tensor", binary, "<="},
    {"aten.le.Scalar", binary, "<="},
    {"aten.gt.Tensor", binary, ">"},
    {"aten.gt.Scalar", binary, ">"},
    {"aten.ge.Tensor", binary, ">="},
    {"aten.ge.Scalar", binary, ">="},
    {"aten.logical_and.default", truths, "&"},
    {"aten.logical_or.default", truths, "|"},
    {"aten.logical_xor.default", truths, "^"},
    {"aten.bitwise_and.Tensor", of_bits, "&"},
    {"aten.bitwise_or.Tensor", of_bits, "|"},
    {"aten.bitwise_xor.Tensor", of_bits, "^"},
    {"aten.__and__.Tensor", of_bits, "&"},
    {"aten.__or__.Tensor", of_bits, "|"},
    {"aten.__xor__.Tensor", of_bits, "^"},
    {"aten.logical_not.default", denial},
    {"aten.bitwise_not.default", negation},
    {"aten.bitwise_and.Scalar", masked_bits},
    {"aten.__and__.Scalar", masked_bits},
    {"aten.bitwise_and.Scalar_Tensor", of_bits, "&"},
    {"aten.bitwise_or.Scalar", of_bits, "|"},
    {"aten.bitwise_or.Scalar_Tensor", of_bits, "|"},
    {"aten.__or__.Scalar", of_bits, "|"},
    {"aten.bitwise_xor.Scalar", of_bits, "^"},
    {"aten.bitwise_xor.Scalar_Tensor", of_bits, "^"},
    {"aten.__xor__.Scalar", of_bits, "^"},
    {"aten.__lshift__.Tensor", shifted, "*"},
    {"aten.__lshift__.Scalar", shifted, "*"},
    {"aten.__rshift__.Tensor", shifted, "//"},
    {"aten.__rshift__.Scalar", shifted, "//"},
    {"aten.bitwise_left_shift.Tensor", shifted, "*"},
    {"aten.bitwise_left_shift.Tensor_Scalar", shifted, "*"},
    {"aten.bitwise_left_shift.Scalar_Tensor", shifted, "*"},
    {"aten.bitwise_right_shift.Tensor", shifted, "//"},
    {"aten.bitwise_right_shift.Tensor_Scalar", shifted, "//"},
    {"aten.bitwise_right_shift.Scalar_Tensor", shifted, "//"},
    {"aten.maximum.default", pair, "maximum"},
    {"aten.max.other", pair, "maximum"},
    {"aten.minimum.default", pair, "minimum"},
    {"aten.min.other", pair, "minimum"},
    {"aten.atan2.default", pair, "atan2"},
    {"aten.hypot.default", hypotenuse},
    {"aten.isfinite.default", unary, "isfinite"},
    {"aten.isposinf.default", is_infinity, "inf"},
    {"aten.isneginf.default", is_infinity, "(-inf)"},
    {"aten.isclose.default", close},
    {"aten.fmax.default", extreme_of_numbers, "maximum"},
    {"aten.fmin.default", extreme_of_numbers, "minimum"},
    {"aten.heaviside.default", step_at_0},
    {"aten.special_entr.default", entropy},
    {"aten.asinh.default", inverse_hyperbolic, "asinh"},
    {"aten.acosh.default", inverse_hyperbolic, "acosh"},
    {"aten.atanh.default", inverse_hyperbolic, "atanh"},
    {"aten.logaddexp.default", logarithm_of_sum},
    {"aten.logaddexp2.default", logarithm_of_sum, "2"},
    {"aten.copysign.Tensor", with_sign_of},
    {"aten.copysign.Scalar", with_sign_of},
    {"aten.signbit.default", signed_bit},
    {"aten.cross.default", cross_product},
    {"aten.linalg_cross.default", cross_product},
    {"aten.fmod.Tensor", left_over},
    {"aten.fmod.Scalar", left_over},
    {"aten.clamp.default", clamped},
    {"aten.clamp.Tensor", clamped},
    {"aten.clamp_min.default", clamped},
    {"aten.clamp_min.Tensor", clamped},
    {"aten.clamp_max.default", clamped},
    {"aten.clamp_max.Tensor", clamped},
    {"aten.hardtanh.default", clamped},
    {"aten.leaky_relu.default", with_number, "leaky_relu negative_slope"},
    {"aten.rrelu.default", fixed_slope},
    {"aten.rrelu_with_noise_functional.default", fixed_slope},
    {"aten.celu.default", with_number, "celu alpha"},
    {"aten.softshrink.default", with_number, "softshrink lambd"},
    {"aten.hardshrink.default", with_number, "hardshrink lambd"},
    {"aten.elu.default", elu},
    {"aten.gelu.default", gelu},
    {"aten.softplus.default", softplus},
    {"aten.glu.default", glu},
    {"aten.where.self", where},
    {"aten.where.ScalarOther", where},
    {"aten.where.ScalarSelf", where},
    {"aten.masked_fill.Scalar", masked},
    {"aten.masked_fill.Tensor", masked},
    {"aten._to_copy.default", cast},
    {"aten.to.dtype", cast},
    {"aten.to.dtype_layout", cast},
    {"aten.type_as.default", cast},
    {"aten.lerp.Scalar", lerp},
    {"aten.lerp.Tensor", lerp},
    {"aten.fake_quantize_per_tensor_affine.default", quantised, "number"},
    {"aten.fake_quantize_per_tensor_affine.tensor_qparams", quantised},
    {"aten.fake_quantize_per_channel_affine.default", quantised, "channels"},
    {"aten.addcmul.default", fused, "*"},
    {"aten.addcdiv.default", fused, "/"},
    {"prims.fma.default", multiplied_and_added},
    {"prims.where.default", where_of_prims},
};

}  // namespace

std::span<const Row> elementwise_rows() { return kElementwise; }

}  // namespace hone::program
