// Sums by index on GPUs: patterns/gpu/scatter.cu and scatter_columns.cu.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

/// Bytes of a block's sums.
constexpr int64_t kSums = 32768;

IntExpr extents_between(const task::Dims& dims, size_t begin, size_t end) {
  IntExpr all = 1;
  for (size_t d = begin; d < end; ++d) all = all * dims[d];
  return all;
}

/// An operand of the sum that is an input, seen through casts between numbers of one kind and through broadcasts from dimensions of
/// extent 1, or a constant.
struct ScatterOperand {
  std::string tensor, constant;
  bool outer = true, along = true, inner = true;   ///< has the dimensions before the axis, the axis and those behind

  /// The element at `outer`, `at` of `extent` and `column` of `columns`.
  [[nodiscard]] std::string element(const std::string& at, const std::string& extent, const std::string& columns) const {
    if (tensor.empty()) return constant;
    std::string place = outer ? "outer" : "";
    if (along) place = place.empty() ? at : fmt::format("({} * {} + {})", place, extent, at);
    if (inner) place = place.empty() ? "column" : fmt::format("{} * {} + column", place, columns);
    return fmt::format("hone::gpu::value({}[{}])", tensor, place.empty() ? "0" : place);
  }
};

std::optional<ScatterOperand> scatter_operand(const task::Graph& graph, int id, size_t axis) {
  ScatterOperand found;
  const task::Dims& dims = graph.node(id).type.dims;
  const task::Dims* own = &dims;
  for (;;) {
    const Node& node = graph.node(id);
    if (node.prim == Prim::kCast) {
      const Node& from = graph.node(node.operands[0]);
      // What is rounded on the way is not what is read.
      if (task::is_float(from.type.dtype) != task::is_float(node.type.dtype) || task::size_of(from.type.dtype) > task::size_of(node.type.dtype)) return std::nullopt;
    } else if (node.prim == Prim::kBroadcast) {
      own = &graph.node(node.operands[0]).type.dims;
      if (own->size() != dims.size()) return std::nullopt;
    } else if (node.prim == Prim::kReshape) {
      // Of a tensor as it lies in memory any shape may be made; else only dimensions of extent 1 come or go.
      const auto told = [](const task::Dims& all) {
        task::Dims kept;
        for (const IntExpr& extent : all)
          if (!is_one(extent)) kept.push_back(extent);
        return kept;
      };
      int below = node.operands[0];
      while (graph.node(below).prim == Prim::kCast) below = graph.node(below).operands[0];
      const bool lies_so = graph.node(below).prim == Prim::kInput;
      if (!lies_so && !(told(node.type.dims) == told(graph.node(node.operands[0]).type.dims))) return std::nullopt;
    } else if (node.prim == Prim::kInput) {
      found.tensor = node.attr<std::string>("name");
      break;
    } else if (node.prim == Prim::kConstant) {
      found.constant = constant_text(node, Way::kThread);
      return found;
    } else {
      return std::nullopt;
    }
    id = node.operands[0];
  }
  const auto has = [&](size_t begin, size_t end) -> std::optional<bool> {
    bool all = true, none = true;
    for (size_t d = begin; d < end; ++d) {
      if (is_one(dims[d])) continue;
      (is_one((*own)[d]) ? all : none) = false;
    }
    if (!all && !none) return std::nullopt;
    return all;
  };
  const auto outer = has(0, axis), along = has(axis, axis + 1), inner = has(axis + 1, dims.size());
  if (!outer || !along || !inner) return std::nullopt;
  found.outer = *outer, found.along = *along, found.inner = *inner;
  return found;
}

}  // namespace

Result<kernel::Kernel> scatter(const task::Task& task, kernel::Language language) {
  const task::Graph& graph = task.primitive;
  int sum = -1;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].prim != Prim::kScatterAdd) continue;
    if (sum >= 0) return fail(ErrorCode::kUnavailable, "several sums by index");
    sum = static_cast<int>(id);
  }
  if (sum < 0) return fail(ErrorCode::kUnavailable, "no sum by index");
  const Node& node = graph.node(sum);
  int output = graph.outputs[0];
  if (graph.node(output).prim == Prim::kCast) output = graph.node(output).operands[0];
  const bool rounds = task::is_float(graph.node(graph.outputs[0]).type.dtype) == task::is_float(node.type.dtype);
  if (graph.outputs.size() != 1 || output != sum || !rounds) return fail(ErrorCode::kUnavailable, "more than a sum by index");
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const auto x = scatter_operand(graph, node.operands[0], axis), indices = scatter_operand(graph, node.operands[1], axis), source = scatter_operand(graph, node.operands[2], axis);
  if (!x || !indices || !source) return fail(ErrorCode::kUnavailable, "a sum by index of something computed");
  const task::Dims &dims = node.type.dims, &added = graph.node(node.operands[2]).type.dims;
  const IntExpr outer = extents_between(dims, 0, axis), &rows = dims[axis], inner = extents_between(dims, axis + 1, dims.size()), &count = added[axis];
  const bool by_columns = indices->inner && !is_one(inner);
  const DType type = node.type.dtype, stored = graph.node(graph.outputs[0]).type.dtype;
  const std::string sums = value_type(type, Way::kThread), columns = wrapped(inner.to_cpp());
  const int64_t bytes = sums == "double" || sums == "int64_t" ? 8 : 4;
  const int64_t threads = 256, across = by_columns ? threads : std::min(power_of_two(GpuWriter::largest_of(task, inner)), threads);
  const int64_t most = std::max<int64_t>(1, kSums / bytes / across), tile = std::min(power_of_two(GpuWriter::largest_of(task, rows)), most);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = fmt::format("{} by {}", source->tensor.empty() ? "a constant" : source->tensor, indices->tensor.empty() ? "one index" : indices->tensor);
  slots["rows_of_tile"] = choices(tile, {std::max<int64_t>(1, tile / 4), std::max<int64_t>(1, tile / 2)});
  slots["columns_of_tile"] = by_columns ? choices(across, {128, 64}) : choices(across, {std::max<int64_t>(1, across / 4)});
  slots["bytes"] = fmt::format("{}", bytes);
  slots["args"] = arguments_of(task);
  slots["parameters"] = gpu_parameters_of(task);
  slots["outer"] = factor(outer);
  slots["rows"] = wrapped(rows.to_string());
  slots["columns"] = wrapped(inner.to_string());
  slots["rows_cpp"] = rows.to_cpp();
  slots["columns_cpp"] = inner.to_cpp();
  slots["count_cpp"] = count.to_cpp();
  slots["sum"] = sums;
  slots["index"] = indices->element("p", "count", columns);
  const std::string place = by_columns ? "sums[r * COLUMNS]" : "sums[r * COLUMNS + own]", term = fmt::format("static_cast<Sum>({})", source->element("p", "count", columns));
  slots["add"] = task::is_int(type) ? fmt::format("{0} = hone::whole_add<{1}>({0}, {2})", place, storage_type(type), term) : fmt::format("{} += {}", place, term);
  slots["x"] = x->element("row", "rows", columns);
  slots["output"] = graph.output_names[0];
  slots["storage"] = storage_type(stored);
  const char* const pattern = by_columns ? "scatter_columns" : "scatter";
  return finished(fill_pattern(fmt::format("patterns/gpu/{}.cu", pattern), slots), pattern);
}

}  // namespace hone::pattern::gpu
