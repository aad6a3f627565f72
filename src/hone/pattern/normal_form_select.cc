// Selections moved down: less is computed where only a part is used.
#include <algorithm>

#include "hone/pattern/nest.h"
#include "hone/pattern/normal_form_parts.h"

namespace hone::pattern {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// `index` picks along `axis`.
class PickFirst {
 public:
  PickFirst(Graph& graph, const Node& pick)
      : graph_(graph), index_(pick.operands[1]), axis_(pick.attr<int64_t>("axis")), dims_(pick.type.dims) {}

  /// Whether everything below `id` is inputs, element-wise work on them, and values that are the same all along the axis.
  [[nodiscard]] bool can(int id) const {
    const Node& node = graph_.node(id);
    if (stays(node)) return true;
    if (node.prim == Prim::kInput) return fits(node.type.dims);
    return task::is_elementwise(node.prim) && std::all_of(node.operands.begin(), node.operands.end(), [&](int o) { return can(o); });
  }
  int of(int id) {
    Node node = graph_.node(id);
    if (stays(node)) return id;
    node.type.dims = dims_;
    if (node.prim == Prim::kInput) return append(graph_, node_of(Prim::kTakeAlongAxis, {id, index_}, node.type, {{"axis", axis_}}));
    for (int& operand : node.operands) operand = of(operand);
    return append(graph_, std::move(node));
  }

 private:
  /// An input that is broadcast on the way cannot be picked from with this index.
  [[nodiscard]] bool fits(const Dims& dims) const {
    if (dims.size() != dims_.size()) return false;
    for (size_t d = 0; d < dims.size(); ++d)
      if (static_cast<int64_t>(d) != axis_ && !(dims[d] == dims_[d])) return false;
    return true;
  }
  /// The same all along the axis: what is picked from it is itself.
  [[nodiscard]] bool stays(const Node& node) const {
    const Dims& dims = node.type.dims;
    if (dims.size() != dims_.size()) return dims.empty();
    for (size_t d = 0; d < dims.size(); ++d)
      if (!is_one(dims[d]) && (static_cast<int64_t>(d) == axis_ || !(dims[d] == dims_[d]))) return false;
    return true;
  }
  Graph& graph_;
  int index_;
  int64_t axis_;
  Dims dims_;
};

class SliceFirst {
 public:
  SliceFirst(Graph& graph, const Node& slice)
      : graph_(graph), start_(slice.attr<Dims>("start")), step_(slice.attr<std::vector<int64_t>>("step")), dims_(slice.type.dims) {
    const Dims& whole = graph.node(slice.operands[0]).type.dims;
    for (size_t d = 0; d < dims_.size(); ++d)
      if (!(whole[d] == dims_[d])) axis_ = d, ++sliced_;
  }

  /// Along one axis, without steps, of element-wise work on a product.
  [[nodiscard]] bool can(int id) const { return sliced_ == 1 && step_[axis_] == 1 && meets_product(id); }
  int of(int id) {
    Node node = graph_.node(id);
    if (is_one_along(node.type.dims)) return id;
    if (node.prim == Prim::kDot) {
      const Letters letters = letters_of(node);
      const char letter = letters.result[axis_];
      const size_t from = has(letters.right, letter) ? 1 : 0;
      node.operands[from] = part(node.operands[from], (from == 1 ? letters.right : letters.left).find(letter));
    } else if (task::is_elementwise(node.prim)) {
      for (int& operand : node.operands) operand = of(operand);
    } else {
      return part(id, axis_);
    }
    node.type.dims[axis_] = dims_[axis_];
    return append(graph_, std::move(node));
  }

 private:
  [[nodiscard]] bool is_one_along(const Dims& dims) const { return dims.size() != dims_.size() || is_one(dims[axis_]); }
  [[nodiscard]] bool meets_product(int id) const {
    const Node& node = graph_.node(id);
    if (node.prim == Prim::kDot) {
      const Letters letters = letters_of(node);
      const char letter = letters.result[axis_];
      return has(letters.left, letter) != has(letters.right, letter);
    }
    return task::is_elementwise(node.prim) && !is_one_along(node.type.dims) && std::any_of(node.operands.begin(), node.operands.end(), [&](int o) { return meets_product(o); });
  }
  /// The slice along dimension `dim` of any node, taken before casts, views that keep the dimension, and broadcasts.
  int part(int id, size_t dim) {
    Node node = graph_.node(id);
    task::TensorType type = node.type;
    type.dims[dim] = dims_[axis_];
    if (node.prim == Prim::kCast) return add(Prim::kCast, {part(node.operands[0], dim)}, type, node.attrs);
    if (node.prim == Prim::kTranspose)
      return add(Prim::kTranspose, {part(node.operands[0], static_cast<size_t>(node.attr<std::vector<int64_t>>("perm")[dim]))}, type, node.attrs);
    if (node.prim == Prim::kBroadcast) {
      const Dims& from = graph_.node(node.operands[0]).type.dims;
      return add(Prim::kBroadcast, {is_one(from[dim]) ? node.operands[0] : part(node.operands[0], dim)}, type, node.attrs);
    }
    if (node.prim == Prim::kReshape) {
      // Axes of one element before it come and go.
      const Dims& from = graph_.node(node.operands[0]).type.dims;
      const bool last = dim + 1 == node.type.dims.size() && !from.empty() && from.back() == node.type.dims.back();
      const auto ones = [](const Dims& dims) { return std::all_of(dims.begin(), dims.end() - 1, is_one); };
      if (last && ones(from) && ones(node.type.dims)) return add(Prim::kReshape, {part(node.operands[0], from.size() - 1)}, type, node.attrs);
    }
    Dims start(type.dims.size(), IntExpr(0));
    start[dim] = start_[axis_];
    return add(Prim::kSlice, {id}, type, {{"start", start}, {"step", std::vector<int64_t>(type.dims.size(), 1)}});
  }

