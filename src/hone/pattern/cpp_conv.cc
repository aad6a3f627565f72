#include "hone/pattern/cpp_conv.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/convolution.h"
#include "hone/pattern/cpp_windows.h"
#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

std::string enclosed(const IntExpr& e) { return "(" + e.to_cpp() + ")"; }

IntExpr product_of_all(const std::vector<IntExpr>& extents) {
  IntExpr all = 1;
  for (const IntExpr& e : extents) all = all * e;
  return all;
}

/// The largest value at the task's workloads.
int64_t most(const task::Task& task, const IntExpr& e) {
  int64_t found = 1;
  for (const task::Workload& w : task.workloads) found = std::max(found, e.eval(w.bindings).value_or(1));
  return found;
}

/// Statements that pack count_at lines of weights from line first_at on to to_at, depth low_at to low_at + many_at.
std::string pack_weights(const Convolution& found, const IntExpr& taps) {
  const std::string channels = enclosed(found.channels), outputs = enclosed(found.outputs), all = enclosed(taps);
  if (!found.transposed)
    return fmt::format("  const auto* from_at = {} + (group_at * {} + first_at) * depth_at + low_at;\n"
                       "  hone::pack_along<hone::PlainProducts<f32v>, ROWS, true>(to_at, count_at, many_at, [&](int64_t i) HONE_BODY {{ return from_at + i * depth_at; }});\n",
                       found.w, outputs);
  // The taps of an output channel lie side by side, those of the next input channel behind all outputs'.
  return fmt::format("  for (int64_t k_at = low_at; k_at < low_at + many_at; ++k_at, to_at += ROWS) {{\n"
                     "    const auto* from_at = {0} + ((group_at * {1} + k_at / {3}) * {2} + first_at) * {3} + k_at % {3};\n"
                     "    for (int64_t i = 0; i < ROWS; ++i) to_at[i] = i < count_at ? hone::load<float>(from_at + i * {3}) : 0.0f;\n"
                     "  }}\n",
                     found.w, channels, outputs, all);
}

/// Heights of a register tile, first the lowest that holds all output channels, if one does.
std::string heights(int64_t outputs) {
  std::vector<int64_t> all = {12, 8, 6, 14, 4, 2, 1};
  int64_t best = 12;
  for (const int64_t rows : {8, 6, 4, 2, 1})
    if (rows >= outputs) best = rows;
  std::erase(all, best);
  all.insert(all.begin(), best);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

Result<kernel::Kernel> conv_cpp(const task::Task& task) {
  HONE_TRY(const auto convolution, find_convolution(task));
  const Convolution& found = *convolution;
  const Program& program = found.rest.program;
  const IntExpr places = product_of_all(found.to), taps = product_of_all(found.window), depth = found.channels * taps;
  if (program.inner_axes.size() != 1 || !(program.row_length() == places))
    return fail(ErrorCode::kUnavailable, "the element-wise part behind the convolution takes its space apart");
  CppWriter writer(program, Way::kVector32, {}, {program.nest.graph->inputs.front()});
  if (!writer.vectorisable()) return fail(ErrorCode::kUnavailable, "the innermost axis is not contiguous in every tensor");
  const int64_t outputs = most(task, found.outputs);
  Slots slots;
  slots["note"] = fmt::format("{}patches packed block by block, register tiles; then {}", found.transposed ? "transposed: " : "", writer.outline());
  slots["requires"] = writer.requirements();
  slots["lines"] = heights(outputs);
  slots["tall"] = "8, 16, 4, 1";
  slots["wide"] = "4, 8, 2, 1";
  slots["parameters"] = parameters_of(task);
  slots["args"] = arguments_of(task);
  slots["windows"] = fmt::format("{}, {}, {}, {}", found.transposed, each_of(found.stride), each_of(found.dilation), each_of(found.padding));
  slots["images"] = found.images.to_string();
  slots["groups"] = found.groups.to_string();
  slots["outputs"] = found.outputs.to_string();
  slots["places"] = places.to_string();
  slots["depth"] = depth.to_string();
  slots["groups_cpp"] = enclosed(found.groups);
  slots["outputs_cpp"] = enclosed(found.outputs);
  slots["channels_cpp"] = enclosed(found.channels);
  slots["places_cpp"] = enclosed(places);
  slots["depth_cpp"] = enclosed(depth);
  slots["from_cpp"] = list_of(found.from);
  slots["to_cpp"] = list_of(found.to);
  slots["window_cpp"] = list_of(found.window);
  slots["x"] = found.x;
  slots["x_type"] = storage_type(found.x_dtype);
  slots["pack_w"] = pack_weights(found, taps);
  slots["epilogue"] = writer.row_prologue("row_at", "    ") + writer.pass_text(0, "    ", Span::kSlice);
  return finished(fill_pattern("patterns/cpp/conv.cc", slots), "conv");
}

}  // namespace hone::pattern
