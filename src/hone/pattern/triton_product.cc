// Products in Triton, with element-wise work behind them.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/normal_form.h"
#include "hone/pattern/template.h"
#include "hone/pattern/triton_factor.h"
#include "hone/pattern/triton_patterns.h"
#include "hone/pattern/triton_text.h"

namespace hone::pattern::triton {
namespace {

using task::DType;

void choose_tiles(Slots& slots, const task::Task& task, const TiledProduct& its, int bytes, const TritonMethod& method) {
  const int64_t least = bytes == 1 ? 32 : 16;
  const bool wide = bytes <= 2;
  const int64_t bm = covering(largest(task, its.row), 16, 128), bn = covering(largest(task, its.column), 16, wide ? 256 : 128);
  const int64_t bk = covering(largest(task, its.depth), least, wide ? 64 : 32);
  slots["bm_choices"] = around(bm, 16, 256);
  slots["bn_choices"] = around(bn, 16, 256);
  slots["bk_choices"] = around(bk, least, 128);
  slots["warps_choices"] = bm * bn >= 16384 ? "8, 4" : "4, 8, 2";
  slots["stages_choices"] = method.exact ? "2, 3, 1" : "3, 4, 2";
}

}  // namespace

std::string factor_cast(const task::Task& task, DType own, DType a, DType b) {
  const TritonMethod method = triton_method(task.track, a, b);
  return !method.cast.empty() && method.cast != lanes_storage(own) ? ".to(" + method.cast + ")" : "";
}

Result<kernel::Kernel> product_kernel(const task::Task& task, const TiledProduct& its, const Contraction& rest, DType a, DType b, TritonParameters& parameters) {
  if (rest.accumulate == DType::kF64 || a == DType::kF64 || b == DType::kF64) return fail(ErrorCode::kUnavailable, "a product in float64");
  const TritonMethod method = triton_method(task.track, a, b);
  const std::string indent = "    ";
  TritonTile tile(rest.program, its.kept, its.along, parameters);
  HONE_TRY_VOID(tile.element_wise());
  tile.bind(0, "total");
  std::string body = its.place + tile.rows_prologue(indent) + tile.places_prologue(indent);
  for (const int output : rest.program.nest.graph->outputs) body += tile.store(output, indent);
  Slots slots;
  slots["pattern"] = its.what;
  slots["note"] = its.what + ": " + rest.program.outline();
  slots["requires"] = tile.requirements();
  choose_tiles(slots, task, its, std::min(task::size_of(a), task::size_of(b)), method);
  slots["batches"] = is_one(its.batch) ? "" : "(" + its.batch.to_string() + ") * ";
  slots["row_count"] = its.row.to_string();
  slots["column_count"] = its.column.to_string();
  slots["rows_name"] = parameters.extent(its.row);
  slots["columns_name"] = parameters.extent(its.column);
  slots["depth_name"] = parameters.extent(its.depth);
  slots["places"] = its.places;
  slots["loads"] = its.loads;
  slots["accumulator"] = lanes_type(rest.accumulate);
  // Of f32 each segment of the depth is summed by itself, so that errors grow with the number of segments and not with the depth.
  slots["multiply"] = method.exact                       ? fmt::format("total += tl.dot(x, y{})", method.precision)
                      : rest.accumulate == DType::kI32 ? "total = tl.dot(x, y, total, out_dtype=tl.int32)"
                                                       : fmt::format("total = tl.dot(x, y, total{})", method.precision);
  slots["exact_choices"] = method.exact ? ", EXACT = [0, 1]" : "";
  slots["exact_argument"] = method.exact ? ", \"=EXACT\"" : "";
  slots["exact_parameter"] = method.exact ? ", EXACT: tl.constexpr" : "";
  slots["args"] = parameters.arguments();
  slots["parameters"] = parameters.parameters();
  slots["functions"] = lanes_functions(body);
  slots["body"] = body;
  return finished(fill_pattern("patterns/triton/product.py", slots), its.what);
}

namespace {

Result<kernel::Kernel> product(const task::Task& task, const Contraction& all) {
  TritonParameters parameters;
  const TritonFactors factors(task, all, parameters, "i_");
  const DType a = factors.dtype_of(all.a), b = factors.dtype_of(all.b);
  const std::string indent = "    ", rows = parameters.extent(all.row.extent);
  const auto loaded = [&](const char* name, const Factor& factor, DType dtype, const AxisGroup& lines, const std::string& line, const std::string& depth) {
    return fmt::format("{}        {} = tl.load({}, mask={}_in & ({} < {}), other={}){}\n", factors.places(all.depth, depth, "        "), name, factors.pointers(factor, lines), line,
                       depth, parameters.extent(all.depth.extent), lanes_zero(dtype), factor_cast(task, dtype, a, b));
  };
  TiledProduct its{"product", all.batch.extent, all.row.extent, all.column.extent, all.depth.extent, {}, {}, {}, all.program.row_axes, all.program.inner_axes};
  its.loads = loaded("x", all.a, a, all.row, "line", "across") + loaded("y", all.b, b, all.column, "column", "down");
  its.places = factors.places(all.batch, "batch", indent) + factors.places(all.row, "line", indent) + factors.places(all.column, "column", indent);
  its.place = fmt::format("    row = batch * {} + line\n    row_in = line_in\n    at = column\n    at_in = column_in\n", rows);
  // Without columns the innermost axis is one of the lines.
  if (is_one(all.column.extent)) {
    its.kept.push_back(its.along.back());
    its.along.clear();
    its.place += "    total = tl.sum(tl.where(column_in, total, 0), 1, keep_dims=True)\n";
  }
  return product_kernel(task, its, all, a, b, parameters);
}

}  // namespace

std::vector<Offer> products(const task::Task& given, std::vector<std::string>& why_not) {
  // A product without rows or columns is one as it was given, but no longer in the normal form.
  task::Task task = given;
  auto found = find_contraction(task);
  if (!found) {
    task = normal_form(given);
    found = find_contraction(task);
  }
  std::vector<Offer> offers;
  const auto add = [&](const char* pattern, Result<kernel::Kernel> kernel) {
    if (!kernel) return why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    const char* const action = "tiles on matrix units";
    kernel->header.action = action;
    offers.push_back({std::move(*kernel), pattern, action});
  };
  add("product", found ? product(task, **found) : Result<kernel::Kernel>(tl::unexpected(found.error())));
  if (offers.empty()) add("convolution", convolution(task));
  return offers;
}

}  // namespace hone::pattern::triton
