// Element types as numbers: reading tensors into doubles, rounding doubles to what a type can hold,
// and writing them back. Every element type of hone fits a double (integers up to 2^53). Pure
// functions; thread-safe.
#pragma once
#include <cstdint>

#include "hone/task/types.h"

namespace hone::evaluate {

/// out[i] = element first + i of `data`, a dense array of `type`.
void load_doubles(task::DType type, const void* data, int64_t first, int64_t count, double* out);

/// Writes values[i], rounded to `type`, to element first + i of `data`. Integers truncate and
/// saturate; a NaN becomes 0 in integer types.
void store_doubles(task::DType type, const double* values, int64_t count, void* data,
                   int64_t first);

/// The nearest value that `type` holds, ties to even; beyond its range an infinity. Integers and
/// bools truncate as store_doubles does.
[[nodiscard]] double round_to(task::DType type, double value);

/// round_to() for an anchor's computed values: within two units of where f16 ends it is beyond that end. An honest program may
/// be there or not, and what the anchor has no number for is not judged.
[[nodiscard]] double round_near_end(task::DType type, double value);

/// Rounds to `significand_bits` (the implicit one included) with exponents no smaller than
/// `min_exponent`: round_bits(x, 11, -126) is TF32, round_bits(x, 8, -126) bf16 without its overflow.
[[nodiscard]] double round_bits(double value, int significand_bits, int min_exponent);

}  // namespace hone::evaluate
