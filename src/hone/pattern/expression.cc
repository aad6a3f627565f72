#include "hone/pattern/expression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

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

/// Where the values of a node of f32 or of whole numbers lie; NaN aside.
struct Range {
  double low = -HUGE_VAL, high = HUGE_VAL;
};

constexpr int kDeepest = 12;

/// The value of a constant, also where it is broadcast or cast.
std::optional<int64_t> whole_constant(const task::Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (node.prim == Prim::kBroadcast || node.prim == Prim::kReshape || node.prim == Prim::kCast) return whole_constant(graph, node.operands[0]);
  if (node.prim != Prim::kConstant) return std::nullopt;
  const auto* value = std::get_if<int64_t>(&node.attrs.find("value")->second);
  return value ? std::optional(*value) : std::nullopt;
}

/// Of whole numbers, which wrap around in their type.
Range whole_range(const task::Graph& graph, int id, int depth = 0) {
  const Node& node = graph.node(id);
  const double size = std::ldexp(1, 8 * static_cast<int>(task::size_of(node.type.dtype)) - 1);
  const Range any = node.type.dtype == DType::kBool ? Range{0, 1} : task::is_int(node.type.dtype) ? Range{-size, size - 1} : Range{};
  if (depth > kDeepest || !task::is_int(node.type.dtype)) return any;
  const auto of = [&](size_t k) { return whole_range(graph, node.operands[k], depth + 1); };
  const auto in_type = [&](Range r) { return r.low < any.low || r.high > any.high ? any : r; };
  switch (node.prim) {
    case Prim::kConstant:
      if (const auto value = whole_constant(graph, id)) return {static_cast<double>(*value), static_cast<double>(*value)};
      return any;
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kCast: case Prim::kSlice: case Prim::kFlip: return in_type(of(0));
    case Prim::kAdd: {
      const Range a = of(0), b = of(1);
      return in_type({a.low + b.low, a.high + b.high});
    }
    case Prim::kSub: {
      const Range a = of(0), b = of(1);
      return in_type({a.low - b.high, a.high - b.low});
    }
    case Prim::kMul: {
      const Range a = of(0), b = of(1);
      const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
      return in_type({low, high});
    }
    case Prim::kIota: {
      const task::IntExpr& extent = node.type.dims[static_cast<size_t>(node.attr<int64_t>("axis"))];
      return extent.is_constant() ? in_type({0, static_cast<double>(extent.constant() - 1)}) : any;
    }
    case Prim::kConcat: {
      Range all = of(0);
      for (size_t k = 1; k < node.operands.size(); ++k) {
        const Range more = of(k);
        all = {std::min(all.low, more.low), std::max(all.high, more.high)};
      }
      return all;
    }
    case Prim::kMod:
      if (const auto by = whole_constant(graph, node.operands[1]); by && *by > 0) return {0, static_cast<double>(*by - 1)};
      return any;
    case Prim::kFloorDiv:
      if (const auto by = whole_constant(graph, node.operands[1]); by && *by > 0) return {std::floor(of(0).low / static_cast<double>(*by)), std::floor(of(0).high / static_cast<double>(*by))};
      return any;
    default: return any;
  }
}

/// Remainders and quotients by powers of two, and numbers that a narrow type holds, without what would make them so; else nothing.
std::string simple_text(const task::Graph& graph, const Node& node, const std::vector<std::string>& operands, const std::vector<DType>& types) {
  if (node.prim == Prim::kCast && (node.type.dtype == DType::kF16 || node.type.dtype == DType::kBF16) && task::is_int(types[0])) {
    const double most = node.type.dtype == DType::kF16 ? 2048 : 256;   // what both types' digits hold exactly
    const Range range = whole_range(graph, node.operands[0]);
    return range.low >= -most && range.high <= most ? fmt::format("static_cast<float>({})", operands[0]) : "";
  }
  if ((node.prim != Prim::kMod && node.prim != Prim::kFloorDiv) || !task::is_int(node.type.dtype)) return "";
  const auto by = whole_constant(graph, node.operands[1]);
  if (!by || *by < 1 || (*by & (*by - 1)) != 0) return "";
  if (node.prim == Prim::kMod) return fmt::format("{} & {}", operands[0], *by - 1);
  return fmt::format("{} >> {}", operands[0], std::countr_zero(static_cast<uint64_t>(*by)));
}

