#include "hone/pattern/contraction.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace hone::pattern {
namespace {

using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

tl::unexpected<Error> no_contraction(const char* why) { return fail(ErrorCode::kUnavailable, why); }

struct View {
  int input = -1;
  Strides strides;
  bool whole = false;   ///< dense, in the order of its dimensions
  IntExpr begin = 0;    ///< elements of the input before it
};

/// The input that a factor is read from, and how far its dimensions lie apart there.
Result<View> view_of(const Graph& graph, int id, bool slices) {
  const Node& node = graph.node(id);
  if (node.prim == Prim::kInput) return View{id, dense(node.type.dims), true};
  switch (node.prim) {
    case Prim::kCast: {
      const task::DType from = graph.node(node.operands[0]).type.dtype;
      if (from == task::DType::kI8 && (node.type.dtype == task::DType::kI32 || task::is_float(node.type.dtype))) return view_of(graph, node.operands[0], slices);
      if (!task::is_float(from) || !task::is_float(node.type.dtype)) return no_contraction("a factor is converted from or to integers");
      if (task::size_of(node.type.dtype) < task::size_of(from))
        return no_contraction("a factor is rounded before it is multiplied");
      return view_of(graph, node.operands[0], slices);
    }
    case Prim::kReshape: {
      HONE_TRY(View view, view_of(graph, node.operands[0], slices));
      if (!view.whole) return no_contraction("a factor is reshaped after it was permuted");
      view.strides = dense(node.type.dims);
      return view;
    }
    case Prim::kTranspose: {
      HONE_TRY(View view, view_of(graph, node.operands[0], slices));
      Strides strides;
      for (const int64_t from : node.attr<std::vector<int64_t>>("perm")) strides.push_back(view.strides[static_cast<size_t>(from)]);
      return View{view.input, std::move(strides), false, view.begin};
    }
    case Prim::kBroadcast: {
      HONE_TRY(View view, view_of(graph, node.operands[0], slices));
      const auto& from = graph.node(node.operands[0]).type.dims;
      for (size_t d = 0; d < from.size(); ++d)
        if (is_one(from[d]) && !is_one(node.type.dims[d])) view.strides[d] = 0;
      view.whole = false;
      return view;
    }
    case Prim::kSlice: {
      if (!slices) return no_contraction("a factor is a slice");
      HONE_TRY(View view, view_of(graph, node.operands[0], slices));
      const auto& step = node.attr<std::vector<int64_t>>("step");
      const auto& start = node.attr<task::Dims>("start");
      for (size_t d = 0; d < start.size(); ++d) {
        if (step[d] != 1) return no_contraction("a factor is a slice with steps");
        view.begin = view.begin + start[d] * view.strides[d];
      }
      view.whole = false;
      return view;
    }
    default:
      return no_contraction("a factor is computed, not read");
  }
}

Result<Factor> factor(const Graph& graph, int id, const std::string& letters, bool slices = false) {
  HONE_TRY(View view, view_of(graph, id, slices));
  return Factor{view.input, letters, std::move(view.strides), view.begin};
}

/// Product of the letters' extents.
IntExpr extent_of(const std::string& letters, const std::string& spec, const task::Dims& dims) {
  IntExpr all = 1;
  for (const char c : letters) all = all * dims[spec.find(c)];
  return all;
}

}  // namespace

Result<task::Task> epilogue_of(const task::Task& task, int dot, int second) {
  const Graph& graph = task.primitive;
  std::vector<bool> after(graph.nodes.size(), false), needed(graph.nodes.size(), false);
  std::vector<int> work(graph.outputs.begin(), graph.outputs.end());
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (needed[static_cast<size_t>(id)]) continue;
    needed[static_cast<size_t>(id)] = true;
    if (id != dot && id != second)
      for (const int operand : graph.node(id).operands) work.push_back(operand);
  }
  task::Task epilogue;
  epilogue.name = task.name;
  epilogue.outputs = task.outputs;
  epilogue.workloads = task.workloads;
  Graph& out = epilogue.primitive;
  std::vector<int> place(graph.nodes.size(), -1);
  for (const auto& [id, name] : {std::pair{dot, "product"}, std::pair{second, "second"}}) {
    if (id < 0) continue;
    Node product;
    product.op = task::name_of(Prim::kInput);
    product.prim = Prim::kInput;
    product.type = graph.node(id).type;
    product.attrs["name"] = std::string(name);
    place[static_cast<size_t>(id)] = static_cast<int>(out.nodes.size());
    out.inputs.push_back(place[static_cast<size_t>(id)]);
    epilogue.inputs.push_back({name, product.type});
    out.nodes.push_back(std::move(product));
  }
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!needed[id] || static_cast<int>(id) == dot || static_cast<int>(id) == second) continue;
    Node node = graph.nodes[id];
    for (int& operand : node.operands) operand = place[static_cast<size_t>(operand)];
    if (task::is_reduction(node.prim)) return no_contraction("a reduction beside the product");
    place[id] = static_cast<int>(out.nodes.size());
    if (node.prim == Prim::kInput) {
      const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), static_cast<int>(id));
      epilogue.inputs.push_back(task.inputs[static_cast<size_t>(at - graph.inputs.begin())]);
      out.inputs.push_back(place[id]);
    }
    out.nodes.push_back(std::move(node));
  }
  for (const int output : graph.outputs) out.outputs.push_back(place[static_cast<size_t>(output)]);
  out.output_names = graph.output_names;
  return epilogue;
}

IntExpr Factor::stride(char letter) const {
  const size_t at = letters.find(letter);
  return at == std::string::npos ? IntExpr(0) : strides[at];
}

