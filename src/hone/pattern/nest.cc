#include "hone/pattern/nest.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "hone/pattern/expression.h"

namespace hone::pattern {
namespace {

using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

IntExpr product_of(const std::vector<IntExpr>& extents) {
  IntExpr all = 1;
  for (const IntExpr& e : extents) all = all * e;
  return all;
}

/// Axes under construction. An axis may turn out to be another one, or to consist of several.
class AxisTable {
 public:
  /// `constants`: of two axes of one length, one of which is a number, the number stays.
  AxisTable(const task::Task& task, bool constants) : task_(task), constants_(constants) {}

  int fresh(IntExpr extent) {
    entries_.push_back({std::move(extent), {}});
    return static_cast<int>(entries_.size()) - 1;
  }
  [[nodiscard]] const IntExpr& extent(int axis) const { return entries_[static_cast<size_t>(axis)].extent; }

  /// The list with every alias and split replaced by what it stands for.
  [[nodiscard]] std::vector<int> resolve(const std::vector<int>& axes) const {
    std::vector<int> out;
    for (const int axis : axes) {
      const auto& parts = entries_[static_cast<size_t>(axis)].parts;
      if (parts.empty()) {
        out.push_back(axis);
      } else {
        const auto inner = resolve(parts);
        out.insert(out.end(), inner.begin(), inner.end());
      }
    }
    return out;
  }

  /// Makes two products of axes the same one, splitting axes where they must be.
  Status unify(const std::vector<int>& left, const std::vector<int>& right) {
    std::vector<int> a = resolve(left), b = resolve(right);
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        ++i, ++j;
        continue;
      }
      const IntExpr ea = extent(a[i]), eb = extent(b[j]);
      HONE_TRY(const int order, compare(ea, eb));
      if (order == 0) {
        alias(a[i], b[j]);
        ++i, ++j;
      } else if (order > 0) {
        HONE_TRY_VOID(split(a, i, eb));
      } else {
        HONE_TRY_VOID(split(b, j, ea));
      }
    }
    // What is left over must be of extent one.
    for (; i < a.size(); ++i) HONE_TRY_VOID(vanish(a[i]));
    for (; j < b.size(); ++j) HONE_TRY_VOID(vanish(b[j]));
    return {};
  }

  std::vector<IntExpr> conditions;

 private:
  struct Entry {
    IntExpr extent;
    std::vector<int> parts;   ///< one: an alias; several: a split; empty: itself
  };

  void alias(int a, int b) {
    if (constants_ && extent(a).is_constant() && !extent(b).is_constant()) {
      std::swap(a, b);
      conditions.push_back(IntExpr::parse(fmt::format("({}) == {}", extent(a).to_string(), extent(b).to_string())).value());
    }
    entries_[static_cast<size_t>(a)].parts = {b};
  }

  /// -1, 0, 1 by value at every workload; an Error where workloads disagree.
  Result<int> compare(const IntExpr& a, const IntExpr& b) const {
    if (a == b) return 0;
    std::optional<int> all;
    for (const task::Workload& workload : task_.workloads) {
      HONE_TRY(const int64_t x, a.eval(workload.bindings));
      HONE_TRY(const int64_t y, b.eval(workload.bindings));
      const int one = x < y ? -1 : x > y;
      if (all && *all != one) return fail(ErrorCode::kUnavailable, "the workloads disagree on how axes split");
      all = one;
    }
    return all.value_or(0);
  }

