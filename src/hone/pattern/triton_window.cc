// Convolutions and poolings in Triton. A convolution is a product of weights and the image, whose elements are read where the window's taps lie: rows
// are output channels, columns places in space, the depth input channels times taps, a batch is a group of an image. A pooling goes through its window tap by tap.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/pool_counts.h"
#include "hone/pattern/template.h"
#include "hone/pattern/triton_patterns.h"
#include "hone/pattern/triton_text.h"
#include "hone/pattern/window_taps.h"

namespace hone::pattern::triton {

using task::DType;
using task::IntExpr;
using task::Prim;

namespace {

/// All axes of a program, outermost first.
std::vector<int> all_axes(const Program& program) {
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  return axes;
}

}  // namespace

Result<kernel::Kernel> convolution(const task::Task& task) {
  HONE_TRY(const auto found, find_convolution(task));
  const Convolution& its = *found;
  TritonParameters parameters;
  const Taps taps(its, parameters);
  const std::string indent(8, ' ');
  const IntExpr depths = its.channels * all_of(its.window), columns = its.rest.column.extent;
  const std::string depth = parameters.extent(depths);
  TiledProduct text{"convolution", its.images * its.groups, its.outputs, columns, depths, {}, {}, {}, all_axes(its.rest.program), {}};
  const auto loaded = [&](const char* name, const std::string& tensor, const std::string& place, const std::string& in, DType own) {
    return fmt::format("{}{} = tl.load({} + ({}), mask={} & (depth < {}), other={}){}\n", indent, name, parameters.tensor(tensor), place, in, depth, lanes_zero(own),
                       factor_cast(task, own, its.w_dtype, its.x_dtype));
  };
  text.loads = indent + "depth = across\n" + taps.planes(indent) + loaded("x", its.w, taps.weight(), "line_in", its.w_dtype);
  text.loads += indent + "depth = down\n" + taps.planes(indent) + taps.places(indent) + loaded("y", its.x, taps.element(), "column_in" + taps.within(), its.x_dtype);
  text.places = taps.columns("    ");
  // Where the columns are the innermost axes, what is alike in a row or a column is computed once for it.
  IntExpr inner = 1;
  auto split = text.kept.end();
  while (split != text.kept.begin() && !(inner == columns)) inner = inner * its.rest.program.extent(*--split);
  if (inner == columns) {
    text.along.assign(split, text.kept.end());
    text.kept.erase(split, text.kept.end());
    text.place = fmt::format("    row = batch * {} + line\n    row_in = line_in\n    at = column\n    at_in = column_in\n", parameters.extent(its.outputs));
  } else {
    text.place = fmt::format("    row = (batch * {} + line) * {} + column\n    row_in = line_in & column_in\n", parameters.extent(its.outputs), parameters.extent(columns));
  }
  return product_kernel(task, text, its.rest, its.w_dtype, its.x_dtype, parameters);
}

Result<kernel::Kernel> pool(const task::Task& given) {
  const task::Task task = with_pool_counts(given);
  const task::Graph& graph = task.primitive;
  HONE_TRY(const PlanePool found, find_plane_pool(graph));
  const task::Node& node = graph.node(found.node);
  HONE_TRY(const task::Task rest, epilogue_of(task, found.node));
  HONE_TRY(const Program program, find_program(rest, {.columns = false, .slices = true}));
  const std::vector<int> axes = all_axes(program);
  for (const int output : program.nest.graph->outputs)
    if (axes != program.nest.of_node[0] || program.nest.of_node[static_cast<size_t>(output)] != axes)
      return fail(ErrorCode::kUnavailable, "the rest of the computation runs over other axes");
  TritonParameters parameters;
  const Taps taps(found.window, parameters);
  const std::string indent = "    ", inner(8, ' ');
  TritonTile tile(program, axes, {}, parameters);
  HONE_TRY_VOID(tile.element_wise());
  tile.bind(0, "total");
  const auto input = static_cast<size_t>(std::find(graph.inputs.begin(), graph.inputs.end(), found.input) - graph.inputs.begin());
  const DType own = graph.node(found.input).type.dtype, type = node.type.dtype;
  const bool most = node.prim == Prim::kPoolMax;
  const char* const nothing = most ? "float(\"-inf\")" : "0.0";
  const std::string load = fmt::format("tl.load({} + ({}), mask=row_in{}, other={})", parameters.tensor(task.inputs[input].name), taps.element(), taps.within(), nothing);
  const IntExpr count = found.window.images * all_of(found.window.to);
  Slots slots;
  slots["take"] = fmt::format("{}x = {}\n{}total = {}\n", inner, lanes_loaded(load, own, type), inner, most ? "greater(x, total)" : "total + x");
  slots["body"] = tile.rows_prologue(indent);
  for (const int output : program.nest.graph->outputs) slots["body"] += tile.store(output, indent);
  slots["columns"] = taps.columns(indent);
  slots["places"] = taps.places(inner);
  slots["count"] = count.to_string();
  slots["count_name"] = parameters.extent(count);
  slots["space"] = parameters.extent(all_of(found.window.to));
  slots["taps"] = parameters.extent(all_of(found.window.window));
  slots["nothing"] = nothing;
  slots["type"] = lanes_type(type);
  slots["note"] = fmt::format("windows, {}: {}", most ? "max" : "sum", program.outline());
  slots["requires"] = tile.requirements();
  slots["block_choices"] = around(covering(largest(task, count), 32, 512), 32, 2048);
  slots["args"] = parameters.arguments();
  slots["parameters"] = parameters.parameters();
  slots["functions"] = lanes_functions(slots["take"] + slots["body"]);
  return finished(fill_pattern("patterns/triton/pool.py", slots), "pool");
}

}  // namespace hone::pattern::triton
