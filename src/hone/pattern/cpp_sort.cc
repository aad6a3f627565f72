#include "hone/pattern/cpp_sort.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/sorting.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;

/// A row is so many times as long as what is kept of it, at least.
constexpr int64_t kLeastOfRow = 4;

/// What is sorted, as a task of its own with one output, a row in scratch: "sorted".
Result<task::Task> before_sort(const task::Task& task, int keys) {
  const Graph& graph = task.primitive;
  std::vector<bool> needed(graph.nodes.size(), false);
  needed[static_cast<size_t>(keys)] = true;
  for (size_t id = static_cast<size_t>(keys) + 1; id-- > 0;)
    if (needed[id])
      for (const int operand : graph.nodes[id].operands) needed[static_cast<size_t>(operand)] = true;
  task::Task part;
  part.name = task.name;
  part.workloads = task.workloads;
  Graph& out = part.primitive;
  std::vector<int> place(graph.nodes.size(), -1);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!needed[id]) continue;
    Node node = graph.nodes[id];
    if (task::is_reduction(node.prim) || task::is_scan(node.prim)) return fail(ErrorCode::kUnavailable, fmt::format("{} before what is sorted", task::name_of(node.prim)));
    for (int& operand : node.operands) operand = place[static_cast<size_t>(operand)];
    place[id] = static_cast<int>(out.nodes.size());
    if (node.prim == Prim::kInput) {
      const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), static_cast<int>(id));
      part.inputs.push_back(task.inputs[static_cast<size_t>(at - graph.inputs.begin())]);
      out.inputs.push_back(place[id]);
    }
    out.nodes.push_back(std::move(node));
  }
  out.outputs = {place[static_cast<size_t>(keys)]};
  out.output_names = {"sorted"};
  part.outputs = {{"sorted", graph.node(keys).type}};
  return part;
}

/// How a block comes by its rows: `row_at`, a pointer to the row's elements one behind the other.
struct Reading {
  std::string rows, row;                 ///< text before the block's rows, and before each
  IntExpr scratch = 0;                   ///< elements of it, behind the entries
  std::vector<std::string> conditions;
};

Result<Reading> reading_of(const task::Task& task, const Sorting& sorting) {
  const Node& keys = task.primitive.node(sorting.keys);
  const std::string storage = storage_type(keys.type.dtype);
  const std::string scratch = fmt::format("  {0}* const sorted = ({0}*)(entries_at + 2 * room_at);\n", storage);
  Reading reading;
  if (keys.prim == Prim::kInput && is_one(sorting.beside)) {
    reading.row = fmt::format("    const {}* const row_at = {} + line_at * length_at;\n", storage, keys.attr<std::string>("name"));
    return reading;
  }
  if (keys.prim == Prim::kInput) {
    reading.rows = scratch + fmt::format(
        "  const {0}* from_at[ROWS];\n"
        "  for (int64_t line_at = first_at; line_at < end_at; ++line_at) from_at[line_at - first_at] = {1} + line_at / {2} * length_at * {2} + line_at % {2};\n"
        "  for (int64_t at = 0; at < length_at; ++at)\n"
        "    for (int64_t line_at = 0; line_at < end_at - first_at; ++line_at) sorted[line_at * length_at + at] = from_at[line_at][at * {2}];\n",
        storage, keys.attr<std::string>("name"), parenthesised(sorting.beside));
    reading.row = fmt::format("    const {}* const row_at = sorted + (line_at - first_at) * length_at;\n", storage);
    reading.scratch = IntExpr::symbol("ROWS") * sorting.length;
    return reading;
  }
  if (!is_one(sorting.beside)) return fail(ErrorCode::kUnavailable, "a sort down columns of something computed");
  HONE_TRY(const task::Task before, before_sort(task, sorting.keys));
  // Every row goes to the same place.
  std::vector<IntExpr> strides(keys.type.dims.size(), 0);
  strides.back() = 1;
  HONE_TRY(const Program program, find_program(before, {.columns = false, .by_outputs = true, .slices = true, .placed = {{0, strides}}}));
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  if (axes != program.nest.of_node[static_cast<size_t>(before.primitive.outputs.front())] || !(program.row_length() == sorting.length))
    return fail(ErrorCode::kUnavailable, "what is sorted is computed along other axes");
  HONE_TRY(const Way way, way_for(program));
  CppWriter writer(program, way, {});
  reading.rows = scratch;
  reading.row = writer.row_prologue("line_at", "    ");
  reading.row += writer.pass_text(0, "    ");
  reading.row += fmt::format("    const {}* const row_at = sorted;\n", storage);
  reading.scratch = sorting.length;
  for (const IntExpr& condition : program.nest.conditions) reading.conditions.push_back(fmt::format("\"{}\"", condition.to_string()));
  return reading;
}