  /// Splits axes[at] into (rest, ?)… : outer part of extent `outer`, and what remains inside.
  Status split(std::vector<int>& axes, size_t at, const IntExpr& outer) {
    const IntExpr whole = extent(axes[at]);
    const IntExpr remainder = IntExpr::mod(whole, outer);
    for (const task::Workload& workload : task_.workloads) {
      HONE_TRY(const int64_t rest, remainder.eval(workload.bindings));
      if (rest != 0)
        return fail(ErrorCode::kUnavailable, fmt::format("an axis of {} cannot be split by {}", whole.to_string(), outer.to_string()));
    }
    if (!whole.is_constant() || !outer.is_constant())
      conditions.push_back(IntExpr::parse(fmt::format("({}) % ({}) == 0", whole.to_string(), outer.to_string())).value());
    const int first = fresh(outer);
    const auto exact = IntExpr::divide_exactly(whole, outer);
    const int second = fresh(exact ? *exact : constants_ ? simple_quotient(whole, outer) : IntExpr::floor_div(whole, outer));
    entries_[static_cast<size_t>(axes[at])].parts = {first, second};
    axes[at] = first;
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at) + 1, second);
    return {};
  }

  /// whole // outer, which leaves no rest; of G * S // 2 by G it is S // 2.
  IntExpr simple_quotient(const IntExpr& whole, const IntExpr& outer) {
    const std::string text = whole.to_string();
    const size_t by = text.rfind(" // ");
    if (by != std::string::npos) {
      const auto of = IntExpr::parse(text.substr(0, by)), divisor = IntExpr::parse(text.substr(by + 4));
      const auto rest = of && divisor && divisor->is_constant() && IntExpr::floor_div(*of, *divisor) == whole ? IntExpr::divide_exactly(*of, outer) : std::nullopt;
      if (rest) {
        conditions.push_back(IntExpr::parse(fmt::format("({}) % {} == 0", rest->to_string(), divisor->to_string())).value());
        return IntExpr::floor_div(*rest, *divisor);
      }
    }
    return IntExpr::floor_div(whole, outer);
  }

  Status vanish(int axis) const {
    HONE_TRY(const int order, compare(extent(axis), 1));
    if (order == 0) return {};
    return fail(ErrorCode::kUnavailable, "a reshape that the loop nest cannot follow");
  }

  const task::Task& task_;
  bool constants_;
  std::vector<Entry> entries_;
};

/// Operations a nest understands.
bool supported(const Node& node) {
  switch (node.prim) {
    case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kIota:
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice: case Prim::kFlip:
    case Prim::kGather: case Prim::kTakeAlongAxis:
      return true;
    default:
      return task::is_elementwise(node.prim) || task::is_reduction(node.prim);
  }
}

using DimAxes = std::vector<std::vector<int>>;   ///< axes of each dimension of one node

/// What each operand of a concatenation has of its axis, where all have as much.
std::optional<IntExpr> even_piece(const Graph& graph, const Node& node) {
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const IntExpr& piece = graph.node(node.operands.front()).type.dims[axis];
  for (const int operand : node.operands)
    if (!(graph.node(operand).type.dims[axis] == piece)) return std::nullopt;
  return piece;
}

std::vector<int> flat(const DimAxes& dims) {
  std::vector<int> all;
  for (const auto& d : dims) all.insert(all.end(), d.begin(), d.end());
  return all;
}

/// An index that moves by a fixed step along each of its dimensions: windows side by side or over each other.
struct EvenIndex {
  IntExpr base = 0;
  Strides steps;
};

std::optional<EvenIndex> even_index(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  const size_t rank = node.type.dims.size();
  EvenIndex own{0, Strides(rank, IntExpr(0))};
  const auto constant = [](const EvenIndex& e) { return std::all_of(e.steps.begin(), e.steps.end(), is_zero); };
  const auto operand = [&](size_t k) -> std::optional<EvenIndex> {
    auto found = even_index(graph, node.operands[k]);
    if (!found) return found;
    const auto& dims = graph.node(node.operands[k]).type.dims;
    for (size_t d = 0; d < dims.size(); ++d)
      if (is_one(dims[d])) found->steps[d] = 0;
    found->steps.resize(rank, IntExpr(0));   // of a number
    return found;
  };
  switch (node.prim) {
    case Prim::kIota: own.steps[static_cast<size_t>(node.attr<int64_t>("axis"))] = 1; return own;
    case Prim::kConstant:
      if (const auto* value = std::get_if<int64_t>(&node.attrs.find("value")->second)) return EvenIndex{*value, own.steps};
      return std::nullopt;
    case Prim::kSymbol: return EvenIndex{node.attr<IntExpr>("value"), own.steps};
    case Prim::kBroadcast: return operand(0);
    case Prim::kAdd: case Prim::kSub: case Prim::kMul: break;
    default: return std::nullopt;
  }
  auto a = operand(0), b = operand(1);
  if (!a || !b) return std::nullopt;
  if (node.prim == Prim::kMul) {
    if (constant(*a)) std::swap(a, b);
    if (!constant(*b)) return std::nullopt;
    for (size_t d = 0; d < rank; ++d) own.steps[d] = a->steps[d] * b->base;
    own.base = a->base * b->base;
    return own;
  }
  const bool adds = node.prim == Prim::kAdd;
  for (size_t d = 0; d < rank; ++d) own.steps[d] = adds ? a->steps[d] + b->steps[d] : a->steps[d] - b->steps[d];
  own.base = adds ? a->base + b->base : a->base - b->base;
  return own;
}

