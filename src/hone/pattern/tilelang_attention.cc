// Attention in TileLang.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/attention.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/tilelang_tile.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern::tile {
namespace {

using task::DType;
using task::IntExpr;
using triton::around;
using triton::largest;

/// Heads wider than this leave no registers beside their sums.
constexpr int64_t kWidestTile = 256;

IntExpr padded(const IntExpr& extent) { return IntExpr::ceil_div(extent, 16) * 16; }

std::string attention_requires(const Contraction& scores, const Contraction& values) {
  std::vector<std::string> all;
  for (const IntExpr* extent : {&scores.depth.extent, &values.column.extent})
    if (!extent->is_constant()) all.push_back(fmt::format("\"{} <= {}\"", extent->to_string(), kWidestTile));
  for (const Contraction* product : {&scores, &values})
    for (const IntExpr& condition : product->program.nest.conditions) all.push_back("\"" + condition.to_string() + "\"");
  return all.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(all, ", "));
}

/// Where the keys begin, and end, that any of a block's queries sees: rows are walked as one, those of one head, say, after the other's.
std::pair<std::string, std::string> keys_seen(const Attention& found, TritonParameters& parameters, const std::string& keys) {
  std::string begin = "0", end = keys;
  if (!found.visible) return {begin, end};
  const std::string along = parameters.extent(found.scores->extents.at(found.scores->row.letters.back()));
  const auto where = [&](const std::string& apart, const std::string& together) {
    if (along == parameters.extent(found.scores->row.extent)) return together;
    return fmt::format("T.if_then_else(first // {0} == last // {0}, {1}, {2})", along, together, apart);
  };
  if (found.visible->from) begin = where("0", fmt::format("T.max(first % {} + {}, 0)", along, parameters.extent(*found.visible->from)));
  if (found.visible->to) end = where(keys, fmt::format("T.min(T.max(last % {} + {}, 1), {})", along, parameters.extent(*found.visible->to + 1), keys));
  return {begin, end};
}

}  // namespace

