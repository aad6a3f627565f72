// A convolution inside a graph: one kConv or kConvTranspose of two inputs, as numbers and extents, and what is done to its
// result. Pure.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/pattern/contraction.h"

namespace hone::pattern {

/// x [images, groups * channels, space…], w [groups * outputs, channels, window…] (transposed: [groups * channels, outputs,
/// window…]), result [images, groups * outputs, space…]; all dense.
struct Convolution {
  std::string x, w;              ///< inputs of the task
  task::DType x_dtype{}, w_dtype{};
  bool transposed = false;
  task::IntExpr images, groups, channels, outputs;
  std::vector<task::IntExpr> from, to, window;   ///< extents in space of x, of the result and of the weights
  std::vector<int64_t> stride, dilation, padding;
  bool reaches_out = false;      ///< taps may look beyond the edge of x
  /// What follows. Of the product itself it says only its type and its columns, the places in space.
  Contraction rest;

  [[nodiscard]] size_t space() const { return stride.size(); }
};

/// kUnavailable where the graph is anything but one convolution of two inputs (cast, at most) and element-wise work on its
/// result.
[[nodiscard]] Result<std::unique_ptr<Convolution>> find_convolution(const task::Task& task);

/// A convolution of x with zeros around it, cast at most, becomes one of x with as much padding: `conv` is to be a node of `graph`.
void take_in_padding(task::Graph& graph, task::Node& conv);

}  // namespace hone::pattern
