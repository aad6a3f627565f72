// Elements of a graph's nodes as C++: loaded where the plan keeps them in memory, else computed from their
// operands' elements. Pure but for the function that the text goes to.
#pragma once
#include <string>

#include "hone/pattern/plain_function.h"

namespace hone::pattern::plain {

/// C++ type to compute in: double, float, int64_t, int32_t or bool.
[[nodiscard]] std::string computing_type(task::DType dtype);
/// Type that sums of such values run in: double for floats, else int64_t.
[[nodiscard]] std::string summing_type(task::DType dtype);
/// Converts a value to what memory holds.
[[nodiscard]] std::string stored(task::DType dtype, const std::string& value);

/// The element of node `id` at a position: a name or number of the node's computing type.
[[nodiscard]] Text value(Function& f, int id, const Position& at);
/// The same, computed even if the node has a memory: what is to be written there.
[[nodiscard]] Text compute(Function& f, int id, const Position& at);

/// Offset of a position in a dense tensor.
[[nodiscard]] Text offset(Function& f, const task::Dims& dims, const Position& at);

/// Whether one running position serves all that the node's elements are computed from.
[[nodiscard]] bool goes_flat(const Function& f, int id);

}  // namespace hone::pattern::plain
