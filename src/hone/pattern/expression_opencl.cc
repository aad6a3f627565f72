// Operations in OpenCL C. Its functions take scalars and vectors alike, so that what is written here serves both.
#include <cmath>

#include <fmt/format.h>

#include "hone/pattern/expression.h"

namespace hone::pattern {

using task::DType;
using task::Node;
using task::Prim;

namespace opencl {
namespace {

/// `T` of a value: "(float)(x)", "(FLOATS)(x)".
std::string as(const std::string& type, const std::string& value) { return fmt::format("({})({})", type, value); }

std::string floating(double real, bool single) {
  if (std::isnan(real)) return "NAN";
  if (std::isinf(real)) return real > 0 ? "INFINITY" : "(-INFINITY)";
  std::string text = single ? fmt::format("{}", static_cast<float>(real)) : fmt::format("{}", real);
  // A double that no float holds is infinite as one.
  if (text.find("inf") != std::string::npos) return real > 0 ? "INFINITY" : "(-INFINITY)";
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (single) text += "f";
  return real < 0 ? "(" + text + ")" : text;
}

/// Integers hold what goes beyond them to their ends, as in the language; NaN is 0.
std::string to_whole(const std::string& x, DType from, DType to, Way way) {
  if (way == Way::kLanes) {
    const std::string whole = task::is_float(from) ? "TO_INTS(" + x + ")" : x;
    if (to == DType::kI8) return fmt::format("clamp({}, (INTS)(-128), (INTS)(127))", whole);
    return to == DType::kI16 ? fmt::format("clamp({}, (INTS)(-32768), (INTS)(32767))", whole) : whole;
  }
  if (!task::is_float(from) && task::size_of(from) <= task::size_of(to)) return as(value_type(to, way), x);
  const char* const name = to == DType::kI8 ? "char" : to == DType::kI16 ? "short" : to == DType::kI32 ? "int" : "long";
  return fmt::format("convert_{}_sat({})", name, x);
}

std::string cast_text(const std::string& x, DType from, DType to, Way way) {
  const std::string type = value_type(to, way);
  const bool lanes = way == Way::kLanes;
  if (to == DType::kBool) return from == DType::kBool ? x : fmt::format("({} != {})", x, as(value_type(from, way), "0"));
  if (from == DType::kBool) return fmt::format("({} ? {} : {})", x, as(type, "1"), as(type, "0"));
  if (task::is_int(to)) return to_whole(x, from, to, way);
  const std::string real = value_type(from, way) == type ? x : lanes ? "TO_FLOATS(" + x + ")" : as(type, x);
  if (to == DType::kBF16) return fmt::format("{}({})", lanes ? "ROUND_BF16" : "round_bf16", real);
  if (to == DType::kF16) return fmt::format("{}({})", lanes ? "round_f16_lanes" : "round_f16", real);
  return real;
}

/// Functions that OpenCL C has not, or has with other answers for NaN; empty: it has the operation.
std::string spelled_out(const Node& node, const std::vector<std::string>& x, DType of, Way way) {
  const bool real = task::is_float(of), boolean = of == DType::kBool;
  const std::string type = value_type(node.type.dtype, way), zero = as(value_type(of, way), "0");
  switch (node.prim) {
    case Prim::kAbs: return real ? fmt::format("fabs({})", x[0]) : fmt::format("({0} < {1} ? -{0} : {0})", x[0], zero);
    case Prim::kSign: return fmt::format("({0} > {1} ? {2} : ({0} < {1} ? {3} : {0}))", x[0], zero, as(type, "1"), as(type, "-1"));
    case Prim::kReciprocal: return fmt::format("{} / {}", as(type, "1"), x[0]);
    case Prim::kRound: return real ? fmt::format("rint({})", x[0]) : x[0];
    case Prim::kFloor: case Prim::kCeil: case Prim::kTrunc: return real ? "" : x[0];
    case Prim::kIsNan: return real ? fmt::format("({0} != {0})", x[0]) : "false";
    case Prim::kIsInf: return real ? fmt::format("(fabs({}) == {})", x[0], as(value_type(of, way), "INFINITY")) : "false";
    case Prim::kMaximum: case Prim::kMinimum:
      if (boolean) return fmt::format("({} {} {})", x[0], node.prim == Prim::kMaximum ? "|" : "&", x[1]);
      return fmt::format("{}({}, {})", node.prim == Prim::kMaximum ? "LARGER" : "SMALLER", x[0], x[1]);
    case Prim::kWhere: return fmt::format("({} ? {} : {})", x[0], x[1], x[2]);
    case Prim::kNeg: return "-" + x[0];
    case Prim::kNot: return "!" + x[0];
    case Prim::kMod:
      return real ? fmt::format("{0} - {1} * floor({0} / {1})", x[0], x[1]) : as(type, fmt::format("whole_modulo({}, {})", x[0], x[1]));
    case Prim::kFloorDiv:
      return real ? fmt::format("floor({} / {})", x[0], x[1]) : as(type, fmt::format("whole_quotient({}, {})", x[0], x[1]));
    case Prim::kDiv: return real ? "" : fmt::format("({1} == 0 ? 0 : {0} / {1})", x[0], x[1]);
    case Prim::kPow: return real ? "" : as(type, fmt::format("pow((double)({}), (double)({}))", x[0], x[1]));
    default: return {};
  }
}

}  // namespace
}  // namespace opencl

std::string opencl_constant(DType type, double real, int64_t whole, Way way) {
  const bool lanes = way == Way::kLanes;
  if (type == DType::kBool) return lanes ? fmt::format("((INTS)({}) != (INTS)(0))", real != 0 ? 1 : 0) : real != 0 ? "true" : "false";
  std::string text;
  if (task::is_float(type)) text = opencl::floating(real, fits_32(type));
  else if (whole == INT64_MIN) text = "LONG_MIN";
  else text = fmt::format("{}{}", whole, fits_32(type) ? "" : "L");
  if (lanes) return opencl::as(value_type(type, way), text);
  return text.starts_with('-') ? "(" + text + ")" : text;
}

std::string opencl_operation(const Node& node, const std::vector<std::string>& operands, const std::vector<DType>& types, Way way) {
  if (node.prim == Prim::kCast) return opencl::cast_text(operands[0], types[0], node.type.dtype, way);
  const DType of = node.prim == Prim::kWhere ? node.type.dtype : types[0];
  if (std::string text = opencl::spelled_out(node, operands, of, way); !text.empty()) return text;
  if (const char* op = operator_of(node.prim)) return fmt::format("{} {} {}", operands[0], op, operands[1]);
  const char* function = function_of(node.prim);
  HONE_CHECK(function != nullptr, std::string(task::name_of(node.prim)));
  return fmt::format("{}({})", function, fmt::join(operands, ", "));
}

}  // namespace hone::pattern
