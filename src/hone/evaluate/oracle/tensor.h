// Intermediate values: a box of a node's doubles, with first-order scales, seen through strides, so
// that broadcasts, transposes, slices and flips cost nothing. Memory comes from a pool that belongs
// to one evaluation; a pool is used by one thread at a time, tensors may be read by many.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "hone/evaluate/oracle/box.h"

namespace hone::evaluate {

/// Uninitialised arrays of doubles that return to the pool when their last owner lets go.
class Pool {
 public:
  Pool();
  [[nodiscard]] std::shared_ptr<double> take(int64_t count);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

struct Tensor {
  Box box;             ///< the region of the node held
  task::Shape stride;  ///< in elements, one per dimension of the box; may be 0 or negative
  const double* value = nullptr;  ///< of the box's first element
  const double* scale = nullptr;  ///< same layout, in units of kUnit; null: exact, or not asked for
  std::shared_ptr<const double> hold;

  [[nodiscard]] int64_t offset_of(const task::Shape& at) const;
  /// Row-major without gaps.
  [[nodiscard]] bool is_dense() const;
};

/// A new dense tensor and the memory to fill it through.
struct Fresh {
  Tensor tensor;
  double* value = nullptr;
  double* scale = nullptr;  ///< null unless asked for
};
[[nodiscard]] Fresh make_dense(const Box& box, bool with_scale, Pool& pool);

/// The same memory, restricted to `box`, which lies inside t.box.
[[nodiscard]] Tensor restrict_to(const Tensor& t, const Box& box);

/// How to read memory in row-major order of some box: neighbouring dimensions that can be walked as
/// one are merged.
class Walk {
 public:
  /// Of all of `t`.
  explicit Walk(const Tensor& t);
  /// Of `t`, an operand of full shape `shape`, broadcast to `result` (a box of an element-wise node).
  Walk(const Tensor& t, const task::Shape& shape, const Box& result);

  /// Elements [begin, begin + count) in order.
  void read(const double* data, int64_t begin, int64_t count, double* out) const;
  /// A pointer to element `begin` when the elements from there on are contiguous, else null.
  [[nodiscard]] const double* direct(const double* data, int64_t begin) const {
    return contiguous_ ? data + offset_ + begin : nullptr;
  }

 private:
  void merge(const task::Shape& extent, const task::Shape& stride);
  task::Shape extent_, stride_;
  int64_t offset_ = 0;
  bool contiguous_ = false;
};

/// `t` itself when dense, else a dense copy.
[[nodiscard]] Tensor densify(const Tensor& t, Pool& pool);

/// Copies all of `from` into `to`, its first element at position `at`. Where `from` is exact and `to`
/// has scales, they become unit * |value|.
void place(const Tensor& from, const Fresh& to, const task::Shape& at, double unit = 1);

}  // namespace hone::evaluate
