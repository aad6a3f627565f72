// Sorted rows in TileLang, and the first of them: patterns/tilelang/sort.py. What is sorted may be computed element by element.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/sorting.h"
#include "hone/pattern/template.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_places.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern::tile {
namespace {

using task::Dims;
using task::DType;
using task::Graph;
using task::IntExpr;
using triton::around;
using triton::covering;
using triton::largest;

/// Of what is kept a tile is so many times as long, and of a row so long at least.
constexpr int64_t kOfKept = 4, kLeastTile = 1024, kLongestTile = 16384, kTogether = 2048;

/// The element of `id` at `row` of all rows and at `place` of its own.
TilePlaces::At coordinates(TilePlaces& places, const Dims& dims, size_t axis, const std::string& place) {
  Dims others = dims;
  others[axis] = 1;
  TilePlaces::At at = places.unfolded("row", others);
  at[axis] = place;
  return at;
}

/// A whole number of `wide` that grows as the key does, or falls.
std::string key_of(const std::string& value, DType type, bool wide, bool descending) {
  const char* const whole = wide ? "int64" : "int32";
  const std::string key = task::is_float(type) ? fmt::format("in_order({})", value) : fmt::format("T.cast({}, \"{}\")", value, whole);
  return descending ? fmt::format("T.cast(-1, \"{}\") - {}", whole, key) : key;
}

}  // namespace

Result<kernel::Kernel> sort(const task::Task& task) {
  const Graph& graph = task.primitive;
  HONE_TRY(const Sorting sorting, find_sorting(graph));
  const DType type = graph.node(sorting.keys).type.dtype;
  // A place goes with a key: in one word where the key leaves half of it.
  const bool wide = !fits_32(type), beside = !is_one(sorting.beside);
  IntExpr kept = sorting.kept(graph, graph.outputs.front());
  for (const int output : graph.outputs) kept = IntExpr::max(kept, sorting.kept(graph, output));
  TritonParameters parameters("=");
  TilePlaces read(task, parameters, std::string(28, ' '));
  const std::string key = read.value(sorting.keys, coordinates(read, graph.node(sorting.keys).type.dims, sorting.axis, "at"));
  Slots slots;
  const std::string inner(28, ' ');
  const std::string whole = key_of(key, type, wide, sorting.descending);
  slots["load"] = read.lines() + (wide ? fmt::format("{0}keys[i, j] = {1}\n{0}places[i, j] = at\n", inner, whole)
                                       : fmt::format("{}keys[i, j] = T.cast({}, \"int64\") * T.cast(4294967296, \"int64\") + T.cast(at, \"int64\")\n", inner, whole));
  slots["nothing"] = fmt::format("{0}keys[i, j] = T.max_value(\"int64\")\n{1}", inner, wide ? inner + "places[i, j] = at\n" : "");
  slots["place"] = wide ? "places[i, j]" : "T.cast(keys[i, j] & T.cast(4294967295, \"int64\"), \"int32\")";
  std::string obstacle = read.obstacle();
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const int output = graph.outputs[k];
    const auto& [dtype, dims] = graph.node(output).type;
    TilePlaces write(task, parameters, std::string(24, ' '));
    const std::string there = write.folded(coordinates(write, dims, sorting.axis, "j"), dims);
    const std::string value = is_places(graph, sorting, output) ? "place" : write.value(sorting.keys, coordinates(write, graph.node(sorting.keys).type.dims, sorting.axis, "place"));
    slots["store"] += fmt::format("                    if j < {}:\n{}{}{}[{}] = T.cast({}, \"{}\")\n", parameters.extent(sorting.kept(graph, output)), write.lines(), std::string(24, ' '),
                                  parameters.tensor(graph.output_names[k]), there, value, tile_storage(dtype));
    if (obstacle.empty()) obstacle = write.obstacle();
  }
  if (!obstacle.empty()) return fail(ErrorCode::kUnavailable, obstacle);
  slots["more"] = !wide ? "" : "            places = T.alloc_shared((ROWS, WIDE), \"int32\")\n            fresh_places = T.alloc_fragment((ROWS, WIDE), \"int32\")\n"
                               "            spot = T.alloc_local((2,), \"int32\")\n            ahead = T.alloc_local((1,), \"int32\")\n";
  slots["exchange"] = !wide ? fmt::format("{}fresh[i, j] = T.if_then_else(j < other[0], T.min(key[0], key[1]), T.max(key[0], key[1]))\n", inner)
                            : fmt::format("{0}spot[0] = places[i, j]\n{0}spot[1] = places[i, other[0]]\n"
                                          "{0}ahead[0] = T.if_then_else(key[1] == key[0], T.cast(spot[1] < spot[0], \"int32\"), T.cast(key[1] < key[0], \"int32\"))\n"
                                          "{0}swaps = ahead[0] == T.cast(j < other[0], \"int32\")\n"
                                          "{0}fresh[i, j] = T.if_then_else(swaps, key[1], key[0])\n{0}fresh_places[i, j] = T.if_then_else(swaps, spot[1], spot[0])\n", inner);
  slots["keep"] = !wide ? "" : fmt::format("{}places[i, j] = fresh_places[i, j]\n", inner);
  // Neighbouring threads have neighbouring rows where these lie side by side.
  slots["tile"] = beside ? "j, i in T.Parallel(WIDE, ROWS)" : "i, j in T.Parallel(ROWS, WIDE)";
  slots["rows"] = parameters.extent(sorting.rows);
  slots["length"] = parameters.extent(sorting.length);
  slots["kept"] = parameters.extent(kept);
  const std::string length = sorting.length.to_string();
  slots["requires"] = fmt::format("\"{0} <= TILE or 2 * ({1}) <= TILE\", \"{2} * ROWS * min(TILE, next_power_of_2({0})) <= SHARED_MAX\"", length, kept.to_string(), wide ? 12 : 8);
  slots["note"] = fmt::format("{} of rows, from the {} on", kept == sorting.length ? "all" : "the first", sorting.descending ? "largest" : "smallest");
  const int64_t longest = largest(task, sorting.length), first = largest(task, kept);
  const int64_t tile = covering(first * kOfKept < longest ? std::min(longest, std::max(kLeastTile, first * kOfKept)) : longest, 2, kLongestTile);
  const int64_t rows = covering(largest(task, sorting.rows), 1, std::clamp<int64_t>(kTogether / tile, 1, beside ? 32 : 8));
  slots["tile_choices"] = around(tile, 2, kLongestTile);
  slots["rows_choices"] = around(rows, 1, 32);
  slots["threads_choices"] = tile * rows >= 1024 ? "256, 512, 128" : "128, 64, 256";
  slots["functions"] = tile_functions(slots["load"] + slots["store"]);
  HONE_TRY_VOID(say_parameters(slots, task, parameters, {"ROWS", "TILE", "THREADS"}));
  return finished(fill_pattern("patterns/tilelang/sort.py", slots), "sort");
}

}  // namespace hone::pattern::tile
