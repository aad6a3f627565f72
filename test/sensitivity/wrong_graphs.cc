// Mistakes in what is computed.
#include <cmath>

#include "hone/task/graph/fold.h"
#include "mutants.h"

namespace hone::sensitivity {
namespace {

using task::Attr;
using task::DType;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;
using Ints = std::vector<int64_t>;

constexpr double kOff = 1.001;  ///< a coefficient off by 0.1 %

Node scalar(double value, DType dtype) {
  Node node;
  node.prim = Prim::kConstant;
  node.op = std::string(task::name_of(node.prim));
  node.attrs.emplace("value", task::constant_of(value, dtype));
  node.type = {dtype, {}};
  return node;
}

/// Puts a node before node `id`, whose number and all later ones grow by one.
void insert_before(Graph& graph, int id, Node added) {
  const auto moved = [id](int k) { return k >= id ? k + 1 : k; };
  for (Node& node : graph.nodes)
    for (int& operand : node.operands) operand = moved(operand);
  for (int& k : graph.inputs) k = moved(k);
  for (int& k : graph.outputs) k = moved(k);
  graph.nodes.insert(graph.nodes.begin() + id, std::move(added));
}

class Mutations {
 public:
  explicit Mutations(const Graph& graph) : graph_(graph) {}

  std::vector<WrongGraph> run() {
    for (size_t id = 0; id < graph_.nodes.size(); ++id) visit(static_cast<int>(id));
    for (size_t k = 0; k < graph_.outputs.size(); ++k) scale_output(k);
    return std::move(all_);
  }

 private:
  template <class Change>
  void add(const std::string& what, Change change) {
    Graph graph = graph_;
    change(graph);
    all_.push_back({what, std::move(graph)});
  }
  /// Node `id` becomes another operation with the same operands.
  void add_op(const std::string& what, int id, Prim op) {
    add(what, [&](Graph& graph) {
      Node& node = graph.nodes[static_cast<size_t>(id)];
      node.prim = op;
      node.op = std::string(task::name_of(op));
    });
  }
  /// Operand `k` of node `id` becomes a constant.
  void add_constant(const std::string& what, int id, size_t k, double value) {
    const DType dtype = graph_.node(graph_.node(id).operands[k]).type.dtype;
    add(what, [&](Graph& graph) {
      insert_before(graph, id, scalar(value, dtype));
      graph.nodes[static_cast<size_t>(id) + 1].operands[k] = id;
    });
  }
  template <class T>
  void add_attr(const std::string& what, int id, const char* key, T value) {
    add(what, [&](Graph& graph) { graph.nodes[static_cast<size_t>(id)].attrs.insert_or_assign(key, Attr(std::move(value))); });
  }
  [[nodiscard]] bool is_small(int id) const {
    const Node& node = graph_.node(id);
    return node.prim == Prim::kConstant && std::abs(task::constant_value(node.attrs.find("value")->second)) <= 1e-2;
  }

