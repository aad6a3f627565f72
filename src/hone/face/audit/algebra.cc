#include "hone/face/audit/algebra.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/face/audit/leave_out.h"
#include "hone/task/graph/fold.h"

namespace hone::face::audit {
namespace {

using task::ConcreteGraph;
using task::Node;
using task::Prim;
using task::Shape;
using Axes = std::vector<bool>;

/// KernelBench's for f32, absolute and relative.
constexpr double kBenchmarkTolerance = 1e-4;

const Shape& shape_of(const ConcreteGraph& graph, int id) { return graph.shapes[static_cast<size_t>(id)]; }
bool any(const Axes& axes) { return std::find(axes.begin(), axes.end(), true) != axes.end(); }
bool constant_along(const Shape& shape, size_t axis) { return shape.empty() || shape[axis] == 1; }

/// Axes of the operand in a row-major reshape: runs of axes that hold the same elements on both sides are all summed or none.
Axes through_reshape(const Shape& from, const Shape& to, const Axes& of_result) {
  Axes axes(from.size(), false);
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    const size_t first_i = i, first_j = j;
    int64_t left = from[i++], right = to[j++];
    while (left != right)
      if (left < right) left *= from[i++];
      else right *= to[j++];
    bool all = true;
    for (size_t k = first_j; k < j; ++k) all &= to[k] == 1 || of_result[k];
    for (size_t k = first_i; k < i; ++k) axes[k] = all && from[k] > 1;
  }
  return axes;
}

Axes through_dot(const Node& node, size_t operand, const Axes& of_result) {
  const evaluate::EinsumSpec spec = evaluate::einsum_spec(node);
  const std::string& mine = operand == 0 ? spec.a : spec.b;
  const std::string& other = operand == 0 ? spec.b : spec.a;
  Axes axes;
  for (const char letter : mine) {
    const size_t at = spec.result.find(letter);
    axes.push_back(other.find(letter) == std::string::npos && (at == std::string::npos || of_result[at]));
  }
  return axes;
}

Axes through_reduction(const ConcreteGraph& graph, const Node& node, const Axes& of_result) {
  const Shape& from = shape_of(graph, node.operands[0]);
  Axes axes = of_result;
  for (const int64_t axis : evaluate::ints_attr(node, "axes")) {
    const auto at = static_cast<size_t>(axis);
    if (node.prim != Prim::kSum && from[at] > 1) return Axes(from.size(), false);
    axes[at] = node.prim == Prim::kSum;
  }
  return axes;
}

/// Axes along which operand number `k` of node `id` is summed where the node's result is summed along `of_result`.
Axes through(const ConcreteGraph& graph, int id, size_t k, const Axes& of_result) {
  const Node& node = graph.graph.node(id);
  const int operand = node.operands[k];
  const Shape& from = shape_of(graph, operand);
  const Shape& to = shape_of(graph, id);
  const Axes none(from.size(), false);
  const auto where = [&](auto&& holds) {
    Axes axes = none;
    if (from.size() == to.size())
      for (size_t d = 0; d < from.size(); ++d) axes[d] = of_result[d] && holds(d);
    return axes;
  };
  const auto same = [&](size_t d) { return from[d] == to[d]; };
  const bool twice = std::count(node.operands.begin(), node.operands.end(), operand) > 1;
  switch (node.prim) {
    case Prim::kAdd: case Prim::kSub: case Prim::kNeg: case Prim::kBroadcast: return where(same);
    case Prim::kCast: {
      const task::DType type = graph.graph.node(operand).type.dtype;
      return task::is_float(type) && task::is_float(node.type.dtype) && task::size_of(node.type.dtype) >= task::size_of(type) ? where(same) : none;
    }
    case Prim::kDiv:
      if (k == 1) return none;
      [[fallthrough]];
    case Prim::kMul: {
      if (twice) return none;
      const Shape& factor = shape_of(graph, node.operands[1 - k]);
      return where([&](size_t d) { return same(d) && constant_along(factor, d); });
    }
    case Prim::kWhere: {
      const Shape& condition = shape_of(graph, node.operands[0]);
      return k == 0 ? none : where([&](size_t d) { return same(d) && constant_along(condition, d); });
    }
    case Prim::kSlice: case Prim::kPad: case Prim::kFlip: case Prim::kConcat: return where([](size_t) { return true; });
    case Prim::kReshape: return through_reshape(from, to, of_result);
    case Prim::kTranspose: {
      const std::vector<int64_t> perm = evaluate::ints_attr(node, "perm");
      Axes axes = none;
      for (size_t i = 0; i < perm.size(); ++i) axes[static_cast<size_t>(perm[i])] = of_result[i];
      return axes;
    }
    case Prim::kSum: case Prim::kMax: case Prim::kMin: case Prim::kProd: return through_reduction(graph, node, of_result);
    case Prim::kPoolSum: {
      const size_t leading = from.size() - evaluate::ints_attr(node, "kernel").size();
      Axes axes = of_result;
      for (size_t d = leading; d < axes.size(); ++d) axes[d] = axes[d] || to[d] == 1;
      return axes;
    }
    case Prim::kDot: return twice ? none : through_dot(node, k, of_result);
    default: return none;
  }
}

bool is_product(Prim prim) { return prim == Prim::kDot || prim == Prim::kConv || prim == Prim::kConvTranspose; }

/// Of those axes of a product's result, the ones whose sum is cheaper taken before it: not those that both operands have.
std::vector<size_t> cheaper(const Node& product, const Axes& axes) {
  std::vector<size_t> found;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (!axes[d]) continue;
    if (product.prim == Prim::kDot) {
      const evaluate::EinsumSpec spec = evaluate::einsum_spec(product);
      const char letter = spec.result[d];
      if (spec.a.find(letter) != std::string::npos && spec.b.find(letter) != std::string::npos) continue;
    }
    found.push_back(d);
  }
  return found;
}

