// GpuMatmulWriter: products with a factor that is computed on its way.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_matmul_writer.h"
#include "hone/pattern/gpu_operand.h"
#include "hone/pattern/gpu_writer.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

/// "4, 1, 2, 8": the first one first, then the others.
std::string with_first(int64_t first, const std::vector<int64_t>& others) {
  std::vector<int64_t> all{first};
  for (const int64_t other : others)
    if (other != first) all.push_back(other);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

Offer GpuMatmulWriter::patches(const GpuOperand& operand, int64_t few, int64_t depth, bool split, const PatchScales* scales) const {
  const bool of_rows = all_.a.input < 0;
  const GpuFactor& other = of_rows ? b_ : a_;
  const std::string action = std::string(scales ? "segments of the depth scaled as they are added up" : "a factor computed on its way") + (split ? split_action() : "");
  Slots slots = common(action);
  std::vector<std::string> requirements;
  const auto require = [&](const std::string& text) {
    if (const std::string quoted = '"' + text + '"'; std::find(requirements.begin(), requirements.end(), quoted) == requirements.end()) requirements.push_back(quoted);
  };
  for (const IntExpr& condition : all_.program.nest.conditions) require(condition.to_string());
  for (const IntExpr& condition : operand.conditions()) require(condition.to_string());
  for (const AxisGroup* group : {&all_.batch, &all_.row, &all_.column, &all_.depth})
    if (!group->extent.is_constant()) require(fmt::format("{} < 2147483648", wrapped(group->extent.to_string())));
  if (scales)
    for (const IntExpr& condition : scales->conditions) require(condition.to_string());
  if (scales)
    for (const IntExpr& segment : scales->segments) require(fmt::format("{} % {} == 0", wrapped(segment.to_string()), 4 * operand.run()));
  slots["requires"] = requirements.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(requirements, ", "));

  // Few lines of the other factor: memory has to be kept busy, for which all warps share the depth.
  const int64_t tile = std::clamp<int64_t>(std::bit_ceil(static_cast<uint64_t>(few)), 8, 64);
  const int64_t across = tile <= 16 ? 1 : tile == 32 ? 2 : 4;
  const int64_t chunks = std::max<int64_t>(1, depth / (4 * operand.run()));
  const int64_t deep = std::min<int64_t>(8 / across, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(chunks))));
  // With scales there are two sets of sums.
  const int64_t most = scales ? 256 : 512;
  std::vector<int> lines = operand.lines();
  std::stable_partition(lines.begin(), lines.end(), [&](int n) { return n * tile <= 128 || n == 2; });
  slots["most"] = std::to_string(most);
  slots["lines_values"] = fmt::format("{}", fmt::join(lines, ", "));
  slots["few_values"] = with_first(tile, {8, 16, 32, 64, 128});
  slots["across_values"] = with_first(across, {1, 2, 4, 8});
  slots["deep_values"] = with_first(deep, {8, 16, 4, 2, 1});
  slots["run"] = std::to_string(operand.run());
  add_waves(slots, split);
  slots["operand"] = operand.single_text() + operand.patch_text() + (scales ? scales->functions : "");
  slots["columns"] = cpp_of(all_.column.extent);
  slots["lines"] = of_rows ? "rows_at" : "columns_at", slots["others"] = of_rows ? "columns_at" : "rows_at";
  slots["line_index"] = of_rows ? "r_at" : "c_at", slots["other_index"] = of_rows ? "c_at" : "r_at";
  add_factor(slots, "other", other, "tile_at.batch");
  slots["other_along"] = other.along_depth() ? "true" : "false";
  slots["stored"] = scales ? "hone::f16" : storage_type(other.dtype());
  const auto scale = [&](bool has, const char* name, const std::string& last) {
    return fmt::format("[&](int64_t line_at, int64_t depth_at) {{ return {}; }}",
                       has ? fmt::format("{}({}, tile_at.batch, hone::gpu::min(line_at, {} - 1), depth_at)", name, names(), last) : "1.0f");
  };
  slots["scales"] = !scales ? "hone::gpu::NoScales{}"
                            : fmt::format("hone::gpu::SegmentScales{{\n          {},\n          {}}}", scale(scales->of_lines, "line_scale_of", slots["lines"]),
                                          scale(scales->of_others, "other_scale_of", slots["others"]));
  slots["scales_note"] = scales ? "// Both factors are multiplied as they are kept, in f16, which holds them, and the sums of each segment of the depth that has one scale are\n"
                                  "// scaled and added up in fp32.\n" : "";

  const int size = static_cast<int>(task::size_of(other.dtype())), pad = operand.run() * size > 16 ? 16 : 0;
  const std::string used = fmt::format("{} * DEEP", 4 * (operand.run() * size + pad));
  slots["shared"] = fmt::format("max(STAGES * FEW * ({0} + (192 - {0} % 128) % 128), 4 * DEEP * FEW * (8 * LINES * ACROSS + 4))", used);
  // What speaks of rows and columns, in terms of the factors' lines.
  const auto in_lines = [&](std::string text) {
    for (const auto& [from, to] : {std::pair{"ROWS", of_rows ? "(8 * LINES * ACROSS)" : "FEW"}, {"COLUMNS", of_rows ? "FEW" : "(8 * LINES * ACROSS)"}}) replace_all(text, from, to);
    return text;
  };
  slots["workspaces"] = "", slots["launches"] = "", slots["kernels"] = "";
  if (split) {
    slots["workspaces"] = in_lines(fmt::format("workspaces = {{ {} }}\n", parts_workspace()));
    slots["parameters"] += kPartParameter;
  }
  add_segment(slots, split, cpp_of(all_.depth.extent));

  const auto entry = [&](const std::string& name, const std::string& when, int v, const std::string& load, const std::string& element) {
    slots["launches"] += fmt::format("[[launch]]\nkernel = \"{}\"\n{}grid   = [{}]\nblock  = [\"32 * ACROSS * DEEP\"]\nshared = \"{}\"\nargs   = [{}{}]\n", name,
                                     when.empty() ? "" : "when   = \"" + when + "\"\n", in_lines(grid(split)), slots["shared"], arguments_of(task_),
                                     split ? ", \"parts\"" : "");
    slots["kernels"] += fmt::format("__global__ void __launch_bounds__(32 * ACROSS * DEEP, 1) {}({}) {{\n  multiply<{}>(\n      {}{},\n      {},\n      {});\n}}\n", name,
                                    slots["parameters"], v, names(), split ? ", part_at" : "", load, element);
  };
  const bool words = other.along_depth();
  const auto wide = words && operand.wide() ? both(other.wide(), operand.wide()) : std::nullopt;
  const std::string conditions = wide ? fmt::format("{}", fmt::join(*wide, " and ")) : "";
  if (wide)
    entry("multiply_wide", conditions, other.vector(), fmt::format("[=](int64_t batch_at, int64_t line_at, int64_t depth_at) {{ return patch_of({}, batch_at, line_at, depth_at); }}", names()),
          fmt::format("[=](int64_t, const Patch& patch_at, int l_at, int d_at) {{ return element_of({}, patch_at, l_at, d_at); }}", names()));
  if (!wide || !conditions.empty())
    entry("multiply_any", wide ? "not (" + conditions + ")" : "", 1, "[=](int64_t, int64_t line_at, int64_t depth_at) { return hone::gpu::PatchPlace{line_at, depth_at}; }",
          fmt::format("[=](int64_t batch_at, const hone::gpu::PatchPlace& patch_at, int l_at, int d_at) {{\n"
                      "        const int64_t line_at = patch_at.line + l_at, depth_at = patch_at.depth + d_at;\n"
                      "        return line_at < {} && depth_at < {} ? single_of({}, batch_at, line_at, depth_at) : 0.0f;\n      }}",
                      cpp_of(of_rows ? all_.row.extent : all_.column.extent), cpp_of(all_.depth.extent), names()));
  if (split) {
    Slots last{{"launches", ""}, {"kernels", ""}};
    add_up(last);
    slots["launches"] += in_lines(last["launches"]), slots["kernels"] += last["kernels"];
  }
  return product_offer("patterns/gpu/matmul_patches.cu", slots, action);
}

}  // namespace hone::pattern
