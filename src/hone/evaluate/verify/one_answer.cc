#include "hone/evaluate/verify/one_answer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {
namespace {

using task::DType;

/// Nothing is lost on the way but by rounding to 16 or 8 bits. Not where an f64 or an integer becomes such a number, which programs may
/// round to f32 before.
bool only_rounds(const task::ConcreteGraph& graph, task::Track track, int root) {
  if (!task::is_narrow(graph.graph.node(root).type.dtype) || facts_of(graph, track)[static_cast<size_t>(root)].has_scale()) return false;
  for (int id = 0; id <= root; ++id) {
    const task::Node& node = graph.graph.node(id);
    if (node.prim != task::Prim::kCast || !task::is_narrow(node.type.dtype)) continue;
    const DType from = graph.graph.node(node.operands[0]).type.dtype;
    if (from != DType::kF32 && !task::is_narrow(from)) return false;
  }
  return true;
}

/// An f32 or f64 that is only moved, picked, compared or negated: it is the number that it was. Not where a kernel may round to less on the way, nor
/// where a cast rounds.
bool only_moves(const task::ConcreteGraph& graph, task::Track track, int root) {
  const DType type = graph.graph.node(root).type.dtype;
  if (type != DType::kF32 && type != DType::kF64) return false;
  if ((track != task::Track::kStrict && track != task::Track::kAsPytorch) || facts_of(graph, track)[static_cast<size_t>(root)].has_scale()) return false;
  for (int id = 0; id <= root; ++id) {
    const task::Node& node = graph.graph.node(id);
    if (node.prim != task::Prim::kCast || !task::is_float(node.type.dtype)) continue;
    const DType from = graph.graph.node(node.operands[0]).type.dtype;
    if (from != DType::kBool && (!task::is_float(from) || task::size_of(from) > task::size_of(node.type.dtype))) return false;
  }
  return true;
}

/// What is smaller may be the sum of a denormal number, which some hardware takes for zero.
constexpr double kLeastHeld = 0x1p-114;

/// Whether the node is one sum, difference or product of exact numbers, picked and moved: what of it fp32 holds is the same number in every
/// program, whether that computes in 16 bits or in 32.
bool is_made_once(const task::Graph& graph, const std::vector<NodeFacts>& facts, int root) {
  using task::Prim;
  std::vector<bool> once(static_cast<size_t>(root) + 1, false);
  for (int id = 0; id <= root; ++id) {
    const task::Node& node = graph.node(id);
    if (!task::is_narrow(node.type.dtype) && node.type.dtype != DType::kF32) continue;
    const auto exact = [&](int k) { return facts[static_cast<size_t>(k)].exact; };
    const auto exact_or_once = [&](int k) { return exact(k) || once[static_cast<size_t>(k)]; };
    switch (node.prim) {
      case Prim::kAdd: case Prim::kSub: case Prim::kMul: once[static_cast<size_t>(id)] = std::ranges::all_of(node.operands, exact); break;
      case Prim::kNeg: case Prim::kAbs: case Prim::kMaximum: case Prim::kMinimum: case Prim::kWhere:
      case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice: case Prim::kConcat: case Prim::kFlip:
      case Prim::kMax: case Prim::kMin: case Prim::kPoolMax: case Prim::kGather: case Prim::kTakeAlongAxis:
        once[static_cast<size_t>(id)] = std::ranges::all_of(node.operands, exact_or_once);
        break;
      default: break;
    }
  }
  return once.back();
}

}  // namespace

OneAnswer::OneAnswer(const task::ConcreteGraph& graph, task::Track track, int output) {
  const int id = graph.graph.outputs[static_cast<size_t>(output)];
  const task::Node& root = graph.graph.node(id);
  type_ = root.type.dtype;
  everywhere_ = only_rounds(graph, track, id) || only_moves(graph, track, id);
  // An f32 that becomes 16 bits at the end is rounded there alone.
  const bool rounded_last = root.prim == task::Prim::kCast && graph.graph.node(root.operands[0]).type.dtype == DType::kF32;
  once_ = !everywhere_ && task::is_narrow(type_) && !task::is_f8(type_) &&
          is_made_once(graph.graph, facts_of(graph, track), rounded_last ? root.operands[0] : id);
  if (everywhere_ || once_ || !task::is_f8(type_) || root.prim != task::Prim::kCast) return;
  computed_ = root.operands[0];
  computed_in_ = graph.graph.node(computed_).type.dtype;
}

bool OneAnswer::is_at(const Answer& computed, double value, size_t i) const {
  if (once_) return std::abs(value) >= kLeastHeld && round_to(DType::kF32, value) == value;
  // Some hardware takes denormal numbers for zeros where it compares.
  if (everywhere_ && !task::is_narrow(type_)) return std::abs(value) >= (type_ == DType::kF32 ? 0x1p-126 : 0x1p-1022);
  if (everywhere_ || computed_ < 0) return everywhere_;
  // A step of a byte is millions of fp32's roundings, and few of those of 16 bits. A scale counts roundings of its own type.
  const double moves = 1024 * std::max(kUnit, task::unit_roundoff(computed_in_)) * computed.scale[i], exact = computed.value[i];
  return round_to(type_, exact - moves) == round_to(type_, exact + moves);
}

}  // namespace hone::evaluate
