#include "hone/pattern/tilelang_places.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/nest.h"
#include "hone/pattern/template.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern {

using task::Dims;
using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

namespace {

/// A body of more lines takes TileLang minutes.
constexpr size_t kMostNames = 400;

}  // namespace

std::string TilePlaces::name(char kind, const std::string& text) {
  if (std::all_of(text.begin(), text.end(), in_word)) return text;
  const auto [it, fresh] = named_.try_emplace(text, "");
  if (!fresh) return it->second;
  if (count_ == kMostNames) refuse("elements are found by way of too many others");
  if (count_ >= kMostNames) return it->second = "0";
  it->second = fmt::format("{}{}", kind, count_++);
  lines_ += fmt::format("{}{} = {}\n", indent_, it->second, text);
  return it->second;
}

TilePlaces::At TilePlaces::unfolded(const std::string& place, const Dims& dims) {
  At at(dims.size(), "0");
  std::vector<size_t> along;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!is_one(dims[d])) along.push_back(d);
  std::string rest = place;
  for (size_t k = along.size(); k-- > 0;) {
    const std::string extent = parameters_.extent(dims[along[k]]);
    at[along[k]] = k == 0 ? name('c', rest) : name('c', fmt::format("{} % {}", rest, extent));
    if (k > 0) rest = name('c', fmt::format("{} // {}", rest, extent));
  }
  return at;
}

std::string TilePlaces::folded(const At& at, const Dims& dims) {
  std::string text;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (is_one(dims[d])) continue;
    text = text.empty() ? at[d] : fmt::format("({}) * {} + {}", text, parameters_.extent(dims[d]), at[d]);
  }
  return text.empty() ? "0" : text;
}

TilePlaces::At TilePlaces::reshaped(const Node& node, const At& at) {
  const Dims &to = dims_of(node.operands[0]), &from = node.type.dims;
  const auto long_ones = [](const Dims& dims) {
    std::vector<size_t> found;
    for (size_t d = 0; d < dims.size(); ++d)
      if (!is_one(dims[d])) found.push_back(d);
    return found;
  };
  std::vector<size_t> mine = long_ones(from), theirs = long_ones(to);
  At result(to.size(), "0");
  size_t begin = 0, end = 0;   // what is alike on both sides stays as it is
  while (begin < std::min(mine.size(), theirs.size()) && from[mine[begin]] == to[theirs[begin]]) result[theirs[begin]] = at[mine[begin]], ++begin;
  while (begin + end < std::min(mine.size(), theirs.size()) && from[mine[mine.size() - 1 - end]] == to[theirs[theirs.size() - 1 - end]]) {
    result[theirs[theirs.size() - 1 - end]] = at[mine[mine.size() - 1 - end]];
    ++end;
  }
  Dims inner_from, inner_to;
  At inner;
  for (size_t k = begin; k + end < mine.size(); ++k) inner_from.push_back(from[mine[k]]), inner.push_back(at[mine[k]]);
  for (size_t k = begin; k + end < theirs.size(); ++k) inner_to.push_back(to[theirs[k]]);
  if (inner_to.empty()) return result;
  const At unfolded_there = unfolded(name('c', folded(inner, inner_from)), inner_to);
  for (size_t k = 0; k < inner_to.size(); ++k) result[theirs[begin + k]] = unfolded_there[k];
  return result;
}

std::string TilePlaces::within(const std::string& place, const IntExpr& extent, bool below, bool above) {
  std::string text = place;
  if (below) text = fmt::format("T.max({}, 0)", text);
  if (above) text = fmt::format("T.min({}, {})", text, parameters_.extent(extent - 1));
  return name('c', text);
}

