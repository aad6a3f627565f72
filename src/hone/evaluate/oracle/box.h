// Boxes: rectangular regions of tensors and the small algebra over them that pull-back and tiling
// need. Plain values; thread-safe.
#pragma once
#include <cstdint>

#include "hone/evaluate/oracle/oracle.h"

namespace hone::evaluate {

[[nodiscard]] inline bool operator==(const Box& a, const Box& b) {
  return a.start == b.start && a.extent == b.extent;
}
[[nodiscard]] bool is_empty(const Box& box);
/// `inner` lies inside `outer`; ranks are equal.
[[nodiscard]] bool contains(const Box& outer, const Box& inner);
/// Smallest box around both.
[[nodiscard]] Box bounding(const Box& a, const Box& b);
/// Row-major strides, in elements, of a dense tensor.
[[nodiscard]] task::Shape dense_strides(const task::Shape& extent);

/// Boxes of extent `tile` (smaller at the far edges) that cover `box`, in row-major order.
class Tiling {
 public:
  Tiling(const Box& box, const task::Shape& tile);
  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] Box operator[](int64_t index) const;

 private:
  Box box_;
  task::Shape tile_, grid_;
  int64_t count_ = 1;
};

}  // namespace hone::evaluate
