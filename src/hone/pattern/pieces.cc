#include "hone/pattern/pieces.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "hone/pattern/normal_form_parts.h"

namespace hone::pattern {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// The dimension of `from` that dimension `axis` of `to` is, where a reshape between them moves extents of 1 only.
std::optional<size_t> same_dim(const Dims& from, const Dims& to, size_t axis) {
  std::vector<size_t> mine, theirs;
  for (size_t d = 0; d < to.size(); ++d)
    if (!is_one(to[d])) mine.push_back(d);
  for (size_t d = 0; d < from.size(); ++d)
    if (!is_one(from[d])) theirs.push_back(d);
  if (mine.size() != theirs.size()) return std::nullopt;
  std::optional<size_t> found;
  for (size_t k = 0; k < mine.size(); ++k) {
    if (!(from[theirs[k]] == to[mine[k]])) return std::nullopt;
    if (mine[k] == axis) found = theirs[k];
  }
  return found;
}

/// The operand's dimension that dimension `axis` of a view of it is; nothing where there is none.
std::optional<size_t> axis_below(const Graph& graph, const Node& view, size_t axis) {
  const Dims& below = graph.node(view.operands[0]).type.dims;
  if (view.prim == Prim::kReshape) return same_dim(below, view.type.dims, axis);
  if (view.prim == Prim::kTranspose) return static_cast<size_t>(view.attr<std::vector<int64_t>>("perm")[axis]);
  return is_one(below[axis]) ? std::nullopt : std::optional(axis);
}

bool joins(const Node& node, size_t axis) { return node.prim == Prim::kConcat && node.attr<int64_t>("axis") == static_cast<int64_t>(axis); }

/// The first concatenation that lies along dimension `axis` of node `id`, through element-wise operations and views; -1.
int find_join(const Graph& graph, int id, size_t axis) {
  const Node& node = graph.node(id);
  if (joins(node, axis)) return id;
  if (is_view(node)) {
    const auto below = axis_below(graph, node, axis);
    return below ? find_join(graph, node.operands[0], *below) : -1;
  }
  if (!task::is_elementwise(node.prim)) return -1;
  for (const int operand : node.operands) {
    const Dims& dims = graph.node(operand).type.dims;
    if (dims.empty() || is_one(dims[axis])) continue;
    if (const int found = find_join(graph, operand, axis); found >= 0) return found;
  }
  return -1;
}

/// Builds one piece's graph: nodes from `start` on, `extent` long, along an axis that changes on the way down.
class Narrower {
 public:
  Narrower(const Graph& from, IntExpr start, IntExpr extent) : from_(from), start_(std::move(start)), extent_(std::move(extent)) {}

  int part(int id, size_t axis) {
    const auto [it, fresh] = parts_.try_emplace({id, axis}, -1);
    if (!fresh) return it->second;
    const int made = make(id, axis);
    return parts_[{id, axis}] = made;
  }

  int add(Node node) {
    graph.nodes.push_back(std::move(node));
    return static_cast<int>(graph.nodes.size()) - 1;
  }

  Graph graph;
  std::vector<int> inputs;  ///< of the whole graph, by their numbers there, in the order of graph.inputs

 private:
  int whole(int id) {
    if (const auto it = wholes_.find(id); it != wholes_.end()) return it->second;
    Node node = from_.node(id);
    for (int& operand : node.operands) operand = whole(operand);
    const bool input = node.prim == Prim::kInput;
    const int made = add(std::move(node));
    if (input) {
      graph.inputs.push_back(made);
      inputs.push_back(id);
    }
    return wholes_[id] = made;
  }

  task::TensorType narrowed(const Node& node, size_t axis) const {
    task::TensorType type = node.type;
    type.dims[axis] = extent_;
    return type;
  }

  int make(int id, size_t axis) {
    const Node& node = from_.node(id);
    const Dims& dims = node.type.dims;
    if (dims.empty() || is_one(dims[axis])) return whole(id);
    if (joins(node, axis)) {
      IntExpr start = 0;
      for (const int operand : node.operands) {
        const IntExpr& extent = from_.node(operand).type.dims[axis];
        if (start == start_ && extent == extent_) return whole(operand);
        start = start + extent;
      }
    }
    const bool elementwise = task::is_elementwise(node.prim);
    const auto below = is_view(node) ? axis_below(from_, node, axis) : std::nullopt;
    if (elementwise || below || node.prim == Prim::kBroadcast) {
      Node copy = node;
      for (int& operand : copy.operands) operand = elementwise ? part(operand, axis) : below ? part(operand, *below) : whole(operand);
      copy.type = narrowed(node, axis);
      return add(std::move(copy));
    }
    // Anything else is cut out as it is: in place from an input, and not at all from what is computed.
    Node slice = node_of(Prim::kSlice, {whole(id)}, narrowed(node, axis));
    Dims start(dims.size(), 0);
    start[axis] = start_;
    slice.attrs["start"] = std::move(start);
    slice.attrs["step"] = std::vector<int64_t>(dims.size(), 1);
    return add(std::move(slice));
  }

