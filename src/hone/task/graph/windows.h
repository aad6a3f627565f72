// Parameters of convolutions and pooling over 1, 2 or 3 spatial dimensions. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/task/graph/op_table.h"

namespace hone::task {

using Ints = std::vector<int64_t>;

/// The digit at the end of "conv2d".
[[nodiscard]] int spatial_rank(const Call& call);

/// One number stands for all dimensions: afterwards attribute `key` has `rank` entries, each at
/// least `least`.
[[nodiscard]] Status settle_window(Call& call, const std::string& key, int rank, int64_t least);

/// floor((extent + low + high - dilation * (kernel - 1) - 1) / stride) + 1
[[nodiscard]] IntExpr window_count(const IntExpr& extent, const IntExpr& kernel, int64_t low, int64_t high,
                                   int64_t stride, int64_t dilation);

/// Fails where a window is certainly larger than what it slides over.
[[nodiscard]] Status check_count(const IntExpr& count, std::string_view op, size_t axis);

}  // namespace hone::task
