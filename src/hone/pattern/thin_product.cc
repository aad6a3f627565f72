#include "hone/pattern/thin_product.h"

#include <algorithm>
#include <string>

namespace hone::pattern {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

struct Spec {
  std::string left, right, result;
};

Spec spec_of(const Node& dot) {
  const std::string& text = dot.attr<std::string>("spec");
  const size_t comma = text.find(','), arrow = text.find("->");
  return {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
}

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

bool is_thin(const Node& node) {
  if (node.prim != Prim::kDot) return false;
  const Spec spec = spec_of(node);
  const auto only_in = [&](const std::string& mine, const std::string& other) {
    return std::any_of(spec.result.begin(), spec.result.end(), [&](char c) { return has(mine, c) && !has(other, c); });
  };
  return !only_in(spec.left, spec.right) || !only_in(spec.right, spec.left);
}

/// Appends nodes to a graph.
class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  int add(Prim prim, std::vector<int> operands, task::TensorType type, task::Attrs attrs = {}) {
    Node node;
    node.op = task::name_of(prim);
    node.prim = prim;
    node.operands = std::move(operands);
    node.type = std::move(type);
    node.attrs = std::move(attrs);
    graph_.nodes.push_back(std::move(node));
    return static_cast<int>(graph_.nodes.size()) - 1;
  }

  /// One factor with the axes `letters`: its own where it has them, 1 elsewhere.
  int spread(int factor, const std::string& own, const std::string& letters, task::DType dtype) {
    task::TensorType type = graph_.node(factor).type;
    if (type.dtype != dtype) {
      type.dtype = dtype;
      factor = add(Prim::kCast, {factor}, type);
    }
    std::string order;
    std::vector<int64_t> perm;
    for (const char c : letters)
      if (has(own, c)) order += c, perm.push_back(static_cast<int64_t>(own.find(c)));
    if (order != own) {
      Dims dims;
      for (const int64_t d : perm) dims.push_back(type.dims[static_cast<size_t>(d)]);
      type.dims = dims;
      factor = add(Prim::kTranspose, {factor}, type, {{"perm", perm}});
    }
    Dims dims;
    for (const char c : letters) dims.push_back(has(own, c) ? type.dims[order.find(c)] : IntExpr(1));
    return add(Prim::kReshape, {factor}, {dtype, std::move(dims)});
  }

 private:
  Graph& graph_;
};

int as_sum(Graph& out, const Node& dot) {
  const Spec spec = spec_of(dot);
  std::string letters = spec.result;
  for (const char c : spec.left)
    if (!has(letters, c)) letters += c;
  Builder build(out);
  const int left = dot.operands[0], right = dot.operands[1];
  Dims dims, kept = dot.type.dims;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < letters.size(); ++i) {
    const char c = letters[i];
    dims.push_back(has(spec.left, c) ? out.node(left).type.dims[spec.left.find(c)] : out.node(right).type.dims[spec.right.find(c)]);
    if (i < spec.result.size()) continue;
    axes.push_back(static_cast<int64_t>(i));
    kept.emplace_back(1);
  }
  const int a = build.spread(left, spec.left, letters, dot.type.dtype);
  const int b = build.spread(right, spec.right, letters, dot.type.dtype);
  const int product = build.add(Prim::kMul, {a, b}, {dot.type.dtype, dims});
  const int sum = build.add(Prim::kSum, {product}, {dot.type.dtype, kept}, {{"axes", axes}});
  return build.add(Prim::kReshape, {sum}, dot.type);
}

}  // namespace

std::optional<task::Task> thin_products_as_sums(const task::Task& task) {
  const Graph& graph = task.primitive;
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_thin)) return std::nullopt;
  task::Task rewritten = task;
  Graph& out = rewritten.primitive;
  out.nodes.clear();
  std::vector<int> place;
  for (const Node& original : graph.nodes) {
    Node node = original;
    for (int& operand : node.operands) operand = place[static_cast<size_t>(operand)];
    if (is_thin(node)) {
      place.push_back(as_sum(out, node));
    } else {
      out.nodes.push_back(std::move(node));
      place.push_back(static_cast<int>(out.nodes.size()) - 1);
    }
  }
  for (int& id : out.inputs) id = place[static_cast<size_t>(id)];
  for (int& id : out.outputs) id = place[static_cast<size_t>(id)];
  return rewritten;
}

}  // namespace hone::pattern
