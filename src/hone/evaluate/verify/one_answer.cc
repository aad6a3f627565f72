#include "hone/evaluate/verify/one_answer.h"

#include <algorithm>

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

}  // namespace

OneAnswer::OneAnswer(const task::ConcreteGraph& graph, task::Track track, int output) {
  const int id = graph.graph.outputs[static_cast<size_t>(output)];
  const task::Node& root = graph.graph.node(id);
  type_ = root.type.dtype;
  everywhere_ = only_rounds(graph, track, id);
  if (everywhere_ || !task::is_f8(type_) || root.prim != task::Prim::kCast) return;
  computed_ = root.operands[0];
  computed_in_ = graph.graph.node(computed_).type.dtype;
}

bool OneAnswer::is_at(const Answer& computed, size_t i) const {
  if (everywhere_ || computed_ < 0) return everywhere_;
  // A step of a byte is millions of fp32's roundings, and few of those of 16 bits. A scale counts roundings of its own type.
  const double moves = 1024 * std::max(kUnit, task::unit_roundoff(computed_in_)) * computed.scale[i], exact = computed.value[i];
  return round_to(type_, exact - moves) == round_to(type_, exact + moves);
}

}  // namespace hone::evaluate
