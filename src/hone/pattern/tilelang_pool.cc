// Poolings in TileLang: each element of the result goes through its window, tap by tap.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/pool_counts.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/tilelang_tile.h"
#include "hone/pattern/triton_patterns.h"
#include "hone/pattern/window_taps.h"

namespace hone::pattern::tile {
using task::IntExpr;
using task::Prim;

Result<kernel::Kernel> pool(const task::Task& given) {
  const task::Task task = with_pool_counts(given);
  const task::Graph& graph = task.primitive;
  HONE_TRY(const PlanePool found, find_plane_pool(graph));
  const task::Node& node = graph.node(found.node);
  HONE_TRY(const task::Task rest, epilogue_of(task, found.node));
  HONE_TRY(const Program program, find_program(rest, {.columns = false, .slices = true}));
  std::vector<int> axes = program.row_axes;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  for (const int output : program.nest.graph->outputs)
    if (axes != program.nest.of_node[0] || program.nest.of_node[static_cast<size_t>(output)] != axes)
      return fail(ErrorCode::kUnavailable, "the rest of the computation runs over other axes");
  TritonParameters parameters("=");
  const Taps taps(found.window, parameters);
  const auto input = static_cast<size_t>(std::find(graph.inputs.begin(), graph.inputs.end(), found.input) - graph.inputs.begin());
  const bool largest = node.prim == Prim::kPoolMax;
  const std::string type = tile_type(node.type.dtype), inner(20, ' '), deep(24, ' ');
  const std::string x = fmt::format("T.cast({}[{}], \"{}\")", parameters.tensor(task.inputs[input].name), taps.element(), type);
  TileElements elements(program, axes, {}, parameters);
  elements.bind(0, "total[j]");
  Slots slots;
  slots["body"] = elements.stores(program.nest.graph->outputs, inner);
  if (!elements.obstacle().empty()) return fail(ErrorCode::kUnavailable, elements.obstacle());
  slots["count"] = parameters.extent(found.window.images * all_of(found.window.to));
  slots["space"] = parameters.extent(all_of(found.window.to));
  slots["taps"] = parameters.extent(all_of(found.window.window));
  slots["type"] = type;
  slots["nothing"] = largest ? fmt::format("-T.infinity(\"{}\")", type) : fmt::format("T.cast(0, \"{}\")", type);
  slots["places"] = taps.columns(inner) + taps.places(inner);
  slots["within"] = taps.within(" and ");
  slots["take"] = fmt::format(fmt::runtime(largest ? "{}total[j] = greater({}, total[j])\n" : "{}total[j] = total[j] + {}\n"), deep, x);
  slots["functions"] = tile_functions(slots["body"] + slots["take"]);
  slots["note"] = fmt::format("windows, {}: {}", largest ? "max" : "sum", program.outline());
  slots["requires"] = elements.requirements();
  const int64_t all = triton::largest(task, found.window.images * all_of(found.window.to));
  slots["block_choices"] = triton::around(triton::covering(all, 128, 512), 128, 2048);
  HONE_TRY_VOID(say_parameters(slots, task, parameters, {"BLOCK", "THREADS"}));
  return finished(fill_pattern("patterns/tilelang/pool.py", slots), "pool");
}

}  // namespace hone::pattern::tile