/// A slice of an input, also through permutations, flips, further slices and even indices; nothing for anything else.
std::optional<Access> slice_of_input(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (node.prim == Prim::kInput) return Access{id, 0, dense(node.type.dims), {}};
  if (node.prim == Prim::kTranspose) {
    auto from = slice_of_input(graph, node.operands[0]);
    if (!from) return from;
    Strides strides;
    for (const int64_t dim : node.attr<std::vector<int64_t>>("perm")) strides.push_back(from->strides[static_cast<size_t>(dim)]);
    from->strides = std::move(strides);
    return from;
  }
  if (node.prim == Prim::kFlip) {
    auto from = slice_of_input(graph, node.operands[0]);
    if (!from) return from;
    for (const int64_t axis : node.attr<std::vector<int64_t>>("axes")) {
      IntExpr& stride = from->strides[static_cast<size_t>(axis)];
      from->base = from->base + (node.type.dims[static_cast<size_t>(axis)] - 1) * stride;
      stride = stride * -1;
    }
    return from;
  }
  if (node.prim == Prim::kGather) {
    const auto index = even_index(graph, node.operands[1]);
    auto from = index ? slice_of_input(graph, node.operands[0]) : std::nullopt;
    if (!from) return from;
    const auto at = from->strides.begin() + static_cast<std::ptrdiff_t>(node.attr<int64_t>("axis"));
    const IntExpr stride = *at;
    from->base = from->base + index->base * stride;
    Strides steps;
    for (const IntExpr& step : index->steps) steps.push_back(step * stride);
    from->strides.insert(from->strides.erase(at), steps.begin(), steps.end());
    return from;
  }
  if (node.prim != Prim::kSlice) return std::nullopt;
  auto from = slice_of_input(graph, node.operands[0]);
  if (!from) return from;
  const auto& start = node.attr<task::Dims>("start");
  const auto& step = node.attr<std::vector<int64_t>>("step");
  for (size_t d = 0; d < start.size(); ++d) {
    from->base = from->base + start[d] * from->strides[d];
    from->strides[d] = from->strides[d] * IntExpr(step[d]);
  }
  return from;
}

/// By an index that is read or computed element by element.
bool is_picked(const Graph& graph, const Node& node) {
  return node.prim == Prim::kTakeAlongAxis || (node.prim == Prim::kGather && !even_index(graph, node.operands[1]));
}

/// What `node` is read as; nothing where it is a slice or a choice of something computed.
std::optional<Access> access_of(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (!is_picked(graph, node)) return slice_of_input(graph, id);
  auto from = slice_of_input(graph, node.operands[0]);
  if (!from) return from;
  const auto axis = static_cast<std::ptrdiff_t>(node.attr<int64_t>("axis"));
  from->index = node.operands[1];
  from->index_stride = from->strides[static_cast<size_t>(axis)];
  // The index says where along that dimension: its own dimensions move nothing else.
  const size_t rank = node.prim == Prim::kGather ? graph.node(from->index).type.dims.size() : 1;
  from->strides.erase(from->strides.begin() + axis);
  from->strides.insert(from->strides.begin() + axis, rank, IntExpr(0));
  return from;
}

