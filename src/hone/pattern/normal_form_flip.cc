// Flips moved down to what is read: an input that is read from its end is read in place (Nest::access).
#include <algorithm>
#include <map>
#include <set>

#include "hone/pattern/nest.h"
#include "hone/pattern/normal_form_parts.h"

namespace hone::pattern {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

using Axes = std::set<size_t>;   ///< dimensions along which the order is turned round

Axes axes_of(const Node& flip) {
  Axes all;
  for (const int64_t axis : flip.attr<std::vector<int64_t>>("axes")) all.insert(static_cast<size_t>(axis));
  return all;
}

/// Turned round twice is not turned round.
Axes either(const Axes& a, const Axes& b) {
  Axes all;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(all, all.end()));
  return all;
}

/// The dimensions of `from` that are turned round where those of `to`, its reshape, are: a run of dimensions that becomes another run is turned
/// as a whole or not at all. Nothing where it is turned in part.
std::optional<Axes> before_reshape(const Dims& from, const Dims& to, const Axes& axes) {
  Axes all;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    // The next runs with as many elements on both sides.
    const size_t first = i, other = j;
    IntExpr theirs = i < from.size() ? from[i++] : IntExpr(1), mine = j < to.size() ? to[j++] : IntExpr(1);
    while (!(theirs == mine)) {
      const bool more = j < to.size() && (i == from.size() || IntExpr::divide_exactly(theirs, mine));
      if (more) mine = mine * to[j++];
      else if (i < from.size()) theirs = theirs * from[i++];
      else return std::nullopt;
    }
    size_t turned = 0, long_ones = 0;
    for (size_t d = other; d < j; ++d)
      if (!is_one(to[d])) ++long_ones, turned += axes.contains(d);
    if (turned > 0 && turned < long_ones) return std::nullopt;
    for (size_t d = first; turned > 0 && d < i; ++d)
      if (!is_one(from[d])) all.insert(d);
  }
  return all;
}

class FlipFirst {
 public:
  explicit FlipFirst(Graph& graph) : graph_(graph) {}

  /// Whether all that is turned round below `id` is inputs and slices of them, element-wise work, concatenations and scans.
  bool can(int id, const Axes& wanted) {
    const Axes axes = along(id, wanted);
    if (axes.empty()) return true;
    if (const auto known = can_.find({id, axes}); known != can_.end()) return known->second;
    return can_[{id, axes}] = can_turn(id, axes);
  }

  int of(int id, const Axes& wanted) {
    const Axes axes = along(id, wanted);
    if (axes.empty()) return id;
    if (const auto known = made_.find({id, axes}); known != made_.end()) return known->second;
    const int made = make(id, axes);
    return made_[{id, axes}] = made;
  }

 private:
  [[nodiscard]] Axes along(int id, const Axes& wanted) const {
    const Dims& dims = graph_.node(id).type.dims;
    Axes axes;
    for (const size_t d : wanted)
      if (d < dims.size() && !is_one(dims[d])) axes.insert(d);
    return axes;
  }

  /// What is turned round of operand `k`.
  [[nodiscard]] std::optional<Axes> below(const Node& node, size_t k, const Axes& axes) const {
    const Node& operand = graph_.node(node.operands[k]);
    switch (node.prim) {
      case Prim::kFlip: return either(axes, axes_of(node));
      case Prim::kReshape: return before_reshape(operand.type.dims, node.type.dims, axes);
      case Prim::kTranspose: {
        Axes all;
        for (const size_t d : axes) all.insert(static_cast<size_t>(node.attr<std::vector<int64_t>>("perm")[d]));
        return all;
      }
      default: return axes;
    }
  }

