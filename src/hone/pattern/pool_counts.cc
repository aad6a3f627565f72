#include "hone/pattern/pool_counts.h"

#include <optional>

#include "hone/pattern/nest.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;
using Ints = std::vector<int64_t>;

/// Whether the node is 1 everywhere.
bool is_ones(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  switch (node.prim) {
    case Prim::kConstant: return number_of(node.attrs.find("value")->second) == 1;
    case Prim::kPad: return number_of(node.attrs.find("value")->second) == 1 && is_ones(graph, node.operands[0]);
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kCast: return is_ones(graph, node.operands[0]);
    default: return false;
  }
}

class Counts {
 public:
  explicit Counts(const Graph& from) : from_(from) {}

  Graph graph() {
    for (size_t id = 0; id < from_.nodes.size(); ++id) {
      const Node& node = from_.nodes[id];
      if (node.prim == Prim::kPoolSum && is_ones(from_, node.operands[0])) {
        place_.push_back(count(node));
        continue;
      }
      Node copy = node;
      for (int& operand : copy.operands) operand = place_[static_cast<size_t>(operand)];
      place_.push_back(add(std::move(copy)));
    }
    to_.output_names = from_.output_names;
    for (const int id : from_.inputs) to_.inputs.push_back(place_[static_cast<size_t>(id)]);
    for (const int id : from_.outputs) to_.outputs.push_back(place_[static_cast<size_t>(id)]);
    return std::move(to_);
  }

 private:
  int add(Node node) {
    to_.nodes.push_back(std::move(node));
    return static_cast<int>(to_.nodes.size()) - 1;
  }
  int of(Prim op, std::vector<int> operands) { return add(node_of(op, std::move(operands), {DType::kI64, dims_})); }

  /// A number of elements in every place of the result.
  int everywhere(const IntExpr& value) {
    Node scalar = value.is_constant() ? node_of(Prim::kConstant, {}, {DType::kI64, {}}, {{"value", value.constant()}})
                                      : node_of(Prim::kSymbol, {}, {DType::kI64, {}}, {{"value", value}});
    const int id = add(std::move(scalar));
    const int thin = add(node_of(Prim::kReshape, {id}, {DType::kI64, task::Dims(dims_.size(), IntExpr(1))}));
    return of(Prim::kBroadcast, {thin});
  }

  /// The product over the dimensions of min(begin + kernel, extent) - max(begin, 0).
  int count(const Node& pool) {
    dims_ = pool.type.dims;
    const task::Dims& extents = from_.node(pool.operands[0]).type.dims;
    const auto& kernel = pool.attr<Ints>("kernel");
    const size_t lead = dims_.size() - kernel.size();
    int all = -1;
    for (size_t s = 0; s < kernel.size(); ++s) {
      const size_t d = lead + s;
      const int at = add(node_of(Prim::kIota, {}, {DType::kI64, dims_}, {{"axis", static_cast<int64_t>(d)}}));
      const int begin = of(Prim::kSub, {of(Prim::kMul, {at, everywhere(pool.attr<Ints>("stride")[s])}), everywhere(pool.attr<Ints>("padding_low")[s])});
      const int end = of(Prim::kMinimum, {of(Prim::kAdd, {begin, everywhere(kernel[s])}), everywhere(extents[d])});
      const int one = of(Prim::kSub, {end, of(Prim::kMaximum, {begin, everywhere(0)})});
      all = all < 0 ? one : of(Prim::kMul, {all, one});
    }
    return add(node_of(Prim::kCast, {all}, pool.type));
  }

  const Graph& from_;
  Graph to_;
  std::vector<int> place_;
  task::Dims dims_;
};

}  // namespace

task::Task with_pool_counts(const task::Task& task) {
  task::Task counted = task;
  counted.primitive = Counts(task.primitive).graph();
  return counted;
}

}  // namespace hone::pattern
