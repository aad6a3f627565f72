#include "hone/face/audit/leave_out.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/task/graph/fold.h"

namespace hone::face::audit {
namespace {

using task::ConcreteGraph;
using task::Node;
using task::Prim;
using task::Shape;

/// Puts a node before node `id`, whose number and all later ones grow by one.
void insert_before(ConcreteGraph& graph, int id, Node added, Shape shape) {
  const auto moved = [id](int k) { return k >= id ? k + 1 : k; };
  for (Node& node : graph.graph.nodes)
    for (int& operand : node.operands) operand = moved(operand);
  for (int& k : graph.graph.inputs) k = moved(k);
  for (int& k : graph.graph.outputs) k = moved(k);
  added.op = std::string(task::name_of(added.prim));
  added.type.dims.assign(shape.begin(), shape.end());
  graph.graph.nodes.insert(graph.graph.nodes.begin() + id, std::move(added));
  graph.shapes.insert(graph.shapes.begin() + id, std::move(shape));
}

/// Operand `k` of node `id` without the last of its elements along `axis`.
void shorten(ConcreteGraph& graph, int id, size_t k, size_t axis) {
  const int operand = graph.graph.node(id).operands[k];
  Shape shape = graph.shapes[static_cast<size_t>(operand)];
  Node slice;
  slice.prim = Prim::kSlice;
  slice.operands = {operand};
  slice.type.dtype = graph.graph.node(operand).type.dtype;
  slice.attrs.emplace("start", std::vector<int64_t>(shape.size(), 0));
  slice.attrs.emplace("step", std::vector<int64_t>(shape.size(), 1));
  --shape[axis];
  insert_before(graph, id, std::move(slice), std::move(shape));
  graph.graph.nodes[static_cast<size_t>(id) + 1].operands[k] = id;
}

/// "sum (3:9)": the operation, by the user's name for it if it has one, and where it stands in the computation.
std::string place_of(const Node& node) {
  std::string text(task::name_of(node.prim));
  if (!node.name.empty()) text += " " + node.name;
  return node.where.line > 0 ? fmt::format("{} ({}:{})", text, node.where.line, node.where.column) : text;
}

void terms(const ConcreteGraph& graph, int id, std::vector<LeftOut>& all) {
  const Node& node = graph.graph.node(id);
  for (size_t k = 0; k < 2; ++k) {
    const int dropped = node.operands[k];
    if (graph.graph.node(dropped).prim == Prim::kConstant) continue;  // an epsilon may mean nothing
    LeftOut one{fmt::format("a term left out: {} of {}", place_of(graph.graph.node(dropped)), place_of(node)), graph, id + 1, inputs_behind(graph.graph, dropped)};
    Node zero;
    zero.prim = Prim::kConstant;
    zero.type.dtype = graph.graph.node(dropped).type.dtype;
    zero.attrs.emplace("value", task::constant_of(0, zero.type.dtype));
    insert_before(one.graph, id, std::move(zero), {});
    one.graph.graph.nodes[static_cast<size_t>(id) + 1].operands[k] = id;
    all.push_back(std::move(one));
  }
}

void last_element(const ConcreteGraph& graph, int id, std::vector<LeftOut>& all) {
  const Node& node = graph.graph.node(id);
  const Shape& shape = graph.shapes[static_cast<size_t>(node.operands[0])];
  for (const int64_t axis : evaluate::ints_attr(node, "axes")) {
    if (shape[static_cast<size_t>(axis)] < 2) continue;
    LeftOut one{fmt::format("the last element left out: {} along axis {}", place_of(node), axis), graph, id + 1, {}};
    shorten(one.graph, id, 0, static_cast<size_t>(axis));
    all.push_back(std::move(one));
  }
}

void last_product(const ConcreteGraph& graph, int id, std::vector<LeftOut>& all) {
  const Node& node = graph.graph.node(id);
  const evaluate::EinsumSpec spec = evaluate::einsum_spec(node);
  for (size_t axis = 0; axis < spec.a.size(); ++axis) {
    const size_t other = spec.b.find(spec.a[axis]);
    if (other == std::string::npos || spec.result.find(spec.a[axis]) != std::string::npos) continue;
    if (graph.shapes[static_cast<size_t>(node.operands[0])][axis] < 2) continue;
    LeftOut one{fmt::format("the last element left out: {} along {}", place_of(node), spec.a[axis]), graph, id + 2, {}};
    shorten(one.graph, id, 0, axis);
    shorten(one.graph, id + 1, 1, other);
    all.push_back(std::move(one));
  }
}

/// Of a convolution the last channel that is summed over.
void last_channel(const ConcreteGraph& graph, int id, std::vector<LeftOut>& all) {
  const Node& node = graph.graph.node(id);
  if (evaluate::int_attr(node, "groups") != 1 || graph.shapes[static_cast<size_t>(node.operands[0])][1] < 2) return;
  LeftOut one{fmt::format("the last element left out: {} along its channels", place_of(node)), graph, id + 2, {}};
  shorten(one.graph, id, 0, 1);
  shorten(one.graph, id + 1, 1, node.prim == Prim::kConv ? 1 : 0);
  all.push_back(std::move(one));
}

}  // namespace

std::set<int> ancestors(const task::Graph& graph, int id) {
  std::set<int> all;
  std::vector<int> todo{id};
  while (!todo.empty()) {
    const int next = todo.back();
    todo.pop_back();
    if (!all.insert(next).second) continue;
    for (const int operand : graph.node(next).operands) todo.push_back(operand);
  }
  return all;
}

std::set<int> inputs_behind(const task::Graph& graph, int id) {
  const std::set<int> all = ancestors(graph, id);
  std::set<int> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (all.contains(graph.inputs[i])) inputs.insert(static_cast<int>(i));
  return inputs;
}

std::vector<LeftOut> leave_out(const ConcreteGraph& graph) {
  std::vector<LeftOut> all;
  for (int id = 0; id < static_cast<int>(graph.graph.nodes.size()); ++id) {
    switch (graph.graph.node(id).prim) {
      case Prim::kAdd: case Prim::kSub: terms(graph, id, all); break;
      case Prim::kSum: case Prim::kMax: case Prim::kMin: last_element(graph, id, all); break;
      case Prim::kDot: last_product(graph, id, all); break;
      case Prim::kConv: case Prim::kConvTranspose: last_channel(graph, id, all); break;
      default: break;
    }
  }
  return all;
}

}  // namespace hone::face::audit