/// Ties the dimensions of an index to those that it stands for.
Status tie_index(const Graph& graph, size_t id, std::vector<DimAxes>& dims, AxisTable& table) {
  const Node& node = graph.nodes[id];
  const DimAxes& index = dims[static_cast<size_t>(node.operands[1])];
  const auto first = node.prim == Prim::kGather ? static_cast<size_t>(node.attr<int64_t>("axis")) : 0;
  for (size_t d = 0; d < index.size(); ++d)
    if (!index[d].empty()) HONE_TRY_VOID(table.unify(index[d], dims[id][first + d]));
  return {};
}

/// Ties the dimensions of a node to those of its operands.
Status tie(const Graph& graph, size_t id, std::vector<DimAxes>& dims, AxisTable& table) {
  const Node& node = graph.nodes[id];
  if (is_access(node) && is_picked(graph, node)) return tie_index(graph, id, dims, table);
  if (is_access(node)) return {};
  DimAxes& mine = dims[id];
  for (const int operand : node.operands) {
    const DimAxes& theirs = dims[static_cast<size_t>(operand)];
    if (theirs.empty()) continue;
    if (node.prim == Prim::kReshape) {
      HONE_TRY_VOID(table.unify(flat(theirs), flat(mine)));
      continue;
    }
    if (node.prim == Prim::kTranspose) {
      const auto& perm = node.attr<std::vector<int64_t>>("perm");
      for (size_t d = 0; d < perm.size(); ++d)
        HONE_TRY_VOID(table.unify(theirs[static_cast<size_t>(perm[d])], mine[d]));
      continue;
    }
    HONE_CHECK(theirs.size() == mine.size(), "element-wise operands share a rank");
    if (node.prim == Prim::kConcat && node.operands.size() > 1) {
      const auto along = static_cast<size_t>(node.attr<int64_t>("axis"));
      for (size_t d = 0; d < mine.size(); ++d) {
        const std::vector<int> place = d == along ? std::vector<int>(mine[d].begin() + 1, mine[d].end()) : mine[d];
        HONE_TRY_VOID(table.unify(theirs[d], place));
      }
      continue;
    }
    for (size_t d = 0; d < mine.size(); ++d)
      if (!mine[d].empty() && !theirs[d].empty()) HONE_TRY_VOID(table.unify(theirs[d], mine[d]));
  }
  return {};
}

/// Outputs of one shape that have no axis in common are made by the same loops, as the pieces of a concatenation are.
Status tie_outputs(const Graph& graph, const std::vector<DimAxes>& dims, AxisTable& table) {
  for (size_t k = 1; k < graph.outputs.size(); ++k)
    for (size_t first = 0; first < k; ++first) {
      const auto a = static_cast<size_t>(graph.outputs[first]), b = static_cast<size_t>(graph.outputs[k]);
      if (!(graph.nodes[a].type.dims == graph.nodes[b].type.dims)) continue;
      const std::vector<int> mine = table.resolve(flat(dims[a])), theirs = table.resolve(flat(dims[b]));
      if (std::ranges::find_first_of(mine, theirs) == mine.end())
        for (size_t d = 0; d < dims[a].size(); ++d) HONE_TRY_VOID(table.unify(dims[a][d], dims[b][d]));
      break;
    }
  return {};
}

