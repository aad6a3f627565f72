#include "hone/task/graph/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

namespace hone::task {
namespace {

using Ints = std::vector<int64_t>;

std::string text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

class Checker {
 public:
  Checker(const Graph& graph, const Node& symbolic, const Node& node, const std::vector<Shape>& shapes)
      : graph_(graph), symbolic_(symbolic), node_(node), shapes_(shapes), result_(shapes.back()) {}

  std::string run() const {
    if (is_elementwise(node_.prim)) return elementwise();
    switch (node_.prim) {
      case Prim::kBroadcast:
        return elementwise();
      case Prim::kReshape:
        return reshape();
      case Prim::kSlice:
        return slice();
      case Prim::kPad:
        return pad();
      case Prim::kConcat:
        return concat();
      case Prim::kDot:
        return dot();
      case Prim::kConv:
        return conv();
      case Prim::kConvTranspose:
        return conv_transpose();
      case Prim::kTakeAlongAxis:
        return take_along_axis();
      case Prim::kScatterAdd: case Prim::kScatterMax: case Prim::kScatterMin:
        return scatter_add();
      default:
        return "";
    }
  }

 private:
  [[nodiscard]] const Shape& in(size_t i) const { return shapes_[static_cast<size_t>(node_.operands[i])]; }
  [[nodiscard]] const Dims& symbolic_dims(size_t i) const { return graph_.node(node_.operands[i]).type.dims; }

  /// Each dimension is the result's, or is written 1 in the symbolic shape.
  [[nodiscard]] std::string elementwise() const {
    for (size_t i = 0; i < node_.operands.size(); ++i) {
      if (in(i).empty()) continue;
      HONE_CHECK(in(i).size() == result_.size(), node_.op);
      for (size_t k = 0; k < result_.size(); ++k)
        if (in(i)[k] != result_[k] && symbolic_dims(i)[k] != IntExpr(1))
          return fmt::format("shapes {} and {} do not agree: {} is {} but {} is {}", text(in(i)),
                             text(result_), symbolic_dims(i)[k].to_string(), in(i)[k],
                             symbolic_.type.dims[k].to_string(), result_[k]);
    }
    return "";
  }

  [[nodiscard]] std::string reshape() const {
    const int64_t from = element_count(in(0));
    const int64_t to = element_count(result_);
    if (from == to) return "";
    return fmt::format("reshape of {} ({} elements) to {} ({})", text(in(0)), from, text(result_), to);
  }

  [[nodiscard]] std::string slice() const {
    const auto& start = node_.attr<Ints>("start");
    const auto& step = node_.attr<Ints>("step");
    for (size_t k = 0; k < result_.size(); ++k) {
      const __int128 last = start[k] + static_cast<__int128>(result_[k] - 1) * step[k];
      if (start[k] >= 0 && last < in(0)[k]) continue;
      if (result_[k] == 1)
        return fmt::format("index {} is out of range for axis {} of extent {}", start[k], k, in(0)[k]);
      return fmt::format("axis {} of extent {} is sliced from {} to {}", k, in(0)[k], start[k],
                         static_cast<int64_t>(std::min<__int128>(last + 1, INT64_MAX)));
    }
    return "";
  }

  [[nodiscard]] std::string pad() const {
    const auto& low = node_.attr<Ints>("low");
    const auto& high = node_.attr<Ints>("high");
    for (size_t k = 0; k < result_.size(); ++k)
      if (low[k] < 0 || high[k] < 0)
        return fmt::format("padding of axis {} is negative: {} and {}", k, low[k], high[k]);
    return "";
  }

  [[nodiscard]] std::string concat() const {
    const auto axis = static_cast<size_t>(node_.attr<int64_t>("axis"));
    for (size_t i = 1; i < node_.operands.size(); ++i)
      for (size_t k = 0; k < result_.size(); ++k)
        if (k != axis && in(i)[k] != in(0)[k])
          return fmt::format("{} and {} cannot be joined along axis {}", text(in(0)), text(in(i)), axis);
    return "";
  }

  [[nodiscard]] std::string dot() const {
    const std::string& spec = node_.attr<std::string>("spec");
    std::map<char, int64_t> extents;
    size_t operand = 0;
    size_t axis = 0;
    for (const char c : spec.substr(0, spec.find('-'))) {
      if (c == ',') {
        ++operand;
        axis = 0;
        continue;
      }
      const int64_t extent = in(operand)[axis];
      const auto [it, fresh] = extents.emplace(c, extent);
      if (!fresh && it->second != extent)
        return fmt::format("{} and {} cannot be multiplied: {} is {} but {} is {}", text(in(0)), text(in(1)),
                           symbolic_dims(operand)[axis].to_string(), extent, label(spec, c), it->second);
      ++axis;
    }
    return "";
  }

  /// The first operand's name for the letter.
  [[nodiscard]] std::string label(const std::string& spec, char c) const {
    const size_t axis = spec.find(c);
    return axis < symbolic_dims(0).size() ? symbolic_dims(0)[axis].to_string() : std::string(1, c);
  }

