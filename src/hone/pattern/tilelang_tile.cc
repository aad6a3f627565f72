#include "hone/pattern/tilelang_tile.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/tilelang_text.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

bool is_most(Prim op) { return op == Prim::kMax || op == Prim::kArgMax || op == Prim::kAny; }
bool is_least(Prim op) { return op == Prim::kMin || op == Prim::kArgMin || op == Prim::kAll; }
bool is_place(Prim op) { return op == Prim::kArgMax || op == Prim::kArgMin; }

/// What a reduction computes in: truths as integers.
DType summed_in(const Node& node, DType of) {
  const DType own = is_place(node.prim) ? of : node.type.dtype;
  return own == DType::kBool ? DType::kI32 : own;
}

/// The value that changes no result.
std::string nothing_of(Prim op, DType in) {
  const std::string type = tile_type(in);
  if (!is_most(op) && !is_least(op)) return fmt::format("T.cast({}, \"{}\")", op == Prim::kProd ? 1 : 0, type);
  if (task::is_float(in)) return fmt::format("{}T.infinity(\"{}\")", is_most(op) ? "-" : "", type);
  return fmt::format("T.{}_value(\"{}\")", is_most(op) ? "min" : "max", type);
}

}  // namespace

std::string TileElements::requirements() const {
  std::vector<std::string> all;
  for (const IntExpr& condition : nest_.conditions) all.push_back("\"" + condition.to_string() + "\"");
  return all.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(all, ", "));
}

bool TileElements::has_products() const {
  return std::ranges::any_of(nest_.graph->nodes, [](const Node& node) { return node.prim == Prim::kProd; });
}

std::string TileElements::positions(const std::vector<int>& axes, const std::string& from, const std::string& indent) {
  std::string text, rest = from;
  for (size_t k = axes.size(); k-- > 0;) {
    const std::string extent = parameters_.extent(program_.extent(axes[k]));
    text += k == 0 ? fmt::format("{}at{} = {}\n", indent, axes[k], rest) : fmt::format("{}at{} = {} % {}\n", indent, axes[k], rest, extent);
    if (k > 0) rest = fmt::format("{} // {}", rest, extent);
  }
  return text;
}

void TileElements::begin(const std::string& indent) {
  indent_ = indent;
  names_ = bound_;
}

std::string TileElements::assign(int id, const std::string& text) {
  const std::string name = fmt::format("v{}", id);
  lines_ += fmt::format("{}{} = {}\n", indent_, name, text);
  return names_[id] = name;
}

std::string TileElements::index(int id, const IntExpr& base) {
  std::string text = is_zero(base) ? "0" : parameters_.extent(base);
  for (const auto* axes : {&kept_, &along_})
    for (const int axis : *axes) {
      if (!nest_.has(id, axis)) continue;
      const IntExpr stride = nest_.stride(id, axis);
      if (!is_zero(stride)) text += is_one(stride) ? fmt::format(" + at{}", axis) : fmt::format(" + at{} * {}", axis, parameters_.extent(stride));
    }
  return text;
}

std::string TileElements::leaf(int id) {
  const auto access = nest_.access.find(id);
  const bool own = access != nest_.access.end();
  const std::string tensor = parameters_.tensor(program_.tensor_of_input(own ? access->second.input : id));
  std::string place = index(id, own ? access->second.base : IntExpr(0));
  if (own && access->second.index >= 0)
    place += fmt::format(" + T.cast({}, \"int32\") * {}", element(access->second.index), parameters_.extent(access->second.index_stride));
  const DType dtype = program_.node(id).type.dtype;
  const std::string loaded = fmt::format("{}[{}]", tensor, place);
  return assign(id, tile_storage(dtype) == tile_type(dtype) ? loaded : fmt::format("T.cast({}, \"{}\")", loaded, tile_type(dtype)));
}