bool Factor::has(const AxisGroup& group) const { return letters.find_first_of(group.letters) != std::string::npos; }

namespace {

std::vector<int> products_of(const Graph& graph) {
  std::vector<int> all;
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].prim == Prim::kDot) all.push_back(static_cast<int>(id));
  return all;
}

/// The contraction that node `dot` is, and `other`, if there is one, beside it.
Result<std::unique_ptr<Contraction>> contraction_of(const task::Task& task, int dot, int other) {
  const Graph& graph = task.primitive;
  const bool pairs = other >= 0;
  const Node& node = graph.node(dot);
  auto found = std::make_unique<Contraction>();
  found->accumulate = node.type.dtype;
  found->convolves = node.attrs.contains("convolves");
  const std::string& spec = node.attr<std::string>("spec");
  const size_t comma = spec.find(','), arrow = spec.find("->");
  std::string left = spec.substr(0, comma), right = spec.substr(comma + 1, arrow - comma - 1);
  const std::string result = spec.substr(arrow + 2);
  int first = node.operands[0], second = node.operands[1];
  size_t right_at = 1;
  if (result.empty()) return no_contraction("a product without rows and columns");
  // Columns are what the last letter of the result belongs to.
  if (right.find(result.back()) == std::string::npos) {
    std::swap(left, right);
    std::swap(first, second);
    right_at = 0;
  }
  HONE_TRY(found->a, factor(graph, first, left));
  HONE_TRY(found->b, factor(graph, second, right, pairs));
  if (pairs) {
    const Node& beside = graph.node(other);
    if (beside.attr<std::string>("spec") != spec || !(beside.type == node.type)) return no_contraction("two products of different kinds");
    HONE_TRY(const Factor left_too, factor(graph, beside.operands[1 - right_at], left));
    HONE_TRY(found->second, factor(graph, beside.operands[right_at], right, true));
    if (left_too.input != found->a.input || left_too.strides != found->a.strides) return no_contraction("two products of different left factors");
    if (found->second->strides != found->b.strides) return no_contraction("two products whose right factors are read differently");
    if (graph.node(found->second->input).type.dtype != graph.node(found->b.input).type.dtype) return no_contraction("right factors of two types");
  }
  const auto is_i8 = [&](const Factor& f) { return graph.node(f.input).type.dtype == task::DType::kI8; };
  const bool sums_i8 = found->accumulate == task::DType::kI32 && is_i8(found->a) && is_i8(found->b);
  if (found->accumulate != task::DType::kF32 && found->accumulate != task::DType::kF64 && !sums_i8)
    return no_contraction("a product of integers other than i8 summed in i32");
  // From the end: columns are in b alone, rows before them in a alone, and whatever comes before those makes
  // a batch of products, each factor moving along what it has of it.
  const auto alone = [](char c, const std::string& mine, const std::string& other) {
    return mine.find(c) != std::string::npos && other.find(c) == std::string::npos;
  };
  size_t columns = result.size();
  while (columns > 0 && alone(result[columns - 1], right, left)) --columns;
  size_t rows = columns;
  while (rows > 0 && alone(result[rows - 1], left, right)) --rows;
  const std::string letters[] = {result.substr(0, rows), result.substr(rows, columns - rows), result.substr(columns)};
  if (letters[1].empty() || letters[2].empty()) return no_contraction("the product has no rows or no columns");
  std::string depth;
  for (const char c : left)
    if (result.find(c) == std::string::npos) depth += c;
  if (depth.empty()) return no_contraction("the product sums nothing");
  const auto& dims = node.type.dims;
  found->batch = {letters[0], extent_of(letters[0], result, dims)};
  found->row = {letters[1], extent_of(letters[1], result, dims)};
  found->column = {letters[2], extent_of(letters[2], result, dims)};
  found->depth = {depth, extent_of(depth, left, graph.node(first).type.dims)};

  for (size_t i = 0; i < left.size(); ++i) found->extents[left[i]] = graph.node(first).type.dims[i];
  for (size_t i = 0; i < right.size(); ++i) found->extents[right[i]] = graph.node(second).type.dims[i];

  HONE_TRY(found->epilogue, epilogue_of(task, dot, other));
  std::vector<size_t> fences;
  if (!letters[0].empty()) fences.push_back(letters[0].size());
  fences.push_back(letters[0].size() + letters[1].size());
  HONE_TRY(found->program, find_program(found->epilogue, {.columns = false, .slices = true, .fences = fences}));
  // A row of the epilogue is a row of the product: the same axes in the same order.
  const Program& program = found->program;
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  const auto& product = program.nest.of_node[0];
  if (axes != product || program.inner_axes.size() != 1) return no_contraction("the result's element-wise part runs over other axes");
  if (!is_one(found->column.extent) && !(program.extent(program.inner_axes.back()) == found->column.extent)) return no_contraction("the columns of the result are not one stretch");
  for (const int output : program.nest.graph->outputs)
    if (program.nest.of_node[static_cast<size_t>(output)] != product) return no_contraction("an output is not laid out as the product is");
  return found;
}

}  // namespace

Result<std::unique_ptr<Contraction>> find_contraction(const task::Task& task) {
  const std::vector<int> products = products_of(task.primitive);
  if (products.empty()) return no_contraction("no product");
  if (products.size() > 1) return no_contraction("more than one product");
  return contraction_of(task, products.front(), -1);
}

Result<std::unique_ptr<Contraction>> find_pair(const task::Task& task) {
  const std::vector<int> products = products_of(task.primitive);
  if (products.size() != 2) return no_contraction("no pair of products");
  return contraction_of(task, products[0], products[1]);
}

}  // namespace hone::pattern
