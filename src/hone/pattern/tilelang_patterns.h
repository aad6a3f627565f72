// The patterns in TileLang: files of patterns/tilelang/ filled for a task. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/contraction.h"
#include "hone/pattern/library.h"
#include "hone/pattern/program.h"
#include "hone/pattern/template.h"
#include "hone/pattern/triton_factor.h"

namespace hone::pattern {

/// As offers_triton(), in TileLang, one text for all cards. There are no plain loops.
[[nodiscard]] std::vector<Offer> offers_tilelang(const task::Task& task, std::vector<std::string>& why_not);

namespace tile {

/// One product and element-wise work behind it; of a task as it was given and in its normal form.
[[nodiscard]] std::vector<Offer> products(const task::Task& task, std::vector<std::string>& why_not);
/// Softmax of scores times values, in one pass over the keys. kUnavailable where it does not suit.
[[nodiscard]] Result<kernel::Kernel> attention(const task::Task& task);

/// The slots that say what a function takes: tunables, then extents as constants. To be called when all of the text is made.
/// kUnavailable where a workload's tensor is too long for the indices that TileLang computes.
[[nodiscard]] Status say_parameters(Slots& slots, const task::Task& task, TritonParameters& parameters, const std::vector<std::string>& tunables);

/// patterns/tilelang/map.py of a body that computes element `place` of `count` and stores it; slots: body, note, requires.
[[nodiscard]] Result<kernel::Kernel> map_kernel(Slots slots, const task::Task& task, const task::IntExpr& count, TritonParameters& parameters);
/// Element-wise work with whatever moves elements, of what is computed too (tilelang_places.h). kUnavailable: anything else is in it.
[[nodiscard]] Result<kernel::Kernel> places(const task::Task& task);

/// "T.if_then_else(CONDITION, in_a[…], 0)" of a factor's element, as numbers of `type`: by the places along the product's batch, `lines` and depth.
[[nodiscard]] std::string factor_element(const TritonFactors& factors, const Factor& factor, const AxisGroup& lines, const std::string& condition,
                                         const std::string& type);

/// How factors are multiplied: in which type they are kept, and whether by T.gemm, whose matrix units round float32.
struct Method {
  std::string a, b;
  bool units = false;
};
[[nodiscard]] Method method_of(const task::Task& task, task::DType a, task::DType b);

/// Lines that add x @ y to a tile of sums, factors being tiles in shared memory: by matrix units, or exactly by loops.
struct TileProduct {
  std::string x, y, total;
  std::string rows, columns, depth;   ///< "BM", "BN", "BK": extents
  std::string x_type, y_type, accumulator;
  bool units = false, transposed = false;   ///< y lies as [columns, depth]
  std::string more;                   ///< behind T.gemm's arguments: ", policy=…"
};
[[nodiscard]] std::string multiply(const TileProduct& product, const std::string& indent);

/// What patterns/tilelang/product.py is filled with beside the sums themselves.
struct Product {
  std::string what;                          ///< "product": of which pattern
  task::IntExpr batch, row, column, depth;   ///< extents
  std::string a_load, b_load;                ///< lines that set x[i, k] and y[k, j] by batch, line, column and depth
  std::string place;                         ///< lines that set `row` and `at`, of which `kept` and `along` follow
  std::vector<int> kept, along;
};
/// `rest`: what follows, and in what it is summed.
[[nodiscard]] Result<kernel::Kernel> product_kernel(const task::Task& task, const Product& its, const Contraction& rest, const Method& method,
                                                    TritonParameters& parameters);
/// A convolution, transposed or not, as such a product.
[[nodiscard]] Result<kernel::Kernel> convolution(const task::Task& task);

/// Scans along one axis, and reductions along it: along rows, or down columns.
[[nodiscard]] Result<kernel::Kernel> scans(const Program& program);
/// Sorted rows, whichever way these lie in memory, and the first of them.
[[nodiscard]] Result<kernel::Kernel> sort(const task::Task& task);
/// Sums by index, without atomics, and element-wise work behind them.
[[nodiscard]] Result<kernel::Kernel> scatter(const task::Task& task);

/// One pooling of an input and element-wise work behind it.
[[nodiscard]] Result<kernel::Kernel> pool(const task::Task& task);

}  // namespace tile
}  // namespace hone::pattern
