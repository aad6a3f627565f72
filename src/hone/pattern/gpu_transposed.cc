// Element-wise work between tensors whose lines run along different axes: patterns/gpu/transposed.cu.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_text.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {
namespace {

/// The axis along which neighbours of a tensor lie side by side.
std::optional<int> line_axis(const Program& program, int id) {
  if (const auto access = program.nest.access.find(id); access != program.nest.access.end() && access->second.index >= 0) return std::nullopt;
  for (const int axis : program.nest.order)
    if (const task::IntExpr stride = program.nest.stride(id, axis); program.nest.has(id, axis) && stride.is_constant() && stride.constant() == 1) return axis;
  return std::nullopt;
}

}  // namespace

Result<Turned> turned(const Program& given) {
  if (!given.row_outputs.empty()) return fail(ErrorCode::kUnavailable, "an output that not all axes reach");
  Program program = given;
  program.row_axes.clear();
  program.inner_axes = program.nest.order;
  Turned found;
  for (const int output : program.nest.graph->outputs) {
    const auto line = line_axis(program, output);
    if (!line || (found.along >= 0 && found.along != *line)) return fail(ErrorCode::kUnavailable, "outputs whose lines run along different axes");
    found.along = *line;
  }
  for (const int id : GpuWriter(program, {}).tensors()) {
    const auto line = line_axis(program, id);
    if (!line || *line == found.along || !program.nest.has(id, found.along)) continue;
    if (found.down >= 0 && found.down != *line) return fail(ErrorCode::kUnavailable, "inputs that lie across in different ways");
    found.down = *line;
    found.across.push_back(id);
  }
  if (found.across.empty()) return fail(ErrorCode::kUnavailable, "all lines run along one axis");
  return found;
}

Result<kernel::Kernel> transposed(const Program& given, kernel::Language language) {
  HONE_TRY(const Turned axes, turned(given));
  Program program = given;
  program.row_axes.clear();
  program.inner_axes = {axes.down, axes.along};
  for (const int axis : program.nest.order)
    if (axis != axes.along && axis != axes.down) program.row_axes.push_back(axis);
  GpuWriter writer(program, {program.row_axes, {axes.along}});
  const GpuWriter other(program, {program.row_axes, {axes.down}});
  const auto whole = [&](const GpuWriter& lines, int axis) { return fmt::format("({}) % VEC == 0 && {}", program.extent(axis).to_cpp(), lines.aligned()); };
  const auto tile_bytes = [&](int id) {
    const int size = task::size_of(program.node(id).type.dtype);
    return fmt::format("TILE*(TILE + {})*{}", size < 4 ? 4 / size : 1, size);
  };
  std::string shared, loads, bytes;
  int widest = 1;
  for (const int id : axes.across) {
    const std::string name = writer.leaf_name(id);
    shared += fmt::format("  __shared__ hone::gpu::SwappedTile<{}, TILE, THREADS, VEC> {}_tile;\n", storage_type(program.node(id).type.dtype), name);
    loads += fmt::format("  {0}_tile.load({0}_row, {1}, along, along_end, below, down_end, whole_across, thread);\n", name, program.nest.stride(id, axes.along).to_cpp());
    bytes += (bytes.empty() ? "" : " + ") + tile_bytes(id);
    widest = std::max(widest, task::size_of(program.node(id).type.dtype));
  }
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "turned in shared memory: " + program.outline();
  slots["requires"] = writer.requirements();
  slots["tiles"] = widest <= 4 && axes.across.size() == 1 ? "64, 32" : "32, 64";
  slots["bytes"] = bytes;
  slots["grid"] = fmt::format("{}ceil_div({}, TILE)*ceil_div({}, TILE)", factor(program.rows()), program.extent(axes.along).to_string(), program.extent(axes.down).to_string());
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["shared"] = shared;
  slots["along_extent"] = program.extent(axes.along).to_cpp();
  slots["down_extent"] = program.extent(axes.down).to_cpp();
  slots["whole"] = whole(writer, axes.along);
  slots["whole_across"] = whole(other, axes.down);
  slots["down_axis"] = std::to_string(axes.down);
  slots["prologue"] = writer.row_prologue("piece", "  ");
  slots["loads"] = loads;
  slots["body"] = writer.one_word(axes.across, "    ");
  slots["row_values"] = writer.row_values("  ");
  return finished(fill_pattern("patterns/gpu/transposed.cu", slots), "transposed");
}

}  // namespace hone::pattern::gpu
