#include "hone/evaluate/computed_instead.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/clock.h"
#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

using task::ConcreteGraph;
using task::Node;
using task::Prim;
using task::Shape;

/// As many are tried one by one; beyond that those that vectors and blocks leave over.
constexpr int64_t kLeftOutOneByOne = 16;
constexpr int64_t kWidestBlock = 1024;
/// Of the differences from what is expected, what may be left beside what was computed instead.
constexpr double kMostLeft = 1.0 / 16;

/// An axis that a node sums or otherwise folds, as operand and dimension; of a contraction both operands'.
struct Folded {
  int node = 0;
  std::vector<std::pair<size_t, size_t>> dims;  ///< operand of the node, dimension of it
  int64_t extent = 0;
  std::string name;   ///< as the task has it: "D", "2 * D", "4096"
};

Shape operand_shape(const ConcreteGraph& graph, const Node& node, size_t operand) { return graph.shapes[static_cast<size_t>(node.operands[operand])]; }

std::vector<Folded> folded_axes(const task::Graph& symbolic, const ConcreteGraph& graph) {
  std::vector<Folded> all;
  const auto add = [&](int id, std::vector<std::pair<size_t, size_t>> dims) {
    const Node& node = graph.graph.node(id);
    const auto [operand, dim] = dims.front();
    const int64_t extent = operand_shape(graph, node, operand)[dim];
    if (extent < 2) return;
    all.push_back({id, std::move(dims), extent, symbolic.node(symbolic.node(id).operands[operand]).type.dims[dim].to_string()});
  };
  for (int id = 0; id < static_cast<int>(graph.graph.nodes.size()); ++id) {
    const Node& node = graph.graph.node(id);
    if (task::is_reduction(node.prim)) {
      for (const int64_t axis : ints_attr(node, "axes")) add(id, {{0, static_cast<size_t>(axis)}});
    } else if (node.prim == Prim::kDot) {
      const EinsumSpec spec = einsum_spec(node);
      for (size_t i = 0; i < spec.a.size(); ++i)
        if (const size_t j = spec.b.find(spec.a[i]); j != std::string::npos && spec.result.find(spec.a[i]) == std::string::npos) add(id, {{0, i}, {1, j}});
    } else if (node.prim == Prim::kConv && int_attr(node, "groups") == 1) {
      add(id, {{0, 1}, {1, 1}});
    }
  }
  return all;
}

/// The graph with `left_out` elements at the end (or at the beginning) of each of these axes left out.
ConcreteGraph without_some(const ConcreteGraph& graph, std::span<const Folded> axes, int64_t left_out, bool at_end) {
  ConcreteGraph out;
  out.bindings = graph.bindings;
  out.graph.output_names = graph.graph.output_names;
  std::vector<int> now(graph.graph.nodes.size());
  const auto add = [&](Node node, Shape shape) {
    node.type.dims.assign(shape.begin(), shape.end());
    out.graph.nodes.push_back(std::move(node));
    out.shapes.push_back(std::move(shape));
    return static_cast<int>(out.shapes.size()) - 1;
  };
  for (size_t id = 0; id < now.size(); ++id) {
    Node node = graph.graph.nodes[id];
    for (int& operand : node.operands) operand = now[static_cast<size_t>(operand)];
    for (const Folded& axis : axes) {
      if (axis.node != static_cast<int>(id)) continue;
      for (const auto& [operand, dim] : axis.dims) {
        Node slice;
        slice.op = task::name_of(Prim::kSlice);
        slice.prim = Prim::kSlice;
        slice.operands = {node.operands[operand]};
        slice.type.dtype = out.graph.node(node.operands[operand]).type.dtype;
        Shape shape = out.shapes[static_cast<size_t>(node.operands[operand])], start(shape.size(), 0);
        shape[dim] -= left_out;
        if (!at_end) start[dim] = left_out;
        slice.attrs["start"] = start;
        slice.attrs["step"] = std::vector<int64_t>(shape.size(), 1);
        node.operands[operand] = add(std::move(slice), std::move(shape));
      }
    }
    now[id] = add(std::move(node), graph.shapes[id]);
  }
  for (const int id : graph.graph.inputs) out.graph.inputs.push_back(now[static_cast<size_t>(id)]);
  for (const int id : graph.graph.outputs) out.graph.outputs.push_back(now[static_cast<size_t>(id)]);
  return out;
}

/// How many of n may be left out by whoever goes in steps: one by one a few, what is behind whole vectors and blocks, all behind the first one.
std::vector<int64_t> numbers_left_out(int64_t n) {
  std::set<int64_t> all;
  for (int64_t k = 1; k < n && k <= kLeftOutOneByOne; ++k) all.insert(k);
  for (int64_t width = 2; width <= kWidestBlock && width < n; width *= 2) all.insert({n % width, n - width});
  all.erase(0);
  return {all.begin(), all.end()};
}

