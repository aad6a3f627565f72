// Element-wise functions, concatenations and sorts.
#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/plain_ops.h"

namespace hone::pattern::plain {

using task::Dims;
using task::IntExpr;
using task::Node;
using task::Prim;

std::vector<size_t> walked(const Dims& dims) {
  std::vector<size_t> result;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!is_one(dims[d])) result.push_back(d);
  return result;
}

Position grid_over(Function& f, const Dims& dims, const std::vector<size_t>& over, const std::string& block) {
  std::vector<std::string> names;
  std::vector<IntExpr> extents;
  for (const size_t d : over) {
    names.push_back(fmt::format("i{}", d));
    extents.push_back(dims[d]);
  }
  const auto positions = f.grid(names, extents, block);
  Position at;
  at.at.assign(dims.size(), number(0));
  for (size_t k = 0; k < over.size(); ++k) at.at[over[k]] = positions[k];
  return at;
}

std::string store_text(Function& f, int id, const std::string& tensor, const Position& at, const std::string& value) {
  const std::string element = offset(f, f.node(id).type.dims, at).text;
  if (f.in_lanes()) return fmt::format("store_lanes({}, {}, {}, inside)", f.writes(tensor), element, value);
  const std::string place = fmt::format("{}[{}]", f.writes(tensor), element);
  return fmt::format("{} = {};", place, stored(f.dtype_of(tensor), value));
}

namespace {

/// Loops over `dims`: blocks of a vector, else rows. Gives the position; one loop is open if the result is
/// more than one element.
Position open_loops(Function& f, const Dims& dims) {
  auto dimensions = walked(dims);
  if (f.in_lanes()) return grid_over(f, dims, dimensions, "lane");
  if (dimensions.empty()) return grid_over(f, dims, {}, "row");
  const size_t last = dimensions.back();
  dimensions.pop_back();
  const std::string name = fmt::format("i{}", last);
  if (dimensions.empty()) {
    Position at;
    at.at.assign(dims.size(), number(0));
    f.grid_blocks(dims[last], "block", "kElements", 4096);
    at.at[last] = f.loop(name, {"start", 0}, {"start + count", 0});
    return at;
  }
  Position at = grid_over(f, dims, dimensions, "row");
  at.at[last] = f.loop_over(name, dims[last]);
  return at;
}

}  // namespace

void write_elements(Function& f, int id, const std::string& tensor) {
  const Dims& dims = f.node(id).type.dims;
  Position at;
  if (goes_flat(f, id) && walked(dims).size() > 1) {
    IntExpr total = 1;
    for (const IntExpr& extent : dims) total = total * extent;
    if (f.in_lanes()) at.flat = f.grid({"i"}, {total}, "lane").front();
    else f.grid_blocks(total, "block", "kElements", 4096);
    if (!f.in_lanes()) at.flat = f.loop("i", {"start", 0}, {"start + count", 0});
  } else {
    at = open_loops(f, dims);
  }
  // A copy of something that has a memory of its own is a read, not a computation.
  const std::string& memory = f.plan().memory[static_cast<size_t>(id)];
  const Text x = memory == tensor || memory.empty() ? compute(f, id, at) : value(f, id, at);
  f.line(store_text(f, id, tensor, at, x.text));
  if (f.level() > 0) f.close();
}

void write_concat_part(Function& f, int id, size_t part, const std::string& tensor) {
  const Node& node = f.node(id);
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const int operand = node.operands[part];
  IntExpr before = 0;
  for (size_t k = 0; k < part; ++k) before = before + f.node(node.operands[k]).type.dims[axis];
  Position at = open_loops(f, f.node(operand).type.dims);
  const Text x = value(f, operand, at);
  at.at[axis] = f.index(at.at[axis] + f.extent(before));
  f.line(store_text(f, id, tensor, at, x.text));
  if (f.level() > 0) f.close();
}

void write_sort(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const int operand = node.operands[0];
  const Dims& dims = f.node(operand).type.dims;
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const std::string type = computing_type(f.node(operand).type.dtype);
  std::vector<size_t> others;
  for (const size_t d : walked(dims))
    if (d != axis) others.push_back(d);
  Position at = grid_over(f, dims, others, "row");
  // Indices, scratch for them, and keys of at most eight bytes each.
  f.use_shared(dims[axis] * IntExpr(24));
  const std::string length = f.extent(dims[axis]).text;
  f.line(fmt::format("int64_t* order = static_cast<int64_t*>(shared);"));
  f.line(fmt::format("int64_t* scratch = order + {};", length));
  f.line(fmt::format("{0}* keys = reinterpret_cast<{0}*>(scratch + {1});", type, length));
  at.at[axis] = f.loop("t", number(0), {length, 0});
  f.line(fmt::format("keys[t] = {};", value(f, operand, at).text));
  f.close();
  const bool descending = node.attr<bool>("descending");
  const auto before = [&](bool down) {
    return fmt::format("[]({0} a, {0} b) {{ return hone::plain::below({1}); }}", type, down ? "b, a" : "a, b");
  };
  f.line(fmt::format("hone::plain::sort_indices({}, keys, order, scratch, {});", length,
                      f.maybe(before(descending), {{"sorted the other way round", before(!descending)}})));
  at.at[axis] = f.loop_over("k", dims[axis]);
  const bool indices = node.prim == Prim::kArgSort;
  const std::string k = at.at[axis].text;
  f.line(store_text(f, id, tensor, at, indices ? "order[" + k + "]" : "keys[order[" + k + "]]"));
  if (f.level() > 0) f.close();
}

}  // namespace hone::pattern::plain
