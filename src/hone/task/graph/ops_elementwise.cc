// Element-wise rows: arithmetic, comparisons, logic, real functions, choice and casts.
#include <fmt/format.h>

#include <cmath>

#include "hone/task/graph/fold.h"
#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

Ref lower_unary(const LowerCall& c) { return unary(c.op.prim, cast(c.in[0], c.node.type.dtype)); }

/// floor, ceil, round and trunc leave integers alone.
Ref lower_rounding(const LowerCall& c) {
  return is_float(c.node.type.dtype) ? unary(c.op.prim, c.in[0]) : c.in[0];
}

Result<TensorType> infer_test(Call& call) { return TensorType{DType::kBool, call.dims(0)}; }

Ref lower_test(const LowerCall& c) {
  const Ref x = c.in[0];
  const bool real = is_float(x.dtype());
  if (c.op.name == "isfinite") {
    if (!real) return eq(x, x);
    return unary(Prim::kNot, binary(Prim::kOr, unary(Prim::kIsNan, x), unary(Prim::kIsInf, x)));
  }
  return real ? unary(c.op.prim, x) : ne(x, x);
}

Ref lower_binary(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  return binary(c.op.prim, cast(c.in[0], dtype), cast(c.in[1], dtype));
}

Ref lower_compare(const LowerCall& c) {
  const DType dtype = common_dtype(c.operands);
  return binary(c.op.prim, cast(c.in[0], dtype), cast(c.in[1], dtype));
}

Ref lower_logical(const LowerCall& c) {
  return c.in.size() == 1 ? unary(c.op.prim, c.in[0]) : binary(c.op.prim, c.in[0], c.in[1]);
}

/// "f32[B] and i32[B]"
std::string dtype_list(const Call& call) {
  std::string text;
  for (const Operand& operand : call.operands) text += (text.empty() ? "" : " and ") + operand.type.to_string();
  return text;
}

/// Of bools as well.
Result<TensorType> infer_bits(Call& call) {
  const DType dtype = common_dtype(call.operands);
  if (is_float(dtype)) return wrong(fmt::format("{} takes integers or bools, found {}", call.op.name, dtype_list(call)), "floats have no bits to reckon with: cast them to an integer type first");
  if (call.operands.size() == 1) return TensorType{dtype, call.dims(0)};
  HONE_TRY(TensorType type, infer_binary(call));
  type.dtype = dtype;   // of bools bool
  return type;
}

Ref lower_bits(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const bool truth = dtype == DType::kBool;
  const Ref x = cast(c.in[0], dtype);
  if (c.in.size() == 1) return truth ? unary(Prim::kNot, x) : binary(Prim::kBitXor, x, like(x, -1));
  const Prim of_truths = c.op.prim == Prim::kBitAnd ? Prim::kAnd : c.op.prim == Prim::kBitOr ? Prim::kOr : Prim::kXor;
  return binary(truth ? of_truths : c.op.prim, x, cast(c.in[1], dtype));
}

Result<TensorType> infer_shift(Call& call) {
  const DType dtype = common_dtype(call.operands);
  if (!is_int(dtype)) return wrong(fmt::format("{} takes integers, found {}", call.op.name, dtype_list(call)), "a power of 2 is exp2(y)");
  return infer_binary(call);
}

/// Times 2 to the y, and divided by it, rounded down. Beyond the type's bits, and for y below 0, nothing is left of x but its sign.
Ref lower_shift(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const int bits = 8 * size_of(dtype);
  const Ref x = cast(c.in[0], dtype), y = cast(c.in[1], dtype);
  const bool left = c.op.name == "left_shift";
  const auto sign = [&] { return where(lt(x, like(x, 0)), like(x, -1), like(x, 0)); };
  const Node& by = c.lower.node(y.id());
  if (by.prim == Prim::kConstant) {
    const double n = constant_value(by.attrs.find("value")->second);
    if (n < 0 || n >= bits) return left ? x * 0.0 : sign();
    if (!left) return n == bits - 1 ? sign() : binary(Prim::kFloorDiv, x, like(x, std::ldexp(1.0, static_cast<int>(n))));
    return n == bits - 1 ? x * std::ldexp(1.0, bits - 2) * 2.0 : x * std::ldexp(1.0, static_cast<int>(n));   // the type does not hold the last power
  }
  if (left) return x * binary(Prim::kPow, like(y, 2), y);   // wraps to 0, as 2 to a negative y is 0
  const Ref most = like(y, bits - 2), power = binary(Prim::kPow, like(y, 2), minimum(maximum(y, like(y, 0)), most));
  return where(binary(Prim::kAnd, ge(y, like(y, 0)), binary(Prim::kLe, y, most)), binary(Prim::kFloorDiv, x, power), sign());
}

