// An index that is read or computed, as text for a GPU: which row a token takes, whose weights it is multiplied by. Pure text.
#pragma once
#include <string>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// `__device__ int64_t NAME(PARAMETERS, int64_t place_at)`: the element of node `id`, of whole numbers, at a place of it as a dense tensor.
/// Everything it is made of is computed there and then, sums over short axes too (a row's expert by counting offsets that lie before it).
/// kUnavailable where it takes more than elements, choices and reductions of other nodes.
[[nodiscard]] Result<std::string> index_text(const task::Graph& graph, int id, const std::string& name, const std::string& parameters);

}  // namespace hone::pattern
