// What kernels in Triton are written with: types, constants and operations of blocks of values (Way::kLanes), and the functions of
// patterns/triton/functions.py. Pure text.
#pragma once
#include <string>
#include <vector>

#include "hone/task/graph/graph.h"

namespace hone::pattern {

/// What a masked load gives where nothing is: of floats of one byte Triton wants a float.
[[nodiscard]] const char* lanes_zero(task::DType dtype);
/// "tl.float32": of values in registers. 16-bit floats are computed in float32, integers in their own type.
[[nodiscard]] std::string lanes_type(task::DType dtype);
/// "tl.bfloat16": of elements in memory.
[[nodiscard]] std::string lanes_storage(task::DType dtype);
/// A constant of one element, which spreads over any block's last axis.
[[nodiscard]] std::string lanes_constant(const task::Attr& value, task::DType dtype);
/// A cast; `rounds`: to 16 bits at once, where it is to such a type.
[[nodiscard]] std::string lanes_cast(const std::string& x, task::DType from, task::DType to, bool rounds);
/// What was loaded of elements of `kept`, as values of `computed`.
[[nodiscard]] std::string lanes_loaded(const std::string& x, task::DType kept, task::DType computed);
/// The element-wise operation, as operation_text().
[[nodiscard]] std::string lanes_operation(const task::Node& node, const std::vector<std::string>& x, const std::vector<task::DType>& types);

/// The functions of functions.py that `text` calls, and those that they call, in their order, each behind two empty lines.
[[nodiscard]] std::string lanes_functions(const std::string& text);

}  // namespace hone::pattern