  int add(Prim prim, std::vector<int> operands, const task::TensorType& type, task::Attrs attrs) {
    return append(graph_, node_of(prim, std::move(operands), type, std::move(attrs)));
  }

  Graph& graph_;
  Dims start_;
  std::vector<int64_t> step_;
  Dims dims_;
  size_t axis_ = 0;
  int sliced_ = 0;   ///< axes along which it is one
};

/// What a slice of a reshape is of what it reshapes, where that took dimensions apart and left what the slice takes of each in one
/// segment: one element of the first ones, a range of one, all of the rest. Its own reshape is appended; -1: it is not so.
int slice_before_reshape(Graph& graph, const Node& slice) {
  const Node whole = graph.node(slice.operands[0]);
  const Dims &from = graph.node(whole.operands[0]).type.dims, &to = whole.type.dims, &start = slice.attr<Dims>("start"), &taken = slice.type.dims;
  const auto& step = slice.attr<std::vector<int64_t>>("step");
  Dims start_before(from.size(), IntExpr(0)), taken_before = from;
  std::vector<int64_t> step_before(from.size(), 1);
  const auto ends = ends_of_runs(from, to);
  if (!ends) return -1;
  for (size_t d = 0; d < from.size(); ++d) {
    const size_t begin = d > 0 ? (*ends)[d - 1] : 0, end = (*ends)[d];
    // From the last dimension on: whole ones, then one of which a range is taken, then such as one element is taken of.
    IntExpr segment = 1, offset = 0, inner = 1;
    bool ranged = false;
    for (size_t k = end; k-- > begin; inner = inner * to[k]) {
      if (step[k] != 1 && end - begin > 1) return -1;
      if (step[k] != 1) step_before[d] = step[k];
      offset = offset + start[k] * inner;
      const bool is_whole = taken[k] == to[k];
      if (is_whole && !ranged) {
        segment = segment * taken[k];
        continue;
      }
      if (ranged && !is_one(taken[k])) return -1;
      if (!ranged) segment = segment * taken[k];
      ranged = true;
    }
    start_before[d] = offset, taken_before[d] = segment;
  }
  task::TensorType type = slice.type;
  type.dims = taken_before;
  Node before = node_of(Prim::kSlice, {whole.operands[0]}, std::move(type), {{"start", start_before}, {"step", step_before}});
  const int deeper = sliced_before_views(graph, before);
  return append(graph, node_of(Prim::kReshape, {deeper >= 0 ? deeper : append(graph, std::move(before))}, slice.type, {}));
}

}  // namespace

int sliced_before_views(Graph& graph, const Node& slice) {
  if (slice.prim != Prim::kSlice) return -1;
  const Node whole = graph.node(slice.operands[0]);
  if (whole.prim == Prim::kReshape) return slice_before_reshape(graph, slice);
  if (whole.prim != Prim::kTranspose) return -1;
  const auto& perm = whole.attr<std::vector<int64_t>>("perm");
  const auto& step = slice.attr<std::vector<int64_t>>("step");
  Dims start(perm.size()), dims(perm.size());
  std::vector<int64_t> step_before(perm.size());
  for (size_t d = 0; d < perm.size(); ++d) {
    const auto at = static_cast<size_t>(perm[d]);
    start[at] = slice.attr<Dims>("start")[d], dims[at] = slice.type.dims[d], step_before[at] = step[d];
  }
  task::TensorType type = slice.type;
  type.dims = dims;
  Node before = node_of(Prim::kSlice, whole.operands, std::move(type), {{"start", start}, {"step", step_before}});
  const int deeper = sliced_before_views(graph, before);
  return append(graph, node_of(Prim::kTranspose, {deeper >= 0 ? deeper : append(graph, std::move(before))}, slice.type, {{"perm", perm}}));
}

int picked_first(Graph& graph, const Node& pick) {
  if (pick.prim != Prim::kTakeAlongAxis || !task::is_elementwise(graph.node(pick.operands[0]).prim)) return -1;
  PickFirst first(graph, pick);
  return first.can(pick.operands[0]) ? first.of(pick.operands[0]) : -1;
}

int sliced_first(Graph& graph, const Node& slice) {
  if (slice.prim != Prim::kSlice) return -1;
  SliceFirst first(graph, slice);
  return first.can(slice.operands[0]) ? first.of(slice.operands[0]) : -1;
}

}  // namespace hone::pattern