/// Merges axes that are neighbours in every tensor that has either, with one role.
void merge_axes(Nest& nest) {
  const auto& graph = *nest.graph;
  for (bool again = true; again;) {
    again = false;
    for (size_t k = 0; k + 1 < nest.order.size() && !again; ++k) {
      const int a = nest.order[k], b = nest.order[k + 1];
      if (std::find(nest.fenced.begin(), nest.fenced.end(), b) != nest.fenced.end()) continue;
      if (nest.axes[static_cast<size_t>(a)].reduced != nest.axes[static_cast<size_t>(b)].reduced) continue;
      bool together = true;
      for (size_t id = 0; id < graph.nodes.size() && together; ++id) {
        const auto& axes = nest.of_node[id];
        const auto at = std::find(axes.begin(), axes.end(), a);
        const auto next = std::find(axes.begin(), axes.end(), b);
        if (at == axes.end() && next == axes.end()) continue;
        together = at != axes.end() && next != axes.end() && next == at + 1;
        // An index along one axis cannot be told from the merged one.
        const Prim op = graph.nodes[id].prim;
        // Dimensions of a slice do not lie one behind the other.
        if (nest.access.contains(static_cast<int>(id)) || nest.placed.contains(static_cast<int>(id))) together = false;
        if (op == Prim::kIota || op == Prim::kArgMax || op == Prim::kArgMin) together = false;
        // A scan starts anew on every other axis.
        if (task::is_scan(op)) {
          const auto along = nest.axis_of_dim(static_cast<int>(id), graph.nodes[id].attr<int64_t>("axis"));
          if (!along || *along == a || *along == b) together = false;
        }
      }
      for (size_t id = 0; id < graph.nodes.size() && together; ++id) {
        if (!task::is_reduction(graph.nodes[id].prim)) continue;
        const auto gone = nest.removed_by(static_cast<int>(id));
        const bool has_a = std::find(gone.begin(), gone.end(), a) != gone.end();
        const bool has_b = std::find(gone.begin(), gone.end(), b) != gone.end();
        together = has_a == has_b;
      }
      if (!together) continue;
      nest.axes[static_cast<size_t>(a)].extent =
          nest.axes[static_cast<size_t>(a)].extent * nest.axes[static_cast<size_t>(b)].extent;
      for (auto& axes : nest.of_node) std::erase(axes, b);
      nest.order.erase(nest.order.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      again = true;
    }
  }
}

}  // namespace

Strides dense(const task::Dims& dims) {
  Strides strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

bool Nest::has(int node, int axis) const {
  const auto& axes_of = of_node[static_cast<size_t>(node)];
  return std::find(axes_of.begin(), axes_of.end(), axis) != axes_of.end();
}

std::optional<int> Nest::axis_of_dim(int node, int64_t dim) const {
  const auto& dims = graph->node(node).type.dims;
  const auto& mine = of_node[static_cast<size_t>(node)];
  size_t before = 0, all = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!is_one(dims[d])) ++all, before += static_cast<int64_t>(d) < dim;
  if (is_one(dims[static_cast<size_t>(dim)])) return std::nullopt;
  if (all == mine.size()) return mine[before];
  // Dimensions on one side of it may have been merged: as many elements lie before the axis as before the dimension.
  IntExpr lines = 1, passed = 1;
  for (int64_t d = 0; d < dim; ++d) lines = lines * dims[static_cast<size_t>(d)];
  for (const int axis : mine) {
    const IntExpr& extent = axes[static_cast<size_t>(axis)].extent;
    if (passed == lines && extent == dims[static_cast<size_t>(dim)]) return axis;
    passed = passed * extent;
  }
  return std::nullopt;
}

std::vector<int> Nest::removed_by(int node) const {
  std::vector<int> gone;
  const Node& reduction = graph->node(node);
  for (const int axis : of_node[static_cast<size_t>(reduction.operands[0])])
    if (!has(node, axis)) gone.push_back(axis);
  return gone;
}

bool is_view(const Node& node) { return node.prim == Prim::kBroadcast || node.prim == Prim::kReshape || node.prim == Prim::kTranspose; }

int only_reader(const task::Graph& graph, int id) {
  int reader = -1;
  for (size_t at = static_cast<size_t>(id) + 1; at < graph.nodes.size(); ++at) {
    if (std::ranges::count(graph.nodes[at].operands, id) == 0) continue;
    if (reader >= 0) return -1;
    reader = static_cast<int>(at);
  }
  return std::ranges::count(graph.outputs, id) > 0 ? -1 : reader;
}

std::optional<std::vector<size_t>> ends_of_runs(const task::Dims& coarse, const task::Dims& fine) {
  std::vector<size_t> ends;
  size_t end = 0;
  for (const IntExpr& extent : coarse) {
    IntExpr all = 1;
    while (end < fine.size() && (!(all == extent) || is_one(fine[end]))) all = all * fine[end++];
    if (!(all == extent)) return std::nullopt;
    ends.push_back(end);
  }
  return end == fine.size() ? std::optional(ends) : std::nullopt;
}

bool is_access(const Node& node) {
  return node.prim == Prim::kSlice || node.prim == Prim::kFlip || node.prim == Prim::kGather || node.prim == Prim::kTakeAlongAxis;
}