std::string TilePlaces::leaf(int id, const At& at) {
  const auto& inputs = task_.primitive.inputs;
  const auto input = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), id) - inputs.begin());
  const DType dtype = task_.primitive.node(id).type.dtype;
  const std::string loaded = fmt::format("{}[{}]", parameters_.tensor(task_.inputs[input].name), folded(at, dims_of(id)));
  return name('v', tile_storage(dtype) == tile_type(dtype) ? loaded : fmt::format("T.cast({}, \"{}\")", loaded, tile_type(dtype)));
}

/// All pieces are read, each at the nearest of its places, and one of the values is taken.
std::string TilePlaces::joined(const Node& node, const At& at) {
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  std::string text;
  std::vector<std::pair<std::string, IntExpr>> pieces;
  IntExpr start = 0;
  for (const int operand : node.operands) {
    const IntExpr& extent = dims_of(operand)[axis];
    At there = at;
    const std::string own = is_zero(start) ? at[axis] : fmt::format("{} - {}", at[axis], parameters_.extent(start));
    there[axis] = is_one(extent) ? "0" : within(own, extent, !is_zero(start), operand != node.operands.back());
    start = start + extent;
    pieces.emplace_back(value(operand, there), start);
  }
  text = pieces.back().first;
  for (size_t k = pieces.size() - 1; k-- > 0;) text = fmt::format("T.if_then_else({} < {}, {}, {})", at[axis], parameters_.extent(pieces[k].second), pieces[k].first, text);
  return name('v', text);
}

std::string TilePlaces::padded(const Node& node, const At& at) {
  const Dims &low = node.attr<Dims>("low"), &high = node.attr<Dims>("high"), &dims = dims_of(node.operands[0]);
  At there = at;
  std::string inside;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool before = !is_zero(low[d]), behind = !is_zero(high[d]);
    const std::string own = before ? fmt::format("{} - {}", at[d], parameters_.extent(low[d])) : at[d];
    if (before) inside += fmt::format("{}{} >= {}", inside.empty() ? "" : " and ", at[d], parameters_.extent(low[d]));
    if (behind) inside += fmt::format("{}{} < {}", inside.empty() ? "" : " and ", at[d], parameters_.extent(low[d] + dims[d]));
    there[d] = is_one(dims[d]) ? "0" : within(own, dims[d], before, behind);
  }
  const std::string read = value(node.operands[0], there);
  return inside.empty() ? read : name('v', fmt::format("T.if_then_else({}, {}, {})", inside, read, tile_constant(node.attrs.find("value")->second, node.type.dtype)));
}

std::string TilePlaces::picked(const Node& node, const At& at) {
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  At index = at, there = at;
  if (node.prim == Prim::kGather) {
    const size_t rank = dims_of(node.operands[1]).size();
    index.assign(at.begin() + static_cast<std::ptrdiff_t>(axis), at.begin() + static_cast<std::ptrdiff_t>(axis + rank));
    there.erase(there.begin() + static_cast<std::ptrdiff_t>(axis), there.begin() + static_cast<std::ptrdiff_t>(axis + rank));
    there.insert(there.begin() + static_cast<std::ptrdiff_t>(axis), "0");
  }
  there[axis] = name('c', fmt::format("T.cast({}, \"int32\")", value(node.operands[1], index)));
  return value(node.operands[0], there);
}

std::string TilePlaces::value(int id, const At& at) {
  const auto [it, fresh] = values_.try_emplace({id, at}, "0");
  if (!fresh) return it->second;
  const std::string made = obstacle_.empty() ? make(id, at) : "0";
  return values_[{id, at}] = made;
}

