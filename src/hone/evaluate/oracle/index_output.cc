#include "hone/evaluate/oracle/index_output.h"

#include <algorithm>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/region.h"

namespace hone::evaluate {

using task::Prim;

int index_node(const task::ConcreteGraph& graph, int output) {
  int id = graph.graph.outputs[static_cast<size_t>(output)];
  for (;;) {
    const task::Node& node = graph.graph.node(id);
    switch (node.prim) {
      case Prim::kArgMax: case Prim::kArgMin: case Prim::kArgSort: return id;
      case Prim::kReshape: break;
      case Prim::kSlice: {  // the first few of a sort
        const auto steps = ints_attr(node, "step");
        if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; })) return -1;
        break;
      }
      case Prim::kCast:
        if (!task::is_int(node.type.dtype) ||
            !task::is_int(graph.graph.node(node.operands[0]).type.dtype))
          return -1;
        break;
      default: return -1;
    }
    // Only reshapes whose boxes are boxes: dimensions of extent 1 dropped or added.
    if (node.prim == Prim::kReshape) {
      const auto significant = [&](int n) {
        task::Shape shape = graph.shapes[static_cast<size_t>(n)];
        std::erase(shape, 1);
        return shape;
      };
      if (significant(id) != significant(node.operands[0])) return -1;
    }
    id = node.operands[0];
  }
}

KeyMap key_map(const task::ConcreteGraph& graph, int output, const Box& box) {
  const int chosen_by = index_node(graph, output);
  HONE_CHECK(chosen_by >= 0, "not an index output");
  Box at = box;
  for (int id = graph.graph.outputs[static_cast<size_t>(output)]; id != chosen_by;
       id = graph.graph.node(id).operands[0])
    at = operand_box(graph, id, 0, at);
  const task::Node& node = graph.graph.node(chosen_by);
  KeyMap map;
  map.sorted = node.prim == Prim::kArgSort;
  map.keys = operand_box(graph, chosen_by, 0, at);
  const auto axis =
      static_cast<size_t>(map.sorted ? int_attr(node, "axis") : ints_attr(node, "axes").front());
  map.falling = map.sorted ? bool_attr(node, "descending") : node.prim == Prim::kArgMax;
  map.kept = at.extent[axis];
  map.first = map.sorted ? at.start[axis] : 0;
  map.length = map.keys.extent[axis];
  for (size_t d = axis + 1; d < at.extent.size(); ++d) map.inner *= at.extent[d];
  return map;
}

}  // namespace hone::evaluate
