// Products in TileLang, with element-wise work behind them.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/normal_form.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/tilelang_tile.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern::tile {

using task::DType;

Method method_of(const task::Task& task, DType a, DType b) {
  const auto narrow = [](DType type) { return type == DType::kBF16 || type == DType::kF16; };
  if (a == b && narrow(a)) return {tile_storage(a), tile_storage(b), true};
  if (task.track == task::Track::kBf16) return {"bfloat16", "bfloat16", true};
  if (task.track == task::Track::kTf32 || task.track == task::Track::kF16) return {"float32", "float32", true};
  return {tile_type(a), tile_type(b), false};
}

std::string factor_element(const TritonFactors& factors, const Factor& factor, const AxisGroup& lines, const std::string& condition,
                           const std::string& type) {
  const std::string pointer = factors.pointers(factor, lines);   // "in_a + …"
  const size_t end = std::min(pointer.find(' '), pointer.size());
  const std::string place = end == pointer.size() ? "0" : pointer.substr(end + 3);
  return fmt::format("T.if_then_else({0}, T.cast({1}[{2}], \"{3}\"), T.cast(0, \"{3}\"))", condition, pointer.substr(0, end), place, type);
}

std::string multiply(const TileProduct& its, const std::string& indent) {
  if (its.units) return fmt::format("{}T.gemm({}, {}, {}{}{})\n", indent, its.x, its.y, its.total, its.transposed ? ", transpose_B=True" : "", its.more);
  const auto summed = [&](const std::string& factor, const std::string& type) {
    return type == its.accumulator ? factor : fmt::format("T.cast({}, \"{}\")", factor, its.accumulator);
  };
  return fmt::format("{0}for k in T.serial({1}):\n{0}    for i, j in T.Parallel({2}, {3}):\n{0}        {4}[i, j] = {4}[i, j] + {5} * {6}\n", indent, its.depth,
                     its.rows, its.columns, its.total, summed(its.x + "[i, k]", its.x_type), summed(its.y + (its.transposed ? "[j, k]" : "[k, j]"), its.y_type));
}

Result<kernel::Kernel> product_kernel(const task::Task& task, const Product& its, const Contraction& rest, const Method& method,
                                      TritonParameters& parameters) {
  const std::string accumulator = tile_type(rest.accumulate), inner(20, ' ');
  Slots slots;
  slots["rows_name"] = parameters.extent(its.row);
  slots["columns_name"] = parameters.extent(its.column);
  slots["depth_name"] = parameters.extent(its.depth);
  slots["batches"] = parameters.extent(its.batch);
  slots["a_load"] = its.a_load;
  slots["b_load"] = its.b_load;
  slots["a_type"] = method.a;
  slots["b_type"] = method.b;
  slots["accumulator"] = accumulator;
  slots["multiply"] = multiply({"x", "y", "total", "BM", "BN", "BK", method.a, method.b, accumulator, method.units, false, ""}, std::string(16, ' '));
  TileElements elements(rest.program, its.kept, its.along, parameters);
  elements.bind(0, "total[i, j]");
  slots["body"] = its.place + elements.stores(rest.program.nest.graph->outputs, inner);
  if (!elements.obstacle().empty()) return fail(ErrorCode::kUnavailable, elements.obstacle());
  slots["functions"] = tile_functions(slots["body"]);
  slots["note"] = its.what + ": " + rest.program.outline();
  slots["requires"] = elements.requirements();
  const int64_t most = method.units ? 128 : 64;
  slots["bm_choices"] = triton::around(triton::covering(triton::largest(task, its.row), 16, most), 16, 256);
  slots["bn_choices"] = triton::around(triton::covering(triton::largest(task, its.column), 16, most), 16, 256);
  slots["bk_choices"] = triton::around(method.units ? 64 : 16, 16, 64);
  slots["stages_choices"] = method.units ? "3, 2, 1" : "1, 2";
  HONE_TRY_VOID(say_parameters(slots, task, parameters, {"BM", "BN", "BK", "THREADS", "STAGES"}));
  return finished(fill_pattern("patterns/tilelang/product.py", slots), its.what);
}

namespace {

Result<kernel::Kernel> tile_product(const task::Task& task, const Contraction& all) {
  TritonParameters parameters("=");
  const TritonFactors factors(task, all, parameters, "i_");
  const Method method = method_of(task, factors.dtype_of(all.a), factors.dtype_of(all.b));
  const std::string inner(20, ' '), rows = parameters.extent(all.row.extent), columns = parameters.extent(all.column.extent),
                    depth = parameters.extent(all.depth.extent);
  const auto load = [&](const char* to, const Factor& factor, const AxisGroup& lines, const char* line, const std::string& type, const std::string& extent) {
    return factors.places(all.batch, "batch", inner) + factors.places(lines, line, inner) + factors.places(all.depth, "depth", inner) +
           fmt::format("{}{} = {}\n", inner, to, factor_element(factors, factor, lines, fmt::format("{} < {} and depth < {}", line, extent, depth), type));
  };
  Product its{"product", all.batch.extent, all.row.extent, all.column.extent, all.depth.extent, {}, {}, {}, {}, {}};
  its.a_load = load("x[i, k]", all.a, all.row, "line", method.a, rows);
  its.b_load = load("y[k, j]", all.b, all.column, "column", method.b, columns);
  its.kept = all.program.row_axes, its.along = all.program.inner_axes;
  if (is_one(all.column.extent)) its.kept.push_back(its.along.back()), its.along.clear();
  its.place = fmt::format("{0}row = batch * {1} + line\n{0}at = column\n", inner, rows);
  return product_kernel(task, its, all, method, parameters);
}

}  // namespace

std::vector<Offer> products(const task::Task& given, std::vector<std::string>& why_not) {
  std::vector<Offer> offers;
  const auto add = [&](const char* pattern, const Result<kernel::Kernel>& kernel) {
    if (!kernel) return why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    offers.push_back({*kernel, pattern, "tiles on matrix units"});
    offers.back().kernel.header.action = offers.back().action;
  };
  task::Task task = given;
  auto found = find_contraction(task);
  if (!found) {
    task = normal_form(given);
    found = find_contraction(task);
  }
  add("product", found ? tile_product(task, **found) : Result<kernel::Kernel>(tl::unexpected(found.error())));
  if (offers.empty()) add("convolution", convolution(task));
  return offers;
}

}  // namespace hone::pattern::tile