  bool can_turn(int id, const Axes& axes) {
    const Node& node = graph_.node(id);
    if (node.prim == Prim::kInput || node.prim == Prim::kIota) return true;
    if (node.prim == Prim::kSlice) return is_read(id);
    if (node.prim != Prim::kFlip && node.prim != Prim::kConcat && !is_view(node) && !task::is_elementwise(node.prim) && !task::is_scan(node.prim)) return false;
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const auto inner = below(node, k, axes);
      if (!inner || !can(node.operands[k], *inner)) return false;
      // What is reduced along the axis, or the like, would need the elements in their own order besides.
      if (!inner->empty() && along(node.operands[k], *inner).empty() && !is_computed_alone(node.operands[k])) return false;
    }
    return true;
  }

  /// Made element by element of inputs.
  [[nodiscard]] bool is_computed_alone(int id) const {
    const Node& node = graph_.node(id);
    if (!task::is_elementwise(node.prim) && !is_view(node) && !is_access(node) && !node.operands.empty()) return false;
    return std::all_of(node.operands.begin(), node.operands.end(), [&](int operand) { return is_computed_alone(operand); });
  }

  int make(int id, const Axes& axes) {
    Node node = graph_.node(id);
    if (node.prim == Prim::kInput || node.prim == Prim::kSlice) {
      Node flip = node_of(Prim::kFlip, {id}, node.type, {{"axes", std::vector<int64_t>(axes.begin(), axes.end())}});
      // What several flips read is read once.
      const auto same = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& other) {
        return other.prim == Prim::kFlip && other.operands == flip.operands && axes_of(other) == axes;
      });
      return same == graph_.nodes.end() ? append(graph_, std::move(flip)) : static_cast<int>(same - graph_.nodes.begin());
    }
    if (node.prim == Prim::kIota) {
      const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
      if (!axes.contains(axis)) return id;
      const int last = append(graph_, node_of(Prim::kSymbol, {}, {node.type.dtype, {}}, {{"value", node.type.dims[axis] - 1}}));
      return append(graph_, node_of(Prim::kSub, {last, id}, node.type));
    }
    for (size_t k = 0; k < node.operands.size(); ++k) node.operands[k] = of(graph_.node(id).operands[k], *below(graph_.node(id), k, axes));
    if (node.prim == Prim::kFlip) return node.operands[0];
    if (node.prim == Prim::kConcat && axes.contains(static_cast<size_t>(node.attr<int64_t>("axis")))) std::reverse(node.operands.begin(), node.operands.end());
    if (task::is_scan(node.prim) && axes.contains(static_cast<size_t>(node.attr<int64_t>("axis")))) node.attrs["reverse"] = !node.attr<bool>("reverse");
    return append(graph_, std::move(node));
  }

  /// A slice of an input, through slices and views that a nest follows.
  [[nodiscard]] bool is_read(int id) const {
    const Node& node = graph_.node(id);
    if (node.prim == Prim::kSlice || node.prim == Prim::kTranspose || node.prim == Prim::kFlip) return is_read(node.operands[0]);
    return node.prim == Prim::kInput;
  }

  Graph& graph_;
  std::map<std::pair<int, Axes>, bool> can_;
  std::map<std::pair<int, Axes>, int> made_;
};

}  // namespace

int flipped_first(Graph& graph, const Node& flip) {
  if (flip.prim != Prim::kFlip) return -1;
  FlipFirst first(graph);
  const int from = flip.operands[0];
  const Prim below = graph.node(from).prim;
  // Of what is read in place already nothing moves.
  if (below == Prim::kInput || below == Prim::kSlice) return -1;
  return first.can(from, axes_of(flip)) ? first.of(from, axes_of(flip)) : -1;
}

int turned_round(Graph& graph, int id, size_t axis) {
  FlipFirst first(graph);
  return first.can(id, {axis}) ? first.of(id, {axis}) : -1;
}

size_t flips_below(const Graph& graph, int id) {
  std::set<int> seen;
  std::vector<int> work{id};
  size_t all = 0;
  while (!work.empty()) {
    const int at = work.back();
    work.pop_back();
    if (!seen.insert(at).second) continue;
    const Node& node = graph.node(at);
    if (node.prim == Prim::kFlip) all += axes_of(node).size();
    work.insert(work.end(), node.operands.begin(), node.operands.end());
  }
  return all;
}

}  // namespace hone::pattern
