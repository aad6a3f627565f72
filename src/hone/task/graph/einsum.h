// The letters of an einsum. Pure.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "hone/task/graph/lower.h"
#include "hone/task/graph/op_table.h"

namespace hone::task {

struct Einsum {
  std::vector<std::string> operands;  ///< one letter a dimension; `...` replaced by letters
  std::string result;
};

/// Errors for letters that do not match the operands. Without "->" the result has the letters that
/// occur once, sorted, as in NumPy.
[[nodiscard]] Result<Einsum> parse_einsum(const std::string& spec, std::span<const Operand> operands);
[[nodiscard]] Result<Dims> einsum_dims(const Einsum& spec, std::span<const Operand> operands);

/// Sums the letters that `result` lacks and brings the others into its order.
[[nodiscard]] Ref reduce_to(Ref x, const std::string& letters, const std::string& result);

}  // namespace hone::task
