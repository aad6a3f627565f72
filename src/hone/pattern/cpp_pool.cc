#include "hone/pattern/cpp_pool.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/contraction.h"
#include "hone/pattern/cpp_windows.h"
#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;
using Ints = std::vector<int64_t>;

tl::unexpected<Error> no_pool(const char* why) { return fail(ErrorCode::kUnavailable, why); }

/// The one pooling of the graph.
Result<int> the_pooling(const task::Graph& graph) {
  int found = -1;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].prim != Prim::kPoolMax && graph.nodes[id].prim != Prim::kPoolSum) continue;
    if (found >= 0) return no_pool("more than one pooling");
    found = static_cast<int>(id);
  }
  if (found < 0) return no_pool("no pooling");
  return found;
}

/// The input that is pooled, widened at most.
Result<int> pooled_input(const task::Graph& graph, const Node& node) {
  int id = node.operands[0];
  // The largest of narrow numbers is one of them.
  const bool narrow = node.prim == Prim::kPoolMax && (node.type.dtype == DType::kBF16 || node.type.dtype == DType::kF16);
  if (node.type.dtype != DType::kF32 && !narrow) return no_pool("a pooling that is not computed in f32");
  if (graph.node(id).prim == Prim::kCast) id = graph.node(id).operands[0];
  if (graph.node(id).prim != Prim::kInput) return no_pool("what is pooled is computed first");
  const DType from = graph.node(id).type.dtype;
  if (from != DType::kF32 && from != DType::kBF16 && from != DType::kF16) return no_pool("what is pooled is converted first");
  return id;
}

}  // namespace

Result<kernel::Kernel> pool_cpp(const task::Task& task) {
  const task::Graph& graph = task.primitive;
  HONE_TRY(const int id, the_pooling(graph));
  const Node& node = graph.node(id);
  HONE_TRY(const int input, pooled_input(graph, node));
  const size_t pooled = node.attr<Ints>("kernel").size();
  const task::Dims &dims = graph.node(input).type.dims, &result = node.type.dims;
  if (pooled > 3) return no_pool("pooling of more than three dimensions");
  HONE_TRY(const task::Task epilogue, epilogue_of(task, id));
  // Places are counted as the result's elements lie: whatever rows the rest has, a piece of one is a run of places of one image.
  HONE_TRY(const Program program, find_program(epilogue, {.columns = false, .slices = true, .fences = {dims.size() - pooled}}));
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  const auto& product = program.nest.of_node[static_cast<size_t>(program.nest.graph->inputs.front())];
  if (axes != product || program.inner_axes.size() != 1) return no_pool("the element-wise part behind the pooling runs over other axes");
  CppWriter writer(program, Way::kVector32, {}, {program.nest.graph->inputs.front()});
  if (!writer.vectorisable()) return no_pool("the innermost axis is not contiguous in every tensor");
  const auto last = [&](const task::Dims& all) { return std::vector<IntExpr>(all.end() - static_cast<std::ptrdiff_t>(pooled), all.end()); };
  const auto& inputs = graph.inputs;
  Slots slots;
  slots["note"] = "tap by tap: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["args"] = arguments_of(task);
  slots["parameters"] = parameters_of(task);
  slots["rows"] = program.rows().to_string();
  slots["length"] = program.row_length().to_string();
  slots["length_cpp"] = fmt::format("({})", program.row_length().to_cpp());
  slots["windows"] = fmt::format("{}, {}, {}", each_of(node.attr<Ints>("stride")), each_of(node.attr<Ints>("dilation")), each_of(node.attr<Ints>("padding_low")));
  slots["from_cpp"] = list_of(last(dims));
  slots["to_cpp"] = list_of(last(result));
  slots["window_cpp"] = fmt::format("{}", fmt::join(node.attr<Ints>("kernel"), ", "));
  slots["x"] = task.inputs[static_cast<size_t>(std::find(inputs.begin(), inputs.end(), input) - inputs.begin())].name;
  slots["reducer"] = node.prim == Prim::kPoolMax ? "hone::Max" : "hone::Sum";
  slots["epilogue"] = writer.row_prologue("row_at", "  ") + writer.pass_text(0, "  ", Span::kSlice);
  return finished(fill_pattern("patterns/cpp/pool.cc", slots), "pool");
}

}  // namespace hone::pattern
