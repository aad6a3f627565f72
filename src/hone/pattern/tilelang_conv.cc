// Convolutions in TileLang: a product of weights and the image, whose elements are read where the window's taps lie. Rows are output
// channels, columns places in space, the depth input channels times taps; a batch is a group of an image.
#include <fmt/format.h>

#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/window_taps.h"

namespace hone::pattern::tile {
using task::IntExpr;

namespace {

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
  text.a_load = taps.planes(inner) + inner + "x[i, k] = " +
                read_or_zero(fmt::format("line < {} and depth < {}", rows, depth), parameters.tensor(its.w), taps.weight(), method.a);
  text.b_load = taps.planes(inner) + taps.columns(inner) + taps.places(inner) + inner + "y[k, j] = " +
                read_or_zero(fmt::format("column < {} and depth < {}{}", columns, depth, taps.within(" and ")), parameters.tensor(its.x), taps.element(), method.b);
  text.kept = its.rest.program.row_axes;
  text.kept.insert(text.kept.end(), its.rest.program.inner_axes.begin(), its.rest.program.inner_axes.end());
  text.place = fmt::format("{}row = (batch * {} + line) * {} + column\n", inner, rows, columns);
  return product_kernel(task, text, its.rest, method, parameters);
}

}  // namespace hone::pattern::tile
