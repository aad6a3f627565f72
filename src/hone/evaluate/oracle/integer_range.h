// Integers of the task language in the oracle's doubles. Arithmetic on i8, i16 and i32 is modulo 2^8, 2^16 and 2^32, as
// processors, C++20 and PyTorch have it; a division by zero gives 0. Nobody's to say, and so of infinite scale, are: what a
// float beyond an integer type's range becomes, and whole numbers beyond 2^53, which the oracle cannot hold. Pure.
#pragma once
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

/// `value`, a whole number, as `type` holds it; itself for i64 and what is no integer.
[[nodiscard]] double wrapped(task::DType type, double value);

/// Whole numbers up to it are all doubles.
inline constexpr double kExactWhole = 0x1p53;
/// The magnitude of the least number of an integer type.
[[nodiscard]] double most_of(task::DType type);
/// No combination of the bits of numbers up to `most` in size is larger.
[[nodiscard]] double all_bits(double most);

/// The same of a number of 64 bits, of which doubles do not hold every one.
[[nodiscard]] double wrapped(task::DType type, uint64_t bits);

/// What is known of the size of the node's values and whether its own results may be nobody's to say: `largest` and
/// `open` of its facts, from those of the nodes before it. `graph` may come without shapes.
struct WholeFacts {
  double largest = 0;
  bool open = false;
};
[[nodiscard]] WholeFacts whole_facts(const task::ConcreteGraph& graph, int id, std::span<const NodeFacts> before);

/// Whether `type`, an integer type, holds the whole part of `value`.
[[nodiscard]] bool holds_whole(task::DType type, double value);

/// Operations on integers that differ from those on floats: y = op(a, b). False for the others.
[[nodiscard]] bool whole_binary(task::DType type, task::Prim op, int64_t n, const double* a, const double* b, double* y);

/// Operations on integers whose doubles rounded, modulo what `type` holds; where a double does not hold that either, `scale`, if there is
/// one, says that it is nobody's to say.
void settle_wide(task::DType type, task::Prim op, int64_t n, const double* x, const double* y, double* result, double* scale);

/// The result of an arithmetic operation, wrapped where its type cannot hold it, open where the oracle cannot.
[[nodiscard]] Tensor in_range(const Step& step, const Tensor& result);

}  // namespace hone::evaluate