std::string TileElements::element(int id) {
  if (const auto it = names_.find(id); it != names_.end()) return it->second;
  const Node& node = program_.node(id);
  if (node.prim == Prim::kInput || nest_.access.contains(id)) return leaf(id);
  if (is_view(node)) return names_[id] = element(node.operands[0]);
  switch (node.prim) {
    case Prim::kConstant: return assign(id, tile_constant(node.attrs.find("value")->second, node.type.dtype));
    case Prim::kSymbol: return assign(id, fmt::format("T.cast({}, \"int64\")", parameters_.extent(node.attr<IntExpr>("value"))));
    case Prim::kIota: {
      const auto axis = nest_.axis_of_dim(id, node.attr<int64_t>("axis"));
      return assign(id, fmt::format("T.cast({}, \"int64\")", axis ? fmt::format("at{}", *axis) : "0"));
    }
    default: break;
  }
  if (!task::is_elementwise(node.prim)) {
    refuse(fmt::format("{} among the elements", task::name_of(node.prim)));
    return "0";
  }
  std::vector<std::string> operands;
  std::vector<DType> types;
  for (const int operand : node.operands) {
    operands.push_back(element(operand));
    types.push_back(program_.node(operand).type.dtype);
  }
  const auto text = tile_operation(node, operands, types);
  if (!text) refuse(text.error().message);
  return assign(id, text.value_or("0"));
}

std::pair<std::string, std::string> TileElements::value(int id, const std::string& indent) {
  begin(indent);
  const std::string text = positions(kept_, "row", indent) + positions(along_, "at", indent), name = element(id);
  return {text + text_of_body(), name};
}

std::string TileElements::stores(const std::vector<int>& outputs, const std::string& indent) {
  begin(indent);
  std::string text = positions(kept_, "row", indent) + positions(along_, "at", indent);
  for (const int output : outputs) {
    const std::string value = element(output);
    const DType dtype = program_.node(output).type.dtype;
    const auto placed = nest_.placed.find(output);
    const std::string place = index(output, placed == nest_.placed.end() ? IntExpr(0) : placed->second.base);
    const std::string stored = tile_storage(dtype) == tile_type(dtype) ? value : fmt::format("T.cast({}, \"{}\")", value, tile_storage(dtype));
    lines_ += fmt::format("{}{}[{}] = {}\n", indent, parameters_.tensor(program_.name_of_output(output)), place, stored);
  }
  return text + text_of_body();
}

