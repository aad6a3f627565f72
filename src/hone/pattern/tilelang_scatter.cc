// Sums by index in TileLang, and element-wise work behind them: patterns/tilelang/scatter.py.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/template.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_places.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern::tile {
namespace {

using task::Dims;
using task::Graph;
using task::IntExpr;
using task::Node;
using task::Prim;
using triton::around;
using triton::covering;
using triton::largest;

/// Bytes of a block's sums.
constexpr int64_t kSums = 16384;

}  // namespace

Result<kernel::Kernel> scatter(const task::Task& task) {
  const Graph& graph = task.primitive;
  int found = -1;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].prim != Prim::kScatterAdd) continue;
    if (found >= 0) return fail(ErrorCode::kUnavailable, "several sums by index");
    found = static_cast<int>(id);
  }
  if (found < 0) return fail(ErrorCode::kUnavailable, "no sum by index");
  const Node& node = graph.node(found);
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const Dims &dims = node.type.dims, &from = graph.node(node.operands[1]).type.dims;
  Dims others = dims;
  others[axis] = 1;
  IntExpr lines = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d != axis && !(dims[d] == from[d])) return fail(ErrorCode::kUnavailable, "indices of a part of the lines");
    lines = lines * others[d];
  }
  for (const int output : graph.outputs)
    if (!(graph.node(output).type.dims == dims)) return fail(ErrorCode::kUnavailable, "outputs of several shapes");
  TritonParameters parameters("=");
  const auto places_along = [&](TilePlaces& places, const std::string& place) {
    TilePlaces::At at = places.unfolded("line", others);
    at[axis] = place;
    return at;
  };
  const std::string type = tile_type(node.type.dtype), inner(20, ' '), deep(24, ' '), deeper(28, ' ');
  Slots slots;
  TilePlaces start(task, parameters, inner), aim(task, parameters, deep), add(task, parameters, deeper), store(task, parameters, inner);
  const std::string before = start.value(node.operands[0], places_along(start, "at"));
  slots["start"] = fmt::format("{}{}sums[i, j] = {}", start.lines(), inner, before);
  const std::string index = aim.value(node.operands[1], places_along(aim, "p"));
  slots["aim"] = fmt::format("{}{}aim = T.cast({}, \"int32\")", aim.lines(), deep, index);
  const std::string source = add.value(node.operands[2], places_along(add, "p"));
  slots["add"] = fmt::format("{}{}sums[own, j] = sums[own, j] + {}", add.lines(), deeper, source);
  const TilePlaces::At own = places_along(store, "at");
  store.bind(found, own, "sums[i, j]");
  std::string text;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const std::string value = store.value(graph.outputs[k], own);
    text += fmt::format("{}{}[{}] = T.cast({}, \"{}\")\n", inner, parameters.tensor(graph.output_names[k]), store.folded(own, dims), value, tile_storage(graph.node(graph.outputs[k]).type.dtype));
  }
  slots["store"] = store.lines() + text;
  for (const TilePlaces* const places : {&start, &aim, &add, &store})
    if (!places->obstacle().empty()) return fail(ErrorCode::kUnavailable, places->obstacle());
  slots["lines"] = parameters.extent(lines);
  slots["rows"] = parameters.extent(dims[axis]);
  slots["count"] = parameters.extent(from[axis]);
  slots["type"] = type;
  slots["note"] = "sums by index";
  const int64_t bytes = std::max<int64_t>(4, task::size_of(node.type.dtype)), wide = covering(largest(task, lines), 1, 128);
  slots["bytes"] = std::to_string(bytes);
  slots["lines_choices"] = around(wide, 1, 256);
  slots["rows_choices"] = around(covering(largest(task, dims[axis]), 1, kSums / bytes / wide), 1, 8192);
  slots["functions"] = tile_functions(slots["start"] + slots["aim"] + slots["add"] + slots["store"]);
  HONE_TRY_VOID(say_parameters(slots, task, parameters, {"LINES", "ROWS", "THREADS"}));
  return finished(fill_pattern("patterns/tilelang/scatter.py", slots), "scatter");
}

}  // namespace hone::pattern::tile
