#include "hone/pattern/convolution.h"

#include <algorithm>

#include "hone/pattern/expression.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern {
namespace {

using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;
using Ints = std::vector<int64_t>;

tl::unexpected<Error> no_convolution(const char* why) { return fail(ErrorCode::kUnavailable, why); }

/// The task's input that an operand is, widened at most.
Result<const task::InputSpec*> input_of(const task::Task& task, int id) {
  const Graph& graph = task.primitive;
  const Node& node = graph.node(id);
  if (node.prim == Prim::kCast) {
    const task::DType from = graph.node(node.operands[0]).type.dtype;
    if (!task::is_float(from) || task::size_of(node.type.dtype) < task::size_of(from))
      return no_convolution("an operand of the convolution is converted");
    return input_of(task, node.operands[0]);
  }
  if (node.prim != Prim::kInput) return no_convolution("an operand of the convolution is computed, not read");
  const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), id);
  return &task.inputs[static_cast<size_t>(at - graph.inputs.begin())];
}

bool is_read(task::DType dtype) { return dtype == task::DType::kF32 || dtype == task::DType::kBF16 || dtype == task::DType::kF16; }

IntExpr divided(const IntExpr& channels, const IntExpr& groups) {
  const auto exact = IntExpr::divide_exactly(channels, groups);
  return exact ? *exact : IntExpr::floor_div(channels, groups);
}

bool any(const Ints& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](int64_t n) { return n != 0; });
}

}  // namespace

void take_in_padding(Graph& graph, Node& conv) {
  if (conv.prim != Prim::kConv) return;
  const Node above = graph.node(conv.operands[0]);
  const bool cast = above.prim == Prim::kCast;
  const Node& pad = cast ? graph.node(above.operands[0]) : above;
  if (pad.prim != Prim::kPad || number_of(pad.attrs.find("value")->second) != 0) return;
  const auto &before = pad.attr<task::Dims>("low"), &behind = pad.attr<task::Dims>("high");
  Ints low = conv.attr<Ints>("padding_low"), high = conv.attr<Ints>("padding_high");
  for (size_t d = 0; d < before.size(); ++d) {
    if (!before[d].is_constant() || !behind[d].is_constant()) return;
    if (d >= 2) low[d - 2] += before[d].constant(), high[d - 2] += behind[d].constant();
    else if (!is_zero(before[d]) || !is_zero(behind[d])) return;
  }
  int x = pad.operands[0];
  if (cast) {
    const task::TensorType widened = {above.type.dtype, graph.node(x).type.dims};
    graph.nodes.push_back(node_of(Prim::kCast, {x}, widened));
    x = static_cast<int>(graph.nodes.size()) - 1;
  }
  conv.operands[0] = x;
  conv.attrs["padding_low"] = std::move(low), conv.attrs["padding_high"] = std::move(high);
}

Result<std::unique_ptr<Convolution>> find_convolution(const task::Task& task) {
  const Graph& graph = task.primitive;
  int id = -1;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].prim != Prim::kConv && graph.nodes[n].prim != Prim::kConvTranspose) continue;
    if (id >= 0) return no_convolution("more than one convolution");
    id = static_cast<int>(n);
  }
  if (id < 0) return no_convolution("no convolution");
  const Node& node = graph.node(id);
  auto found = std::make_unique<Convolution>();
  HONE_TRY(const task::InputSpec* x, input_of(task, node.operands[0]));
  HONE_TRY(const task::InputSpec* w, input_of(task, node.operands[1]));
  found->x = x->name, found->w = w->name;
  found->x_dtype = x->type.dtype, found->w_dtype = w->type.dtype;
  if (!is_read(found->x_dtype) || !is_read(found->w_dtype) || node.type.dtype != task::DType::kF32)
    return no_convolution("a convolution that is not of floats summed in f32");

  const task::Dims &x_dims = x->type.dims, &w_dims = w->type.dims, &dims = node.type.dims;
  found->transposed = node.prim == Prim::kConvTranspose;
  found->groups = node.attr<IntExpr>("groups");
  found->images = dims[0];
  found->channels = found->transposed ? divided(x_dims[1], found->groups) : w_dims[1];
  found->outputs = found->transposed ? w_dims[1] : divided(dims[1], found->groups);
  found->from.assign(x_dims.begin() + 2, x_dims.end());
  found->to.assign(dims.begin() + 2, dims.end());
  found->window.assign(w_dims.begin() + 2, w_dims.end());
  found->stride = node.attr<Ints>("stride");
  found->dilation = node.attr<Ints>("dilation");
  found->padding = node.attr<Ints>(found->transposed ? "padding" : "padding_low");
  found->reaches_out = found->transposed || any(found->padding) || any(node.attr<Ints>("padding_high"));
  if (found->space() < 1 || found->space() > 3) return no_convolution("a convolution over more than three dimensions of space");

  Contraction& rest = found->rest;
  rest.accumulate = node.type.dtype;
  for (const IntExpr& extent : found->to) rest.column.extent = rest.column.extent * extent;
  HONE_TRY(rest.epilogue, epilogue_of(task, id));
  HONE_TRY(rest.program, find_program(rest.epilogue, {.columns = false, .slices = true, .fences = {1, 2}}));
  const Program& program = rest.program;
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  const auto& product = program.nest.of_node[0];
  if (axes != product) return no_convolution("the element-wise part behind the convolution runs over other axes");
  for (const int output : program.nest.graph->outputs)
    if (program.nest.of_node[static_cast<size_t>(output)] != product) return no_convolution("an output is not laid out as the convolution is");
  return found;
}

}  // namespace hone::pattern
