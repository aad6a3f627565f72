#include "hone/pattern/window_taps.h"

#include <fmt/format.h>

#include "hone/pattern/expression.h"

namespace hone::pattern {

using task::IntExpr;
using task::Prim;

namespace {

using Ints = std::vector<int64_t>;

std::string scaled(const std::string& x, int64_t factor) { return factor == 1 ? x : fmt::format("{} * {}", x, factor); }

tl::unexpected<Error> no_plane_pool(const char* why) { return fail(ErrorCode::kUnavailable, why); }

}  // namespace

IntExpr all_of(const std::vector<IntExpr>& extents) {
  IntExpr all = 1;
  for (const IntExpr& extent : extents) all = all * extent;
  return all;
}

/// Digit `at` of a place along all extents.
std::string Taps::digit(std::string from, const std::vector<IntExpr>& extents, size_t at) const {
  const IntExpr behind = all_of({extents.begin() + static_cast<std::ptrdiff_t>(at) + 1, extents.end()});
  if (!is_one(behind)) from = fmt::format("{} // {}", from, parameters_.extent(behind));
  return at == 0 ? fmt::format("({})", from) : fmt::format("({} % {})", from, parameters_.extent(extents[at]));
}

std::string Taps::columns(const std::string& indent) const {
  std::string text;
  for (size_t s = 0; s < its_.space(); ++s) {
    const std::string place = digit("column", its_.to, s), padding = its_.padding[s] == 0 ? "" : fmt::format(" {} {}", its_.transposed ? '+' : '-', its_.padding[s]);
    text += fmt::format("{}c{} = {}{}\n", indent, s, its_.transposed ? place : scaled(place, its_.stride[s]), padding);
  }
  return text;
}

std::string Taps::places(const std::string& indent) const {
  std::string text;
  for (size_t s = 0; s < its_.space(); ++s) {
    text += fmt::format("{}t{} = {}\n", indent, s, scaled(digit("tap", its_.window, s), its_.dilation[s]));
    if (its_.transposed) text += fmt::format("{0}q{1} = c{1} - t{1}\n{0}p{1} = q{1} // {2}\n", indent, s, its_.stride[s]);
    else if (its_.reaches_out) text += fmt::format("{0}p{1} = c{1} + t{1}\n", indent, s);
  }
  return text;
}

std::string Taps::within(std::string_view both) const {
  std::string text;
  for (size_t s = 0; s < its_.space(); ++s) {
    if (its_.reaches_out) text += fmt::format("{0}(p{1} >= 0){0}(p{1} < {2})", both, s, parameters_.extent(its_.from[s]));
    if (its_.transposed && its_.stride[s] != 1) text += fmt::format("{}(q{} % {} == 0)", both, s, its_.stride[s]);
  }
  return text;
}

std::string Taps::element() const {
  const IntExpr planes = its_.groups * its_.channels;
  std::string text = is_one(planes) ? "image + channel" : fmt::format("image * {} + channel", parameters_.extent(planes)), columns;
  for (size_t s = 0; s < its_.space(); ++s) {
    const std::string extent = parameters_.extent(its_.from[s]);
    text = fmt::format("({}) * {} + {}{}", text, extent, its_.transposed ? 'p' : 't', s);
    columns = columns.empty() ? fmt::format("c{}", s) : fmt::format("({}) * {} + c{}", columns, extent, s);
  }
  return its_.transposed ? text : fmt::format("({}) + ({})", text, columns);
}

std::string Taps::planes(const std::string& indent) const {
  const std::string taps = parameters_.extent(all_of(its_.window)), groups = parameters_.extent(its_.groups);
  const bool one = is_one(its_.groups), point = taps == "1";
  return fmt::format("{0}image = batch{1}\n{0}part = {2}\n{0}channel = {3}depth{4}\n{0}tap = {5}\n", indent, one ? "" : " // " + groups, one ? "0" : "batch % " + groups,
                     one ? "" : fmt::format("part * {} + ", parameters_.extent(its_.channels)), point ? "" : " // " + taps, point ? "depth * 0" : "depth % " + taps);
}

std::string Taps::weight() const {
  const std::string outputs = parameters_.extent(its_.outputs);
  if (its_.transposed) return fmt::format("(channel * {} + line) * {} + tap", outputs, parameters_.extent(all_of(its_.window)));
  return fmt::format("(part * {} + line) * {} + depth", outputs, parameters_.extent(its_.channels * all_of(its_.window)));
}

Result<PlanePool> find_plane_pool(const task::Graph& graph) {
  PlanePool found;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].prim != Prim::kPoolMax && graph.nodes[id].prim != Prim::kPoolSum) continue;
    if (found.node >= 0) return no_plane_pool("more than one pooling");
    found.node = static_cast<int>(id);
  }
  if (found.node < 0) return no_plane_pool("no pooling");
  const task::Node& node = graph.node(found.node);
  found.input = node.operands[0];
  if (graph.node(found.input).prim == Prim::kCast) found.input = graph.node(found.input).operands[0];
  if (graph.node(found.input).prim != Prim::kInput) return no_plane_pool("what is pooled is computed first");
  if (!task::is_float(graph.node(found.input).type.dtype)) return no_plane_pool("pooling of numbers that are not floats");
  const task::Dims &dims = graph.node(found.input).type.dims, &result = node.type.dims;
  Convolution& its = found.window;
  const auto& sizes = node.attr<Ints>("kernel");
  const auto lead = static_cast<std::ptrdiff_t>(dims.size() - sizes.size());
  its.images = all_of({dims.begin(), dims.begin() + lead});
  its.groups = its.channels = its.outputs = 1;
  its.from.assign(dims.begin() + lead, dims.end());
  its.to.assign(result.begin() + lead, result.end());
  its.window.assign(sizes.begin(), sizes.end());
  its.stride = node.attr<Ints>("stride"), its.dilation = node.attr<Ints>("dilation"), its.padding = node.attr<Ints>("padding_low");
  its.reaches_out = true;
  return found;
}

}  // namespace hone::pattern
