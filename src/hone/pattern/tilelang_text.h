// What kernels in TileLang are written with: types, constants and operations of one element, and the functions of
// patterns/tilelang/functions.py. Pure text.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/graph/graph.h"

namespace hone::pattern {

/// "bfloat16": of elements in memory; of values in registers 16-bit floats are "float32".
[[nodiscard]] std::string tile_storage(task::DType dtype);
[[nodiscard]] std::string tile_type(task::DType dtype);
[[nodiscard]] std::string tile_constant(const task::Attr& value, task::DType dtype);
/// As lanes_cast().
[[nodiscard]] std::string tile_cast(const std::string& x, task::DType from, task::DType to, bool rounds);
/// The element-wise operation; kUnavailable where TileLang has none.
[[nodiscard]] Result<std::string> tile_operation(const task::Node& node, const std::vector<std::string>& x, const std::vector<task::DType>& types);
[[nodiscard]] std::string tile_functions(const std::string& text);

}  // namespace hone::pattern
