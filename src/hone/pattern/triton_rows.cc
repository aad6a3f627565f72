// Maps and rows in Triton.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/template.h"
#include "hone/pattern/triton_patterns.h"
#include "hone/pattern/triton_text.h"
#include "hone/pattern/triton_tile.h"

namespace hone::pattern::triton {
namespace {

/// Elements of a tile to begin with.
constexpr int64_t kMapTile = 2048, kRowsTile = 4096;
constexpr int64_t kMostHeld = 16384, kLongestHeld = 32768;

/// Some tensor is contiguous along an axis that is not the last one: tiles need both extents.
bool is_crossed(const Program& program) {
  const Nest& nest = program.nest;
  for (size_t id = 0; id < nest.graph->nodes.size(); ++id) {
    const int node = static_cast<int>(id);
    const bool leaf = nest.graph->nodes[id].prim == task::Prim::kInput || nest.access.contains(node);
    if (!leaf || !nest.has(node, program.inner_axes.back())) continue;
    for (const int axis : program.row_axes)
      if (nest.has(node, axis) && is_one(nest.stride(node, axis)) && largest(*program.task, program.extent(axis)) > 1) return true;
  }
  return false;
}

}  // namespace

int64_t largest(const task::Task& task, const task::IntExpr& extent) {
  int64_t most = 1;
  for (const auto& workload : task.workloads) most = std::max(most, extent.eval(workload.bindings).value_or(1));
  return most;
}

int64_t covering(int64_t value, int64_t least, int64_t most) {
  int64_t power = least;
  while (power < most && power < value) power *= 2;
  return power;
}

std::string around(int64_t best, int64_t least, int64_t most) {
  std::string text = std::to_string(best);
  for (const int64_t other : {best / 2, best * 2, best * 4})
    if (other >= least && other <= most) text += fmt::format(", {}", other);
  return text;
}

std::string power_in_plan(const task::IntExpr& extent, int64_t least, int64_t most) {
  if (extent.is_constant()) return std::to_string(covering(extent.constant(), least, most));
  std::string text = std::to_string(most);
  for (int64_t power = most / 2; power >= least; power /= 2) text = fmt::format("select({} <= {}, {}, {})", extent.to_string(), power, power, text);
  return text;
}

Result<kernel::Kernel> map(const Program& program) {
  TritonParameters parameters;
  TritonTile tile(program, program.row_axes, program.inner_axes, parameters);
  if (std::string why = tile.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const std::string indent = "    ";
  std::string body = tile.rows_prologue(indent) + tile.places_prologue(indent);
  for (size_t pass = 0; pass < program.passes.size(); ++pass) body += tile.pass_held(pass, indent);
  body += tile.row_stores(indent, " & (tl.program_id(0) % blocks == 0)");   // a row's first program
  const bool crossed = is_crossed(program);
  const int64_t block = covering(largest(*program.task, program.row_length()), 1, crossed ? 32 : 1024);
  const int64_t rows = covering(largest(*program.task, program.rows()), 1, std::max<int64_t>(1, (crossed ? 1024 : kMapTile) / block));
  Slots slots;
  slots["note"] = "element by element: " + program.outline();
  slots["requires"] = tile.requirements();
  slots["rows_choices"] = around(rows, 1, 64);
  slots["block_choices"] = around(block, 1, 4096);
  slots["rows"] = program.rows().to_string();
  slots["length"] = program.row_length().to_string();
  slots["rows_name"] = parameters.extent(program.rows());
  slots["length_name"] = parameters.extent(program.row_length());
  slots["args"] = parameters.arguments();
  slots["parameters"] = parameters.parameters();
  slots["functions"] = lanes_functions(body);
  slots["body"] = body;
  return finished(fill_pattern("patterns/triton/map.py", slots), "map");
}

Result<kernel::Kernel> rows(const Program& program) {
  TritonParameters parameters;
  TritonTile held(program, program.row_axes, program.inner_axes, parameters), looped(program, program.row_axes, program.inner_axes, parameters);
  if (std::string why = held.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const std::string indent = "        ";
  const std::string prologue = held.rows_prologue("    ");
  std::string whole = held.places_prologue(indent), segments;
  for (size_t pass = 0; pass < program.passes.size(); ++pass) whole += held.pass_held(pass, indent), segments += looped.pass_looped(pass, indent);
  whole += held.row_stores(indent);
  segments += looped.row_stores(indent);
  const int64_t length = covering(largest(*program.task, program.row_length()), 1, 1 << 30), count = largest(*program.task, program.rows());
  // Across memory: neighbours in a line of memory are different rows.
  const bool across = !program.row_axes.empty() && program.row_axes.back() == program.nest.order.back();
  const int64_t rows = across ? covering(count, 1, 64) : covering(count, 1, std::clamp<int64_t>(kRowsTile / length, 1, 64));
  const int64_t block = across ? 32 : std::clamp<int64_t>(kRowsTile / rows, 16, 4096);
  const int64_t tile = rows * std::min(length, kMostHeld / rows);
  Slots slots;
  slots["note"] = fmt::format("rows{}: {}", across ? " across memory" : "", program.outline());
  slots["requires"] = held.requirements();
  slots["rows_choices"] = around(rows, 1, 128);
  slots["block_choices"] = around(block, 16, 8192);
  slots["warps_choices"] = tile >= 8192 ? "8, 16, 4" : tile >= 2048 ? "4, 8, 2" : "2, 4, 1";
  slots["rows"] = program.rows().to_string();
  slots["whole"] = power_in_plan(program.row_length(), 4, kLongestHeld * 2);
  slots["rows_name"] = parameters.extent(program.rows());
  slots["length_name"] = parameters.extent(program.row_length());
  slots["args"] = parameters.arguments();
  slots["parameters"] = parameters.parameters();
  slots["functions"] = lanes_functions(whole + segments);
  slots["rows_prologue"] = prologue;
  slots["held"] = whole;
  slots["looped"] = segments;
  return finished(fill_pattern("patterns/triton/rows.py", slots), "rows");
}

}  // namespace hone::pattern::triton
