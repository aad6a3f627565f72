// Graph nodes as C++ expressions. One table of operations serves all ways of computing: vectors of
// hone/cpu.h, row scalars (double), plain scalar loops, the values of a GPU's thread. Pure text.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::pattern {

enum class Way : uint8_t {
  kVector32,   ///< f32v, i32v; masks for bool
  kVector64,   ///< f64v, i64v
  kScalar,     ///< double, int64_t, bool
  kThread,     ///< on a GPU: float, double, int32_t, int64_t, bool, and the functions of hone/gpu/math.h
};

/// C++ type of a value of `dtype`: "f32v", "i32v", …; of a GPU's thread "float", "int32_t", …
[[nodiscard]] std::string value_type(task::DType dtype, Way way);
/// C++ type of stored elements: "float", "hone::bf16", …
[[nodiscard]] std::string storage_type(task::DType dtype);

/// Value of a constant node, of the way's type.
[[nodiscard]] std::string constant_text(const task::Node& node, Way way);

/// The operation applied to operand texts (names or parenthesised); `types` are the operands' dtypes.
/// Element-wise operations only.
[[nodiscard]] std::string operation_text(const task::Node& node, const std::vector<std::string>& operands,
                                         const std::vector<task::DType>& types, Way way);

/// The same for an element in a GPU's thread, whose quotients of f32 have no branch: hone::gpu::ratio() where the divisor's range is known
/// to be moderate. Exponentials and such quotients that are only looked at in 16 bits are a few units of f32's last place less exact. `node`:
/// of the graph's.
[[nodiscard]] std::string thread_text(const task::Graph& graph, const task::Node& node, const std::vector<std::string>& operands,
                                      const std::vector<task::DType>& types);

/// A node of whole numbers that is 2 to the `bits` times node `exponent`, which is not negative: a division by it is a shift.
struct PowerOfTwo {
  int exponent, bits;
};
[[nodiscard]] std::optional<PowerOfTwo> power_of_two(const task::Graph& graph, int id);

/// The expression in C++, fit to be an operand.
[[nodiscard]] inline std::string parenthesised(const task::IntExpr& e) {
  const std::string text = e.to_cpp();
  return text.find_first_of(" ?") == std::string::npos ? text : "(" + text + ")";
}
[[nodiscard]] inline bool is_zero(const task::IntExpr& e) { return e.is_constant() && e.constant() == 0; }

/// Whether element values of these dtypes can be computed in 32-bit lanes.
[[nodiscard]] bool fits_32(task::DType dtype);

}  // namespace hone::pattern