class Search {
 public:
  Search(const task::Task& task, const ConcreteGraph& graph, std::span<const TensorView> inputs, const WrongValues& seen, double bound, int64_t until_ns)
      : task_(task), graph_(graph), inputs_(inputs.begin(), inputs.end()), seen_(seen), output_(seen.output), bound_(bound), until_ns_(until_ns) {}

  std::optional<Instead> run() {
    if (judged_by_value(graph_, output_) >= 0 || std::ranges::none_of(seen_.wrong, [](bool is) { return is; })) return std::nullopt;
    if (auto said = reductions()) return said;
    if (auto said = exchanged_extents()) return said;
    return inputs_read_otherwise();
  }

 private:
  [[nodiscard]] bool late() const { return base::system_clock().now_ns() >= until_ns_; }

  /// All that was found is what this computation of these inputs gives, by the gate's own measure.
  [[nodiscard]] bool agrees(const ConcreteGraph& graph, const std::vector<TensorView>& inputs) const {
    const Box box = whole(graph.shapes[static_cast<size_t>(graph.graph.outputs[static_cast<size_t>(output_)])]);
    const Oracle oracle(graph, inputs, task_.track);
    Reference reference;
    reference.boxes = {box};
    reference.answers.push_back(oracle.evaluate(output_, box, Arithmetic::kExact, true));
    const Answer& answer = reference.answers.front();
    if (!explains(answer)) return false;
    const std::vector<bool> still = wrong_elements(graph, output_, reference, seen_.data, bound_);
    return std::ranges::none_of(still, [](bool is) { return is; });
  }

  /// Of what was wrong little is left, beside this answer: where rounding is magnified without end the gate would let anything pass.
  [[nodiscard]] bool explains(const Answer& answer) const {
    const task::DType type = graph_.graph.node(graph_.graph.outputs[static_cast<size_t>(output_)]).type.dtype;
    double off = 0, left = 0;
    for (size_t i = 0; i < seen_.wrong.size(); ++i) {
      if (!seen_.wrong[i]) continue;
      if (!std::isfinite(answer.scale[i])) return false;
      const double value = round_to(type, answer.value[i]);
      if (std::isfinite(value) != std::isfinite(seen_.found[i])) return false;
      if (!std::isfinite(value) || !std::isfinite(seen_.expected[i])) continue;
      off += std::abs(seen_.found[i] - seen_.expected[i]);
      left += std::abs(seen_.found[i] - value);
    }
    return left <= kMostLeft * off;
  }

  std::optional<Instead> reductions() const {
    const std::vector<Folded> axes = folded_axes(task_.primitive, graph_);
    // Each by itself, then all along an axis together: passes over one row are often written alike.
    std::vector<std::vector<Folded>> sets;
    std::map<std::string, std::vector<Folded>> along;
    for (const Folded& axis : axes) {
      sets.push_back({axis});
      along[axis.name].push_back(axis);
    }
    for (auto& [name, together] : along)
      if (together.size() > 1) sets.push_back(std::move(together));
    for (const std::vector<Folded>& set : sets) {
      std::vector<std::string> names;
      for (const Folded& axis : set) names.emplace_back(task::name_of(graph_.graph.node(axis.node).prim));
      std::ranges::sort(names);
      names.erase(std::ranges::unique(names).begin(), names.end());
      const std::string what = fmt::format("{} over {}", fmt::join(names, " and "), set.front().name);
      const int64_t extent = set.front().extent;
      const char* const verb = names.size() > 1 ? "leave" : "leaves";
      for (const int64_t k : numbers_left_out(extent)) {
        if (late()) return std::nullopt;
        if (agrees(without_some(graph_, set, k, true), inputs_))
          return Instead{fmt::format("they hold what comes out where {} ({} long) {} out the last {}: a tail is missing in it", what, extent, verb, k),
                         fmt::format("they hold what comes out where {} {} out the last elements: a tail is missing in it", what, verb)};
      }
      if (late()) return std::nullopt;
      if (agrees(without_some(graph_, set, 1, false), inputs_))
        return Instead{fmt::format("they hold what comes out where {} ({} long) {} out the first", what, extent, verb), fmt::format("they hold what comes out where {} {} out the first", what, verb)};
    }
    return std::nullopt;
  }

