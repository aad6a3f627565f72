// Outputs that are indices chosen by kArgMax, kArgMin or kArgSort: which node chose them, and which
// compared values a box of them is judged by. Pure; thread-safe.
#pragma once
#include "hone/evaluate/oracle/box.h"

namespace hone::evaluate {

/// The choosing node behind an output, through reshapes, slices and casts between integers; -1: none.
[[nodiscard]] int index_node(const task::ConcreteGraph& graph, int output);

/// How a box of an index output lies over the values that were compared. Element i of the box (row-
/// major) has i = (outer * kept + rank) * inner_count + inner; the value at index f is element
/// (outer * length + f) * inner_count + inner of box `keys`.
struct KeyMap {
  Box keys;             ///< of the node whose values are compared, whole along the axis
  int64_t kept = 1;     ///< ranks held along the axis: 1 for kArgMax and kArgMin
  int64_t length = 1;   ///< values along the axis
  int64_t inner = 1;
  int64_t first = 0;    ///< the first rank held
  bool sorted = false;  ///< kArgSort
  bool falling = true;  ///< rank 0 is the largest: kArgMax, and kArgSort where it says so
  [[nodiscard]] int64_t key_of(int64_t element, int64_t index) const {
    const int64_t outer = element / inner / kept;
    return (outer * length + index) * inner + element % inner;
  }
};
[[nodiscard]] KeyMap key_map(const task::ConcreteGraph& graph, int output, const Box& box);

}  // namespace hone::evaluate