IntExpr Nest::stride(int node, int axis) const {
  const auto read = access.find(node), written = placed.find(node);
  if (read != access.end() || written != placed.end()) {
    const auto& own = read != access.end() ? read : written;
    for (size_t d = 0; d < own->second.axes.size(); ++d) {
      const auto& of_dim = own->second.axes[d];
      const auto at = std::find(of_dim.begin(), of_dim.end(), axis);
      if (at == of_dim.end()) continue;
      IntExpr step = own->second.strides[d];
      for (auto it = at + 1; it != of_dim.end(); ++it) step = step * axes[static_cast<size_t>(*it)].extent;
      return step;
    }
    return 0;
  }
  const auto& mine = of_node[static_cast<size_t>(node)];
  const auto at = std::find(mine.begin(), mine.end(), axis);
  if (at == mine.end()) return 0;
  std::vector<IntExpr> inner;
  for (auto it = at + 1; it != mine.end(); ++it) inner.push_back(axes[static_cast<size_t>(*it)].extent);
  return product_of(inner);
}

Result<Nest> find_nest(const task::Task& task, const NestOptions& options) {
  const Graph& graph = task.primitive;
  std::map<int, Access> slices;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!is_access(graph.nodes[id])) continue;
    if (!options.slices) return fail(ErrorCode::kUnavailable, fmt::format("no loop nest for {}", task::name_of(graph.nodes[id].prim)));
    auto slice = access_of(graph, static_cast<int>(id));
    if (!slice) return fail(ErrorCode::kUnavailable, fmt::format("a {} of something computed", task::name_of(graph.nodes[id].prim)));
    slices.emplace(static_cast<int>(id), std::move(*slice));
  }
  const auto joins = [&](const Node& node) { return options.apart && node.prim == Prim::kConcat && even_piece(graph, node); };
  for (const Node& node : graph.nodes)
    if (!supported(node) && !joins(node) && !(options.scans && task::is_scan(node.prim)))
      return fail(ErrorCode::kUnavailable, fmt::format("no loop nest for {}", task::name_of(node.prim)));
  AxisTable table(task, options.apart);
  std::vector<DimAxes> dims(graph.nodes.size());
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    for (const IntExpr& extent : graph.nodes[id].type.dims)
      dims[id].push_back(is_one(extent) ? std::vector<int>{} : std::vector<int>{table.fresh(extent)});
  // Along a concatenation: which of its operands, and where in that one.
  std::map<size_t, int> piece_axes;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.prim != Prim::kConcat || node.operands.size() < 2) continue;
    const IntExpr piece = *even_piece(graph, node);
    auto& along = dims[id][static_cast<size_t>(node.attr<int64_t>("axis"))];
    along = {table.fresh(static_cast<int64_t>(node.operands.size()))};
    piece_axes[id] = along.front();
    if (!is_one(piece)) along.push_back(table.fresh(piece));
  }
  // Nodes that nothing but slices look at have no axes here: the slices say where they read. Nor has what makes an even index.
  std::vector<bool> looked_at(graph.nodes.size(), false);
  for (const int output : graph.outputs) looked_at[static_cast<size_t>(output)] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const Node& node = graph.nodes[id];
    if (!looked_at[id]) {
      dims[id].clear();
      continue;
    }
    const size_t first = !is_access(node) ? 0 : is_picked(graph, node) ? 1 : node.operands.size();
    for (size_t k = first; k < node.operands.size(); ++k) looked_at[static_cast<size_t>(node.operands[k])] = true;
  }
  std::erase_if(slices, [&](const auto& one) { return !looked_at[static_cast<size_t>(one.first)]; });
  // A reduction keeps its reduced dimension with extent 1: it has no axis there, so tying works on it
  // as on any broadcast.
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (looked_at[id]) HONE_TRY_VOID(tie(graph, id, dims, table));
  HONE_TRY_VOID(tie_outputs(graph, dims, table));

  Nest nest;
  nest.graph = &graph;
  nest.conditions = table.conditions;
  std::vector<int> number;   // table axis -> nest axis
  const auto nest_axis = [&](int axis) {
    for (size_t i = 0; i < number.size(); ++i)
      if (number[i] == axis) return static_cast<int>(i);
    number.push_back(axis);
    nest.axes.push_back({table.extent(axis), false});
    return static_cast<int>(number.size()) - 1;
  };
  nest.of_node.resize(graph.nodes.size());
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    for (const int axis : table.resolve(flat(dims[id]))) {
      // Positions compared with themselves, x[:, None] * x: the same elements along two dimensions.
      if (nest.has(static_cast<int>(id), nest_axis(axis)))
        return fail(ErrorCode::kUnavailable, "one axis along two dimensions");
      nest.of_node[id].push_back(nest_axis(axis));
    }
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (task::is_reduction(graph.nodes[id].prim))
      for (const int axis : nest.removed_by(static_cast<int>(id))) nest.axes[static_cast<size_t>(axis)].reduced = true;

  for (const auto& [id, axis] : piece_axes)
    for (const int part : table.resolve({axis})) nest.pieces[static_cast<int>(id)].push_back(nest_axis(part));
  nest.of_dims.resize(graph.nodes.size());
  for (size_t id = 0; options.apart && id < graph.nodes.size(); ++id)
    for (const auto& of_dim : dims[id]) {
      nest.of_dims[id].emplace_back();
      for (const int axis : table.resolve(of_dim)) nest.of_dims[id].back().push_back(nest_axis(axis));
    }
  for (auto& [id, slice] : slices) {
    for (const auto& of_dim : dims[static_cast<size_t>(id)]) {
      slice.axes.emplace_back();
      for (const int axis : table.resolve(of_dim)) slice.axes.back().push_back(nest_axis(axis));
    }
    nest.access.emplace(id, std::move(slice));
  }
  for (size_t k = 0; k < options.placed.size(); ++k) {
    const int output = graph.outputs[k];
    Access& own = nest.placed[output];
    own.base = options.placed[k].base;
    own.strides = options.placed[k].strides;
    for (const auto& of_dim : dims[static_cast<size_t>(output)]) {
      own.axes.emplace_back();
      for (const int axis : table.resolve(of_dim)) own.axes.back().push_back(nest_axis(axis));
    }
  }

  // Loop order: that of the tensors in memory, the ones with most axes first; axes that only smaller
  // tensors have go where those tensors put them.
  std::vector<int> memory = options.by_outputs ? graph.outputs : graph.inputs;
  const std::vector<int>& others = options.by_outputs ? graph.inputs : graph.outputs;
  memory.insert(memory.end(), others.begin(), others.end());
  for (size_t id = 0; id < graph.nodes.size(); ++id) memory.push_back(static_cast<int>(id));
  std::stable_sort(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(graph.inputs.size() + graph.outputs.size()),
                   [&](int a, int b) { return nest.of_node[static_cast<size_t>(a)].size() > nest.of_node[static_cast<size_t>(b)].size(); });
  for (const int node : memory) {
    size_t after = 0;
    for (const int axis : nest.of_node[static_cast<size_t>(node)]) {
      const auto at = std::find(nest.order.begin(), nest.order.end(), axis);
      if (at != nest.order.end()) {
        after = static_cast<size_t>(at - nest.order.begin()) + 1;
      } else {
        nest.order.insert(nest.order.begin() + static_cast<std::ptrdiff_t>(after), axis);
        ++after;
      }
    }
  }
  // An input that only slices look at has no axes of its own, and what slices are read along is never merged.
  for (const size_t fence : options.fences) {
    const DimAxes& first = dims[static_cast<size_t>(graph.inputs.front())];
    const auto axes = first.empty() ? std::vector<int>{} : table.resolve(first[fence]);
    if (!axes.empty()) nest.fenced.push_back(nest_axis(axes.front()));
  }
  if (!options.apart) merge_axes(nest);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.prim != Prim::kIota || !looked_at[id]) continue;
    const int64_t dim = node.attr<int64_t>("axis");
    if (!is_one(node.type.dims[static_cast<size_t>(dim)]) && !nest.axis_of_dim(static_cast<int>(id), dim))
      return fail(ErrorCode::kUnavailable, "an index along an axis that is taken apart");
  }
  return nest;
}

}  // namespace hone::pattern