/// Powers that are products or roots are computed as such.
Ref lower_pow(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  const Ref x = cast(c.in[0], dtype);
  const Ref y = cast(c.in[1], dtype);
  const Node& exponent = c.lower.node(y.id());
  if (exponent.prim == Prim::kConstant) {
    const double e = constant_value(exponent.attrs.find("value")->second);
    if (e == 1) return x;
    if (e == 2) return x * x;
    if (e == 3) return x * x * x;
    if (e == 4) return square(square(x));
    if (is_float(dtype) && e == 0.5) return sqrt(x);
    if (is_float(dtype) && e == -0.5) return rsqrt(x);
    if (is_float(dtype) && e == -1) return unary(Prim::kReciprocal, x);
    if (is_float(dtype) && e == -2) return unary(Prim::kReciprocal, x * x);
  }
  return binary(Prim::kPow, x, y);
}

Result<TensorType> infer_where(Call& call) {
  if (call.type(0).dtype != DType::kBool)
    return wrong(fmt::format("the condition of where is bool, found {}", call.type(0).to_string()),
                 "compare first, such as x != 0");
  HONE_TRY(const Dims values, broadcast_dims(call.dims(1), call.dims(2)));
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), values));
  return TensorType{common_dtype(std::span(call.operands).subspan(1)), std::move(dims)};
}

Ref lower_where(const LowerCall& c) {
  return where(c.in[0], cast(c.in[1], c.node.type.dtype), cast(c.in[2], c.node.type.dtype));
}

Result<TensorType> infer_clamp(Call& call) {
  if (call.operands.size() == 1)
    return wrong("clamp needs a lower or an upper bound",
                 "clamp(x, 0, 1), clamp(x, min=0) or clamp(x, max=1)");
  Dims dims = call.dims(0);
  for (size_t i = 1; i < call.operands.size(); ++i) {
    HONE_TRY(dims, broadcast_dims(dims, call.dims(i)));
  }
  return TensorType{common_dtype(call.operands), std::move(dims)};
}

Ref lower_clamp(const LowerCall& c) {
  const DType dtype = c.node.type.dtype;
  Ref x = cast(c.in[0], dtype);
  if (const auto low = c.find("min")) x = maximum(x, cast(*low, dtype));
  if (const auto high = c.find("max")) x = minimum(x, cast(*high, dtype));
  return x;
}

Result<TensorType> infer_cast(Call& call) {
  return TensorType{*dtype_from(call.attr<std::string>("dtype")), call.dims(0)};
}

Ref lower_cast(const LowerCall& c) { return cast(c.in[0], c.node.type.dtype, true); }

/// a + weight * (b - a)
Result<TensorType> infer_lerp(Call& call) {
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), call.dims(1)));
  HONE_TRY(dims, broadcast_dims(dims, call.dims(2)));
  const DType dtype = common_dtype(call.operands);
  return TensorType{is_float(dtype) ? dtype : DType::kF32, std::move(dims)};
}

Ref lower_lerp(const LowerCall& c) {
  const Ref a = c.wide(0);
  return a + c.wide(2) * (c.wide(1) - a);
}

