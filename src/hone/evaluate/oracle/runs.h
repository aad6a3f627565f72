// Where a box lies in its tensor's memory. Pure; thread-safe.
#pragma once
#include <cstdint>

#include "hone/evaluate/oracle/box.h"

namespace hone::evaluate {

/// Calls visit(first element, elements) for each piece of memory that `box` takes of a dense row-major tensor of `shape`,
/// in order: as long as the innermost dimensions that the box has whole, and one more, make them. The box is not empty.
template <class Visit>
void for_each_piece(const task::Shape& shape, const Box& box, Visit visit) {
  const task::Shape stride = dense_strides(shape);
  size_t walked = shape.size();  // dimensions before this one are walked
  int64_t length = 1;
  while (walked > 0) {
    --walked;
    length *= box.extent[walked];
    if (box.extent[walked] != shape[walked]) break;
  }
  task::Shape at = box.start;
  for (;;) {
    int64_t first = 0;
    for (size_t d = 0; d < shape.size(); ++d) first += at[d] * stride[d];
    visit(first, length);
    size_t d = walked;
    while (d > 0 && ++at[d - 1] == box.start[d - 1] + box.extent[d - 1]) --d, at[d] = box.start[d];
    if (d == 0) return;
  }
}

}  // namespace hone::evaluate
