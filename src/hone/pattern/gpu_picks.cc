// GpuMatmulWriter: products of which an index picks what each row takes.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_index.h"
#include "hone/pattern/gpu_matmul_writer.h"
#include "hone/pattern/gpu_writer.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

/// Elements before what is picked, -1 where that is nothing: of function `name` at `place`.
std::string picked_place(const Pick& pick, const std::string& name, const std::string& arguments, const std::string& place, const std::string& line) {
  const std::string index = fmt::format("{}({}, {})", name, arguments, place);
  return fmt::format("hone::gpu::picked({}, {}, {}, {})", index, pick.bound ? pick.bound->to_cpp() : "INT64_MAX", pick.stride.to_cpp(), line);
}

}  // namespace

Result<std::string> picks_text(const task::Task& task, const Contraction& all) {
  std::string text;
  for (const auto& [factor, name] : {std::pair{&all.a, "left_pick_of"}, {&all.b, "right_pick_of"}}) {
    if (!factor->pick) continue;
    HONE_TRY(const std::string function, index_text(task.primitive, factor->pick->index, name, gpu_parameters_of(task)));
    text += fmt::format("/// What the index picks of the {} factor.\n{}", factor == &all.a ? "left" : "right", function);
  }
  return text;
}

double GpuMatmulWriter::rows_of_group(const task::Workload& workload) const {
  const auto at = [&](const IntExpr& e) { return static_cast<double>(std::max<int64_t>(1, e.eval(workload.bindings).value_or(1))); };
  double groups = 1 / at(all_.column.extent) / at(all_.depth.extent);
  for (const IntExpr& extent : task_.primitive.node(all_.b.input).type.dims) groups *= at(extent);
  return at(all_.batch.extent) * at(all_.row.extent) / std::max(groups, 1.0);
}

void GpuMatmulWriter::add_picks(Slots& slots, bool split) const {
  for (const char* const slot : {"picked", "picks_note", "picks", "left", "left_picks", "right", "right_picks"}) slots[slot] = "";
  if (!picked()) return;
  slots["picked"] = "#include \"hone/gpu/matmul_picked.h\"\n";
  slots["picks_note"] = "// An index picks what each row takes, on its way: hone/gpu/matmul_picked.h says how.\n";
  const auto place = [](const GpuFactor& factor) {
    std::string text = factor.pick_place();
    replace_all(text, "batch_at", "tile_at.batch");
    return text;
  };
  const std::string line = all_.a.pick ? picked_place(*all_.a.pick, "left_pick_of", names(), place(a_), a_.line()) : a_.line();
  const std::string group = grouped() ? picked_place(*all_.b.pick, "right_pick_of", names(), place(b_), "0") : "0";
  slots["picks"] = fmt::format("  __shared__ hone::gpu::Picks<ROWS> picks_at;\n"
                               "  hone::gpu::pick(\n      picks_at, row_at, rows_at, [=]([[maybe_unused]] int64_t line_at) -> int64_t {{ return {}; }},\n"
                               "      [=]([[maybe_unused]] int64_t line_at) -> int64_t {{ return {}; }});\n", line, group);
  slots["a_line"] = "line_at";   // asked of the picks
  if (slots.contains("shared")) slots["shared"] += " + 24 * ROWS + 16";
  const std::string depth = cpp_of(all_.depth.extent);
  slots["left"] = fmt::format("hone::gpu::picked_lines<DEPTH, {}>(", grouped()), slots["left_picks"] = fmt::format(", picks_at, row_at, {})", depth);
  if (!grouped()) {
    replace_all(slots["segment"], "const ", "");
    slots["segment"] += "  if (picks_at.count == 0) segment_at.end = segment_at.begin;  // of nothing\n";
    return;
  }
  HONE_CHECK(!split, "groups follow each other along the depth");
  slots["right"] = "hone::gpu::picked_groups<DEPTH>(", slots["right_picks"] = fmt::format(", picks_at, {})", depth);
  slots["segment"] = fmt::format("  const hone::gpu::Segment segment_at{{0, picks_at.count * (({} + DEPTH - 1) / DEPTH * int64_t{{DEPTH}})}};\n", depth);
  // Tiles of about as many rows as a group has: more meet several groups.
  const auto rows = std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows_of_group(task_.workloads.front())))), 32, 128);
  slots["rows_values"] = std::to_string(rows);
  for (const int64_t other : {128, 64, 256, 32})
    if (other != rows) slots["rows_values"] += fmt::format(", {}", other);
}

}  // namespace hone::pattern
