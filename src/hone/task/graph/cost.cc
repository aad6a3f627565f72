// The least work a computation takes: each input element read once, each output written once, and the
// arithmetic of the primitive graph.
#include <algorithm>
#include <cmath>
#include <map>

#include "hone/task/task.h"

namespace hone::task {
namespace {

using Ints = std::vector<int64_t>;

bool is_transcendental(Prim op) {
  switch (op) {
    case Prim::kExp: case Prim::kExp2: case Prim::kExpm1: case Prim::kLog: case Prim::kLog2:
    case Prim::kLog1p: case Prim::kSin: case Prim::kCos: case Prim::kTan: case Prim::kAsin:
    case Prim::kAcos: case Prim::kAtan: case Prim::kSinh: case Prim::kCosh: case Prim::kTanh:
    case Prim::kErf: case Prim::kPow: case Prim::kAtan2: return true;
    default: return false;
  }
}

double count(const Shape& shape) {
  double n = 1;
  for (const int64_t extent : shape) n *= static_cast<double>(extent);
  return n;
}

double dot_flops(const ConcreteGraph& graph, const Node& node) {
  std::map<char, int64_t> extents;
  const std::string& spec = node.attr<std::string>("spec");
  size_t operand = 0;
  size_t axis = 0;
  for (const char c : spec.substr(0, spec.find('-'))) {
    if (c == ',') {
      ++operand;
      axis = 0;
    } else {
      extents[c] = graph.shapes[static_cast<size_t>(node.operands[operand])][axis++];
    }
  }
  double n = 2;
  for (const auto& [letter, extent] : extents) n *= static_cast<double>(extent);
  return n;
}

double flops_of(const ConcreteGraph& graph, const Node& node, const Shape& result) {
  const auto in = [&](size_t i) -> const Shape& { return graph.shapes[static_cast<size_t>(node.operands[i])]; };
  const bool real = is_float(node.type.dtype) ||
                    (!node.operands.empty() && is_float(graph.graph.node(node.operands[0]).type.dtype));
  if (!real) return 0;
  if (node.prim == Prim::kCast || node.prim == Prim::kWhere) return 0;
  if (is_elementwise(node.prim)) return count(result);
  if (is_reduction(node.prim)) return count(in(0)) - count(result);
  if (is_scan(node.prim)) return count(result);
  switch (node.prim) {
    case Prim::kDot: return dot_flops(graph, node);
    case Prim::kConv: return 2 * count(result) * count(in(1)) / static_cast<double>(in(1)[0]);
    case Prim::kConvTranspose: return 2 * count(in(0)) * count(in(1)) / static_cast<double>(in(1)[0]);
    case Prim::kPoolMax: case Prim::kPoolSum: return count(result) * count(node.attr<Ints>("kernel"));
    case Prim::kSort: case Prim::kArgSort: {
      const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
      return count(result) * std::max(1.0, std::log2(static_cast<double>(result[axis])));
    }
    default: return 0;
  }
}

}  // namespace

Cost minimal_cost(const ConcreteGraph& graph) {
  Cost cost;
  std::vector<bool> live(graph.graph.nodes.size());
  for (const int id : graph.graph.outputs) live[static_cast<size_t>(id)] = true;
  for (size_t id = live.size(); id-- > 0;)
    if (live[id])
      for (const int operand : graph.graph.nodes[id].operands) live[static_cast<size_t>(operand)] = true;
  for (size_t id = 0; id < live.size(); ++id) {
    const Node& node = graph.graph.nodes[id];
    if (!live[id]) continue;
    const double n = count(graph.shapes[id]);
    if (node.prim == Prim::kInput) cost.bytes_read += n * size_of(node.type.dtype);
    cost.flops += flops_of(graph, node, graph.shapes[id]);
    if (is_transcendental(node.prim)) cost.transcendental += n;
  }
  for (const int id : graph.graph.outputs)
    cost.bytes_written += count(graph.shapes[static_cast<size_t>(id)]) * size_of(graph.graph.node(id).type.dtype);
  return cost;
}

}  // namespace hone::task