std::string TileElements::pass(size_t number, const std::string& rows, const std::string& length, const std::string& indent) {
  const std::string inner = indent + "            ";
  const Pass& pass = program_.passes[number];
  std::string fragments, updates, ends, places;
  std::vector<int> reduced;
  for (const int id : pass.reductions) reduced.push_back(program_.node(id).operands[0]);
  const std::vector<int> scans = scans_below(reduced);
  begin(inner);
  const std::string where = positions(kept_, "row", inner) + positions(along_, "at", inner);
  for (const int id : pass.reductions) {
    const Node& node = program_.node(id);
    const DType of = program_.node(node.operands[0]).type.dtype, in = summed_in(node, of);
    const std::string type = tile_type(in);
    if (is_place(node.prim) && along_.size() != 1) refuse("an index over several axes");
    if (is_place(node.prim) && pass.reductions.size() != 1) refuse("an index beside another reduction");
    const std::string value = tile_cast(element(node.operands[0]), of, in, false);
    const bool extreme = is_most(node.prim) || is_least(node.prim), nan = extreme && task::is_float(in);
    const char* const how = is_most(node.prim) ? "max" : is_least(node.prim) ? "min" : "sum";
    if (node.prim == Prim::kProd) {
      // TileLang reduces by no product: what threads have is halved in shared memory.
      fragments += fmt::format("{0}a{1} = T.alloc_fragment((ROWS, BLOCK), \"{2}\")\n{0}r{1} = T.alloc_shared((ROWS, BLOCK), \"{2}\")\n{0}T.fill(a{1}, {3})\n", indent, id, type, nothing_of(node.prim, in));
      lines_ += fmt::format("{0}a{1}[i, j] = a{1}[i, j] * {2}\n", inner, id, value);
      ends += fmt::format("{0}for i, j in T.Parallel(ROWS, BLOCK):\n{0}    r{1}[i, j] = a{1}[i, j]\n{0}for turn in T.serial(BLOCK.bit_length() - 1):\n"
                          "{0}    for i, j in T.Parallel(ROWS, BLOCK // 2):\n{0}        if j < (BLOCK // 2) >> turn:\n"
                          "{0}            r{1}[i, j] = r{1}[i, j] * r{1}[i, j + ((BLOCK // 2) >> turn)]\n", indent, id);
      bound_[id] = fmt::format("r{}[i, 0]", id);
      continue;
    }
    fragments += fmt::format("{0}a{1} = T.alloc_fragment((ROWS, BLOCK), \"{2}\")\n{0}r{1} = T.alloc_fragment((ROWS,), \"{2}\")\n{0}T.fill(a{1}, {3})\n", indent, id, type, nothing_of(node.prim, in));
    lines_ += extreme ? fmt::format("{0}a{1}[i, j] = T.{2}(a{1}[i, j], {3})\n", inner, id, how, value) : fmt::format("{0}a{1}[i, j] = a{1}[i, j] + {2}\n", inner, id, value);
    ends += fmt::format("{0}T.reduce_{1}(a{2}, r{2}, dim=1)\n", indent, how, id);
    if (nan) {
      // The hardware's extremes lose a NaN beside a number.
      fragments += fmt::format("{0}n{1} = T.alloc_fragment((ROWS, BLOCK), \"int32\")\n{0}f{1} = T.alloc_fragment((ROWS,), \"int32\")\n{0}T.clear(n{1})\n", indent, id);
      lines_ += fmt::format("{0}n{1}[i, j] = T.max(n{1}[i, j], T.cast(T.isnan({2}), \"int32\"))\n", inner, id, value);
      ends += fmt::format("{0}T.reduce_max(n{1}, f{1}, dim=1)\n", indent, id);
    }
    std::string result = fmt::format("r{}[i]", id);
    if (nan && !is_place(node.prim)) result = fmt::format("T.if_then_else(f{0}[i] > 0, T.cast(float(\"nan\"), \"{1}\"), r{0}[i])", id, type);
    if (node.type.dtype == DType::kBool) result = fmt::format("(r{}[i] != 0)", id);
    if (is_place(node.prim)) {
      // Another walk finds the first place of what was found.
      const std::string best = nan ? fmt::format("T.if_then_else(f{0}[i] > 0, T.isnan({1}), {1} == r{0}[i])", id, value) : fmt::format("{1} == r{0}[i]", id, value);
      places += fmt::format("{0}b{1} = T.alloc_fragment((ROWS, BLOCK), \"int64\")\n{0}p{1} = T.alloc_fragment((ROWS,), \"int64\")\n{0}T.fill(b{1}, T.max_value(\"int64\"))\n", indent, id);
      const std::string again = lines_.substr(0, lines_.find(fmt::format("{}a{}[", inner, id)));
      places += loop(rows, length, indent, where + again + fmt::format("{0}b{1}[i, j] = T.min(b{1}[i, j], T.if_then_else({2}, T.cast(at, \"int64\"), T.max_value(\"int64\")))\n", inner, id, best), scans);
      places += fmt::format("{0}T.reduce_min(b{1}, p{1}, dim=1)\n", indent, id);
      result = fmt::format("p{}[i]", id);
    }
    bound_[id] = result;
  }
  updates = text_of_body();
  std::string text = pass.reductions.empty() ? "" : fragments + loop(rows, length, indent, where + updates, scans) + ends + places;
  if (!pass.stores.empty()) text += loop(rows, length, indent, stores(pass.stores, inner), scans_below(pass.stores));
  return text;
}

std::string TileElements::row_stores(const std::string& rows, const std::string& indent) {
  if (program_.row_outputs.empty()) return {};
  const std::vector<int> along = std::exchange(along_, {});
  const std::string body = stores(program_.row_outputs, indent + "        ");
  along_ = along;
  return fmt::format("{0}for i in T.Parallel(ROWS):\n{0}    row = block * ROWS + i\n{0}    if row < {1}:\n{2}", indent, rows, body);
}

}  // namespace hone::pattern