  void visit(int id) {
    const Node& node = graph_.node(id);
    switch (node.prim) {
      case Prim::kConstant: return constant(id, node);
      case Prim::kSymbol:
        return add_attr("a count off by one", id, "value", node.attr<IntExpr>("value") + IntExpr(1));
      case Prim::kAdd: case Prim::kSub:
        add_constant(is_small(node.operands[1]) ? "epsilon dropped" : "a term left out", id, 1, 0);
        return add_constant(is_small(node.operands[0]) ? "epsilon dropped" : "a term left out", id, 0, 0);
      case Prim::kMul:
        add_constant("a factor left out", id, 1, 1);
        return add_constant("a factor left out", id, 0, 1);
      case Prim::kDiv: return add_constant("a division left out", id, 1, 1);
      case Prim::kNeg: return add_op("a sign forgotten", id, Prim::kCast);
      case Prim::kMaximum: return add_op("maximum for minimum", id, Prim::kMinimum);
      case Prim::kMinimum: return add_op("minimum for maximum", id, Prim::kMaximum);
      case Prim::kMax: return add_op("maximum for minimum", id, Prim::kMin);
      case Prim::kMin: return add_op("minimum for maximum", id, Prim::kMax);
      case Prim::kPoolMax: return window(id, node);
      case Prim::kPoolSum: case Prim::kConv: case Prim::kConvTranspose: return window(id, node);
      case Prim::kArgMax: return add_op("maximum for minimum", id, Prim::kArgMin);
      case Prim::kArgMin: return add_op("minimum for maximum", id, Prim::kArgMax);
      case Prim::kCumMax: return add_op("maximum for minimum", id, Prim::kCumMin);
      case Prim::kCumMin: return add_op("minimum for maximum", id, Prim::kCumMax);
      case Prim::kEq: return add_op("a comparison flipped", id, Prim::kNe);
      case Prim::kNe: return add_op("a comparison flipped", id, Prim::kEq);
      case Prim::kLt: return comparison(id, Prim::kGe, Prim::kLe);
      case Prim::kLe: return comparison(id, Prim::kGt, Prim::kLt);
      case Prim::kGt: return comparison(id, Prim::kLe, Prim::kGe);
      case Prim::kGe: return comparison(id, Prim::kLt, Prim::kGt);
      case Prim::kWhere:
        add_constant("a mask forgotten", id, 0, 1);
        return add_constant("a mask forgotten", id, 0, 0);
      case Prim::kIota: return shifted_positions(id, node);
      default: return;
    }
  }

  void constant(int id, const Node& node) {
    const double value = task::constant_value(node.attrs.find("value")->second);
    if (value == 0 || !std::isfinite(value) || node.type.dtype == DType::kBool) return;
    if (task::is_float(node.type.dtype))
      add_attr("a coefficient off by 0.1 %", id, "value", value * kOff);
    else
      add_attr("a number off by one", id, "value", static_cast<int64_t>(value) + 1);
  }

  void comparison(int id, Prim flipped, Prim at_the_edge) {
    add_op("a comparison flipped", id, flipped);
    // The edge itself matters between whole numbers: positions and indices.
    if (task::is_int(graph_.node(graph_.node(id).operands[0]).type.dtype)) add_op("a comparison off by one", id, at_the_edge);
  }

  void window(int id, const Node& node) {
    for (const char* key : {"stride", "dilation"}) {
      Ints values = node.attr<Ints>(key);
      // A stride or dilation of a dimension with one window or tap means nothing; the evaluator finds out.
      for (int64_t& value : values) {
        ++value;
        add_attr(std::string("a ") + key + " off by one", id, key, values);
        --value;
      }
    }
  }

  void shifted_positions(int id, const Node& node) {
    add("positions off by one", [&](Graph& graph) {
      Node sum;
      sum.prim = Prim::kAdd;
      sum.op = std::string(task::name_of(sum.prim));
      sum.type = node.type;
      insert_before(graph, id + 1, scalar(1, DType::kI64));
      sum.operands = {id, id + 1};
      insert_before(graph, id + 2, std::move(sum));
      for (size_t k = static_cast<size_t>(id) + 3; k < graph.nodes.size(); ++k)
        for (int& operand : graph.nodes[k].operands)
          if (operand == id) operand = id + 2;
    });
  }

  void scale_output(size_t k) {
    const Node& node = graph_.node(graph_.outputs[k]);
    if (!task::is_float(node.type.dtype)) return;
    add("the result off by 0.1 %", [&](Graph& graph) {
      const int last = static_cast<int>(graph.nodes.size());
      graph.nodes.push_back(scalar(kOff, node.type.dtype));
      Node product;
      product.prim = Prim::kMul;
      product.op = std::string(task::name_of(product.prim));
      product.type = node.type;
      product.operands = {graph.outputs[k], last};
      graph.nodes.push_back(std::move(product));
      graph.outputs[k] = last + 1;
    });
  }

  const Graph& graph_;
  std::vector<WrongGraph> all_;
};

}  // namespace

std::vector<WrongGraph> wrong_graphs(const Graph& graph) { return Mutations(graph).run(); }

}  // namespace hone::sensitivity
