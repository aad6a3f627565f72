// Arithmetic, comparisons, logic, real functions, choice, casts and activations.
#pragma once
#include "hone/evaluate/baseline/testing/random_case.h"

namespace hone::evaluate::testing {
namespace elementwise {

inline void unary(Draft& d, DType dtype, Domain domain = Domain::kReal, Extra extra = Extra::kNone) {
  d.tensor("x", dtype, d.shape(), domain).extra = extra;
  if (extra == Extra::kNone) d.sometimes_special();
  d.compare(d.name() + "(x)", d.torch());
}
inline void any(Draft& d) { unary(d, d.any()); }
inline void numeric(Draft& d) { unary(d, d.numeric()); }
inline void truth(Draft& d) { unary(d, DType::kBool); }
/// Integers whose result f32 can hold with room to spare: PyTorch overflows a little early.
inline void hyperbolic(Draft& d) {
  const DType type = d.numeric();
  d.family(d.pick({Family::kNormal, Family::kUniform, Family::kSparse, Family::kInteger}));
  unary(d, type);
}
/// NumPy and the oracle keep NaN; PyTorch makes it 0.
inline void finite(Draft& d) {
  d.tensor("x", d.numeric(), d.shape());
  d.compare(d.name() + "(x)", d.torch());
}
inline void ball(Draft& d) { unary(d, d.real(), Domain::kReal, Extra::kBall); }
inline void positive(Draft& d) { unary(d, d.numeric(), Domain::kPositive); }
inline void special(Draft& d) { unary(d, d.any(), Domain::kReal, Extra::kSpecial); }

/// x and y of one shape, broadcasting either way, or one of them a number.
inline void pair(Draft& d, DType a, DType b, bool numbers, Extra second = Extra::kNone) {
  const Shape shape = d.shape();
  const bool swap = d.chance(0.3);
  d.tensor("x", a, swap ? d.part_of(shape) : shape);
  if (numbers && d.chance(0.2)) {
    const bool real = d.chance();
    std::string y = real ? d.number(-3, 3) : std::to_string(d.between(1, 4));
    if (y == "0.00" || y == "-0.00") y = "0.50";
    d.sometimes_special();
    d.before("y = " + y);
    return d.compare(fmt::format("{}(x, {})", d.name(), y), d.torch());
  }
  d.tensor("y", b, swap ? shape : d.part_of(shape)).extra = task::is_float(b) ? Extra::kNone : second;
  d.sometimes_special();
  d.compare(d.name() + "(x, y)", d.torch());
}
inline void binary(Draft& d) {
  const DType a = d.numeric();
  pair(d, a, d.chance(0.7) ? a : d.numeric(), true);
}
inline void divide(Draft& d) {
  const DType a = d.numeric();
  pair(d, a, d.chance(0.7) ? a : d.numeric(), true, Extra::kNonZero);
}
/// Without infinities: PyTorch makes NaN of inf // 3.
inline void floor_divide(Draft& d) {
  divide(d);
  for (size_t i = 0; i < d.inputs(); ++i)
    if (d.input(i).extra == Extra::kSpecial) d.input(i).extra = Extra::kNone;
}
inline void real_pair(Draft& d) { pair(d, d.real(), d.real(), false); }
inline void logical(Draft& d) { pair(d, DType::kBool, DType::kBool, false); }

inline DType whole(Draft& d) { return d.pick({DType::kI64, DType::kI32, DType::kI16, DType::kI8}); }
inline void bits(Draft& d) {
  const auto type = [&] { return d.chance(0.8) ? whole(d) : DType::kBool; };
  const DType a = type();
  pair(d, a, d.chance(0.6) ? a : type(), false);
}
inline void bits_turned(Draft& d) { unary(d, d.chance(0.8) ? whole(d) : DType::kBool); }
/// By up to nine bits, which is more than i8 has.
inline void shift(Draft& d) {
  const Shape shape = d.shape();
  const DType type = whole(d);
  d.tensor("x", type, shape);
  if (d.chance()) {
    const std::string bits = std::to_string(d.between(0, 9));
    d.before("y = " + bits);
    return d.compare(fmt::format("{}(x, {})", d.name(), bits), d.torch());
  }
  // PyTorch takes a type from a tensor without dimensions only where the other has none either.
  const Shape part = d.part_of(shape);
  d.tensor("y", part.empty() ? type : whole(d), part, Domain::kIndex, 10);
  d.compare(d.name() + "(x, y)", d.torch());
}

inline void power(Draft& d) {
  const Shape shape = d.shape();
  const int how = static_cast<int>(d.between(0, 3));
  if (how == 0) {  // integers: small, so that nothing wraps
    const DType type = d.pick({DType::kI64, DType::kI32});
    d.tensor("x", type, shape, Domain::kIndex, 9);
    d.tensor("y", type, d.part_of(shape), Domain::kIndex, 5);
    return d.compare(d.chance() ? "x ** y" : d.name() + "(x, y)", "x ** y");
  }
  d.tensor("x", d.real(), shape, how == 1 ? Domain::kPositive : Domain::kReal);
  if (how == 3) {
    const std::string y = d.pick({"2", "3", "4", "0.5", "-0.5", "-1", "-2", "1", "0", "1.7", "5", "-3"});
    return d.compare(fmt::format("{}(x, {})", d.name(), y), fmt::format("x ** ({})", y));
  }
  d.tensor("y", d.real(), d.part_of(shape));
  d.compare(d.name() + "(x, y)", "x ** y");
}

inline void where(Draft& d) {
  const Shape shape = d.shape();
  const DType type = d.any();
  d.tensor("c", DType::kBool, d.part_of(shape));
  d.tensor("x", type, shape);
  if (d.chance(0.2) && type != DType::kBool) {
    const std::string y = std::to_string(d.between(-3, 3));
    d.sometimes_special();
    return d.compare(fmt::format("where(c, x, {})", y), fmt::format("torch.where(c, x, {})", y));
  }
  d.tensor("y", type, d.part_of(shape));
  d.sometimes_special();
  d.compare("where(c, x, y)", "torch.where(c, x, y)");
}

inline void clamp(Draft& d) {
  const Shape shape = d.shape();
  const DType type = d.numeric();
  d.tensor("x", type, shape);
  const int which = static_cast<int>(d.between(1, 3));
  std::string hone = d.name() + "(x", torch = "x";
  const bool tensors = d.chance();
  const auto bound = [&](const char* name, const char* key, const char* function) {
    std::string value = name;
    if (tensors)
      d.tensor(name, type, d.part_of(shape));
    else
      value = std::to_string(d.between(-3, 3));
    hone += fmt::format(", {}={}", key, value);
    torch = fmt::format("torch.{}({}, as_like({}, x))", function, torch, value);
  };
  if ((which & 1) != 0) bound("a", "min", "maximum");
  if ((which & 2) != 0) bound("b", "max", "minimum");
  d.sometimes_special();
  d.compare(hone + ")", torch);
}

inline void lerp(Draft& d) {
  const Shape shape = d.shape();
  const DType type = d.real();
  d.tensor("x", type, shape);
  d.tensor("y", type, d.part_of(shape));
  if (d.chance()) {
    d.tensor("w", type, d.part_of(shape), d.chance() ? Domain::kUnit : Domain::kReal);
    return d.compare("lerp(x, y, w)", "x + w * (y - x)");
  }
  const std::string w = d.number(-1, 2);
  d.compare(fmt::format("lerp(x, y, {})", w), fmt::format("x + {} * (y - x)", w));
}

/// Truncation towards zero; to narrower floats the nearest, ties to even.
inline void cast(Draft& d) {
  const DType from = d.chance(0.5) ? DType::kF64
                                   : d.pick({DType::kF32, DType::kBF16, DType::kF16, DType::kI64, DType::kI32,
                                             DType::kI16, DType::kI8, DType::kBool});
  const DType to = d.pick({DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI64, DType::kI32,
                           DType::kI16, DType::kI8, DType::kBool});
  d.tensor("x", from, d.shape());
  d.keep_types();
  // What a float beyond an integer type's range becomes is nobody's to say; up to 120 fits all.
  if (task::is_float(from) && !task::is_float(to))
    d.family(d.pick({Family::kNormal, Family::kUniform, Family::kInteger, Family::kSparse}));
  const auto name = task::name_of(to);
  const std::string torch = fmt::format("x.to({})", name);
  d.compare(d.chance() ? fmt::format("cast(x, {})", name) : fmt::format("{}(x)", name), torch);
}

inline constexpr Generator kRows[] = {
    {"add", binary, "x + y"},
    {"sub", binary, "x - y"},
    {"mul", binary, "x * y"},
    {"div", divide, "x / y"},
    {"floor_divide", floor_divide, "floor_divide(x, y)"},
    {"mod", divide, "torch.remainder(x, y)"},
    {"pow", power},
    {"atan2", real_pair, "torch.atan2(x, y)"},
    {"maximum", binary, "torch.maximum(*promote(x, y))"},
    {"minimum", binary, "torch.minimum(*promote(x, y))"},
    {"eq", binary, "x == y"},
    {"ne", binary, "x != y"},
    {"lt", binary, "x < y"},
    {"le", binary, "x <= y"},
    {"gt", binary, "x > y"},
    {"ge", binary, "x >= y"},
    {"logical_and", logical, "x & y"},
    {"logical_or", logical, "x | y"},
    {"logical_xor", logical, "x ^ y"},
    {"logical_not", truth, "~x"},
    {"bitwise_and", bits, "x & y"},
    {"bitwise_or", bits, "x | y"},
    {"bitwise_xor", bits, "x ^ y"},
    {"bitwise_not", bits_turned, "~x"},
    {"left_shift", shift, "x << y"},
    {"right_shift", shift, "x >> y"},
    {"neg", numeric, "-x"},
    {"abs", numeric, "torch.abs(x)"},
    {"sign", finite, "torch.sign(x)"},
    {"floor", numeric, "torch.floor(x)"},
    {"ceil", numeric, "torch.ceil(x)"},
    {"round", numeric, "torch.round(x)"},
    {"trunc", numeric, "torch.trunc(x)"},
    {"exp", numeric, "torch.exp(x)"},
    {"exp2", numeric, "torch.exp2(x)"},
    {"expm1", numeric, "torch.expm1(x)"},
    {"log", positive, "torch.log(x)"},
    {"log2", positive, "torch.log2(x)"},
    {"log10", positive, "torch.log10(x)"},
    {"log1p", positive, "torch.log1p(x)"},
    {"sqrt", positive, "torch.sqrt(x)"},
    {"rsqrt", positive, "torch.rsqrt(x)"},
    {"reciprocal", numeric, "torch.reciprocal(x)"},
    {"sin", numeric, "torch.sin(x)"},
    {"cos", numeric, "torch.cos(x)"},
    {"tan", numeric, "torch.tan(x)"},
    {"asin", ball, "torch.asin(x)"},
    {"acos", ball, "torch.acos(x)"},
    {"atan", numeric, "torch.atan(x)"},
    {"sinh", hyperbolic, "torch.sinh(x)"},
    {"cosh", hyperbolic, "torch.cosh(x)"},
    {"tanh", numeric, "torch.tanh(x)"},
    {"erf", numeric, "torch.erf(x)"},
    {"isnan", special, "torch.isnan(x)"},
    {"isinf", special, "torch.isinf(x)"},
    {"isfinite", special, "torch.isfinite(x)"},
    {"where", where},
    {"clamp", clamp},
    {"lerp", lerp},
    {"cast", cast},
};

}  // namespace elementwise
}  // namespace hone::evaluate::testing
