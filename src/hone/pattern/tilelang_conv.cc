// Convolutions in TileLang: a product of weights and the image, whose elements are read where the window's taps lie. Rows are output
// channels, columns places in space, the depth input channels times taps; a batch is a group of an image.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_taps.h"

namespace hone::pattern::tile {
using task::IntExpr;

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

std::string Taps::places(const std::string& indent) const {
  std::string text;
  for (size_t s = 0; s < its_.space(); ++s) {
    const std::string tap = digit("tap", its_.window, s), place = digit("column", its_.to, s);
    if (its_.transposed)
      text += fmt::format("{0}q{1} = {2} + {3} - {4} * {5}\n{0}p{1} = q{1} // {6}\n", indent, s, place, its_.padding[s], tap, its_.dilation[s], its_.stride[s]);
    else text += fmt::format("{}p{} = {} * {} + {} * {} - {}\n", indent, s, place, its_.stride[s], tap, its_.dilation[s], its_.padding[s]);
  }
  return text;
}

std::string Taps::within() const {
  std::string text;
  for (size_t s = 0; s < its_.space(); ++s) {
    if (its_.reaches_out) text += fmt::format(" & (p{0} >= 0) & (p{0} < {1})", s, parameters_.extent(its_.from[s]));
    if (its_.transposed && its_.stride[s] != 1) text += fmt::format(" & (q{} % {} == 0)", s, its_.stride[s]);
  }
  return text;
}

std::string Taps::element() const {
  std::string text = fmt::format("image * {} + channel", parameters_.extent(its_.groups * its_.channels));
  for (size_t s = 0; s < its_.space(); ++s) text = fmt::format("({}) * {} + p{}", text, parameters_.extent(its_.from[s]), s);
  return text;
}

namespace {

/// What a weight's place and an element's of the image follow from: batch and depth.
std::string planes(const Convolution& its, TritonParameters& parameters, const std::string& indent) {
  return fmt::format("{0}image = batch // {1}\n{0}group = batch % {1}\n{0}channel = group * {2} + depth // {3}\n{0}tap = depth % {3}\n", indent,
                     parameters.extent(its.groups), parameters.extent(its.channels), parameters.extent(all_of(its.window)));
}

/// Where the weight of output channel `line` at `depth` lies.
std::string weight_of(const Convolution& its, TritonParameters& parameters) {
  const std::string outputs = parameters.extent(its.outputs);
  if (its.transposed) return fmt::format("(channel * {} + line) * {} + tap", outputs, parameters.extent(all_of(its.window)));
  return fmt::format("(group * {} + line) * {} + depth", outputs, parameters.extent(its.channels * all_of(its.window)));
}

std::string read_or_zero(const std::string& condition, const std::string& tensor, const std::string& place, const std::string& type) {
  return fmt::format("T.if_then_else({0}, T.cast({1}[{2}], \"{3}\"), T.cast(0, \"{3}\"))\n", condition, tensor, place, type);
}

}  // namespace

Result<kernel::Kernel> convolution(const task::Task& task) {
  HONE_TRY(const auto found, find_convolution(task));
  const Convolution& its = *found;
  TritonParameters parameters("=");
  const Taps taps(its, parameters);
  const Method method = method_of(task, its.w_dtype, its.x_dtype);
  const std::string inner(20, ' ');
  const IntExpr groups = its.images * its.groups, depths = its.channels * all_of(its.window);
  const std::string rows = parameters.extent(its.outputs), columns = parameters.extent(its.rest.column.extent), depth = parameters.extent(depths);
  Product text{"convolution", groups, its.outputs, its.rest.column.extent, depths, {}, {}, {}, {}, {}};
  text.a_load = planes(its, parameters, inner) + inner + "x[i, k] = " +
                read_or_zero(fmt::format("(line < {}) & (depth < {})", rows, depth), parameters.tensor(its.w), weight_of(its, parameters), method.a);
  text.b_load = planes(its, parameters, inner) + taps.places(inner) + inner + "y[k, j] = " +
                read_or_zero(fmt::format("(column < {}) & (depth < {}){}", columns, depth, taps.within()), parameters.tensor(its.x), taps.element(), method.b);
  text.kept = its.rest.program.row_axes;
  text.kept.insert(text.kept.end(), its.rest.program.inner_axes.begin(), its.rest.program.inner_axes.end());
  text.place = fmt::format("{}row = (batch * {} + line) * {} + column\n", inner, rows, columns);
  return product_kernel(task, text, its.rest, method, parameters);
}

}  // namespace hone::pattern::tile
