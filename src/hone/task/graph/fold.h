// Arithmetic on constants, for folding. Floats are computed in fp64 and not rounded to their type;
// integers in 64 bits, where an overflow is left unfolded. Pure.
#pragma once
#include <optional>
#include <span>

#include "hone/task/graph/graph.h"

namespace hone::task {

/// The constant of type `dtype` closest to `value`: double, int64_t or bool inside.
[[nodiscard]] Attr constant_of(double value, DType dtype);
/// Any constant as a double.
[[nodiscard]] double constant_value(const Attr& value);
/// An element-wise primitive applied to constants; none where it is better left to run time.
[[nodiscard]] std::optional<Attr> fold_constant(Prim prim, std::span<const Attr> values, DType result);
/// A unary function of a real number; none for primitives that are not.
[[nodiscard]] std::optional<double> fold_real(Prim prim, double x);

}  // namespace hone::task
