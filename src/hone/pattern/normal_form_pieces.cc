// Parts of what is joined or padded, taken where they come from: the inside of a stencil over turned rows (roll) or over a padded picture is
// element-wise work on neighbours in memory, and what lies round it is never made.
#include <algorithm>
#include <optional>

#include "hone/pattern/nest.h"
#include "hone/pattern/normal_form_parts.h"

namespace hone::pattern {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// a <= b whatever the symbols are, as far as that shows.
bool at_most(const IntExpr& a, const IntExpr& b) {
  const IntExpr gap = b - a;
  return gap.is_constant() && gap.constant() >= 0;
}

/// What is taken of a tensor, without steps.
struct Taken {
  Dims start, dims;
};

/// One slice of the graph, as computed from slices of what is below.
class FromPieces {
 public:
  FromPieces(const Graph& graph, const std::vector<int>& users, Graph& out, const Placed& placed)
      : graph_(graph), users_(users), out_(out), placed_(placed) {}

  /// The node that `slice` is then; -1 where it meets nothing joined or padded of which it takes one piece.
  int of(const Node& slice) {
    const auto taken = taken_of(slice);
    if (!taken || !is_private(slice.operands[0])) return -1;
    const int made = part(slice.operands[0], *taken);
    return found_ ? made : -1;
  }

 private:
  /// Nobody else uses it, so that nothing is computed twice.
  [[nodiscard]] bool is_private(int id) const { return users_[static_cast<size_t>(id)] == 1; }

  [[nodiscard]] static std::optional<Taken> taken_of(const Node& slice) {
    const auto& step = slice.attr<std::vector<int64_t>>("step");
    if (std::ranges::any_of(step, [](int64_t s) { return s != 1; })) return std::nullopt;
    return Taken{slice.attr<Dims>("start"), slice.type.dims};
  }

  /// The part `taken` of node `id`.
  int part(int id, const Taken& taken) {
    const Node& node = graph_.node(id);
    if (node.type.dims == taken.dims) return placed_(id);
    if (is_private(id)) {
      if (const int joined = of_one_piece(node, taken); joined >= 0) return joined;
      if ((task::is_elementwise(node.prim) || node.prim == Prim::kBroadcast) && of_one_rank(node)) return of_operands(node, taken);
      if (node.prim == Prim::kSlice)
        if (auto first = taken_of(node)) {
          for (size_t d = 0; d < taken.start.size(); ++d) first->start[d] = first->start[d] + taken.start[d];
          return part(node.operands[0], {first->start, taken.dims});
        }
    }
    return add(Prim::kSlice, {placed_(id)}, taken, node, {{"start", taken.start}, {"step", std::vector<int64_t>(taken.start.size(), 1)}});
  }

  /// Where all of it lies in one piece of a concatenation, or inside what a padding surrounds; -1: it does not, or nobody can say.
  int of_one_piece(const Node& node, const Taken& taken) {
    if (node.prim == Prim::kConcat) {
      const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
      IntExpr begin = 0;
      for (const int piece : node.operands) {
        const IntExpr end = begin + graph_.node(piece).type.dims[axis];
        if (at_most(begin, taken.start[axis]) && at_most(taken.start[axis] + taken.dims[axis], end)) {
          found_ = true;
          Taken inside = taken;
          inside.start[axis] = taken.start[axis] - begin;
          return part(piece, inside);
        }
        begin = end;
      }
    }
    if (node.prim == Prim::kPad) {
      const Dims &low = node.attr<Dims>("low"), &whole = graph_.node(node.operands[0]).type.dims;
      Taken inside = taken;
      for (size_t d = 0; d < whole.size(); ++d) {
        if (!at_most(low[d], taken.start[d]) || !at_most(taken.start[d] + taken.dims[d], low[d] + whole[d])) return -1;
        inside.start[d] = taken.start[d] - low[d];
      }
      found_ = true;
      return part(node.operands[0], inside);
    }
    return -1;
  }

  [[nodiscard]] bool of_one_rank(const Node& node) const {
    return std::ranges::all_of(node.operands, [&](int operand) {
      const size_t rank = graph_.node(operand).type.dims.size();
      return rank == 0 || rank == node.type.dims.size();
    });
  }
  /// The same work on parts of its operands; of one that is the same along a dimension, that.
  int of_operands(const Node& node, const Taken& taken) {
    Node made = node;
    made.type.dims = taken.dims;
    for (int& operand : made.operands) {
      const Dims& dims = graph_.node(operand).type.dims;
      if (dims.empty()) {
        operand = placed_(operand);
        continue;
      }
      Taken mine = taken;
      for (size_t d = 0; d < dims.size(); ++d)
        if (is_one(dims[d]) && !is_one(node.type.dims[d])) mine.start[d] = 0, mine.dims[d] = 1;
      operand = part(operand, mine);
    }
    return append(out_, std::move(made));
  }

  int add(Prim prim, std::vector<int> operands, const Taken& taken, const Node& of, task::Attrs attrs) {
    return append(out_, node_of(prim, std::move(operands), {of.type.dtype, taken.dims}, std::move(attrs)));
  }

  const Graph& graph_;
  const std::vector<int>& users_;
  Graph& out_;
  const Placed& placed_;
  bool found_ = false;
};

}  // namespace

task::Task with_pieces(const task::Task& task) {
  const Graph& graph = task.primitive;
  const auto joins = [](const Node& node) { return node.prim == Prim::kConcat || node.prim == Prim::kPad; };
  if (std::ranges::none_of(graph.nodes, joins)) return task;
  std::vector<int> users(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes)
    for (const int operand : node.operands) ++users[static_cast<size_t>(operand)];
  for (const int output : graph.outputs) ++users[static_cast<size_t>(output)];
  task::Task rewritten = remade(task, [&](Graph& out, const Node& original, const Placed& placed) {
    if (original.prim == Prim::kSlice)
      if (const int made = FromPieces(graph, users, out, placed).of(original); made >= 0) return made;
    return append(out, moved(original, placed));
  });
  drop_dead(rewritten.primitive);
  return rewritten;
}

}  // namespace hone::pattern