std::string TilePlaces::make(int id, const At& at) {
  const Node& node = task_.primitive.node(id);
  At there = at;
  switch (node.prim) {
    case Prim::kInput: return leaf(id, at);
    case Prim::kConstant: return name('v', tile_constant(node.attrs.find("value")->second, node.type.dtype));
    case Prim::kSymbol: return name('v', fmt::format("T.cast({}, \"int64\")", parameters_.extent(node.attr<IntExpr>("value"))));
    case Prim::kIota: return name('v', fmt::format("T.cast({}, \"int64\")", at[static_cast<size_t>(node.attr<int64_t>("axis"))]));
    case Prim::kBroadcast:
      for (size_t d = 0; d < at.size(); ++d)
        if (is_one(dims_of(node.operands[0])[d])) there[d] = "0";
      return value(node.operands[0], there);
    case Prim::kReshape: return value(node.operands[0], reshaped(node, at));
    case Prim::kTranspose: {
      const auto& perm = node.attr<std::vector<int64_t>>("perm");
      for (size_t d = 0; d < at.size(); ++d) there[static_cast<size_t>(perm[d])] = at[d];
      return value(node.operands[0], there);
    }
    case Prim::kSlice: {
      const Dims& start = node.attr<Dims>("start");
      const auto& step = node.attr<std::vector<int64_t>>("step");
      for (size_t d = 0; d < at.size(); ++d) {
        std::string text = step[d] == 1 ? at[d] : fmt::format("{} * {}", at[d], step[d]);
        if (!is_zero(start[d])) text = at[d] == "0" ? parameters_.extent(start[d]) : fmt::format("{} + {}", text, parameters_.extent(start[d]));
        there[d] = at[d] == "0" && is_zero(start[d]) ? "0" : name('c', text);
      }
      return value(node.operands[0], there);
    }
    case Prim::kFlip:
      for (const int64_t axis : node.attr<std::vector<int64_t>>("axes")) {
        const auto d = static_cast<size_t>(axis);
        if (!is_one(node.type.dims[d])) there[d] = name('c', fmt::format("{} - {}", parameters_.extent(node.type.dims[d] - 1), at[d]));
      }
      return value(node.operands[0], there);
    case Prim::kConcat: return joined(node, at);
    case Prim::kPad: return padded(node, at);
    case Prim::kGather:
    case Prim::kTakeAlongAxis: return picked(node, at);
    default: break;
  }
  if (id == bound_) {
    refuse(fmt::format("{}, of which elements are moved", task::name_of(node.prim)));
    return "0";
  }
  if (!task::is_elementwise(node.prim)) {
    refuse(fmt::format("{} among the elements", task::name_of(node.prim)));
    return "0";
  }
  std::vector<std::string> operands;
  std::vector<DType> types;
  for (const int operand : node.operands) {
    operands.push_back(value(operand, at));
    types.push_back(task_.primitive.node(operand).type.dtype);
  }
  const auto text = tile_operation(node, operands, types);
  if (!text) refuse(text.error().message);
  return name('v', text.value_or("0"));
}

namespace tile {

Result<kernel::Kernel> places(const task::Task& task) {
  const task::Graph& graph = task.primitive;
  const Dims& dims = graph.node(graph.outputs.front()).type.dims;
  for (const int output : graph.outputs)
    if (!(graph.node(output).type.dims == dims)) return fail(ErrorCode::kUnavailable, "outputs of several shapes");
  TritonParameters parameters("=");
  const std::string indent(20, ' ');
  TilePlaces places(task, parameters, indent);
  const TilePlaces::At at = places.unfolded("place", dims);
  std::string stores;
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const int output = graph.outputs[k];
    const DType dtype = graph.node(output).type.dtype;
    const std::string value = places.value(output, at);
    stores += fmt::format("{}{}[place] = {}\n", indent, parameters.tensor(graph.output_names[k]),
                          tile_storage(dtype) == tile_type(dtype) ? value : fmt::format("T.cast({}, \"{}\")", value, tile_storage(dtype)));
  }
  if (!places.obstacle().empty()) return fail(ErrorCode::kUnavailable, places.obstacle());
  IntExpr count = 1;
  for (const IntExpr& extent : dims) count = count * extent;
  Slots slots;
  slots["body"] = places.lines() + stores;
  slots["requires"] = "";
  slots["note"] = "element by element, each from where it lies";
  return map_kernel(slots, task, count, parameters);
}

}  // namespace tile
}  // namespace hone::pattern
