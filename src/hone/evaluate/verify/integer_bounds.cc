#include "hone/evaluate/verify/integer_bounds.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/integer_range.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Prim;

/// Integers of so many bits besides their sign are drawn whatever is computed of them: an i8 holds no more.
constexpr int kLeastBits = 7, kMostBits = 52;

/// Floats of this type are exact integers up to here.
double exact_in(DType type) { return 1 / task::unit_roundoff(type); }

/// Bounds of magnitudes, node by node, when integer inputs have `bits` bits.
class Magnitudes {
 public:
  Magnitudes(const task::Task& task, const task::ConcreteGraph& graph, int bits) : graph_(graph) {
    const double asked = std::ldexp(1.0, bits);
    for (size_t id = 0; id < graph.graph.nodes.size(); ++id) most_.push_back(bound(task, static_cast<int>(id), asked));
  }

  bool overflows = false;  ///< some result may lie outside its type, which then wraps it
  bool inexact = false;    ///< the oracle would round on the way
  bool into_floats = false;  ///< integers become floats that do not hold them all

 private:
  [[nodiscard]] double of(const task::Node& node, size_t k) const { return most_[static_cast<size_t>(node.operands[k])]; }
  [[nodiscard]] double elements(int id) const { return static_cast<double>(task::element_count(graph_.shapes[static_cast<size_t>(id)])); }

  double input(const task::Task& task, int id, double asked) const {
    const auto& ids = graph_.graph.inputs;
    const task::InputSpec& spec = task.inputs[static_cast<size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())];
    if (spec.type.dtype == DType::kBool || spec.domain == task::Domain::kSign) return 1;
    if (spec.domain == task::Domain::kIndex) return static_cast<double>(spec.index_bound.eval(graph_.bindings).value_or(1));
    return std::min(asked, most_of(spec.type.dtype));
  }

  /// Terms added up for each element of a contraction, a convolution or a window: at most as many as an operand has.
  [[nodiscard]] double terms(int id) const {
    const task::Node& node = graph_.graph.node(id);
    double most = 1;
    for (const int operand : node.operands) most = std::max(most, elements(operand));
    if (node.prim == Prim::kDot) return std::sqrt(elements(node.operands[0]) * elements(node.operands[1]) / elements(id));
    return node.prim == Prim::kSum || node.prim == Prim::kProd ? most / elements(id) : most;
  }

  /// What an integer operation gives before it wraps.
  [[nodiscard]] double raw(const task::Task& task, int id, double asked) const {
    const task::Node& node = graph_.graph.node(id);
    switch (node.prim) {
      case Prim::kInput: return input(task, id, asked);
      case Prim::kConstant: return std::abs(number_attr(node, "value"));
      case Prim::kSymbol: return static_cast<double>(node.attr<task::IntExpr>("value").eval(graph_.bindings).value_or(0));
      case Prim::kIota: return elements(id);
      case Prim::kAdd: case Prim::kSub: return of(node, 0) + of(node, 1);
      case Prim::kMul: return of(node, 0) * of(node, 1);
      case Prim::kMod: return of(node, 1);
      case Prim::kSum: case Prim::kCumSum: case Prim::kPoolSum: return of(node, 0) * terms(id);
      case Prim::kScatterAdd: return of(node, 0) + of(node, 2) * elements(node.operands[2]);
      case Prim::kScatterMax: case Prim::kScatterMin: return std::max(of(node, 0), of(node, 2));
      case Prim::kProd: case Prim::kCumProd: return std::pow(of(node, 0), terms(id));
      case Prim::kPow: return std::pow(std::max(of(node, 0), 1.0), of(node, 1));
      case Prim::kBitAnd: case Prim::kBitOr: case Prim::kBitXor: return std::min(all_bits(std::max(of(node, 0), of(node, 1))), most_of(node.type.dtype));
      case Prim::kDot: case Prim::kConv: case Prim::kConvTranspose: return of(node, 0) * of(node, 1) * terms(id);
      case Prim::kSign: return 1;
      case Prim::kArgMax: case Prim::kArgMin: case Prim::kArgSort: return elements(node.operands[0]);
      case Prim::kGather: case Prim::kTakeAlongAxis: return of(node, 0);
      case Prim::kWhere: return std::max(of(node, 1), of(node, 2));
      case Prim::kPad: return std::max(of(node, 0), std::abs(number_attr(node, "value")));
      case Prim::kCast: return task::is_float(graph_.graph.node(node.operands[0]).type.dtype) ? most_of(node.type.dtype) : of(node, 0);
      default: {  // copies, picks and extremes
        double most = 0;
        for (size_t k = 0; k < node.operands.size(); ++k) most = std::max(most, of(node, k));
        return most;
      }
    }
  }

  double bound(const task::Task& task, int id, double asked) {
    const task::Node& node = graph_.graph.node(id);
    const DType type = node.type.dtype;
    if (task::is_float(type)) {
      if (node.prim == Prim::kCast && task::is_int(graph_.graph.node(node.operands[0]).type.dtype))
        into_floats |= of(node, 0) > exact_in(type);
      return HUGE_VAL;
    }
    if (!task::is_int(type)) return 1;
    const double value = raw(task, id, asked);
    if (node.prim == Prim::kInput || node.prim == Prim::kConstant) return value;
    // The least number of a type has no counterpart: negated, it overflows.
    const bool turns = node.prim == Prim::kNeg || node.prim == Prim::kAbs;
    overflows |= value > most_of(type) - 1 && (turns || value > most_of(type) || is_arithmetic(node.prim));
    const bool product = node.prim == Prim::kMul && type != DType::kI64;  // the oracle's are exact in 64 bits
    inexact |= !product && value >= kExactWhole;
    return std::min(value, most_of(type));
  }

  static bool is_arithmetic(Prim op) {
    switch (op) {
      case Prim::kAdd: case Prim::kSub: case Prim::kMul: case Prim::kFloorDiv: case Prim::kPow: case Prim::kSum: case Prim::kProd:
      case Prim::kCumSum: case Prim::kCumProd: case Prim::kDot: case Prim::kConv: case Prim::kConvTranspose: case Prim::kPoolSum: case Prim::kScatterAdd: return true;
      default: return false;
    }
  }

  const task::ConcreteGraph& graph_;
  std::vector<double> most_;
};