Range range_of(const task::Graph& graph, int id, int depth = 0) {
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

/// Whether a float is only ever looked at rounded to 16 bits or fewer, and nothing cancels on the way there: then a few units of its own last place
/// are a ten-thousandth of the rounding's.
bool is_coarse(const task::Graph& graph, int id) {
  std::vector<bool> coarse(graph.nodes.size(), true);
  for (const int output : graph.outputs) coarse[static_cast<size_t>(output)] = false;
  // Users come behind what they use.
  for (size_t at = graph.nodes.size(); at-- > static_cast<size_t>(id) + 1;) {
    const Node& user = graph.nodes[at];
    const auto one_sign = [&](bool same) {
      const Range a = range_of(graph, user.operands[0]), b = range_of(graph, user.operands[1]);
      return same ? (a.low >= 0 && b.low >= 0) || (a.high <= 0 && b.high <= 0) : (a.low >= 0 && b.high <= 0) || (a.high <= 0 && b.low >= 0);
    };
    bool kept = coarse[at];
    switch (user.prim) {
      case Prim::kCast: kept = task::is_narrow(user.type.dtype) || (user.type.dtype == DType::kF32 && kept); break;
      case Prim::kAdd: kept = kept && one_sign(true); break;
      case Prim::kSub: kept = kept && one_sign(false); break;
      case Prim::kWhere: case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kNeg: case Prim::kAbs: case Prim::kMul: case Prim::kDiv:
      case Prim::kMaximum: case Prim::kMinimum: break;
      default: kept = false;
    }
    for (size_t k = 0; k < user.operands.size(); ++k)
      if (!kept || (user.prim == Prim::kWhere && k == 0)) coarse[static_cast<size_t>(user.operands[k])] = false;
  }
  return coarse[static_cast<size_t>(id)];
}

}  // namespace

std::optional<PowerOfTwo> power_of_two(const task::Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (node.prim == Prim::kBroadcast || node.prim == Prim::kReshape || node.prim == Prim::kTranspose) return power_of_two(graph, node.operands[0]);
  if (node.prim == Prim::kCast) {
    const auto power = power_of_two(graph, node.operands[0]);
    const Range range = power ? whole_range(graph, power->exponent) : Range{};
    return power && task::is_int(node.type.dtype) && range.high * power->bits < 8 * task::size_of(node.type.dtype) - 1 ? power : std::nullopt;
  }
  const auto base = node.prim == Prim::kPow && task::is_int(node.type.dtype) ? whole_constant(graph, node.operands[0]) : std::nullopt;
  if (!base || *base < 2 || (*base & (*base - 1)) != 0) return std::nullopt;
  const PowerOfTwo power{node.operands[1], std::countr_zero(static_cast<uint64_t>(*base))};
  const Range range = whole_range(graph, power.exponent);
  return range.low >= 0 && range.high * power.bits < 8 * task::size_of(node.type.dtype) - 1 ? std::optional(power) : std::nullopt;
}

std::string thread_text(const task::Graph& graph, const Node& node, const std::vector<std::string>& operands, const std::vector<DType>& types) {
  if (std::string text = simple_text(graph, node, operands, types); !text.empty()) return text;
  const bool quotient = node.prim == Prim::kDiv;
  if ((!quotient && node.prim != Prim::kExp) || value_type(node.type.dtype, Way::kThread) != "float") return operation_text(node, operands, types, Way::kThread);
  const bool coarse = node.type.dtype == DType::kF32 && is_coarse(graph, static_cast<int>(&node - graph.nodes.data()));
  if (!quotient) return coarse ? fmt::format("hone::gpu::coarse_exp({})", operands[0]) : operation_text(node, operands, types, Way::kThread);
  const Range range = range_of(graph, node.operands[1]);
  const bool moderate = (range.low >= 0x1p-60 && range.high <= 0x1p60) || (range.low >= -0x1p60 && range.high <= -0x1p-60);
  return fmt::format("hone::gpu::{}({}, {})", !moderate ? "divided" : coarse ? "coarse_ratio" : "ratio", operands[0], operands[1]);
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
  // Of 64 bits beside lanes of 32 it is compared with indices: the nearest compares alike.
  const double whole = way == Way::kVector32 ? std::clamp<double>(real, INT32_MIN, INT32_MAX) : real;
  const std::string text = task::is_float(type) ? number(real, way == Way::kVector32)
                                                : fmt::format("{}", static_cast<int64_t>(whole));
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
