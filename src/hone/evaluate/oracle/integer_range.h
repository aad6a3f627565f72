// Integer types narrower than the oracle's doubles: arithmetic on i8, i16 and i32 is modulo 2^8, 2^16
// and 2^32, as processors, C++20 and PyTorch have it. Sums and products below 2^53 wrap exactly.
#pragma once
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

/// `value`, a whole number, as `type` holds it; itself for i64 and what is no integer.
[[nodiscard]] double wrapped(task::DType type, double value);

/// The same of a number of 64 bits, of which doubles do not hold every one.
[[nodiscard]] double wrapped(task::DType type, uint64_t bits);

/// The result of an arithmetic operation, wrapped where its type cannot hold it.
[[nodiscard]] Tensor in_range(const Step& step, const Tensor& result);

}  // namespace hone::evaluate