  [[nodiscard]] std::string conv() const {
    const int64_t groups = node_.attr<int64_t>("groups");
    if (groups < 1) return fmt::format("groups must be at least 1, and is {}", groups);
    if (in(1)[0] % groups != 0)
      return fmt::format("the {} output channels of the weight {} do not split into {} groups", in(1)[0],
                         text(in(1)), groups);
    if (in(0)[1] != in(1)[1] * groups)
      return fmt::format("x has {} channels, but the weight {} with groups={} takes {}", in(0)[1],
                         text(in(1)), groups, in(1)[1] * groups);
    return "";
  }

  [[nodiscard]] std::string conv_transpose() const {
    const int64_t groups = node_.attr<int64_t>("groups");
    if (groups < 1) return fmt::format("groups must be at least 1, and is {}", groups);
    if (in(0)[1] != in(1)[0])
      return fmt::format("x has {} channels, but the weight {} takes {}", in(0)[1], text(in(1)), in(1)[0]);
    if (in(0)[1] % groups != 0)
      return fmt::format("the {} channels of x do not split into {} groups", in(0)[1], groups);
    return "";
  }

  [[nodiscard]] std::string scatter_add() const {
    const auto axis = static_cast<size_t>(node_.attr<int64_t>("axis"));
    for (size_t k = 0; k < result_.size(); ++k)
      if (in(1)[k] != in(2)[k] || (k != axis && in(0)[k] != in(2)[k]))
        return fmt::format("source {} and indices {} do not fit {} outside axis {}", text(in(2)), text(in(1)), text(in(0)), axis);
    return "";
  }

  [[nodiscard]] std::string take_along_axis() const {
    const auto axis = static_cast<size_t>(node_.attr<int64_t>("axis"));
    for (size_t k = 0; k < result_.size(); ++k)
      if (k != axis && in(0)[k] != in(1)[k])
        return fmt::format("indices {} do not fit {} outside axis {}", text(in(1)), text(in(0)), axis);
    return "";
  }

  const Graph& graph_;
  const Node& symbolic_;
  const Node& node_;
  const std::vector<Shape>& shapes_;
  const Shape& result_;
};

/// Extents of a node of the surface graph; none where an expression has no value (instantiate says why).
std::optional<Shape> extents(const Node& node, const Bindings& bindings) {
  Shape shape;
  for (const IntExpr& dim : node.type.dims) {
    const auto value = dim.eval(bindings);
    if (!value) return std::nullopt;
    shape.push_back(*value);
  }
  return shape;
}

std::string not_positive(const Node& node, const Shape& result) {
  if (std::all_of(result.begin(), result.end(), [](int64_t extent) { return extent >= 1; })) return "";
  const std::string subject = node.op == "input" ? fmt::format("the input '{}' is", node.name)
                                                 : node.op + " gives";
  return fmt::format("{} {}{}: every extent must be at least 1", subject, name_of(node.type.dtype),
                     text(result));
}

/// `x` is the shape of the first operand.
std::string broken_surface_rule(const Node& node, const Shape& x, const Shape& result,
                                const Bindings& bindings) {
  const auto axis = [&] { return static_cast<size_t>(node.attr<int64_t>("axis")); };
  if (node.op == "chunk" || node.op == "split") {
    int64_t total = 0;
    for (const IntExpr& size : node.attr<Dims>("sizes")) total += size.eval(bindings).value_or(0);
    if (total != x[axis()])
      return fmt::format("the parts of {} have {} elements in all, but axis {} has {}", node.op, total,
                         axis(), x[axis()]);
  }
  if (node.op == "glu" && x[axis()] % 2 != 0)
    return fmt::format("glu halves axis {}, whose extent {} is odd", axis(), x[axis()]);
  if (node.op == "topk" && result[axis()] > x[axis()])
    return fmt::format("topk takes 1 to {} elements, found {}", x[axis()], result[axis()]);
  if (node.op == "group_norm") {
    const int64_t groups = node.attr<IntExpr>("groups").eval(bindings).value_or(0);
    if (groups < 1 || x[1] % groups != 0)
      return fmt::format("group_norm: {} channels do not split into {} groups", x[1], groups);
  }
  if (node.op == "roll") {
    const auto& axes = node.attr<Ints>("axis");
    for (size_t i = 0; i < axes.size(); ++i)
      if (const int64_t shift = node.attr<Ints>("shifts")[i];
          std::abs(shift) > x[static_cast<size_t>(axes[i])])
        return fmt::format("roll moves by {}, but axis {} has {} elements", shift, axes[i],
                           x[static_cast<size_t>(axes[i])]);
  }
  return "";
}

}  // namespace

Status check_surface(const Graph& surface, const Bindings& bindings) {
  std::vector<std::optional<Shape>> shapes;
  for (const Node& node : surface.nodes) {
    shapes.push_back(extents(node, bindings));
    if (!shapes.back()) continue;
    std::string broken = not_positive(node, *shapes.back());
    if (broken.empty() && !node.operands.empty())
      if (const auto& x = shapes[static_cast<size_t>(node.operands[0])])
        broken = broken_surface_rule(node, *x, *shapes.back(), bindings);
    if (!broken.empty())
      return fail(ErrorCode::kInput, broken, "", fmt::format("{}:{}", node.where.line, node.where.column));
  }
  return {};
}

std::string broken_rule(const Graph& graph, const Node& symbolic, const Node& concrete,
                        const std::vector<Shape>& shapes) {
  return Checker(graph, symbolic, concrete, shapes).run();
}

}  // namespace hone::task
