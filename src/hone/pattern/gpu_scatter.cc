// Sums by index on GPUs: patterns/gpu/scatter.cu and scatter_columns.cu.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// An element of what a sum by index is made of, as text: of inputs and constants, and of element-wise work on them. Dimensions are those
/// before the axis, one or several that are the axis, and those behind.
class ScatterElement {
 public:
  /// At `at` of `extent`; `outer` and `column` name the places before the axis and behind it.
  ScatterElement(const task::Graph& graph, const task::Dims& dims, size_t axis, std::string at, std::string extent, std::string columns)
      : graph_(graph), axis_{axis, axis + 1}, all_(parts_of(dims, axis_)), at_(std::move(at)), extent_(std::move(extent)), columns_(std::move(columns)) {}

  /// Nothing where it is made of anything else.
  [[nodiscard]] std::optional<std::string> text(int id) { return value(id, graph_.node(id).type.dims, axis_); }
  [[nodiscard]] const std::string& tensor() const { return tensor_; }   ///< the first that is read, if any is
  [[nodiscard]] bool inner() const { return inner_; }                   ///< what is read moves along the dimensions behind the axis

 private:
  struct Span {
    size_t begin, end;   ///< the dimensions that are the axis
  };
  using Parts = std::array<IntExpr, 3>;
  static Parts parts_of(const task::Dims& dims, Span axis) {
    return {extents_between(dims, 0, axis.begin), extents_between(dims, axis.begin, axis.end), extents_between(dims, axis.end, dims.size())};
  }
  /// The dimensions of `dims`, as many elements in the same order, that are that axis; nothing where they run across its ends.
  static std::optional<Span> span_in(const task::Dims& dims, const Parts& parts) {
    size_t d = 0;
    const auto pass = [&](const IntExpr& extent) {
      IntExpr passed = 1;
      while (!(passed == extent) && d < dims.size()) passed = passed * dims[d++];
      return passed == extent;
    };
    if (!pass(parts[0])) return std::nullopt;
    const size_t begin = d;
    return pass(parts[1]) ? std::optional(Span{begin, d}) : std::nullopt;
  }

  std::optional<std::string> value(int id, const task::Dims& dims, Span axis) {
    const Node& node = graph_.node(id);
    if (dims.empty()) axis = {0, 0};
    if (node.prim == Prim::kConstant) return constant_text(node, Way::kThread);
    if (node.prim == Prim::kInput) return read(node, dims, axis);
    const auto below = [&](int operand) { return value(operand, graph_.node(operand).type.dims, axis); };
    if (node.prim == Prim::kBroadcast) return below(node.operands[0]);
    if (node.prim == Prim::kReshape) {
      // Of a tensor as it lies in memory any shape may be made; of others dimensions of each part may be joined and taken apart.
      const task::Dims& from = graph_.node(node.operands[0]).type.dims;
      if (const auto span = span_in(from, parts_of(dims, axis))) return value(node.operands[0], from, *span);
      return graph_.node(node.operands[0]).prim == Prim::kInput ? read(graph_.node(node.operands[0]), dims, axis) : std::nullopt;
    }
    if (!task::is_elementwise(node.prim)) return std::nullopt;
    std::vector<std::string> operands;
    std::vector<DType> types;
    for (const int operand : node.operands) {
      const auto text = below(operand);
      if (!text) return std::nullopt;
      operands.push_back(wrapped(*text));
      types.push_back(graph_.node(operand).type.dtype);
    }
    return thread_text(graph_, node, operands, types);
  }

  std::optional<std::string> read(const Node& node, const task::Dims& dims, Span axis) {
    const Parts own = parts_of(dims, axis);
    std::array<bool, 3> has{};
    for (size_t k = 0; k < 3; ++k) {
      has[k] = !is_one(own[k]);
      if (has[k] && !(own[k] == all_[k])) return std::nullopt;
    }
    const auto [outer, along, inner] = has;
    if (tensor_.empty()) tensor_ = node.attr<std::string>("name");
    inner_ = inner_ || inner;
    std::string place = outer ? "outer" : "";
    if (along) place = place.empty() ? at_ : fmt::format("({} * {} + {})", place, extent_, at_);
    if (inner) place = place.empty() ? "column" : fmt::format("{} * {} + column", place, columns_);
    return fmt::format("hone::gpu::value({}[{}])", node.attr<std::string>("name"), place.empty() ? "0" : place);
  }

