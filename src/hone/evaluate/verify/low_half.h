// Integers of 64 bits are more than the oracle's doubles hold. Where a task only moves, adds and multiplies them, the lower
// halves of its results follow from the lower halves of its inputs, modulo 2^32, which doubles do hold: so numbers of any size are
// drawn, and that half of every answer is judged. A sum kept in doubles has lost it. Pure.
#pragma once
#include <optional>

#include "hone/evaluate/oracle/oracle.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// Bits beside the sign of what is drawn then.
inline constexpr int kWholeBits = 62;

/// The same computation on i32 in the place of i64. Nothing where an operation is no homomorphism of rings (comparisons,
/// divisions, floats), where the oracle could not compute that either, and where there is no input of 64 bits to begin with.
[[nodiscard]] std::optional<task::ConcreteGraph> low_half(const task::Task& task, const task::ConcreteGraph& graph);

/// `tensor` as that graph has it: an i64's lower halves, put into `store`, which has to live as long; others as they are.
[[nodiscard]] TensorView low_half(const TensorView& tensor, std::vector<int32_t>& store);

}  // namespace hone::evaluate