const OpRow kElementwiseOps[] = {
    {"add(x, y)", "", "x + y.", infer_binary, lower_binary, Prim::kAdd},
    {"sub(x, y)", "subtract", "x - y.", infer_binary, lower_binary, Prim::kSub},
    {"mul(x, y)", "multiply", "x * y.", infer_binary, lower_binary, Prim::kMul},
    {"div(x, y)", "divide true_divide", "x / y; integers give f32.", infer_float_binary, lower_binary,
     Prim::kDiv},
    {"floor_divide(x, y)", "floor_div", "x // y, rounded down.", infer_binary, lower_binary, Prim::kFloorDiv},
    {"mod(x, y)", "remainder", "x % y, with the sign of y.", infer_binary, lower_binary, Prim::kMod},
    {"pow(x, y)", "power", "x ** y.", infer_binary, lower_pow, Prim::kPow},
    {"atan2(y, x)", "arctan2", "The angle of the point (x, y).", infer_float_binary, lower_binary,
     Prim::kAtan2},
    {"maximum(x, y)", "", "The larger of two; NaN if either is.", infer_binary, lower_binary, Prim::kMaximum},
    {"minimum(x, y)", "", "The smaller of two; NaN if either is.", infer_binary, lower_binary,
     Prim::kMinimum},
    {"eq(x, y)", "equal", "x == y.", infer_compare, lower_compare, Prim::kEq},
    {"ne(x, y)", "not_equal", "x != y.", infer_compare, lower_compare, Prim::kNe},
    {"lt(x, y)", "less", "x < y.", infer_compare, lower_compare, Prim::kLt},
    {"le(x, y)", "less_equal", "x <= y.", infer_compare, lower_compare, Prim::kLe},
    {"gt(x, y)", "greater", "x > y.", infer_compare, lower_compare, Prim::kGt},
    {"ge(x, y)", "greater_equal", "x >= y.", infer_compare, lower_compare, Prim::kGe},
    {"logical_and(x, y)", "", "x & y of bools.", infer_logical, lower_logical, Prim::kAnd},
    {"logical_or(x, y)", "", "x | y of bools.", infer_logical, lower_logical, Prim::kOr},
    {"logical_xor(x, y)", "", "x ^ y of bools.", infer_logical, lower_logical, Prim::kXor},
    {"logical_not(x)", "", "~x of bools.", infer_logical, lower_logical, Prim::kNot},
    {"bitwise_and(x, y)", "", "Bits of whole numbers that both have; of bools logical_and.", infer_bits, lower_bits, Prim::kBitAnd},
    {"bitwise_or(x, y)", "", "Bits that either has.", infer_bits, lower_bits, Prim::kBitOr},
    {"bitwise_xor(x, y)", "", "Bits that one has and the other has not.", infer_bits, lower_bits, Prim::kBitXor},
    {"bitwise_not(x)", "", "All bits turned: -1 - x; of bools logical_not.", infer_bits, lower_bits},
    {"left_shift(x, y)", "bitwise_left_shift", "x << y, x * 2 ** y; 0 for y below 0 or of all the type's bits.", infer_shift, lower_shift},
    {"right_shift(x, y)", "bitwise_right_shift", "x >> y, x // 2 ** y; -1 or 0, by x's sign, for y below 0 or of all the type's bits.", infer_shift, lower_shift},
    {"neg(x)", "negative", "-x.", infer_same_unary, lower_unary, Prim::kNeg},
    {"abs(x)", "absolute", "|x|.", infer_same_unary, lower_unary, Prim::kAbs},
    {"sign(x)", "", "-1, 0 or 1.", infer_same_unary, lower_unary, Prim::kSign},
    {"floor(x)", "", "Rounded down.", infer_same_unary, lower_rounding, Prim::kFloor},
    {"ceil(x)", "", "Rounded up.", infer_same_unary, lower_rounding, Prim::kCeil},
    {"round(x)", "rint", "To the nearest integer, half to even.", infer_same_unary, lower_rounding,
     Prim::kRound},
    {"trunc(x)", "", "Rounded towards zero.", infer_same_unary, lower_rounding, Prim::kTrunc},
    {"exp(x)", "", "e to the x.", infer_float_unary, lower_unary, Prim::kExp},
    {"exp2(x)", "", "2 to the x.", infer_float_unary, lower_unary, Prim::kExp2},
    {"expm1(x)", "", "exp(x) - 1, exact near 0.", infer_float_unary, lower_unary, Prim::kExpm1},
    {"log(x)", "", "Natural logarithm.", infer_float_unary, lower_unary, Prim::kLog},
    {"log2(x)", "", "Logarithm to base 2.", infer_float_unary, lower_unary, Prim::kLog2},
    {"log10(x)", "", "Logarithm to base 10.", infer_float_unary, lower_unary, Prim::kLog10},
    {"log1p(x)", "", "log(1 + x), exact near 0.", infer_float_unary, lower_unary, Prim::kLog1p},
    {"sqrt(x)", "", "Square root.", infer_float_unary, lower_unary, Prim::kSqrt},
    {"rsqrt(x)", "", "1 / sqrt(x).", infer_float_unary, lower_unary, Prim::kRsqrt},
    {"reciprocal(x)", "", "1 / x.", infer_float_unary, lower_unary, Prim::kReciprocal},
    {"sin(x)", "", "Sine.", infer_float_unary, lower_unary, Prim::kSin},
    {"cos(x)", "", "Cosine.", infer_float_unary, lower_unary, Prim::kCos},
    {"tan(x)", "", "Tangent.", infer_float_unary, lower_unary, Prim::kTan},
    {"asin(x)", "arcsin", "Inverse sine.", infer_float_unary, lower_unary, Prim::kAsin},
    {"acos(x)", "arccos", "Inverse cosine.", infer_float_unary, lower_unary, Prim::kAcos},
    {"atan(x)", "arctan", "Inverse tangent.", infer_float_unary, lower_unary, Prim::kAtan},
    {"sinh(x)", "", "Hyperbolic sine.", infer_float_unary, lower_unary, Prim::kSinh},
    {"cosh(x)", "", "Hyperbolic cosine.", infer_float_unary, lower_unary, Prim::kCosh},
    {"tanh(x)", "", "Hyperbolic tangent.", infer_float_unary, lower_unary, Prim::kTanh},
    {"erf(x)", "", "The error function.", infer_float_unary, lower_unary, Prim::kErf},
    {"isnan(x)", "", "True where x is NaN.", infer_test, lower_test, Prim::kIsNan},
    {"isinf(x)", "", "True where x is infinite.", infer_test, lower_test, Prim::kIsInf},
    {"isfinite(x)", "", "True where x is neither NaN nor infinite.", infer_test, lower_test},
    {"where(condition, x, y)", "", "x where the condition holds, else y.", infer_where, lower_where},
    {"clamp(x, min = none, max = none)", "clip", "x kept between two bounds, each optional.", infer_clamp,
     lower_clamp},
    {"lerp(x, y, weight)", "", "x + weight * (y - x).", infer_lerp, lower_lerp},
    {"cast(x, dtype: dtype)", "", "To another element type; f16(x), i32(x), … are short for it.", infer_cast,
     lower_cast},
};

}  // namespace

Family elementwise_family() { return {"Element-wise", kElementwiseOps}; }

}  // namespace hone::task
