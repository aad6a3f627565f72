#include "hone/pattern/program.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/task/graph/prim_info.h"

namespace hone::pattern {
namespace {

using task::IntExpr;
using task::Prim;

IntExpr product(const Nest& nest, const std::vector<int>& axes) {
  IntExpr all = 1;
  for (const int axis : axes) all = all * nest.axes[static_cast<size_t>(axis)].extent;
  return all;
}

}  // namespace

bool Program::is_row_value(int id) const {
  for (const int axis : nest.of_node[static_cast<size_t>(id)])
    if (std::find(inner_axes.begin(), inner_axes.end(), axis) != inner_axes.end()) return false;
  return true;
}

bool Program::is_column_value(int id) const {
  if (!by_columns || !nest.has(id, inner_axes.back())) return false;
  return std::none_of(inner_axes.begin(), inner_axes.end() - 1, [&](int axis) { return nest.has(id, axis); });
}

IntExpr Program::rows() const { return product(nest, row_axes); }
IntExpr Program::row_length() const { return product(nest, inner_axes); }

std::string Program::tensor_of_input(int id) const {
  const auto& inputs = nest.graph->inputs;
  const auto at = std::find(inputs.begin(), inputs.end(), id);
  HONE_CHECK(at != inputs.end());
  return task->inputs[static_cast<size_t>(at - inputs.begin())].name;
}

std::string Program::name_of_output(int id) const {
  const auto& outputs = nest.graph->outputs;
  const auto at = std::find(outputs.begin(), outputs.end(), id);
  HONE_CHECK(at != outputs.end());
  return nest.graph->output_names[static_cast<size_t>(at - outputs.begin())];
}

std::string Program::outline() const {
  std::vector<std::string> all;
  for (const Pass& pass : passes) {
    std::vector<std::string> parts;
    for (const int id : pass.reductions) parts.emplace_back(task::name_of(node(id).prim));
    for (const int id : pass.stores) parts.push_back("write " + name_of_output(id));
    all.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

bool Program::has_reductions() const {
  return std::any_of(passes.begin(), passes.end(), [](const Pass& pass) { return !pass.reductions.empty(); });
}

bool Program::outputs_have_columns() const {
  return std::ranges::all_of(nest.graph->outputs, [&](int output) { return nest.has(output, inner_axes.back()); });
}

bool Program::has_scans() const {
  const auto& nodes = nest.graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const task::Node& n) { return task::is_scan(n.prim); });
}

std::vector<int> Program::worth_keeping() const {
  // Element values needed in each pass, walking down from the pass's roots.
  std::vector<std::set<int>> needed(passes.size());
  for (size_t p = 0; p < passes.size(); ++p) {
    std::vector<int> work;
    for (const int r : passes[p].reductions) work.push_back(node(r).operands[0]);
    work.insert(work.end(), passes[p].stores.begin(), passes[p].stores.end());
    while (!work.empty()) {
      const int id = work.back();
      work.pop_back();
      if (is_row_value(id) || !needed[p].insert(id).second) continue;
      for (const int operand : node(id).operands) work.push_back(operand);
    }
  }
  std::vector<int> kept;
  for (size_t p = 0; p + 1 < passes.size(); ++p)
    for (const int id : needed[p]) {
      const bool later = std::any_of(needed.begin() + static_cast<std::ptrdiff_t>(p) + 1, needed.end(),
                                     [&](const auto& n) { return n.contains(id); });
      const bool known = std::find(kept.begin(), kept.end(), id) != kept.end();
      if (later && !known && task::info_of(node(id).prim).kind == task::PrimInfo::kTranscendental && depth[static_cast<size_t>(id)] == static_cast<int>(p))
        kept.push_back(id);
    }
  return kept;
}

Result<Program> find_program(const task::Task& task, const NestOptions& options) {
  Program program;
  program.task = &task;
  HONE_TRY(program.nest, find_nest(task, options));
  const task::Graph& graph = task.primitive;
  std::vector<int> removed;
  bool any = false;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!task::is_reduction(graph.nodes[id].prim)) continue;
    std::vector<int> gone = program.nest.removed_by(static_cast<int>(id));
    std::sort(gone.begin(), gone.end());
    if (any && gone != removed)
      return fail(ErrorCode::kUnavailable, "reductions over different axes need several kernels");
    removed = gone;
    any = true;
  }
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!task::is_scan(graph.nodes[id].prim)) continue;
    const auto along = program.nest.axis_of_dim(static_cast<int>(id), graph.nodes[id].attr<int64_t>("axis"));
    if (!along) return fail(ErrorCode::kUnavailable, "a scan along an axis that is taken apart");
    if (any && removed != std::vector<int>{*along})
      return fail(ErrorCode::kUnavailable, "scans and reductions over different axes need several kernels");
    removed = {*along};
    any = true;
  }
  const auto& order = program.nest.order;
  for (size_t k = 0; k < order.size(); ++k) {
    const bool inner = any ? std::find(removed.begin(), removed.end(), order[k]) != removed.end() : k + 1 == order.size();
    (inner ? program.inner_axes : program.row_axes).push_back(order[k]);
  }
  if (program.inner_axes.empty()) return fail(ErrorCode::kUnavailable, "nothing to loop over: one number");
  if (options.columns && any && !program.row_axes.empty() && program.row_axes.back() == order.back()) {
    program.by_columns = true;
    for (size_t id = 0; id < graph.nodes.size(); ++id)
      if (task::is_reduction(graph.nodes[id].prim) && !program.nest.has(static_cast<int>(id), order.back()))
        return fail(ErrorCode::kUnavailable, "a sum for all columns beside sums of each need several kernels");
    program.inner_axes.push_back(order.back());
    program.row_axes.pop_back();
  }
  for (const int output : graph.outputs)
    for (const int axis : program.row_axes)
      if (!program.nest.has(output, axis)) return fail(ErrorCode::kUnavailable, "outputs over different axes need several kernels");
  program.depth.assign(graph.nodes.size(), 0);
  int deepest = 0;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    int depth = 0;
    for (const int operand : graph.nodes[id].operands) depth = std::max(depth, program.depth[static_cast<size_t>(operand)]);
    if (task::is_reduction(graph.nodes[id].prim)) ++depth;
    program.depth[id] = depth;
    deepest = std::max(deepest, depth);
  }
  program.passes.resize(static_cast<size_t>(deepest) + 1);
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (task::is_reduction(graph.nodes[id].prim))
      program.passes[static_cast<size_t>(program.depth[id]) - 1].reductions.push_back(static_cast<int>(id));
  for (const int output : graph.outputs)
    (program.is_row_value(output)      ? program.row_outputs
     : program.is_column_value(output) ? program.column_outputs
                                       : program.passes[static_cast<size_t>(program.depth[static_cast<size_t>(output)])].stores)
        .push_back(output);
  while (!program.passes.empty() && program.passes.back().reductions.empty() && program.passes.back().stores.empty())
    program.passes.pop_back();
  return program;
}

}  // namespace hone::pattern
