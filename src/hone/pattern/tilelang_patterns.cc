// The patterns in TileLang: files of patterns/tilelang/ filled for a task. A kernel is built for shapes, so extents are constants of the
// build; tensors are passed flat.
#include "hone/pattern/tilelang_patterns.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/names.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/parts.h"
#include "hone/pattern/sorting.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/tilelang_tile.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;

constexpr int64_t kRowsBlock = 4096, kMostIndex = (int64_t{1} << 31) - 1;

/// Dimensions and type of a task's tensor.
task::TensorType type_of_tensor(const task::Task& task, const std::string& name) {
  for (const auto& input : task.inputs)
    if (input.name == name) return input.type;
  for (const auto& [output, type] : task.outputs)
    if (output == name) return type;
  return {};
}

/// "in_x: T.Tensor((4096,), "float32"), …"; kUnavailable where a workload's tensor is too long for the indices that TileLang computes.
Result<std::string> declared(const task::Task& task, TritonParameters& parameters) {
  std::vector<std::string> all;
  for (const std::string& name : parameters.tensors()) {
    const task::TensorType type = type_of_tensor(task, name);
    IntExpr count = 1;
    for (const IntExpr& extent : type.dims) count = count * extent;
    if (triton::largest(task, count) > kMostIndex) return fail(ErrorCode::kUnavailable, "a tensor of 2^31 elements or more");
    all.push_back(fmt::format("{}: T.Tensor(({},), \"{}\")", name, parameters.extent(count), tile_storage(type.dtype)));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

namespace tile {

Status say_parameters(Slots& slots, const task::Task& task, TritonParameters& parameters, const std::vector<std::string>& tunables) {
  HONE_TRY(slots["parameters"], declared(task, parameters));
  std::vector<std::string> constants = tunables, arguments;
  for (const std::string& name : parameters.tensors()) arguments.push_back("\"" + name + "\"");
  for (const std::string& name : tunables) arguments.push_back("\"=" + name + "\"");
  for (size_t k = 0; k < parameters.extents().size(); ++k) {
    constants.push_back(fmt::format("e{}", k));
    arguments.push_back("\"=" + parameters.extents()[k].to_string() + "\"");
  }
  slots["constants"] = fmt::format("{}", fmt::join(constants, ", "));
  slots["args"] = fmt::format("{}", fmt::join(arguments, ", "));
  return {};
}

Result<kernel::Kernel> map_kernel(Slots slots, const task::Task& task, const IntExpr& count, TritonParameters& parameters) {
  slots["count"] = parameters.extent(count);
  slots["functions"] = tile_functions(slots["body"]);
  slots["block_choices"] = triton::around(triton::covering(triton::largest(task, count), 128, 1024), 128, 4096);
  HONE_TRY_VOID(say_parameters(slots, task, parameters, {"BLOCK", "THREADS"}));
  return finished(fill_pattern("patterns/tilelang/map.py", slots), "map");
}

}  // namespace tile

namespace {

using tile::say_parameters;

Result<kernel::Kernel> tile_map(const Program& program) {
  TritonParameters parameters("=");
  std::vector<int> axes = program.row_axes, outputs = program.row_outputs;
  axes.insert(axes.end(), program.inner_axes.begin(), program.inner_axes.end());
  TileElements elements(program, axes, {}, parameters);
  for (const Pass& pass : program.passes) outputs.insert(outputs.end(), pass.stores.begin(), pass.stores.end());
  Slots slots;
  const std::string indent(20, ' ');
  slots["body"] = fmt::format("{}row = place\n", indent) + elements.stores(outputs, indent);
  if (!elements.obstacle().empty()) return fail(ErrorCode::kUnavailable, elements.obstacle());
  slots["note"] = "element by element: " + program.outline();
  slots["requires"] = elements.requirements();
  return tile::map_kernel(slots, *program.task, program.rows() * program.row_length(), parameters);
}

Result<kernel::Kernel> tile_rows(const Program& program) {
  TritonParameters parameters("=");
  TileElements elements(program, program.row_axes, program.inner_axes, parameters);
  const std::string rows = parameters.extent(program.rows()), length = parameters.extent(program.row_length()), indent(12, ' ');
  Slots slots;
  for (size_t pass = 0; pass < program.passes.size(); ++pass) slots["body"] += elements.pass(pass, rows, length, indent);
  slots["body"] += elements.row_stores(rows, indent);
  if (!elements.obstacle().empty()) return fail(ErrorCode::kUnavailable, elements.obstacle());
  slots["rows_name"] = rows;
  slots["functions"] = tile_functions(slots["body"]);
  slots["note"] = "rows: " + program.outline();
  slots["requires"] = elements.requirements() + (elements.has_products() ? "constraints = [\"8 * ROWS * BLOCK <= SHARED_MAX\"]\n" : "");
  const int64_t block = triton::covering(triton::largest(*program.task, program.row_length()), 32, kRowsBlock);
  const int64_t count = triton::covering(triton::largest(*program.task, program.rows()), 1, std::clamp<int64_t>(kRowsBlock / block, 1, 32));
  slots["rows_choices"] = triton::around(count, 1, 32);
  slots["block_choices"] = triton::around(block, 32, 8192);
  slots["threads_choices"] = block * count >= 2048 ? "256, 128, 512" : "128, 64, 256";
  HONE_TRY_VOID(say_parameters(slots, *program.task, parameters, {"ROWS", "BLOCK", "THREADS"}));
  return finished(fill_pattern("patterns/tilelang/rows.py", slots), "rows");
}

std::vector<Offer> tile_loops(const task::Task& task, std::vector<std::string>& why_not) {
  std::vector<Offer> offers;
  const auto add = [&](const char* pattern, const char* action, Result<kernel::Kernel> kernel) {
    if (!kernel) return why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    kernel->header.action = action;
    offers.push_back({std::move(*kernel), pattern, action});
  };
  add("attention", "one pass over the keys", tile::attention(task));
  if (offers.empty()) add("pool", "a window an element", tile::pool(task));
  if (offers.empty()) add("scatter", "a thread a line, in order", tile::scatter(task));
  if (has_sort(task.primitive)) add("sort", "sort in shared memory", tile::sort(task));
  if (!offers.empty()) return offers;
  const auto program = find_program(task, {.columns = false, .scans = true, .slices = true});
  if (!program) why_not.push_back("map, rows: " + program.error().message);
  else if (program->has_scans()) add("scans", "go along in segments, carry on between them", tile::scans(*program));
  else if (program->has_reductions()) add("rows", "combine sums of threads", tile_rows(*program));
  else add("map", "fuse into one loop", tile_map(*program));
  if (offers.empty()) add("map", "find each element where it lies", tile::places(task));
  return offers;
}

std::vector<Offer> tile_offers(const task::Task& task, std::vector<std::string>& why_not) {
  std::vector<Offer> offers = tile::products(task, why_not);
  return offers.empty() ? tile_loops(normal_form(task), why_not) : offers;
}

std::vector<Offer> tile_part_offers(const task::Task& part) {
  std::vector<std::string> ignored;
  return tile_offers(part, ignored);
}

bool has_tile_part_offer(const task::Task& part) { return !tile_part_offers(part).empty(); }

}  // namespace

std::vector<Offer> offers_tilelang(const task::Task& given, std::vector<std::string>& why_not) {
  const Names names(given);
  std::vector<Offer> offers = tile_offers(names.task(), why_not);
  if (offers.empty()) offers = offers_in_parts(normal_form(names.task()), {has_tile_part_offer, tile_part_offers, nullptr});
  return names.given(std::move(offers));
}

}  // namespace hone::pattern
