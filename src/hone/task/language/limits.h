// How large a task may be: far beyond any real one, and small enough that no input exhausts the stack
// or minutes. A task beyond a limit is refused with a message that names it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hone::task {

inline constexpr size_t kMaxFileBytes = size_t{1} << 20;  ///< of a task file
inline constexpr size_t kMaxComputeBytes = 100'000;       ///< of a computation
inline constexpr int kMaxNesting = 100;     ///< brackets in a computation or an integer expression
inline constexpr int kMaxChain = 400;       ///< height of an expression's tree: 1 + x + x + … grows it too
inline constexpr int kMaxTomlNesting = 32;  ///< brackets, and parts of a dotted key, in a task file
inline constexpr size_t kMaxOperations = 4096;  ///< operations of a computation, numbers included
inline constexpr size_t kMaxInputs = 256;
inline constexpr size_t kMaxWorkloads = 1000;
inline constexpr size_t kMaxRank = 8;         ///< dimensions of a tensor
inline constexpr size_t kMaxExprSize = 1000;  ///< operands and operators of a shape expression
inline constexpr size_t kMaxName = 100;       ///< bytes of a name
/// Integer arguments (strides, steps, axes, shifts) lie within +-this; shapes may be larger.
inline constexpr int64_t kMaxInteger = (int64_t{1} << 31) - 1;

}  // namespace hone::task