  const task::Graph& graph_;
  Span axis_;
  Parts all_;
  std::string at_, extent_, columns_, tensor_;
  bool inner_ = false;
};

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
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const task::Dims &dims = node.type.dims, &added = graph.node(node.operands[2]).type.dims;
  // Behind the sum: a cast, and a segment of its rows, beside which nothing is looked at.
  int output = graph.outputs[0];
  const bool rounds = task::is_float(graph.node(output).type.dtype) == task::is_float(node.type.dtype);
  IntExpr first = 0, rows = dims[axis];
  for (int casts = 0; output != sum;) {
    const Node& last = graph.node(output);
    bool passes = (last.prim == Prim::kCast && casts++ == 0) || (last.prim == Prim::kReshape && last.type.dims == graph.node(last.operands[0]).type.dims);
    if (last.prim == Prim::kSlice && graph.node(last.operands[0]).type.dims == dims) {
      const auto& step = last.attr<std::vector<int64_t>>("step");
      passes = std::all_of(step.begin(), step.end(), [](int64_t n) { return n == 1; });
      for (size_t d = 0; d < dims.size(); ++d) passes = passes && (d == axis || last.type.dims[d] == dims[d]);
      first = last.attr<task::Dims>("start")[axis], rows = last.type.dims[axis];
    }
    if (!passes) return fail(ErrorCode::kUnavailable, "more than a sum by index");
    output = last.operands[0];
  }
  if (graph.outputs.size() != 1 || !rounds) return fail(ErrorCode::kUnavailable, "more than a sum by index");
  const IntExpr outer = extents_between(dims, 0, axis), inner = extents_between(dims, axis + 1, dims.size()), &count = added[axis];
  const std::string columns = wrapped(inner.to_cpp()), behind = is_zero(first) ? "" : " + " + wrapped(first.to_cpp());
  ScatterElement begins(graph, dims, axis, is_zero(first) ? "row" : "(row" + behind + ")", wrapped(dims[axis].to_cpp()), columns);
  ScatterElement indexes(graph, added, axis, "p", "count", columns), sources(graph, added, axis, "p", "count", columns);
  const auto x = begins.text(node.operands[0]), index = indexes.text(node.operands[1]), source = sources.text(node.operands[2]);
  if (!x || !index || !source) return fail(ErrorCode::kUnavailable, "a sum by index of something computed");
  const bool by_columns = indexes.inner() && !is_one(inner);
  const DType type = node.type.dtype, stored = graph.node(graph.outputs[0]).type.dtype;
  const std::string sums = value_type(type, Way::kThread);
  const int64_t bytes = sums == "double" || sums == "int64_t" ? 8 : 4;
  const int64_t threads = 256, across = by_columns ? threads : std::min(power_of_two(GpuWriter::largest_of(task, inner)), threads);
  const int64_t most = std::max<int64_t>(1, kSums / bytes / across), tile = std::min(power_of_two(GpuWriter::largest_of(task, rows)), most);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = fmt::format("{} by {}", sources.tensor().empty() ? "a constant" : sources.tensor(), indexes.tensor().empty() ? "one index" : indexes.tensor());
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
  slots["index"] = is_zero(first) ? *index : fmt::format("({} - {})", wrapped(*index), wrapped(first.to_cpp()));
  const std::string place = by_columns ? "sums[r * COLUMNS]" : "sums[r * COLUMNS + own]", term = fmt::format("static_cast<Sum>({})", *source);
  slots["add"] = task::is_int(type) ? fmt::format("{0} = hone::whole_add<{1}>({0}, {2})", place, storage_type(type), term) : fmt::format("{} += {}", place, term);
  slots["x"] = *x;
  slots["output"] = graph.output_names[0];
  slots["storage"] = storage_type(stored);
  const char* const pattern = by_columns ? "scatter_columns" : "scatter";
  return finished(fill_pattern(fmt::format("patterns/gpu/{}.cu", pattern), slots), pattern);
}

}  // namespace hone::pattern::gpu
