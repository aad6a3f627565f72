// Names that people bring from PyTorch, NumPy and other languages, and what they are called here: for
// hints only. Data; immutable.
#pragma once
#include <string>
#include <string_view>

namespace hone::task {

/// "write f16(x)", …: for an operation that there is not; empty where nothing is known.
[[nodiscard]] std::string_view foreign_op_hint(std::string_view name);

/// "did you mean 'f32'?" for float32, half, u8, …; empty where the name is no element type anywhere.
[[nodiscard]] std::string foreign_dtype_hint(std::string_view name);

}  // namespace hone::task
