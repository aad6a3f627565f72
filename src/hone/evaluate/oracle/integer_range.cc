#include "hone/evaluate/oracle/integer_range.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "hone/evaluate/oracle/attributes.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Node;
using task::Prim;

/// Its results may lie outside the range of its operands' type.
bool may_leave(Prim op) {
  switch (op) {
    case Prim::kAdd: case Prim::kSub: case Prim::kMul: case Prim::kFloorDiv: case Prim::kPow:
    case Prim::kNeg: case Prim::kAbs: case Prim::kSum: case Prim::kProd: case Prim::kCumSum:
    case Prim::kCumProd: case Prim::kDot: case Prim::kConv: case Prim::kConvTranspose: case Prim::kScatterAdd:
      return true;
    default: return false;
  }
}

bool adds_products(Prim op) { return op == Prim::kDot || op == Prim::kConv || op == Prim::kConvTranspose; }

double power_of(double base, double exponent) {
  if (!std::isfinite(base) || !std::isfinite(exponent) || exponent >= 0) return std::pow(base, exponent);  // not finite: nobody's to say
  return std::abs(base) == 1 ? (std::fmod(exponent, 2) != 0 ? base : 1) : 0;
}

bool combines_bits(Prim op) { return op == Prim::kBitAnd || op == Prim::kBitOr || op == Prim::kBitXor; }

bool in_64(double value) { return value >= -0x1p63 && value < 0x1p63; }

/// The operation modulo 2^64 on whole numbers that 64 bits hold; nothing for others, and for operations that do not leave the doubles.
std::optional<uint64_t> in_64_bits(Prim op, double x, double y) {
  if (!in_64(x) || !in_64(y)) return std::nullopt;
  const auto a = static_cast<int64_t>(x), b = static_cast<int64_t>(y);
  const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
  const auto over = [&] { return a % b != 0 && (a % b < 0) != (b < 0); };  // the division rounded up
  switch (op) {
    case Prim::kAdd: return u + v;
    case Prim::kSub: return u - v;
    case Prim::kMul: return u * v;
    case Prim::kBitAnd: return u & v;
    case Prim::kBitOr: return u | v;
    case Prim::kBitXor: return u ^ v;
    case Prim::kFloorDiv: return b == 0 ? 0 : b == -1 ? 0 - u : static_cast<uint64_t>(a / b - (over() ? 1 : 0));
    case Prim::kMod: return b == 0 || b == -1 ? 0 : static_cast<uint64_t>(a % b + (over() ? b : 0));
    case Prim::kPow: {
      if (b < 0) return std::nullopt;
      uint64_t result = 1, square = u;
      for (int64_t left = b; left > 0; left /= 2) {
        if (left % 2 != 0) result *= square;
        square *= square;
      }
      return result;
    }
    default: return std::nullopt;
  }
}

bool stands_for(double value, uint64_t bits) { return in_64(value) && static_cast<int64_t>(value) == static_cast<int64_t>(bits); }

