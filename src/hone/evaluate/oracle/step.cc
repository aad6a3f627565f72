#include "hone/evaluate/oracle/step.h"

#include <algorithm>
#include <cmath>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/certainty.h"
#include "hone/evaluate/oracle/integer_range.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Node;
using task::Prim;

bool representable(const Node& node, std::string_view key) {
  const double value = number_attr(node, key);
  return std::isnan(value) || round_to(node.type.dtype, value) == value;
}

/// Units that a rounding to the track's own type costs; 0 on tracks that have none.
double track_unit(task::Track track) {
  switch (track) {
    case task::Track::kTf32:
    case task::Track::kF16: return 0x1p-11 / kUnit;
    case task::Track::kBf16: return 0x1p-8 / kUnit;
    case task::Track::kStrict:
    case task::Track::kAsPytorch: break;
  }
  return 0;
}

bool is_narrower(DType type) { return task::is_float(type) && type != DType::kF64; }

/// x * 2^k for k from `least` on. From 0 on it rounds nothing that it does not make infinite; below, nothing that it does not
/// take under the type's smallest normal number.
bool scales_by_power(const Node& node, const task::Graph& graph, int least) {
  return node.prim == Prim::kMul && std::ranges::any_of(node.operands, [&](int k) {
    const Node& factor = laid_out_from(graph, k);
    int exponent = 0;
    return factor.prim == Prim::kConstant && std::abs(std::frexp(number_attr(factor, "value"), &exponent)) == 0.5 && exponent > least;
  });
}

bool is_exact(const Node& node, const task::Graph& graph, const std::vector<NodeFacts>& facts, bool inputs_are) {
  switch (node.prim) {
    case Prim::kInput: return inputs_are || !is_narrower(node.type.dtype);
    case Prim::kSymbol: case Prim::kIota: return true;
    case Prim::kConstant: return representable(node, "value");
    case Prim::kPad:
      if (!representable(node, "value")) return false;
      break;
    default:
      if (!keeps_exact(node.prim) && task::is_float(node.type.dtype) && !scales_by_power(node, graph, 0)) return false;
  }
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](int k) { return facts[static_cast<size_t>(k)].exact; });
}

/// Every program has whole numbers there: integers and truth values, what was rounded to them, and what is made of such without a fraction.
/// Rounding to a type leaves whole numbers whole.
bool is_whole(const Node& node, const std::vector<NodeFacts>& facts) {
  if (!task::is_float(node.type.dtype)) return true;
  switch (node.prim) {
    case Prim::kFloor: case Prim::kCeil: case Prim::kRound: case Prim::kTrunc: case Prim::kSign: case Prim::kFloorDiv: case Prim::kSymbol: return true;
    case Prim::kConstant: case Prim::kPad:
      if (const double value = number_attr(node, "value"); std::trunc(value) != value) return false;
      break;
    case Prim::kCast: case Prim::kNeg: case Prim::kAbs: case Prim::kAdd: case Prim::kSub: case Prim::kMul: case Prim::kMod: case Prim::kMaximum: case Prim::kMinimum: case Prim::kWhere:
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice: case Prim::kConcat: case Prim::kFlip:
    case Prim::kSum: case Prim::kMax: case Prim::kMin: case Prim::kCumMax: case Prim::kCumMin: case Prim::kSort: case Prim::kGather: case Prim::kTakeAlongAxis:
      break;
    default: return false;
  }
  return std::ranges::all_of(node.operands, [&](int k) { return facts[static_cast<size_t>(k)].whole; });
}

/// Nodes that are results as they stand: outputs that nothing reads, and what is only laid out anew into such.
std::vector<bool> results_of(const task::Graph& graph) {
  std::vector<bool> result(graph.nodes.size(), false), read(graph.nodes.size(), false);
  for (const int output : graph.outputs) result[static_cast<size_t>(output)] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const Prim op = graph.nodes[id].prim;
    const bool lays_out = op == Prim::kReshape || op == Prim::kTranspose || op == Prim::kSlice || op == Prim::kConcat || op == Prim::kFlip ||
                          op == Prim::kBroadcast || op == Prim::kPad;
    for (const int k : graph.nodes[id].operands) {
      const auto at = static_cast<size_t>(k);
      const bool passes = lays_out && result[id];
      result[at] = passes && (result[at] || !read[at]);
      read[at] = true;
    }
  }
  return result;
}

/// An element-wise operation whose result is rounded to 16 or 8 bits, as the program's types say. Halves of bf16 are numbers of bf16:
/// its range is fp32's.
bool rounds_narrow(const Node& node, const task::Graph& graph) {
  const DType type = node.type.dtype;
  return task::is_narrow(type) && task::is_elementwise(node.prim) && (node.prim == Prim::kCast || !keeps_exact(node.prim)) &&
         !(type == DType::kBF16 && scales_by_power(node, graph, -24));
}

/// What an element-wise operation's own roundings count, in units of kUnit. One that is rounded to 16 or 8 bits is computed in fp32
/// before, by whatever functions.
double own_roundings(const Node& node, double unit) {
  if (!task::is_elementwise(node.prim) || node.prim == Prim::kCast) return unit;
  return (task::is_narrow(node.type.dtype) ? 1 : std::max(1, task::info_of(node.prim).roundings)) * unit;
}

}  // namespace

