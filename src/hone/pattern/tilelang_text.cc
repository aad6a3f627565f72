#include "hone/pattern/tilelang_text.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/functions_file.h"
#include "hone/pattern/narrow.h"
#include "hone/task/graph/fold.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::Prim;

/// The function that computes it of floats; null where Python has an operator, or there is none.
const char* tile_function(Prim op) {
  switch (op) {
    case Prim::kAbs: return "T.abs";
    case Prim::kSign: return "sign";
    case Prim::kExp: return "T.exp";
    case Prim::kExp2: return "T.exp2";
    case Prim::kExpm1: return "exp_less_one";
    case Prim::kLog: return "T.log";
    case Prim::kLog2: return "T.log2";
    case Prim::kLog1p: return "T.log1p";
    case Prim::kSqrt: return "T.sqrt";
    case Prim::kRsqrt: return "inverse_root";
    case Prim::kReciprocal: return "reciprocal";
    case Prim::kSin: return "T.sin";
    case Prim::kCos: return "T.cos";
    case Prim::kTan: return "T.tan";
    case Prim::kAsin: return "T.asin";
    case Prim::kAcos: return "T.acos";
    case Prim::kAtan: return "T.atan";
    case Prim::kSinh: return "T.sinh";
    case Prim::kCosh: return "T.cosh";
    case Prim::kTanh: return "T.tanh";
    case Prim::kErf: return "T.erf";
    case Prim::kFloor: return "T.floor";
    case Prim::kCeil: return "T.ceil";
    case Prim::kRound: return "T.nearbyint";
    case Prim::kTrunc: return "T.trunc";
    case Prim::kPow: return "T.pow";
    case Prim::kAtan2: return "T.atan2";
    case Prim::kMaximum: return "greater";
    case Prim::kMinimum: return "less";
    case Prim::kWhere: return "T.if_then_else";
    case Prim::kMod: return "modulo";
    case Prim::kFloorDiv: return "floor_quotient";
    default: return nullptr;
  }
}

const char* tile_whole_function(Prim op) {
  switch (op) {
    case Prim::kMod: return "whole_modulo";
    case Prim::kFloorDiv: return "whole_quotient";
    case Prim::kMaximum: return "T.max";
    case Prim::kMinimum: return "T.min";
    case Prim::kAbs: return "T.abs";
    case Prim::kSign: return "sign";
    case Prim::kWhere: return "T.if_then_else";
    default: return nullptr;
  }
}

}  // namespace

std::string tile_storage(DType dtype) { return std::string(task::numpy_name_of(dtype)); }

std::string tile_type(DType dtype) { return tile_storage(task::is_narrow(dtype) ? DType::kF32 : dtype); }

std::string tile_constant(const task::Attr& value, DType dtype) {
  const double real = task::constant_value(value);
  std::string text;
  if (dtype == DType::kBool) {
    text = real != 0 ? "True" : "False";
  } else if (!task::is_float(dtype)) {
    const auto* const whole = std::get_if<int64_t>(&value);
    text = fmt::format("{}", whole ? *whole : static_cast<int64_t>(real));
  } else {
    const double kept = fits_32(dtype) ? static_cast<double>(static_cast<float>(real)) : real;
    text = std::isnan(kept) ? "float(\"nan\")" : std::isinf(kept) ? (kept < 0 ? "float(\"-inf\")" : "float(\"inf\")") : fmt::format("{}", kept);
  }
  return fmt::format("T.cast({}, \"{}\")", text, tile_type(dtype));
}

std::string tile_cast(const std::string& x, DType from, DType to, bool rounds) {
  const bool narrow = rounds && tile_storage(to) != tile_type(to);
  if (from == to && !narrow) return x;
  if (to == DType::kBool) return fmt::format("({0} != number(0, {0}))", x);
  if (!task::is_float(to) && task::is_float(from)) {
    const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - 8 * task::size_of(to)));
    return fmt::format("T.cast(whole({}, {}, {}), \"{}\")", x, -high - 1, high, tile_type(to));
  }
  const std::string inner = narrow ? fmt::format("T.cast({}, \"{}\")", x, tile_storage(to)) : x;
  return tile_type(from) == tile_type(to) && !narrow ? x : fmt::format("T.cast({}, \"{}\")", inner, tile_type(to));
}

Result<std::string> tile_operation(const task::Node& node, const std::vector<std::string>& x, const std::vector<DType>& types) {
  const DType type = types.empty() ? node.type.dtype : types.back();
  switch (node.prim) {
    case Prim::kCast: return tile_cast(x[0], types[0], node.type.dtype, true);
    case Prim::kNeg: return "-" + x[0];
    // TileLang negates a comparison as if there were no NaN, and folds what a value compared with itself gives.
    case Prim::kNot: return fmt::format("T.cast({}, \"int32\") == 0", x[0]);
    case Prim::kEq:
    case Prim::kNe:
      if (!task::is_float(type) || x[0] != x[1]) break;
      return fmt::format("T.cast(T.isnan({}), \"int32\") {} 0", x[0], node.prim == Prim::kNe ? "!=" : "==");
    case Prim::kIsNan: return task::is_float(type) ? fmt::format("T.isnan({})", x[0]) : std::string("T.cast(False, \"bool\")");
    case Prim::kIsInf: return task::is_float(type) ? fmt::format("T.isinf({})", x[0]) : std::string("T.cast(False, \"bool\")");
    case Prim::kAnd: return fmt::format("{} & {}", x[0], x[1]);
    case Prim::kOr: return fmt::format("{} | {}", x[0], x[1]);
    default: break;
  }
  if (type == DType::kBool) {
    if (node.prim == Prim::kMaximum) return fmt::format("{} | {}", x[0], x[1]);
    if (node.prim == Prim::kMinimum) return fmt::format("{} & {}", x[0], x[1]);
    if (node.prim >= Prim::kEq && node.prim <= Prim::kGe)
      return fmt::format("T.cast({}, \"int32\") {} T.cast({}, \"int32\")", x[0], operator_of(node.prim), x[1]);
  }
  if (task::is_int(type) && (node.prim == Prim::kFloor || node.prim == Prim::kCeil || node.prim == Prim::kRound || node.prim == Prim::kTrunc)) return x[0];
  const char* const function = task::is_float(type) || node.prim == Prim::kWhere ? tile_function(node.prim) : tile_whole_function(node.prim);
  if (function) return fmt::format("{}({})", function, fmt::join(x, ", "));
  const char* const op = operator_of(node.prim);
  if (!op) return fail(ErrorCode::kUnavailable, fmt::format("{} of {}", task::name_of(node.prim), tile_storage(type)));
  return fmt::format("{} {} {}", x[0], op, x[1]);
}

std::string tile_functions(const std::string& text) { return functions_of_file("patterns/tilelang/functions.py", text); }

}  // namespace hone::pattern