/// Sums of these operands may pass 2^53 on the way to a result below it.
bool sums_too_much(const Step& step) {
  double largest = 1, terms = 1;
  switch (step.node().prim) {
    case Prim::kSum: case Prim::kCumSum: case Prim::kDot: case Prim::kConv: case Prim::kConvTranspose: break;
    default: return false;
  }
  for (const Tensor& operand : step.operands) {
    const Tensor dense = densify(operand, step.pool);
    const double* const end = dense.value + operand.box.count();
    const double* const found = std::max_element(dense.value, end, [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (found != end) largest *= std::abs(*found);
    terms = std::max(terms, static_cast<double>(operand.box.count()));
  }
  return largest * terms > kExactWhole;
}

}  // namespace

double wrapped(DType type, double value) {
  if (!task::is_int(type) || type == DType::kI64 || !std::isfinite(value)) return value;
  const double half = std::ldexp(1.0, 8 * task::size_of(type) - 1);
  if (value >= -half && value < half) return value;
  return value - std::floor((value + half) / (2 * half)) * 2 * half;
}

double all_bits(double most) { return std::isfinite(most) ? std::exp2(std::ceil(std::log2(most + 1))) : most; }

double most_of(DType type) { return std::ldexp(1.0, 8 * static_cast<int>(task::size_of(type)) - 1); }

double wrapped(DType type, uint64_t bits) {
  switch (type) {
    case DType::kI8: return static_cast<int8_t>(bits);
    case DType::kI16: return static_cast<int16_t>(bits);
    case DType::kI32: return static_cast<int32_t>(bits);
    default: return static_cast<double>(static_cast<int64_t>(bits));
  }
}

WholeFacts whole_facts(const task::ConcreteGraph& graph, int id, std::span<const NodeFacts> before) {
  const Node& node = graph.graph.node(id);
  const DType type = node.type.dtype;
  if (task::is_float(type)) return {};
  if (type == DType::kBool) return {1, false};
  const double most = type == DType::kI64 ? HUGE_VAL : most_of(type);
  double size = most;  // before it is wrapped
  const auto of = [&](size_t k) {
    const bool is_real = task::is_float(graph.graph.node(node.operands[k]).type.dtype);
    return is_real ? HUGE_VAL : before[static_cast<size_t>(node.operands[k])].largest;
  };
  const auto elements = [&](int node_id) {
    return graph.shapes.empty() ? HUGE_VAL : static_cast<double>(task::element_count(graph.shapes[static_cast<size_t>(node_id)]));
  };
  double operands = 0;
  for (size_t k = 0; k < node.operands.size(); ++k) operands = std::max(operands, of(k));
  switch (node.prim) {
    case Prim::kInput: case Prim::kProd: case Prim::kCumProd: break;
    case Prim::kConstant: size = std::abs(number_attr(node, "value")); break;
    case Prim::kSymbol: {
      if (graph.shapes.empty()) break;
      if (const auto value = node.attr<task::IntExpr>("value").eval(graph.bindings)) size = std::abs(static_cast<double>(*value));
      break;
    }
    case Prim::kIota: case Prim::kArgMax: case Prim::kArgMin: case Prim::kArgSort:
      size = elements(node.operands.empty() ? id : node.operands[0]);
      break;
    case Prim::kAdd: case Prim::kSub: size = of(0) + of(1); break;
    case Prim::kMul: size = of(0) * of(1); break;
    case Prim::kMod: size = of(1); break;
    case Prim::kPow: size = std::isfinite(of(0)) && std::isfinite(of(1)) ? std::pow(std::max(of(0), 1.0), of(1)) : most; break;
    case Prim::kBitAnd: case Prim::kBitOr: case Prim::kBitXor: size = all_bits(operands); break;
    case Prim::kFloorDiv: size = of(0); break;
    case Prim::kDot: case Prim::kConv: case Prim::kConvTranspose: size = of(0) * of(1) * std::min(elements(node.operands[0]), elements(node.operands[1])); break;
    case Prim::kSum: case Prim::kCumSum: case Prim::kPoolSum: size = operands * elements(node.operands[0]); break;
    case Prim::kScatterAdd: size = of(0) + of(2) * elements(node.operands[2]); break;
    case Prim::kScatterMax: case Prim::kScatterMin: size = std::max(of(0), of(2)); break;
    case Prim::kPad: size = std::max(operands, std::abs(number_attr(node, "value"))); break;
    case Prim::kGather: case Prim::kTakeAlongAxis: size = of(0); break;
    case Prim::kSign: size = 1; break;
    case Prim::kWhere: size = std::max(of(1), of(2)); break;
    default: size = operands;  // copies, picks, and casts
  }
  const bool from_real = node.prim == Prim::kCast && task::is_float(graph.graph.node(node.operands[0]).type.dtype);
  const bool leaves = (may_leave(node.prim) || combines_bits(node.prim)) && !(size <= kExactWhole) && (type == DType::kI64 || adds_products(node.prim));
  return {size <= most ? size : most, from_real || leaves};
}

bool holds_whole(DType type, double value) {
  return value > -most_of(type) - (type == DType::kI64 ? 0 : 1) && value < most_of(type);
}

bool whole_binary(DType type, Prim op, int64_t n, const double* a, const double* b, double* y) {
  if (!task::is_int(type)) return false;
  switch (op) {
    case Prim::kPow:
      for (int64_t i = 0; i < n; ++i) y[i] = power_of(a[i], b[i]);
      return true;
    case Prim::kMod: case Prim::kFloorDiv:
      for (int64_t i = 0; i < n; ++i) {
        const double quotient = b[i] == 0 ? 0 : std::floor(a[i] / b[i]), rest = b[i] == 0 ? 0 : std::fma(-quotient, b[i], a[i]);
        const bool over = rest != 0 && (rest < 0) != (b[i] < 0);  // the division rounded up
        if (op == Prim::kFloorDiv) y[i] = over ? quotient - 1 : quotient;
        else y[i] = over ? rest + b[i] : rest;
      }
      return true;
    default: return false;
  }
}

void settle_wide(DType type, Prim op, int64_t n, const double* x, const double* y, double* result, double* scale) {
  if (op == Prim::kMaximum || op == Prim::kMinimum) return;  // one of two that are there
  for (int64_t i = 0; i < n; ++i) {
    if (std::max({std::abs(result[i]), std::abs(x[i]), std::abs(y[i])}) < kExactWhole) continue;  // doubles were exact
    const auto bits = in_64_bits(op, x[i], y[i]);
    if (bits) result[i] = wrapped(type, *bits);
    if (scale && type == DType::kI64 && !(bits && stands_for(result[i], *bits))) scale[i] = HUGE_VAL;
  }
}

Tensor in_range(const Step& step, const Tensor& result) {
  const DType type = step.node().type.dtype;
  if (!task::is_int(type) || !may_leave(step.node().prim)) return result;
  const Tensor dense = densify(result, step.pool);
  const int64_t count = result.box.count();
  const bool all_open = step.scaled() && sums_too_much(step);
  const bool is_settled = step.node().operands.size() == 2 && task::is_elementwise(step.node().prim);  // by settle_wide
  const auto is_held = [&](double v) { return is_settled || std::abs(v) <= kExactWhole; };
  const auto fits = [&](double v) { return is_held(v) && wrapped(type, v) == v; };
  if (!all_open && std::all_of(dense.value, dense.value + count, fits)) return result;
  Fresh out = make_dense(result.box, result.scale != nullptr, step.pool);
  std::transform(dense.value, dense.value + count, out.value, [&](double v) { return wrapped(type, v); });
  for (int64_t i = 0; out.scale && i < count; ++i)
    out.scale[i] = all_open || !is_held(dense.value[i]) ? HUGE_VAL : dense.scale[i];
  return out.tensor;
}

}  // namespace hone::evaluate