bool is_less_its_extreme(const task::Graph& graph, int id) {
  const Node& node = graph.node(id);
  // Not past casts: of a number and its rounding the difference is a rounding.
  const auto unrounded = [&](int from) {
    while (graph.node(from).prim == Prim::kBroadcast || graph.node(from).prim == Prim::kReshape) from = graph.node(from).operands[0];
    return from;
  };
  if (node.prim != Prim::kSub) return false;
  const Node& extreme = graph.node(unrounded(node.operands[1]));
  return (extreme.prim == Prim::kMax || extreme.prim == Prim::kMin) && unrounded(extreme.operands[0]) == unrounded(node.operands[0]);
}

bool keeps_exact(Prim op) {
  if (task::is_elementwise(op)) return task::info_of(op).roundings == 0;
  switch (op) {
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice: case Prim::kConcat: case Prim::kFlip: case Prim::kMax:
    case Prim::kMin: case Prim::kAny: case Prim::kAll: case Prim::kArgMax: case Prim::kArgMin:
    case Prim::kCumMax: case Prim::kCumMin: case Prim::kPoolMax: case Prim::kGather:
    case Prim::kTakeAlongAxis: case Prim::kSort: case Prim::kArgSort: case Prim::kScatterMax: case Prim::kScatterMin:
      return true;
    default: return false;
  }
}

std::vector<NodeFacts> facts_of(const task::ConcreteGraph& graph, task::Track track, bool counts_narrow) {
  const double least = track_unit(track);
  const std::vector<bool> results = results_of(graph.graph);
  std::vector<NodeFacts> facts;
  for (size_t id = 0; id < graph.graph.nodes.size(); ++id) {
    const Node& node = graph.graph.nodes[id];
    const DType type = !counts_narrow && task::is_narrow(node.type.dtype) ? DType::kF32 : node.type.dtype;
    const WholeFacts whole = whole_facts(graph, static_cast<int>(id), facts);
    const bool open_below = std::any_of(node.operands.begin(), node.operands.end(), [&](int k) {
      return facts[static_cast<size_t>(k)].open;
    });
    const bool exact = is_exact(node, graph.graph, facts, least == 0), narrow = is_narrower(type);
    const double own = task::unit_roundoff(type) / kUnit;
    const bool convolves = node.prim == Prim::kConv || node.prim == Prim::kConvTranspose;
    const double unit = narrow ? std::max(own, least) : own;
    const bool rounded_below = std::ranges::any_of(node.operands, [&](int k) { return facts[static_cast<size_t>(k)].rounded; });
    const bool adds = counts_narrow && !exact && (!results[id] || rounded_below) && rounds_narrow(node, graph.graph);
    facts.push_back({.exact = exact,
                     .open = whole.open || open_below,
                     .narrow = narrow,
                     .whole = is_whole(node, facts),
                     .unit = unit,
                     .own = adds && !results[id] ? kGoingOn * unit : own_roundings(node, unit),
                     .operands = narrow && convolves && track == task::Track::kAsPytorch
                                     ? track_unit(task::Track::kTf32) : 0,
                     .rounded = adds || rounded_below,
                     .least = adds ? task::smallest_normal(type) : 0,
                     .largest = whole.largest});
  }
  return facts;
}

void round_to_track(const Step& step, int64_t count, double* values) {
  if (!step.reduces() || !step.fact().narrow) return;
  for (int64_t i = 0; i < count; ++i) {
    switch (step.arithmetic) {
      case Arithmetic::kTf32: values[i] = round_bits(values[i], 11, -126); break;
      case Arithmetic::kBf16: values[i] = round_to(DType::kBF16, values[i]); break;
      default: values[i] = round_to(DType::kF16, values[i]);
    }
  }
}

namespace {

Tensor raw_step(const Step& step) {
  switch (step.node().prim) {
    case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kIota:
      return leaf_step(step);
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice:
    case Prim::kConcat: case Prim::kPad: case Prim::kFlip:
      return shape_step(step);
    case Prim::kSum: case Prim::kProd: case Prim::kMax: case Prim::kMin: case Prim::kAny:
    case Prim::kAll: case Prim::kArgMax: case Prim::kArgMin:
      return reduce_step(step);
    case Prim::kCumSum: case Prim::kCumProd: case Prim::kCumMax: case Prim::kCumMin:
    case Prim::kCumLogSumExp: case Prim::kLinearScan:
      return scan_step(step);
    case Prim::kDot: return dot_step(step);
    case Prim::kConv: case Prim::kConvTranspose: return conv_step(step);
    case Prim::kPoolMax: case Prim::kPoolSum: return pool_step(step);
    case Prim::kGather: case Prim::kTakeAlongAxis: return gather_step(step);
    case Prim::kSort: case Prim::kArgSort: return sort_step(step);
    case Prim::kScatterAdd: case Prim::kScatterMax: case Prim::kScatterMin: return scatter_step(step);
    default: return elementwise_step(step);
  }
}

/// A result comes of many elements of its operands. Others settle what is no number element by element.
bool gathers(Prim op) {
  return op == Prim::kConcat || op == Prim::kPad || task::is_reduction(op) || task::is_scan(op) || op == Prim::kDot ||
         op == Prim::kConv || op == Prim::kConvTranspose || op == Prim::kPoolMax || op == Prim::kPoolSum || task::is_scatter(op);
}

}  // namespace

Tensor run_step(const Step& step) {
  const Tensor result = in_range(step, raw_step(step));
  return gathers(step.node().prim) ? settled(step, result, step.operands) : result;
}

}  // namespace hone::evaluate
