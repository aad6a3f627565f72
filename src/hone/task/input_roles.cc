#include "hone/task/input_roles.h"

#include <algorithm>

namespace hone::task {
namespace {

/// Calls visit(number of the input) for each input whose elements `node` holds as they are.
template <class Visit>
void for_each_input_of(const Graph& graph, int id, const Visit& visit) {
  const Node& node = graph.node(id);
  switch (node.prim) {
    case Prim::kInput: {
      const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), id);
      if (at != graph.inputs.end()) visit(static_cast<size_t>(at - graph.inputs.begin()));
      return;
    }
    case Prim::kCast:
      if (!is_int(node.type.dtype) || !is_int(graph.node(node.operands[0]).type.dtype)) return;
      [[fallthrough]];
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice: case Prim::kFlip:
    case Prim::kGather: case Prim::kTakeAlongAxis: case Prim::kSort:
      return for_each_input_of(graph, node.operands[0], visit);
    case Prim::kConcat:
      for (const int operand : node.operands) for_each_input_of(graph, operand, visit);
      return;
    default: return;
  }
}

}  // namespace

std::optional<UndeclaredIndex> undeclared_index(const Task& task) {
  std::optional<UndeclaredIndex> found;
  for (const Node& node : task.primitive.nodes) {
    if (node.prim != Prim::kGather && node.prim != Prim::kTakeAlongAxis) continue;
    const IntExpr& extent = task.primitive.node(node.operands[0]).type.dims[static_cast<size_t>(node.attr<int64_t>("axis"))];
    for_each_input_of(task.primitive, node.operands[1], [&](size_t input) {
      if (!found && is_int(task.inputs[input].type.dtype) && task.inputs[input].domain != Domain::kIndex) found = {&task.inputs[input], extent};
    });
  }
  return found;
}

}  // namespace hone::task
