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

void choose_tiles(Slots& slots, const task::Task& task, const Contraction& all, int bytes, const TritonMethod& method) {
  const int64_t least = bytes == 1 ? 32 : 16;
  const bool wide = bytes <= 2;
  const int64_t bm = covering(largest(task, all.row.extent), 16, 128), bn = covering(largest(task, all.column.extent), 16, wide ? 256 : 128);
  const int64_t bk = covering(largest(task, all.depth.extent), least, wide ? 64 : 32);
  slots["bm_choices"] = around(bm, 16, 256);
  slots["bn_choices"] = around(bn, 16, 256);
  slots["bk_choices"] = around(bk, least, 128);
  slots["warps_choices"] = bm * bn >= 16384 ? "8, 4" : "4, 8, 2";
  slots["stages_choices"] = method.exact ? "2, 3, 1" : "3, 4, 2";
}

Result<kernel::Kernel> product(const task::Task& task, const Contraction& all) {
  TritonParameters parameters;
  const TritonFactors factors(task, all, parameters, "i_");
  const DType a = factors.dtype_of(all.a), b = factors.dtype_of(all.b);
  if (all.accumulate == DType::kF64 || a == DType::kF64 || b == DType::kF64) return fail(ErrorCode::kUnavailable, "a product in float64");
  const TritonMethod method = triton_method(task.track, a, b);
  const auto loaded = [&](const char* name, const Factor& factor, DType dtype, const AxisGroup& lines, const std::string& line, const std::string& depth) {
    const bool cast = !method.cast.empty() && method.cast != lanes_storage(dtype);
    return fmt::format("{}        {} = tl.load({}, mask={}_in & ({} < {}), other={}){}\n", factors.places(all.depth, depth, "        "), name, factors.pointers(factor, lines), line,
                       depth, parameters.extent(all.depth.extent), lanes_zero(dtype), cast ? ".to(" + method.cast + ")" : "");
  };
  const std::string loads = loaded("x", all.a, a, all.row, "line", "across") + loaded("y", all.b, b, all.column, "column", "down");
  const std::string indent = "    ";
  const std::string places = factors.places(all.batch, "batch", indent) + factors.places(all.row, "line", indent) + factors.places(all.column, "column", indent);
  const Program& program = all.program;
  std::vector<int> kept = program.row_axes, along = program.inner_axes;
  // Without columns the innermost axis is one of the lines.
  if (is_one(all.column.extent)) kept.push_back(along.back()), along.clear();
  TritonTile tile(program, kept, along, parameters);
  HONE_TRY_VOID(tile.element_wise());
  tile.bind(0, "total");
  const std::string rows = parameters.extent(all.row.extent);
  std::string body = fmt::format("    row = batch * {} + line\n    row_in = line_in\n    at = column\n    at_in = column_in\n", rows);
  if (is_one(all.column.extent)) body += "    total = tl.sum(tl.where(column_in, total, 0), 1, keep_dims=True)\n";
  body += tile.rows_prologue(indent) + tile.places_prologue(indent);
  for (const int output : program.nest.graph->outputs) body += tile.store(output, indent);
  Slots slots;
  slots["note"] = "product: " + program.outline();
  slots["requires"] = tile.requirements();
  choose_tiles(slots, task, all, std::min(task::size_of(a), task::size_of(b)), method);
  slots["batches"] = is_one(all.batch.extent) ? "" : "(" + all.batch.extent.to_string() + ") * ";
  slots["row_count"] = all.row.extent.to_string();
  slots["column_count"] = all.column.extent.to_string();
  slots["rows_name"] = rows;
  slots["columns_name"] = parameters.extent(all.column.extent);
  slots["depth_name"] = parameters.extent(all.depth.extent);
  slots["places"] = places;
  slots["loads"] = loads;
  slots["accumulator"] = lanes_type(all.accumulate);
  // Of f32 each stretch of the depth is summed by itself, so that errors grow with the number of stretches and not with the depth.
  slots["multiply"] = method.exact                      ? fmt::format("total += tl.dot(x, y{})", method.precision)
                      : all.accumulate == DType::kI32 ? "total = tl.dot(x, y, total, out_dtype=tl.int32)"
                                                      : fmt::format("total = tl.dot(x, y, total{})", method.precision);
  slots["exact_choices"] = method.exact ? ", EXACT = [0, 1]" : "";
  slots["exact_argument"] = method.exact ? ", \"=EXACT\"" : "";
  slots["exact_parameter"] = method.exact ? ", EXACT: tl.constexpr" : "";
  slots["args"] = parameters.arguments();
  slots["parameters"] = parameters.parameters();
  slots["functions"] = lanes_functions(body);
  slots["body"] = body;
  return finished(fill_pattern("patterns/triton/product.py", slots), "product");
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
  auto kernel = found ? product(task, **found) : Result<kernel::Kernel>(tl::unexpected(found.error()));
  if (!kernel) {
    why_not.push_back("product: " + kernel.error().message);
    return {};
  }
  const char* const action = "tiles on matrix units";
  kernel->header.action = action;
  std::vector<Offer> offers;
  offers.push_back({std::move(*kernel), "product", action});
  return offers;
}

}  // namespace hone::pattern::triton