  /// As if one symbol's extent were the other's, memory being what it is.
  std::optional<Instead> exchanged_extents() const {
    const task::Bindings& bindings = graph_.bindings;
    for (auto a = bindings.begin(); a != bindings.end(); ++a)
      for (auto b = std::next(a); b != bindings.end(); ++b) {
        if (late()) return std::nullopt;
        if (a->second == b->second) continue;
        task::Bindings swapped = bindings;
        std::swap(swapped[a->first], swapped[b->first]);
        if (moves_an_index(swapped)) continue;
        const auto other = task::instantiate(task_.primitive, swapped);
        if (!other) continue;
        const auto count = [&](const ConcreteGraph& graph, int id) { return task::element_count(graph.shapes[static_cast<size_t>(id)]); };
        const size_t out = static_cast<size_t>(output_);
        bool fits = count(*other, other->graph.outputs[out]) == count(graph_, graph_.graph.outputs[out]);
        std::vector<TensorView> views = inputs_;
        for (size_t i = 0; i < views.size(); ++i) {
          fits = fits && count(*other, other->graph.inputs[i]) <= count(graph_, graph_.graph.inputs[i]);
          views[i].shape = other->shapes[static_cast<size_t>(other->graph.inputs[i])];
        }
        if (fits && agrees(*other, views))
          return Instead{fmt::format("they hold what comes out where the extents {} and {} (here {} and {}) are exchanged", a->first, b->first, a->second, b->second),
                         fmt::format("they hold what comes out where the extents {} and {} are exchanged", a->first, b->first)};
      }
    return std::nullopt;
  }

  /// Indices that are in range as they are need not be at other extents.
  [[nodiscard]] bool moves_an_index(const task::Bindings& bindings) const {
    return std::ranges::any_of(task_.inputs, [&](const task::InputSpec& input) {
      if (input.domain != task::Domain::kIndex) return false;
      const auto here = input.index_bound.eval(graph_.bindings), there = input.index_bound.eval(bindings);
      return !here || !there || *there < *here;
    });
  }

  std::optional<Instead> inputs_read_otherwise() const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Shape& shape = inputs_[i].shape;
      const size_t rank = shape.size();
      const auto named = [&](size_t axis) { return task_.inputs[i].type.dims[axis].to_string(); };
      for (size_t axis = 0; axis + 1 < rank; ++axis) {
        if (shape[axis] < 2 || shape[axis + 1] < 2) continue;
        Shape stored = shape;
        std::swap(stored[axis], stored[axis + 1]);
        std::vector<int64_t> steps = strides(stored);
        std::swap(steps[axis], steps[axis + 1]);
        if (late()) return std::nullopt;
        const std::string said = fmt::format("they hold what comes out where {} is read as if its axes {} and {} were stored the other way round", task_.inputs[i].name, named(axis), named(axis + 1));
        if (agrees_reading(i, steps)) return Instead{said, said};
      }
      // Rows of another extent's length, where that does not lead out of the tensor.
      std::set<int64_t> lengths;
      for (const auto& [symbol, value] : graph_.bindings) lengths.insert(value);
      for (const int64_t length : lengths) {
        if (rank < 2 || shape[rank - 2] < 2 || length >= shape.back()) continue;
        std::vector<int64_t> steps(rank, 1);
        steps[rank - 2] = length;
        for (size_t axis = rank - 2; axis-- > 0;) steps[axis] = steps[axis + 1] * shape[axis + 1];
        if (late()) return std::nullopt;
        if (agrees_reading(i, steps))
          return Instead{fmt::format("they hold what comes out where rows of {} are taken to be {} long and not {}", task_.inputs[i].name, length, shape.back()),
                         fmt::format("they hold what comes out where rows of {} are taken to be as long as another extent", task_.inputs[i].name)};
      }
    }
    return std::nullopt;
  }

  static std::vector<int64_t> strides(const Shape& shape) {
    std::vector<int64_t> all(shape.size(), 1);
    for (size_t axis = shape.size(); axis-- > 1;) all[axis - 1] = all[axis] * shape[axis];
    return all;
  }

  /// With an input that is read at other steps.
  [[nodiscard]] bool agrees_reading(size_t input, const std::vector<int64_t>& steps) const {
    const TensorView& view = inputs_[input];
    const auto element = static_cast<size_t>(task::size_of(view.dtype));
    const int64_t count = task::element_count(view.shape);
    std::vector<std::byte> read(static_cast<size_t>(count) * element);
    std::vector<int64_t> place(view.shape.size(), 0);
    for (int64_t flat = 0, from = 0; flat < count; ++flat) {
      std::memcpy(read.data() + static_cast<size_t>(flat) * element, static_cast<const std::byte*>(view.data) + static_cast<size_t>(from) * element, element);
      for (size_t axis = place.size(); axis-- > 0;) {
        from += steps[axis];
        if (++place[axis] < view.shape[axis]) break;
        from -= steps[axis] * view.shape[axis];
        place[axis] = 0;
      }
    }
    std::vector<TensorView> views = inputs_;
    views[input].data = read.data();
    return agrees(graph_, views);
  }

  const task::Task& task_;
  const ConcreteGraph& graph_;
  std::vector<TensorView> inputs_;
  const WrongValues& seen_;
  int output_;
  double bound_;
  int64_t until_ns_;
};

}  // namespace

std::optional<Instead> computed_instead(const task::Task& task, const ConcreteGraph& graph, std::span<const TensorView> inputs, const WrongValues& seen, double bound, int64_t until_ns) {
  return Search(task, graph, inputs, seen, bound, until_ns).run();
}

}  // namespace hone::evaluate
