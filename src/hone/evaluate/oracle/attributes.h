// Attributes of primitive nodes as plain numbers, whichever of Attr's alternatives holds them.
// A missing or ill-typed attribute is a bug in lowering and stops the program.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::evaluate {

/// int64_t, or a constant IntExpr.
[[nodiscard]] int64_t int_attr(const task::Node& node, std::string_view key);
/// vector<int64_t>, constant Dims, or one number.
[[nodiscard]] std::vector<int64_t> ints_attr(const task::Node& node, std::string_view key);
[[nodiscard]] bool bool_attr(const task::Node& node, std::string_view key);
/// double, int64_t or bool.
[[nodiscard]] double number_attr(const task::Node& node, std::string_view key);

/// The node whose numbers a node holds, however they are laid out or cast: what stands before broadcasts, reshapes and casts.
[[nodiscard]] const task::Node& laid_out_from(const task::Graph& graph, int id);

/// "bik,bkj->bij" taken apart.
struct EinsumSpec {
  std::string a, b, result;
};
[[nodiscard]] EinsumSpec einsum_spec(const task::Node& node);

/// Convolution or pooling along its spatial dimensions, outermost first. padding_low holds `padding`
/// for transposed convolutions.
struct Window {
  std::vector<int64_t> kernel, stride, padding_low, padding_high, dilation;
  int64_t groups = 1;
};
/// `weight_shape` is the shape of the second operand of a convolution; empty for pooling.
[[nodiscard]] Window window_of(const task::Node& node, const task::Shape& weight_shape);

}  // namespace hone::evaluate
