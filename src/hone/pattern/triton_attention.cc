// Attention in Triton.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/attention.h"
#include "hone/pattern/template.h"
#include "hone/pattern/triton_factor.h"
#include "hone/pattern/triton_patterns.h"
#include "hone/pattern/triton_text.h"

namespace hone::pattern::triton {
namespace {

using task::DType;

/// Heads wider than this leave no room for a tile of scores.
constexpr int64_t kWidest = 256;

/// The sum of values, a weight being as many numbers of their type as it takes.
std::string weighted_sum(DType value, const std::string& precision) {
  const std::string indent = "        ";
  if (value == DType::kF32) return fmt::format("{}total += tl.dot(p, v{})\n", indent, precision);
  return fmt::format("{0}high = p.to({1})\n{0}total = tl.dot(high, v, total)\n{0}if PARTS == 2:\n{0}    total = tl.dot((p - high.to(tl.float32)).to({1}), v, total)\n", indent,
                     lanes_storage(value));
}

std::string requirements(const Contraction& scores, const Contraction& values) {
  std::vector<std::string> all;
  for (const task::IntExpr* extent : {&scores.depth.extent, &values.column.extent})
    if (!extent->is_constant()) all.push_back(fmt::format("\"{} <= {}\"", extent->to_string(), kWidest));
  for (const Contraction* product : {&scores, &values})
    for (const task::IntExpr& condition : product->program.nest.conditions) all.push_back("\"" + condition.to_string() + "\"");
  return all.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(all, ", "));
}

}  // namespace

Result<kernel::Kernel> attention(const task::Task& task) {
  HONE_TRY(const Attention found, find_attention(task));
  const Contraction &scores = *found.scores, &values = *found.values;
  TritonParameters parameters;
  // A name keeps its type through a loop: keys and values have places of their own.
  const TritonFactors queries(found.scores_task, scores, parameters, "i_"), keyed(found.scores_task, scores, parameters, "k_"), valued(found.values_task, values, parameters, "j_");
  const DType query = queries.dtype_of(scores.a), key = keyed.dtype_of(scores.b), value = valued.dtype_of(values.b);
  for (const DType type : {query, key, value})
    if (type != query || type == DType::kF64) return fail(ErrorCode::kUnavailable, "queries, keys and values of one type");
  if (largest(task, scores.depth.extent) > kWidest || largest(task, values.column.extent) > kWidest) return fail(ErrorCode::kUnavailable, "heads of up to 256");
  if (is_one(values.column.extent) || is_one(scores.column.extent)) return fail(ErrorCode::kUnavailable, "one key, or values of one number");
  // Weights have more digits than TF32.
  const std::string precision = query == DType::kF32 ? ", input_precision=\"bf16x6\"" : "";
  const std::string indent = "    ", inner = "        ";
  const std::string rows = parameters.extent(scores.row.extent), keys = parameters.extent(scores.column.extent);
  TritonTile tile(scores.program, scores.program.row_axes, scores.program.inner_axes, parameters);
  HONE_TRY_VOID(tile.element_wise());
  tile.bind(0, "scores");
  std::string places = queries.places(scores.batch, "batch", indent) + queries.places(scores.row, "line", indent) + queries.places(scores.depth, "across", indent);
  places += fmt::format("{}q = tl.load({}, mask=line_in & across_in, other=0)\n", indent, queries.pointers(scores.a, scores.row));
  places += keyed.places(scores.batch, "batch", indent) + keyed.places(scores.depth, "down", indent);
  places += valued.places(values.batch, "batch", indent) + valued.places(values.column, "column", indent) + tile.rows_prologue(indent);
  std::string loads = keyed.places(scores.column, "at", inner);
  loads += fmt::format("{}k = tl.load({}, mask=at_in & down_in, other=0)\n", inner, keyed.pointers(scores.b, scores.column));
  std::string sums = valued.places(values.depth, "key", inner);
  sums += fmt::format("{}v = tl.load({}, mask=key_in & column_in, other=0)\n", inner, valued.pointers(values.b, values.column));
  const auto [score_lines, score] = tile.value(scores.program.nest.graph->outputs.front(), inner);
  TritonTile rest(values.program, values.program.row_axes, values.program.inner_axes, parameters);
  HONE_TRY_VOID(rest.element_wise());
  rest.bind(0, "total");
  std::string body = rest.rows_prologue(indent) + rest.places_prologue(indent);
  for (const int output : values.program.nest.graph->outputs) body += rest.store(output, indent);
  std::string last = keys;
  if (found.visible && found.visible->to) {
    const std::string along = parameters.extent(scores.extents.at(scores.row.letters.back())), end = fmt::format("tl.minimum(first + BM, {}) - 1", rows);
    last = fmt::format("tl.where(first // {0} != ({1}) // {0}, {2}, tl.minimum(tl.maximum(({1}) % {0} + {3}, 1), {2}))", along, end, keys,
                       parameters.extent(*found.visible->to + 1));
  }
  const int64_t width = std::max(largest(task, scores.depth.extent), largest(task, values.column.extent));
  Slots slots;
  slots["note"] = "attention in one pass over the keys: " + values.program.outline();
  slots["requires"] = requirements(scores, values);
  slots["bm_choices"] = around(covering(largest(task, scores.row.extent), 16, width > 128 ? 64 : 128), 16, 128);
  slots["bn_choices"] = width > 128 ? "32, 16, 64" : "64, 32, 128";
  slots["parts_choices"] = found.rounds_weights || query == DType::kF32 ? "1, 2" : "2, 1";
  slots["batches"] = is_one(scores.batch.extent) ? "" : "(" + scores.batch.extent.to_string() + ") * ";
  slots["row_count"] = scores.row.extent.to_string();
  slots["head"] = power_in_plan(scores.depth.extent, 16, kWidest);
  slots["value_head"] = power_in_plan(values.column.extent, 16, kWidest);
  slots["depth_name"] = parameters.extent(scores.depth.extent);
  slots["width_name"] = parameters.extent(values.column.extent);
  slots["rows_name"] = rows;
  slots["keys_name"] = keys;
  slots["places"] = places;
  slots["last"] = last;
  slots["keys"] = loads;
  slots["precision"] = precision;
  slots["scores"] = tile.places_prologue(inner) + score_lines;
  slots["score"] = score;
  slots["values"] = sums + weighted_sum(value, precision);
  slots["args"] = parameters.arguments();
  slots["parameters"] = parameters.parameters();
  slots["functions"] = lanes_functions("greater " + score_lines + body);
  slots["body"] = body;
  return finished(fill_pattern("patterns/triton/attention.py", slots), "attention");
}

}  // namespace hone::pattern::triton