Result<kernel::Kernel> attention(const task::Task& task) {
  HONE_TRY(const Attention found, find_attention(task));
  const Contraction &scores = *found.scores, &values = *found.values;
  TritonParameters parameters("=");
  const TritonFactors score_factors(found.scores_task, scores, parameters, "i_"), value_factors(found.values_task, values, parameters, "i_");
  const DType query = score_factors.dtype_of(scores.a), key = score_factors.dtype_of(scores.b), value = value_factors.dtype_of(values.b);
  for (const DType type : {query, key, value})
    if (type != query || type == DType::kF64) return fail(ErrorCode::kUnavailable, "queries, keys and values of one type");
  if (std::max(largest(task, scores.depth.extent), largest(task, values.column.extent)) > kWidestTile)
    return fail(ErrorCode::kUnavailable, "heads of up to 256");
  if (is_one(values.column.extent) || is_one(scores.column.extent)) return fail(ErrorCode::kUnavailable, "one key, or values of one number");
  const Method method = method_of(task, query, query);
  const bool in_parts = task::size_of(query) == 2;
  const std::string rows = parameters.extent(scores.row.extent), keys = parameters.extent(scores.column.extent), depth = parameters.extent(scores.depth.extent),
                    width = parameters.extent(values.column.extent);
  const std::string once(16, ' '), inner(20, ' '), deep(24, ' ');
  Slots slots;
  using Groups = std::initializer_list<std::pair<const AxisGroup*, const char*>>;
  const auto place = [](const TritonFactors& factors, const Contraction& of, Groups groups, const std::string& indent) {
    std::string text = factors.places(of.batch, "batch", indent);
    for (const auto& [group, from] : groups) text += factors.places(*group, from, indent);
    return text + indent;
  };
  const auto within = [](const char* a, const std::string& end, const std::string& width_end) { return fmt::format("{} < {} and d < {}", a, end, width_end); };
  slots["query"] = place(score_factors, scores, {{&scores.row, "line"}, {&scores.depth, "d"}}, once) +
                   fmt::format("query[i, d] = {}\n", factor_element(score_factors, scores.a, scores.row, within("line", rows, depth), method.a));
  slots["key"] = place(score_factors, scores, {{&scores.column, "at"}, {&scores.depth, "d"}}, inner) +
                 fmt::format("key[j, d] = {}\n", factor_element(score_factors, scores.b, scores.column, within("at", keys, depth), method.a));
  slots["value"] = place(value_factors, values, {{&values.depth, "at"}, {&values.column, "d"}}, inner) +
                   fmt::format("value[j, d] = {}\n", factor_element(value_factors, values.b, values.column, within("at", keys, width), method.a));
  // Whole rows to a warp: what is reduced along them stays in it.
  TileProduct product{"query", "key", "scores", "BM", "BN", "HEAD", method.a, method.a, "float32", method.units, true, ", policy=T.GemmWarpPolicy.FullRow"};
  slots["scores"] = multiply(product, once);
  TileElements score(scores.program, scores.program.row_axes, scores.program.inner_axes, parameters);
  score.bind(0, "scores[i, j]");
  const auto [lines, name] = score.value(scores.program.nest.graph->outputs.front(), deep);
  slots["score"] = fmt::format("{0}row = batch * {1} + line\n{2}{0}scores[i, j] = {3}\n", deep, rows, lines, name);
  product = {"weights", "value", "total", "BM", "VALUE_HEAD", "BN", method.a, method.a, "float32", method.units, false, product.more};
  const std::string sum = "T.copy(scores, weights)\n";
  slots["sums"] = !in_parts ? once + sum + multiply(product, once)
                            : fmt::format("{0}for _ in T.unroll(PARTS):\n{1}{2}{3}{1}for i, j in T.Parallel(BM, BN):\n"
                                          "{4}scores[i, j] = scores[i, j] - T.cast(weights[i, j], \"float32\")\n",
                                          once, inner, sum, multiply(product, inner), deep);
  TileElements rest(values.program, values.program.row_axes, values.program.inner_axes, parameters);
  rest.bind(0, "answer");
  slots["body"] = rest.stores(values.program.nest.graph->outputs, inner);
  for (const TileElements* elements : {&score, &rest})
    if (!elements->obstacle().empty()) return fail(ErrorCode::kUnavailable, elements->obstacle());
  std::tie(slots["first_key"], slots["last_key"]) = keys_seen(found, parameters, keys);
  const int64_t head = largest(task, padded(scores.depth.extent)), value_head = largest(task, padded(values.column.extent));
  const int64_t size = in_parts || method.a == "bfloat16" ? 2 : 4;
  const bool wide = std::max(head, value_head) > 128;
  slots["shared"] = fmt::format("{} * (BM * {} + STAGES * BN * {}{})", size, head, head + value_head, method.units ? "" : " + BM * BN");
  // What is tried first fits a card with 64 KiB of shared memory.
  const int64_t stages = method.units ? 2 : 1, tail = method.units ? 0 : 1;
  int64_t bm = triton::covering(largest(task, scores.row.extent), 32, wide || size == 4 ? 64 : 128), bn = 64;
  while (size * (bm * head + stages * bn * (head + value_head) + tail * bm * bn) > 65536 && (bm > 32 || bn > 16)) (bm > 2 * bn ? bm : bn) /= 2;
  slots["bm_choices"] = around(bm, 32, 128);
  slots["bn_choices"] = around(bn, 16, 128);
  slots["stages_choices"] = method.units ? "2, 1, 3" : "1, 2";
  // The digits of float32, unless the task rounds weights itself.
  slots["parts_choices"] = !in_parts ? "" : found.rounds_weights ? ", PARTS = [1, 2]" : query == DType::kBF16 ? ", PARTS = [3, 2, 1]" : ", PARTS = [2, 1]";
  slots["parts_legend"] = in_parts ? "\n#   PARTS   numbers of 16 bits that a weight is written as" : "";
  slots["note"] = "attention in one pass over the keys: " + values.program.outline();
  slots["requires"] = attention_requires(scores, values);
  slots["head"] = parameters.extent(padded(scores.depth.extent));
  slots["value_head"] = parameters.extent(padded(values.column.extent));
  slots["batches"] = parameters.extent(scores.batch.extent);
  slots["rows_name"] = rows;
  slots["keys_name"] = keys;
  slots["width_name"] = width;
  slots["type"] = method.a;
  slots["weights"] = fmt::format("T.alloc_{}((BM, BN), \"{}\")", method.units ? "fragment" : "shared", method.a);
  slots["functions"] = tile_functions(slots["score"] + slots["body"]);
  std::vector<std::string> tunables = {"BM", "BN", "PARTS", "STAGES"};
  if (!in_parts) tunables.erase(tunables.begin() + 2);
  HONE_TRY_VOID(say_parameters(slots, task, parameters, tunables));
  return finished(fill_pattern("patterns/tilelang/attention.py", slots), "attention");
}

}  // namespace hone::pattern::tile
