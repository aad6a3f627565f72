#include "hone/evaluate/oracle/box.h"

#include <algorithm>

namespace hone::evaluate {

Box whole(const task::Shape& shape) { return {task::Shape(shape.size(), 0), shape}; }

bool is_empty(const Box& box) {
  return std::any_of(box.extent.begin(), box.extent.end(), [](int64_t e) { return e <= 0; });
}

bool contains(const Box& outer, const Box& inner) {
  for (size_t d = 0; d < outer.start.size(); ++d)
    if (inner.start[d] < outer.start[d] ||
        inner.start[d] + inner.extent[d] > outer.start[d] + outer.extent[d])
      return false;
  return true;
}

Box bounding(const Box& a, const Box& b) {
  Box sum = a;
  for (size_t d = 0; d < a.start.size(); ++d) {
    const int64_t end = std::max(a.start[d] + a.extent[d], b.start[d] + b.extent[d]);
    sum.start[d] = std::min(a.start[d], b.start[d]);
    sum.extent[d] = end - sum.start[d];
  }
  return sum;
}

task::Shape dense_strides(const task::Shape& extent) {
  task::Shape stride(extent.size());
  int64_t step = 1;
  for (size_t d = extent.size(); d-- > 0;) {
    stride[d] = step;
    step *= extent[d];
  }
  return stride;
}

Tiling::Tiling(const Box& box, const task::Shape& tile)
    : box_(box), tile_(tile), grid_(box.extent.size()) {
  for (size_t d = 0; d < grid_.size(); ++d) {
    grid_[d] = (box.extent[d] + tile[d] - 1) / tile[d];
    count_ *= grid_[d];
  }
}

Box Tiling::operator[](int64_t index) const {
  Box out = box_;
  for (size_t d = grid_.size(); d-- > 0;) {
    const int64_t at = index % grid_[d] * tile_[d];
    index /= grid_[d];
    out.start[d] += at;
    out.extent[d] = std::min(tile_[d], box_.extent[d] - at);
  }
  return out;
}

}  // namespace hone::evaluate