/// "conv of [N, O, H - 2, W - 2], only ever summed along H - 2, W - 2"
std::string says(const task::Task& task, int id, const std::vector<size_t>& axes, std::string_view done) {
  const Node& node = task.primitive.node(id);
  std::vector<std::string> names, dims;
  for (const task::IntExpr& dim : node.type.dims) dims.push_back(dim.to_string());
  for (const size_t axis : axes) names.push_back(dims[axis]);
  return fmt::format("{} of [{}], only ever {} along {}", task::name_of(node.prim), fmt::join(dims, ", "), done, fmt::join(names, ", "));
}

std::vector<size_t> set_axes(const Axes& axes) {
  std::vector<size_t> found;
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d]) found.push_back(d);
  return found;
}

/// `id` and what it was made from element by element, of as many elements.
std::set<int> same_elements(const ConcreteGraph& graph, int id) {
  std::set<int> all;
  std::vector<int> todo{id};
  while (!todo.empty()) {
    const int next = todo.back();
    todo.pop_back();
    if (!all.insert(next).second) continue;
    const Node& node = graph.graph.node(next);
    if (!task::is_elementwise(node.prim) && node.prim != Prim::kReshape && node.prim != Prim::kTranspose) continue;
    for (const int operand : node.operands)
      if (task::element_count(shape_of(graph, operand)) == task::element_count(shape_of(graph, id))) todo.push_back(operand);
  }
  return all;
}

/// Whether `factor` is a statistic of `values`: what it depends on has a reduction of them.
bool is_statistic(const ConcreteGraph& graph, int factor, int values) {
  const std::set<int> sources = same_elements(graph, values);
  for (const int id : ancestors(graph.graph, factor)) {
    if (!task::is_reduction(graph.graph.node(id).prim)) continue;
    for (const int behind : ancestors(graph.graph, id))
      if (sources.contains(behind)) return true;
  }
  return false;
}

/// The axes along which node `id`, values scaled or moved by a statistic of theirs, is only summed.
Axes normalised(const ConcreteGraph& graph, int id, const Axes& summed) {
  const Node& node = graph.graph.node(id);
  Axes axes(summed.size(), false);
  if (node.prim != Prim::kMul && node.prim != Prim::kDiv && node.prim != Prim::kAdd && node.prim != Prim::kSub) return axes;
  for (size_t k = 0; k < 2; ++k) {
    const Shape& values = shape_of(graph, node.operands[k]);
    const Shape& factor = shape_of(graph, node.operands[1 - k]);
    if (values.size() != summed.size() || (node.prim == Prim::kDiv && k == 1)) continue;
    Axes here(summed.size(), false);
    for (size_t d = 0; d < summed.size(); ++d) here[d] = summed[d] && values[d] > 1 && constant_along(factor, d);
    if (!any(here) || !is_statistic(graph, node.operands[1 - k], node.operands[k])) continue;
    for (size_t d = 0; d < axes.size(); ++d) axes[d] = axes[d] || here[d];
  }
  return axes;
}

std::vector<int> uses_of(const task::Graph& graph) {
  std::vector<int> uses(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes)
    for (const int operand : node.operands) ++uses[static_cast<size_t>(operand)];
  for (const int output : graph.outputs) ++uses[static_cast<size_t>(output)];
  return uses;
}

/// The product that reaches a pooling by linear steps alone and nothing else, with the axes pooled.
std::optional<std::pair<int, std::vector<size_t>>> pooled_product(const ConcreteGraph& graph, const std::vector<int>& uses, int id, const Axes& axes) {
  if (!any(axes) || uses[static_cast<size_t>(id)] != 1) return std::nullopt;
  const Node& node = graph.graph.node(id);
  if (is_product(node.prim)) {
    std::vector<size_t> found = cheaper(node, axes);
    if (found.empty()) return std::nullopt;
    return std::pair(id, std::move(found));
  }
  for (size_t k = 0; k < node.operands.size(); ++k)
    if (auto found = pooled_product(graph, uses, node.operands[k], through(graph, id, k, axes))) return found;
  return std::nullopt;
}

