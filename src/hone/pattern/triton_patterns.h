// The patterns in Triton: files of patterns/triton/ filled for a task. Pure. kUnavailable where a pattern does not suit.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/contraction.h"
#include "hone/pattern/library.h"
#include "hone/pattern/program.h"
#include "hone/pattern/triton_tile.h"

namespace hone::pattern::triton {

/// Element by element.
[[nodiscard]] Result<kernel::Kernel> map(const Program& program);
/// Reductions and scans along rows, whichever way these lie in memory. The program does not go by columns.
[[nodiscard]] Result<kernel::Kernel> rows(const Program& program);
/// What patterns/triton/product.py is filled with beside the sums themselves.
struct TiledProduct {
  std::string what;                          ///< "product": of which pattern
  task::IntExpr batch, row, column, depth;   ///< extents
  std::string places;                        ///< lines that follow from batch, line and column
  std::string loads;                         ///< lines that load x by line and `across`, y by `down` and column
  std::string place;                         ///< lines that set `row` and `at`, of which `kept` and `along` follow
  std::vector<int> kept, along;
};
/// `rest`: what follows, and in what it is summed. kUnavailable for float64.
[[nodiscard]] Result<kernel::Kernel> product_kernel(const task::Task& task, const TiledProduct& its, const Contraction& rest, task::DType a, task::DType b,
                                                    TritonParameters& parameters);
/// What was loaded of a factor, brought to the type that it is multiplied in.
[[nodiscard]] std::string factor_cast(const task::Task& task, task::DType own, task::DType a, task::DType b);
/// A convolution of two inputs, transposed or not, as such a product, and element-wise work behind it.
[[nodiscard]] Result<kernel::Kernel> convolution(const task::Task& task);
/// One pooling of an input, greatest or sum, and element-wise work behind it.
[[nodiscard]] Result<kernel::Kernel> pool(const task::Task& task);

/// One product or convolution and element-wise work behind it; of a task as it was given and in its normal form.
[[nodiscard]] std::vector<Offer> products(const task::Task& task, std::vector<std::string>& why_not);

/// Softmax of scores times values, in one pass over the keys.
[[nodiscard]] Result<kernel::Kernel> attention(const task::Task& task);

/// The greatest value that a workload gives an extent.
[[nodiscard]] int64_t largest(const task::Task& task, const task::IntExpr& extent);
/// A power of two of at least `least` that covers `value`, at most `most`.
[[nodiscard]] int64_t covering(int64_t value, int64_t least, int64_t most);
/// "64, 32, 128": the best first, then its neighbours within bounds.
[[nodiscard]] std::string around(int64_t best, int64_t least, int64_t most);

/// In a plan: the power of two that covers an extent, from `least` to `most`. So few builds serve all shapes.
[[nodiscard]] std::string power_in_plan(const task::IntExpr& extent, int64_t least, int64_t most);

}  // namespace hone::pattern::triton
