#include "hone/pattern/triton_text.h"

#include <cmath>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/functions_file.h"
#include "hone/pattern/narrow.h"
#include "hone/task/graph/fold.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::Prim;

/// The function that computes it of floats; null where Triton has an operator, or none.
const char* lanes_function(Prim op) {
  switch (op) {
    case Prim::kAbs: return "tl.abs";
    case Prim::kSign: return "sign";
    case Prim::kExp: return "libdevice.exp";
    case Prim::kExp2: return "libdevice.exp2";
    case Prim::kExpm1: return "libdevice.expm1";
    case Prim::kLog: return "libdevice.log";
    case Prim::kLog2: return "libdevice.log2";
    case Prim::kLog1p: return "libdevice.log1p";
    case Prim::kSqrt: return "root";
    case Prim::kRsqrt: return "inverse_root";
    case Prim::kReciprocal: return "reciprocal";
    case Prim::kSin: return "libdevice.sin";
    case Prim::kCos: return "libdevice.cos";
    case Prim::kTan: return "libdevice.tan";
    case Prim::kAsin: return "libdevice.asin";
    case Prim::kAcos: return "libdevice.acos";
    case Prim::kAtan: return "libdevice.atan";
    case Prim::kSinh: return "libdevice.sinh";
    case Prim::kCosh: return "libdevice.cosh";
    case Prim::kTanh: return "libdevice.tanh";
    case Prim::kErf: return "libdevice.erf";
    case Prim::kFloor: return "tl.floor";
    case Prim::kCeil: return "tl.ceil";
    case Prim::kRound: return "libdevice.rint";
    case Prim::kTrunc: return "libdevice.trunc";
    case Prim::kPow: return "libdevice.pow";
    case Prim::kAtan2: return "libdevice.atan2";
    case Prim::kMaximum: return "greater";
    case Prim::kMinimum: return "less";
    case Prim::kWhere: return "tl.where";
    case Prim::kDiv: return "divide";
    case Prim::kSub: return "difference";
    case Prim::kMod: return "modulo";
    case Prim::kFloorDiv: return "floor_quotient";
    default: return nullptr;
  }
}

const char* lanes_whole_function(Prim op) {
  switch (op) {
    case Prim::kMod: return "whole_modulo";
    case Prim::kFloorDiv: return "whole_quotient";
    case Prim::kPow: return "whole_power";
    case Prim::kMaximum: return "tl.maximum";
    case Prim::kMinimum: return "tl.minimum";
    case Prim::kAbs: return "tl.abs";
    case Prim::kSign: return "sign";
    case Prim::kWhere: return "tl.where";
    default: return nullptr;
  }
}

}  // namespace

std::string lanes_storage(DType dtype) {
  switch (dtype) {
    case DType::kF64: return "tl.float64";
    case DType::kF32: return "tl.float32";
    case DType::kBF16: return "tl.bfloat16";
    case DType::kF16: return "tl.float16";
    case DType::kF8E4M3: return "tl.float8e4nv";
    case DType::kF8E5M2: return "tl.float8e5";
    case DType::kI64: return "tl.int64";
    case DType::kI32: return "tl.int32";
    case DType::kI16: return "tl.int16";
    case DType::kI8: return "tl.int8";
    case DType::kBool: return "tl.int1";
  }
  return {};
}

std::string lanes_type(DType dtype) {
  return lanes_storage(task::is_narrow(dtype) ? DType::kF32 : dtype);
}

std::string lanes_constant(const task::Attr& value, DType dtype) {
  const double real = task::constant_value(value);
  const std::string type = lanes_type(dtype);
  if (dtype == DType::kBool) return fmt::format("(tl.full((1,), {}, tl.int32) != 0)", real != 0 ? 1 : 0);
  std::string text;
  if (!task::is_float(dtype)) {
    const auto* const whole = std::get_if<int64_t>(&value);
    text = fmt::format("{}", whole ? *whole : static_cast<int64_t>(real));
  } else if (std::isnan(real)) {
    text = "float(\"nan\")";
  } else if (std::isinf(real)) {
    text = real < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  } else {
    text = fits_32(dtype) ? fmt::format("{}", static_cast<double>(static_cast<float>(real))) : fmt::format("{}", real);
    if (fits_32(dtype) && std::isinf(static_cast<float>(real))) text = real < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  }
  return fmt::format("tl.full((1,), {}, {})", text, type);
}

std::string lanes_cast(const std::string& x, DType from, DType to, bool rounds) {
  if (from == to && !(rounds && lanes_storage(to) != lanes_type(to))) return x;
  if (to == DType::kBool) return fmt::format("({} != 0)", x);
  if (task::is_float(to)) {
    if (rounds && lanes_storage(to) != lanes_type(to)) return fmt::format("{}.to({}).to(tl.float32)", x, lanes_storage(to));
    return lanes_type(from) == lanes_type(to) ? x : fmt::format("{}.to({})", x, lanes_type(to));
  }
  if (task::is_float(from)) {
    const int bits = 8 * task::size_of(to);
    const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
    return fmt::format("whole({}, {}, {}).to({})", x, -high - 1, high, lanes_type(to));
  }
  return fmt::format("{}.to({})", x, lanes_type(to));
}

std::string lanes_loaded(const std::string& x, DType kept, DType computed) {
  return lanes_storage(kept) == lanes_type(computed) ? x : fmt::format("{}.to({})", x, lanes_type(computed));
}

std::string lanes_operation(const task::Node& node, const std::vector<std::string>& x, const std::vector<DType>& types) {
  const DType type = types.empty() ? node.type.dtype : types.back();
  switch (node.prim) {
    case Prim::kCast: return lanes_cast(x[0], types[0], node.type.dtype, true);
    case Prim::kNeg: return "-" + x[0];
    case Prim::kNot: return fmt::format("~{}", x[0]);
    case Prim::kIsNan: return fmt::format("{0} != {0}", x[0]);
    case Prim::kIsInf: return task::is_float(type) ? fmt::format("tl.abs({}) == float(\"inf\")", x[0]) : fmt::format("{0} != {0}", x[0]);
    default: break;
  }
  if (type == DType::kBool) {
    if (node.prim == Prim::kMaximum) return fmt::format("{} | {}", x[0], x[1]);
    if (node.prim == Prim::kMinimum) return fmt::format("{} & {}", x[0], x[1]);
    // Of one bit a comparison's sign is not that of the numbers 0 and 1.
    if (node.prim >= Prim::kEq && node.prim <= Prim::kGe) return fmt::format("{}.to(tl.int32) {} {}.to(tl.int32)", x[0], operator_of(node.prim), x[1]);
  }
  if (task::is_int(type) && (node.prim == Prim::kFloor || node.prim == Prim::kCeil || node.prim == Prim::kRound || node.prim == Prim::kTrunc)) return x[0];
  const char* const function = task::is_float(type) || type == DType::kBool ? lanes_function(node.prim) : lanes_whole_function(node.prim);
  if (function) return fmt::format("{}({})", function, fmt::join(x, ", "));
  const char* const op = operator_of(node.prim);
  HONE_CHECK(op != nullptr, std::string(task::name_of(node.prim)));
  return fmt::format("{} {} {}", x[0], op, x[1]);
}

std::string lanes_functions(const std::string& text) { return functions_of_file("patterns/triton/functions.py", text); }

}  // namespace hone::pattern