Axes window_axes(const ConcreteGraph& graph, const Node& pool) {
  const std::vector<int64_t> kernel = evaluate::ints_attr(pool, "kernel");
  const size_t rank = shape_of(graph, pool.operands[0]).size();
  Axes axes(rank, false);
  for (size_t d = 0; d < kernel.size(); ++d) axes[rank - kernel.size() + d] = kernel[d] > 1;
  return axes;
}

/// A share of 1: values over their sum, along axes of so many elements; scaled by a number. Nothing for other nodes.
std::optional<double> mean_share(const ConcreteGraph& graph, int id) {
  double scale = 1;
  for (;;) {
    const Node& node = graph.graph.node(id);
    if (node.prim == Prim::kCast || node.prim == Prim::kReshape || node.prim == Prim::kTranspose) {
      id = node.operands[0];
      continue;
    }
    if (node.prim == Prim::kMul && graph.graph.node(node.operands[1]).prim == Prim::kConstant) {
      scale *= task::constant_value(graph.graph.node(node.operands[1]).attrs.find("value")->second);
      id = node.operands[0];
      continue;
    }
    if (node.prim != Prim::kDiv) return std::nullopt;
    int sum = node.operands[1];
    while (graph.graph.node(sum).prim == Prim::kReshape || graph.graph.node(sum).prim == Prim::kBroadcast) sum = graph.graph.node(sum).operands[0];
    const Node& whole = graph.graph.node(sum);
    if (whole.prim != Prim::kSum || whole.operands[0] != node.operands[0]) return std::nullopt;
    for (const int64_t axis : evaluate::ints_attr(whole, "axes")) scale /= static_cast<double>(shape_of(graph, node.operands[0])[static_cast<size_t>(axis)]);
    return std::abs(scale);
  }
}

}  // namespace

std::vector<std::vector<bool>> only_summed(const ConcreteGraph& graph) {
  std::vector<Axes> summed;
  for (const Shape& shape : graph.shapes) {
    summed.emplace_back();
    for (const int64_t extent : shape) summed.back().push_back(extent > 1);
  }
  for (const int output : graph.graph.outputs) summed[static_cast<size_t>(output)].assign(shape_of(graph, output).size(), false);
  for (int id = static_cast<int>(graph.graph.nodes.size()) - 1; id >= 0; --id) {
    const Node& node = graph.graph.node(id);
    for (size_t k = 0; k < node.operands.size(); ++k) {
      Axes& axes = summed[static_cast<size_t>(node.operands[k])];
      const Axes here = through(graph, id, k, summed[static_cast<size_t>(id)]);
      for (size_t d = 0; d < axes.size(); ++d) axes[d] = axes[d] && here[d];
    }
  }
  return summed;
}

std::vector<Finding> collapses(const task::Task& task, const ConcreteGraph& graph) {
  std::vector<Finding> findings;
  const std::vector<Axes> summed = only_summed(graph);
  const std::vector<int> uses = uses_of(graph.graph);
  std::set<int> known;
  std::vector<std::pair<int, Axes>> moments;
  for (int id = 0; id < static_cast<int>(graph.graph.nodes.size()); ++id) {
    const Node& node = graph.graph.node(id);
    const Axes& axes = summed[static_cast<size_t>(id)];
    if (is_product(node.prim)) {
      const std::vector<size_t> found = cheaper(node, axes);
      if (found.empty()) continue;
      known.insert(id);
      findings.push_back({Kind::kSummed, says(task, id, found, "summed")});
    } else if (Axes found = normalised(graph, id, axes); any(found)) {
      // Of several steps of one normalisation the last.
      const std::set<int> behind = ancestors(graph.graph, id);
      std::erase_if(moments, [&](const auto& earlier) { return behind.contains(earlier.first); });
      moments.emplace_back(id, std::move(found));
    } else if (node.prim == Prim::kPoolSum) {
      const auto product = pooled_product(graph, uses, node.operands[0], window_axes(graph, node));
      if (product && !known.contains(product->first)) findings.push_back({Kind::kPooled, says(task, product->first, product->second, "averaged")});
    }
  }
  for (const auto& [id, axes] : moments)
    findings.push_back({Kind::kMoments, "normalised values: " + says(task, id, set_axes(axes), "summed")});
  return findings;
}

std::vector<Finding> tiny_values(const task::Task& task) {
  std::vector<Finding> findings;
  for (size_t output = 0; output < task.primitive.outputs.size(); ++output) {
    double least = kBenchmarkTolerance;
    std::string at;
    for (const task::Workload& workload : task.workloads) {
      const auto graph = task::instantiate(task.primitive, workload.bindings);
      if (!graph) continue;
      const auto share = mean_share(*graph, graph->graph.outputs[output]);
      if (share && *share < least) least = *share, at = workload.name;
    }
    if (!at.empty()) findings.push_back({Kind::kTiny, fmt::format("{}: values of {:.2g} in the mean at `{}`", task.outputs[output].first, least, at)});
  }
  return findings;
}

}  // namespace hone::face::audit
