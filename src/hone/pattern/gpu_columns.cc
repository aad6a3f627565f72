#include "hone/pattern/gpu_patterns.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_partials.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {

using task::IntExpr;

namespace {

/// Rows that a column has.
IntExpr depth_of(const Program& program) {
  IntExpr depth = 1;
  for (size_t k = 0; k + 1 < program.inner_axes.size(); ++k) depth = depth * program.extent(program.inner_axes[k]);
  return depth;
}

}  // namespace

Result<kernel::Kernel> columns(const Program& program, kernel::Language language) {
  if (!program.row_outputs.empty()) return fail(ErrorCode::kUnavailable, "an output has no column");
  const Segment segment{{}, {program.inner_axes.back()}};
  GpuWriter held(program, segment, true), loops(program, segment);
  if (std::string why = held.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr& width = program.extent(program.inner_axes.back());
  const IntExpr depth = depth_of(program);
  // An output that runs down the columns leaves Down rows at a time: so many that they fill sectors, and columns that registers hold
  // whatever it takes, as of long ones such an output is written element by element.
  const auto outputs = program.nest.graph->outputs;
  const bool down = std::any_of(outputs.begin(), outputs.end(), [&](int id) { return held.is_turned(id); });
  const int64_t vec = std::min<int64_t>(held.widest_vector(), down ? 4 : 8), wide = GpuWriter::largest(program, width), deep = GpuWriter::largest(program, depth);
  const int64_t x = std::clamp<int64_t>(power_of_two(wide) / vec, 8, down ? 16 : 32);
  const int64_t y = std::clamp<int64_t>(power_of_two(deep) / (down ? 1 : 4), 64 / x, down ? 32 : 256 / x);
  const int64_t rows_held = std::clamp<int64_t>(power_of_two((deep + y - 1) / y), 1, kMostHeld / vec);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "tiles of columns: " + held.outline();
  slots["requires"] = held.requirements();
  slots["tunables"] = fmt::format("ACROSS = [{}], DOWN = [{}], VEC = [{}], HELD = [{}], UNROLL = [4, 2, 8]", choices(x, {16, 32, 64, 128}),
                                  choices(y, {4, 8, 16, 32}),
                                  choices(vec, {4, 2, 1}), choices(rows_held, {8, 4, 2, 1}));
  slots["slot"] = fmt::format("{}", held.slot_bytes());
  slots["depth"] = depth.to_string();
  slots["rows"] = factor(program.rows());
  slots["columns"] = width.to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["columns_cpp"] = bracketed(width);
  slots["depth_cpp"] = bracketed(depth);
  slots["aligned"] = loops.aligned();
  slots["held_prologue"] = held.row_prologue("row", "  ");
  slots["prologue"] = loops.row_prologue("row", "  ");
  std::string body, looped;
  for (size_t pass = 0; pass < program.passes.size(); ++pass) {
    body += held.pass_columns(pass, {}, {}, "    ");
    body += held.merged_columns(pass, "    ");
    looped += loops.pass_columns(pass, "0", bracketed(depth), "    ");
    looped += loops.merged_columns(pass, "    ");
  }
  slots["held"] = body + held.column_stores("    ", "threadIdx.y == 0");
  slots["body"] = looped + loops.column_stores("    ", "threadIdx.y == 0");
  return finished(fill_pattern("patterns/gpu/columns.cu", slots), "columns");
}

Result<kernel::Kernel> split_columns(const Program& program, kernel::Language language) {
  if (!program.row_outputs.empty()) return fail(ErrorCode::kUnavailable, "an output has no column");
  if (program.passes.size() != 1 || !program.passes[0].stores.empty()) return fail(ErrorCode::kUnavailable,
      "more than one pass over the columns");
  const Segment segment{{}, {program.inner_axes.back()}};
  GpuWriter writer(program, segment), finish(program, segment);
  if (std::string why = writer.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const Round round = rounds_of(program, false).front();
  const IntExpr& width = program.extent(program.inner_axes.back());
  const IntExpr depth = depth_of(program);
  const int64_t vec = writer.widest_vector(), x = std::clamp<int64_t>(power_of_two(GpuWriter::largest(program, width)) / vec, 8, 32);
  const std::string chunks = fmt::format("max(1, min(ceil_div(BLOCKS * SMS, {}ceil_div({}, ACROSS * VEC)), ceil_div({}, DOWN * UNROLL)))",
                                         factor(program.rows()), width.to_string(),
                                         depth.to_string());
  const Partials partials(writer, {round}, program.rows().to_string(), fmt::format("{}, {}", chunks, width.to_string()));
  std::vector<std::string> names = partials.names;
  names.push_back("i64:" + chunks);
  std::string body = writer.pass_columns(0, "begin", "end", "    "), leave, gathered;
  for (const Running& result : round.results) {
    body += fmt::format("    hone::gpu::merge_columns(scratch, r{});\n", result.first);
    std::vector<std::string> parts;
    for (const std::string& field : partials.fields(result)) {
      leave += fmt::format("        {}[(row * chunks + chunk) * {} + j] = r{}[e].{};\n", left_name(field, result.first), bracketed(width), result.first, field);
      parts.push_back(fmt::format("{}[(row * chunks + c) * {} + j]", left_name(field, result.first), bracketed(width)));
    }
    gathered += fmt::format("    {0} r{1}[VEC];\n    columns.each([&](int e, int64_t j) {{\n      for (int64_t c = 0; c < chunks; ++c) r{1}[e].merge({{{2}}});\n    }});\n",
                            writer.accumulator(result.first), result.first, fmt::join(parts, ", "));
  }
  body += "    if (threadIdx.y == 0) {\n      columns.each([&](int e, int64_t j) {\n" + leave + "      });\n    }\n";
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "columns in chunks of rows: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = fmt::format("ACROSS = [{}], DOWN = [{}], VEC = [{}], UNROLL = [4, 2, 8], BLOCKS = [8, 4, 2]", choices(x,
      {8, 16, 32, 64}), choices(256 / x, {4, 8, 16, 32}),
                                  choices(vec, {4, 2, 1}));
  slots["slot"] = fmt::format("{}", writer.slot_bytes());
  slots["workspaces"] = partials.workspaces;
  slots["rows"] = factor(program.rows());
  slots["columns"] = width.to_string();
  slots["chunks"] = chunks;
  slots["args"] = arguments_with(*program.task, names);
  slots["parameters"] = gpu_parameters_of(*program.task) + partials.parameters + ", int64_t chunks";
  slots["columns_cpp"] = bracketed(width);
  slots["depth_cpp"] = bracketed(depth);
  slots["aligned"] = writer.aligned();
  slots["prologue"] = writer.row_prologue("row", "  ");
  slots["body"] = body;
  slots["finish_prologue"] = finish.row_prologue("row", "  ");
  std::string found = finish.found_columns(0, "    ");
  slots["finish"] = gathered + found + finish.column_stores("    ", "true");
  return finished(fill_pattern("patterns/gpu/split_columns.cu", slots), "split_columns");
}

}  // namespace hone::pattern::gpu