  const Graph& from_;
  IntExpr start_, extent_;
  std::map<int, int> wholes_;
  std::map<std::pair<int, size_t>, int> parts_;
};

Piece piece_of(const task::Task& task, size_t axis, const IntExpr& start, const IntExpr& extent) {
  const Graph& graph = task.primitive;
  const Node& output = graph.node(graph.outputs.front());
  Narrower narrower(graph, start, extent);
  int root = narrower.part(graph.outputs.front(), axis);
  Placement placed{0, dense(output.type.dims)};
  placed.base = start * placed.strides[axis];
  // Written from the last to the first, what is flipped is read from the first to the last: as other pieces may read it too.
  for (size_t d = 0; d < placed.strides.size(); ++d) {
    const size_t flips = flips_below(narrower.graph, root);
    const int turned = flips > 0 ? turned_round(narrower.graph, root, d) : -1;
    if (turned < 0 || flips_below(narrower.graph, turned) >= flips) continue;
    root = turned;
    placed.base = placed.base + (narrower.graph.node(root).type.dims[d] - 1) * placed.strides[d];
    placed.strides[d] = placed.strides[d] * -1;
  }
  // A node of its own, as what is stored may also be what is read.
  const int stored = narrower.add(node_of(Prim::kReshape, {root}, narrower.graph.node(root).type));
  Piece piece;
  piece.task = task;
  piece.task.inputs.clear();
  for (const int input : narrower.inputs) {
    const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), input) - graph.inputs.begin();
    piece.task.inputs.push_back(task.inputs[static_cast<size_t>(at)]);
  }
  piece.task.primitive = std::move(narrower.graph);
  piece.task.primitive.outputs = {stored};
  piece.task.primitive.output_names = graph.output_names;
  piece.task.outputs.front().second = piece.task.primitive.node(stored).type;
  piece.placed = std::move(placed);
  drop_dead(piece.task.primitive);
  return piece;
}

/// The same memory, where what is stored was reshaped on the way, then worked on element by element: as it was before the reshape, whose
/// axes may be ones that the output has no more ([D, 2] of 2 * D). Nothing where there was none.
std::optional<task::Task> without_reshape(const task::Task& task) {
  const Graph& graph = task.primitive;
  std::vector<int> above;
  int id = graph.outputs.front();
  while (task::is_elementwise(graph.node(id).prim) && graph.node(id).operands.size() == 1) {
    above.push_back(id);
    id = graph.node(id).operands[0];
  }
  if (graph.node(id).prim != Prim::kReshape) return std::nullopt;
  task::Task same = task;
  int made = graph.node(id).operands[0];
  const Dims dims = graph.node(made).type.dims;
  for (size_t k = above.size(); k-- > 0;) {
    Node copy = graph.node(above[k]);
    copy.operands = {made};
    copy.type.dims = dims;
    same.primitive.nodes.push_back(std::move(copy));
    made = static_cast<int>(same.primitive.nodes.size()) - 1;
  }
  same.primitive.outputs = {made};
  same.outputs.front().second.dims = dims;
  return same;
}

/// Adds a piece to those that are made together, with what they share once.
void join_piece(JoinedPieces& all, const Piece& piece) {
  Graph& out = all.task.primitive;
  const Graph& graph = piece.task.primitive;
  std::vector<int> place;
  for (const Node& node : graph.nodes) {
    Node copy = node;
    for (int& operand : copy.operands) operand = place[static_cast<size_t>(operand)];
    const bool stored = place.size() + 1 == graph.nodes.size();  // each output is a node of its own
    const auto same = [&](const Node& other) {
      return other.prim == copy.prim && other.operands == copy.operands && other.attrs == copy.attrs && other.type == copy.type;
    };
    const auto found = stored ? out.nodes.end() : std::find_if(out.nodes.begin(), out.nodes.end(), same);
    place.push_back(static_cast<int>(found - out.nodes.begin()));
    if (found != out.nodes.end()) continue;
    if (copy.prim == Prim::kInput) {
      const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), static_cast<int>(place.size()) - 1) - graph.inputs.begin();
      out.inputs.push_back(place.back());
      all.task.inputs.push_back(piece.task.inputs[static_cast<size_t>(at)]);
    }
    out.nodes.push_back(std::move(copy));
  }
  out.outputs.push_back(place.back());
  out.output_names.push_back(graph.output_names.front());
  all.placed.push_back(piece.placed);
}

}  // namespace

Result<std::vector<JoinedPieces>> joined_pieces(const task::Task& task) {
  HONE_TRY(const std::vector<Piece> pieces, pieces_of(task));
  std::vector<JoinedPieces> all;
  for (const Piece& piece : pieces) {
    const Dims& dims = piece.task.outputs.front().second.dims;
    const auto found = std::find_if(all.begin(), all.end(), [&](const JoinedPieces& one) { return one.task.outputs.front().second.dims == dims; });
    if (found != all.end()) {
      join_piece(*found, piece);
      continue;
    }
    JoinedPieces fresh{piece.task, {}};
    fresh.task.inputs.clear();
    fresh.task.primitive = {};
    join_piece(fresh, piece);
    all.push_back(std::move(fresh));
  }
  return all;
}

Result<std::vector<Piece>> pieces_of(const task::Task& task) {
  const Graph& graph = task.primitive;
  if (graph.outputs.size() != 1) return fail(ErrorCode::kUnavailable, "more than one output");
  const int output = graph.outputs.front();
  for (size_t axis = 0; axis < graph.node(output).type.dims.size(); ++axis) {
    const int join = find_join(graph, output, axis);
    if (join < 0) continue;
    std::vector<Piece> pieces;
    IntExpr start = 0;
    const auto along = static_cast<size_t>(graph.node(join).attr<int64_t>("axis"));
    for (const int operand : graph.node(join).operands) {
      const IntExpr& extent = graph.node(operand).type.dims[along];
      pieces.push_back(piece_of(task, axis, start, extent));
      start = start + extent;
    }
    return pieces;
  }
  if (const auto seen_through = without_reshape(task)) return pieces_of(*seen_through);
  return fail(ErrorCode::kUnavailable, "no concatenation along an axis of the output");
}

}  // namespace hone::pattern