/// Slots that both patterns fill alike. `room`: entries of each of the two buffers.
Result<Slots> slots_of(const task::Task& task, const Sorting& sorting, const IntExpr& room) {
  const Graph& graph = task.primitive;
  const DType type = graph.node(sorting.keys).type.dtype, keys = type == DType::kBool ? DType::kI8 : type;
  HONE_TRY(Reading reading, reading_of(task, sorting));
  const bool wide = !fits_32(keys);
  Slots slots;
  const std::string beside = parenthesised(sorting.beside);
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const Node& output = graph.node(graph.outputs[k]);
    const std::string kept = parenthesised(sorting.kept(graph, graph.outputs[k]));
    const std::string to = is_one(sorting.beside) ? fmt::format("line_at * {} + at", kept) : fmt::format("(line_at / {0} * {1} + at) * {0} + line_at % {0}", beside, kept);
    slots["stores"] += fmt::format("    for (int64_t at = 0; at < {}; ++at) {}[{}] = {};\n", kept, graph.output_names[k], to,
                                   is_places(graph, sorting, graph.outputs[k]) ? fmt::format("static_cast<{}>(hone::place_of(found_at[at]))", storage_type(output.type.dtype))
                                                                               : "row_at[hone::place_of(found_at[at])]");
  }
  reading.conditions.push_back(fmt::format("\"{} < {}\"", sorting.length.to_string(), int64_t{1} << 32));
  slots["requires"] = fmt::format("{}", fmt::join(reading.conditions, ", "));
  slots["rows_read"] = reading.rows;
  slots["row_read"] = reading.row;
  slots["shared"] = (room * IntExpr(wide ? 32 : 16) + reading.scratch * IntExpr(task::size_of(type))).to_string();
  slots["vector"] = value_type(keys, wide ? Way::kVector64 : Way::kVector32);
  slots["descending"] = sorting.descending ? "true" : "false";
  slots["rows_together"] = is_one(sorting.beside) ? "4, 1, 16" : "16, 4";
  slots["rows"] = parenthesised(sorting.rows) == sorting.rows.to_string() ? sorting.rows.to_string() : "(" + sorting.rows.to_string() + ")";
  slots["rows_cpp"] = sorting.rows.to_cpp();
  slots["length_cpp"] = sorting.length.to_cpp();
  slots["args"] = arguments_of(task);
  slots["parameters"] = parameters_of(task);
  return slots;
}

std::string what_is_sorted(const task::Task& task, const Sorting& sorting) {
  const Node& keys = task.primitive.node(sorting.keys);
  return (keys.prim == Prim::kInput ? keys.attr<std::string>("name") : "what is computed element by element") +
         (sorting.descending ? ", from the largest on" : ", from the smallest on");
}

}  // namespace

Result<kernel::Kernel> topk_cpp(const task::Task& task) {
  const Graph& graph = task.primitive;
  HONE_TRY(const Sorting sorting, find_sorting(graph));
  IntExpr kept = sorting.kept(graph, graph.outputs.front());
  for (const int output : graph.outputs) kept = IntExpr::max(kept, sorting.kept(graph, output));
  int64_t most = 0;
  for (const task::Workload& workload : task.workloads) most = std::max(most, kept.eval(workload.bindings).value_or(0));
  if (most < 1 || most * kLeastOfRow > longest_row(task, sorting)) return fail(ErrorCode::kUnavailable, "a large part of a row");
  // A vector of keys has no more lanes than it has words.
  const IntExpr room = kept + IntExpr::symbol("MORE") + IntExpr::symbol("VECTOR_BYTES");
  HONE_TRY(Slots slots, slots_of(task, sorting, room));
  slots["note"] = fmt::format("the first {} of {}", kept.to_string(), what_is_sorted(task, sorting));
  slots["kept"] = kept.to_cpp();
  if (!kept.is_constant()) slots["requires"] += fmt::format(", \"{} > 0\"", kept.to_string());
  // Putting a few more in order costs as much as going through all that are kept.
  int64_t more = 1;
  while (more * 16 < most && more < 512) more *= 2;
  slots["more"] = more > 1 ? fmt::format("{}, {}, {}", more, more * 4, more / 2) : "1, 8, 32";
  return finished(fill_pattern("patterns/cpp/topk.cc", slots), "topk");
}

Result<kernel::Kernel> sort_cpp(const task::Task& task) {
  HONE_TRY(const Sorting sorting, find_sorting(task.primitive));
  HONE_TRY(Slots slots, slots_of(task, sorting, sorting.length));
  slots["note"] = "rows sorted of " + what_is_sorted(task, sorting);
  return finished(fill_pattern("patterns/cpp/sort.cc", slots), "sort");
}

}  // namespace hone::pattern
