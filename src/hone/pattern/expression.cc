#include "hone/pattern/expression.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/pattern/narrow.h"
#include "hone/pattern/spelling.h"
#include "hone/task/graph/prim_info.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::Node;
using task::Prim;

std::string number(double value, bool single) {
  if (std::isnan(value)) return "__builtin_nan(\"\")";
  if (std::isinf(value)) return value > 0 ? "__builtin_inf()" : "-__builtin_inf()";
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

std::string cast_text(const std::string& value, DType from, DType to, Way way) {
  const std::string type = value_type(to, way);
  if (to == DType::kBool) return from == DType::kBool ? value : fmt::format("({} != {}{{}})", value, value_type(from, way));
  if (from == DType::kBool) {
    if (way == Way::kScalar || way == Way::kThread) return fmt::format("({})({})", type, value);
    return fmt::format("hone::select({}, hone::splat<{}>(1), {}{{}})", value, type, type);
  }
  if (way == Way::kThread) {
    if (task::is_narrow(to))
      return fmt::format("hone::gpu::rounded<{}>({})", storage_type(to), task::is_float(from) ? value : fmt::format("static_cast<float>({})", value));
    const std::string converted = value_type(from, way) == type ? value : fmt::format("static_cast<{}>({})", type, value);
    return narrows(from, to) ? fmt::format("hone::gpu::wrapped<{}>({})", storage_type(to), converted) : converted;
  }
  // Rounding to a narrower floating type; computing goes on in the wider one.
  const bool in_doubles = way == Way::kVector64 || way == Way::kScalar;
  const bool fits_f32 = from == DType::kF32 || task::is_narrow(from) || task::size_of(from) < 4;
  if (task::is_narrow(to) || (to == DType::kF32 && in_doubles && !fits_f32)) {
    const std::string source = task::is_float(from) ? value : fmt::format("hone::convert<{}>({})", type, value);
    return from == to ? source : fmt::format("hone::rounded<{}>({})", storage_type(to), source);
  }
  const std::string converted = value_type(from, way) == type ? value : fmt::format("hone::convert<{}>({})", type, value);
  return narrows(from, to) ? fmt::format("hone::wrapped<{}>({})", storage_type(to), converted) : converted;
}

/// Integers wrap in their own type, which may be narrower than the one they are computed in.
std::string whole_text(Prim op, DType type, const std::vector<std::string>& x, const char* room) {
  const std::string own = storage_type(type);
  if (const char* const name = spelling_of(op).whole_cpp) return fmt::format("{}{}<{}>({}, {})", room, name, own, x[0], x[1]);
  if (op == Prim::kNeg) return fmt::format("{}whole_sub<{}>({} * 0, {})", room, own, x[0], x[0]);
  if (op == Prim::kAbs) return fmt::format("{0}wrapped<{1}>({0}abs({2}))", room, own, x[0]);
  return task::info_of(op).is(task::PrimInfo::kToWhole) ? x[0] : std::string();
}

/// Where the values of a node of f32 lie; NaN aside.
struct Range {
  double low = -HUGE_VAL, high = HUGE_VAL;
};

Range range_of(const task::Graph& graph, int id, int depth = 0) {
  constexpr int kDeepest = 12;
  const Node& node = graph.node(id);
  if (depth > kDeepest || node.type.dtype == DType::kBool) return {};
  const auto of = [&](size_t k) { return range_of(graph, node.operands[k], depth + 1); };
  switch (node.prim) {
    case Prim::kConstant: {
      const task::Attr& value = node.attrs.find("value")->second;
      if (std::holds_alternative<double>(value)) return {std::get<double>(value), std::get<double>(value)};
      return {};
    }
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kCast: return of(0);
    case Prim::kAbs: {
      const Range a = of(0);
      return {a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(std::abs(a.low), std::abs(a.high))};
    }
    case Prim::kNeg: {
      const Range a = of(0);
      return {-a.high, -a.low};
    }
    case Prim::kExp: {
      const Range a = of(0);
      return {std::exp(a.low), std::exp(a.high)};
    }
    case Prim::kSqrt: {
      const Range a = of(0);
      return {std::sqrt(std::max(0.0, a.low)), std::sqrt(std::max(0.0, a.high))};
    }
    case Prim::kAdd: {
      const Range a = of(0), b = of(1);
      return {a.low + b.low, a.high + b.high};
    }
    case Prim::kMaximum: {
      const Range a = of(0), b = of(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Prim::kMinimum: {
      const Range a = of(0), b = of(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case Prim::kMul: {
      // A square, and a positive factor: whatever else may be of either sign.
      const Range a = of(0), b = of(1);
      if (node.operands[0] == node.operands[1]) return {0, HUGE_VAL};
      if (a.low < 0 || b.low < 0) return {};
      return {a.low > 0 && b.low > 0 ? a.low * b.low : 0, a.high == 0 || b.high == 0 ? 0 : a.high * b.high};
    }
    default: return task::info_of(node.prim).is(task::PrimInfo::kWithinOne) ? Range{-1, 1} : Range{};
  }
}

}  // namespace

std::string thread_text(const task::Graph& graph, const Node& node, const std::vector<std::string>& operands, const std::vector<DType>& types) {
  if (node.prim != Prim::kDiv || value_type(node.type.dtype, Way::kThread) != "float") return operation_text(node, operands, types, Way::kThread);
  const Range range = range_of(graph, node.operands[1]);
  const bool moderate = (range.low >= 0x1p-60 && range.high <= 0x1p60) || (range.low >= -0x1p60 && range.high <= -0x1p-60);
  return fmt::format("hone::gpu::{}({}, {})", moderate ? "ratio" : "divided", operands[0], operands[1]);
}

bool fits_32(DType dtype) { return dtype != DType::kF64 && dtype != DType::kI64; }

std::string value_type(DType dtype, Way way) {
  if (way == Way::kScalar) return dtype == DType::kBool ? "bool" : task::is_float(dtype) ? "double" : "int64_t";
  if (way == Way::kThread) {
    if (dtype == DType::kBool) return "bool";
    if (task::is_float(dtype)) return fits_32(dtype) ? "float" : "double";
    return fits_32(dtype) ? "int32_t" : "int64_t";
  }
  const bool narrow = way == Way::kVector32;
  if (task::is_float(dtype)) return narrow ? "f32v" : "f64v";
  return narrow ? "i32v" : "i64v";
}

std::string storage_type(DType dtype) { return std::string(task::cpp_name_of(dtype)); }

std::string constant_text(const Node& node, Way way) {
  const task::Attr& value = node.attrs.find("value")->second;
  const double real = std::holds_alternative<double>(value)  ? std::get<double>(value)
                      : std::holds_alternative<int64_t>(value) ? static_cast<double>(std::get<int64_t>(value))
                                                               : std::get<bool>(value);
  const DType type = node.type.dtype;
  const std::string name = value_type(type, way);
  if (type == DType::kBool) {
    if (way == Way::kScalar || way == Way::kThread) return real != 0 ? "true" : "false";
    return fmt::format("hone::splat<{}>({})", name, real != 0 ? -1 : 0);
  }
  if (way == Way::kThread)
    return !task::is_float(type)  ? fmt::format("{}{{{}}}", name, static_cast<int64_t>(real))
           : std::isfinite(real) ? number(real, fits_32(type))
                                 : fmt::format("static_cast<{}>({})", name, number(real, fits_32(type)));
  const std::string text = task::is_float(type) ? number(real, way == Way::kVector32)
                                                : fmt::format("{}", static_cast<int64_t>(real));
  return way == Way::kScalar ? (task::is_float(type) ? text : fmt::format("INT64_C({})", text))
                             : fmt::format("hone::splat<{}>({})", name, text);
}

std::string operation_text(const Node& node, const std::vector<std::string>& operands,
                           const std::vector<DType>& types, Way way) {
  const char* const room = way == Way::kThread ? "hone::gpu::" : "hone::";
  if (task::is_int(node.type.dtype))
    if (std::string text = whole_text(node.prim, node.type.dtype, operands, room); !text.empty()) return text;
  switch (node.prim) {
    case Prim::kCast: return cast_text(operands[0], types[0], node.type.dtype, way);
    case Prim::kSub:
      if (task::is_float(node.type.dtype)) return fmt::format("{}difference({}, {})", room, operands[0], operands[1]);
      break;
    case Prim::kNeg: return "-" + operands[0];
    case Prim::kNot: return (way == Way::kScalar || way == Way::kThread ? "!" : "~") + operands[0];
    case Prim::kMod: return fmt::format("{}modulo({}, {})", room, operands[0], operands[1]);
    case Prim::kFloorDiv: return fmt::format("{}floor_quotient({}, {})", room, operands[0], operands[1]);
    default: break;
  }
  const Spelling& spelling = spelling_of(node.prim);
  if (spelling.sign) return fmt::format("{} {} {}", operands[0], spelling.sign, operands[1]);
  HONE_CHECK(spelling.cpp != nullptr, std::string(task::name_of(node.prim)));
  return fmt::format("{}{}({})", room, spelling.cpp, fmt::join(operands, ", "));
}

}  // namespace hone::pattern