/// The quotient of the least number and -1 is undefined, and processors stop there: whether some divisor may be -1. One that the task spells
/// out mostly is not, and no extent is.
bool may_divide_by_minus_one(const task::ConcreteGraph& graph) {
  return std::ranges::any_of(graph.graph.nodes, [&](const task::Node& node) {
    if ((node.prim != Prim::kFloorDiv && node.prim != Prim::kMod) || !task::is_int(node.type.dtype)) return false;
    const task::Node& by = laid_out_from(graph.graph, node.operands[1]);
    if (by.prim == Prim::kConstant) return number_attr(by, "value") == -1 || number_attr(by, "value") == 0;
    return by.prim != Prim::kSymbol;
  });
}

/// Inputs by which integers are divided as they are, moved or negated: nobody says what a quotient by zero is, and processors stop there.
std::set<int> divisors(const task::Graph& graph) {
  std::set<int> found;
  std::vector<int> open;
  for (const task::Node& node : graph.nodes)
    if ((node.prim == Prim::kFloorDiv || node.prim == Prim::kMod) && task::is_int(node.type.dtype)) open.push_back(node.operands[1]);
  while (!open.empty()) {
    const int id = open.back();
    open.pop_back();
    const task::Node& node = graph.node(id);
    const bool moves = node.prim == Prim::kNeg || node.prim == Prim::kAbs || node.prim == Prim::kCast || node.prim == Prim::kBroadcast ||
                       node.prim == Prim::kReshape || node.prim == Prim::kTranspose || node.prim == Prim::kSlice;
    if (node.prim == Prim::kInput) found.insert(id);
    else if (moves && task::is_int(node.type.dtype)) open.push_back(node.operands[0]);
  }
  return found;
}

/// The most bits with which `allows` holds.
template <class Allows>
int most_bits(const task::Task& task, const task::ConcreteGraph& graph, Allows allows) {
  for (int bits = kMostBits; bits > kLeastBits; --bits)
    if (allows(Magnitudes(task, graph, bits))) return bits;
  return kLeastBits;
}

bool has_plain_integers(const task::Task& task) {
  return std::any_of(task.inputs.begin(), task.inputs.end(), [](const task::InputSpec& spec) {
    return task::is_int(spec.type.dtype) && spec.domain != task::Domain::kIndex && spec.domain != task::Domain::kSign;
  });
}

/// What an element comes to hangs on single numbers, not on sums of them, and no operation on the way reduces its operand by a
/// multiple of something first, which takes as many digits as the operand has.
bool takes_any_size(const task::Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const task::Node& node) {
    switch (node.prim) {
      case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kIota: case Prim::kPad: return true;
      default: return !task::info_of(node.prim).is(task::PrimInfo::kPeriodic) && (task::is_elementwise(node.prim) || keeps_exact(node.prim));
    }
  });
}

/// No number of f16 is computed from others: each is given, moved, or what a number of another type is rounded to.
bool widens_f16(const task::Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const task::Node& node) { return node.type.dtype != task::DType::kF16 || node.prim == Prim::kInput || keeps_exact(node.prim) || node.prim == Prim::kCast; });
}

}  // namespace

bool stays_exact(const task::Task& task, const task::ConcreteGraph& graph, int bits) {
  const Magnitudes magnitudes(task, graph, bits);
  return !magnitudes.inexact && !magnitudes.into_floats;
}

std::vector<DrawBounds> draw_bounds(const task::Task& task, const task::ConcreteGraph& graph) {
  DrawBounds all;
  if (has_plain_integers(task)) {
    all.plain_bits = most_bits(task, graph, [](const Magnitudes& m) { return !m.overflows && !m.inexact && !m.into_floats; });
    all.wrapping_bits = most_bits(task, graph, [](const Magnitudes& m) { return !m.inexact && !m.into_floats; });
    all.symmetric = may_divide_by_minus_one(graph);
  }
  all.any_size = takes_any_size(graph.graph);
  all.widened = widens_f16(graph.graph);
  std::vector<DrawBounds> bounds;
  const std::set<int> divide = divisors(graph.graph);
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    const task::InputSpec& spec = task.inputs[i];
    bounds.push_back(all);
    bounds.back().nonzero = divide.contains(graph.graph.inputs[i]) && task::is_int(spec.type.dtype);
    if (spec.domain == task::Domain::kIndex) bounds.back().index = spec.index_bound.eval(graph.bindings).value_or(1);
  }
  return bounds;
}

}  // namespace hone::evaluate
