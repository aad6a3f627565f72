// Sorted rows on GPUs, and the first of them: patterns/gpu/sort.cu and topk.cu.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/sorting.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

/// The longest row that one tile may hold: keys of eight bytes and places fill 192 KiB then, and 48 of a CDNA's 64.
constexpr int64_t kLongestTile = 16384, kLongestHipTile = 4096;
/// Top k: of a row at most so many; a row is so many times as long at least; and what threads take at a time, together.
constexpr int64_t kMostKept = 2048, kLeastOfRow = 4, kUsualTile = 1024;

tl::unexpected<Error> no_sort(const char* why) { return fail(ErrorCode::kUnavailable, why); }

/// Of an input: no launch computes what it sorts.
Result<Sorting> sorting_of_input(const task::Graph& graph) {
  HONE_TRY(const Sorting found, find_sorting(graph));
  if (graph.node(found.keys).prim != Prim::kInput) return no_sort("a sort of something computed");
  return found;
}

/// Slots that both patterns fill alike.
Slots slots_of(const task::Task& task, kernel::Language language, const Sorting& found) {
  const task::Graph& graph = task.primitive;
  const Node& input = graph.node(found.keys);
  const DType type = input.type.dtype;
  const std::string key = value_type(type == DType::kBool ? DType::kI8 : type, Way::kThread), inner = wrapped(found.beside.to_cpp());
  Slots slots;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const Node& output = graph.node(graph.outputs[k]);
    const bool places = is_places(graph, found, graph.outputs[k]);
    const std::string kept = wrapped(found.kept(graph, graph.outputs[k]).to_cpp());
    slots["stores"] += fmt::format("  if (at < {0}) {1}[(outer * {0} + at) * {2} + inner] = {3};\n", kept, graph.output_names[k], inner,
                                   places ? fmt::format("static_cast<{}>(place_at)", storage_type(output.type.dtype)) : fmt::format("hone::gpu::stored<{}>(key_at)", storage_type(type)));
  }
  slots["language"] = kernel::name_of(language);
  slots["bytes"] = fmt::format("{}", key == "double" || key == "int64_t" ? 12 : 8);
  slots["key"] = key;
  slots["key_type"] = task::name_of(type);
  slots["key_storage"] = storage_type(type);
  slots["descending"] = found.descending ? "true" : "false";
  slots["length"] = wrapped(found.length.to_string());
  slots["length_cpp"] = found.length.to_cpp();
  slots["rows"] = wrapped(found.rows.to_string());
  slots["rows_cpp"] = found.rows.to_cpp();
  slots["inner"] = inner;
  slots["args"] = arguments_of(task);
  slots["parameters"] = gpu_parameters_of(task);
  slots["names"] = gpu_names_of(task);
  slots["tensor"] = input.attr<std::string>("name");
  return slots;
}

const char* direction(const Sorting& found) { return found.descending ? "from the largest on" : "from the smallest on"; }

}  // namespace

Result<kernel::Kernel> topk(const task::Task& task, kernel::Language language) {
  HONE_TRY(const Sorting found, sorting_of_input(task.primitive));
  int64_t kept = 0;
  for (const int output : task.primitive.outputs) {
    const IntExpr length = found.kept(task.primitive, output);
    if (!length.is_constant()) return no_sort("as many of a row as a size says");
    kept = std::max(kept, length.constant());
  }
  if (kept > kMostKept) return no_sort("many of a row");
  if (kept * kLeastOfRow > longest_row(task, found)) return no_sort("a large part of a row");
  Slots slots = slots_of(task, language, found);
  int64_t room = 64;
  while (room < kept + kUsualTile) room *= 2;
  slots["note"] = fmt::format("the first {} of {}, {}", kept, slots["tensor"], direction(found));
  slots["kept"] = fmt::format("{}", kept);
  slots["rooms"] = choices(room, {room * 2, room / 2});
  slots["parts"] = fmt::format("max(1, min(ceil_div({}, 4 * THREADS * EACH), ceil_div(BLOCKS * SMS, {})))", slots["length"], slots["rows"]);
  return finished(fill_pattern("patterns/gpu/topk.cu", slots), "topk");
}

Result<kernel::Kernel> sort(const task::Task& task, kernel::Language language) {
  HONE_TRY(const Sorting found, sorting_of_input(task.primitive));
  Slots slots = slots_of(task, language, found);
  const int64_t longest = longest_row(task, found);
  const int64_t longest_tile = language == kernel::Language::kHip ? kLongestHipTile : kLongestTile;
  int64_t tile = 4;
  while (tile < std::min(longest, longest_tile)) tile *= 2;
  const int64_t threads = std::clamp<int64_t>(tile / 2, 64, 512), together = tile >= longest ? std::max<int64_t>(1, 2 * threads / tile) : 1;
  // How often segments of TILE become twice as long until one is the row.
  std::string merges = "20";
  for (int64_t k = 19; k >= 0; --k) merges = fmt::format("select({} <= TILE * {}, {}, {})", slots["length"], int64_t{1} << k, k, merges);
  slots["note"] = fmt::format("rows of {} sorted {}", slots["tensor"], direction(found));
  slots["threads"] = choices(threads, {64, 128, 256, 512, 1024});
  slots["tiles"] = choices(tile, {tile * 2, std::max<int64_t>(4, tile / 4)});
  slots["rows_together"] = choices(together, {1, 2, 4, 8});
  slots["merges"] = merges;
  return finished(fill_pattern("patterns/gpu/sort.cu", slots), "sort");
}

}  // namespace hone::pattern::gpu
