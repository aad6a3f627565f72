// Whether a product of many numbers leaves the range of its type on the way in some order of multiplying, though not in another:
// 1e30 * 1e30 * 1e-30 is infinite from the left and a number from the right, and an infinity that meets a zero is NaN. The language says
// what is multiplied, not in which order, so where orders differ nothing is asked of a kernel. Pure.
#pragma once
#include <algorithm>
#include <cmath>

#include "hone/task/types.h"

namespace hone::evaluate {

/// The scale of a number that is another one in another order, and that may be NaN: beyond all scales of numbers of f32's range. What is made of
/// such a number keeps about this scale.
constexpr double kRangeLost = 0x1p600, kRangeLostAtLeast = 0x1p500;
inline bool is_range_lost(double scale) { return std::isfinite(scale) && scale >= kRangeLostAtLeast; }

/// The factors of one product, one after the other, in the type `type`. Types narrower than f32 are multiplied in f32; doubles are not looked at,
/// as the oracle has no wider type for them.
class ProductRange {
 public:
  explicit ProductRange(task::DType type) : looks_(type != task::DType::kF64) {}

  void take(double factor) {
    if (!looks_) return;
    if (std::isnan(factor)) nan_ = true;
    else if (std::isinf(factor)) infinite_ = true;
    else if (factor == 0) zero_ = true;
    else {
      const double bits = std::log2(std::abs(factor));
      (bits > 0 ? over_ : under_) += std::abs(bits);
    }
  }
  void lose() { lost_ = true; }  ///< a factor was lost already

  /// Partial products lie between 2^-under_ and 2^over_, the product at 2^(over_ - under_).
  [[nodiscard]] bool lost() const {
    if (lost_) return true;
    if (nan_ || (infinite_ && zero_)) return false;  // NaN in any order
    const bool overflows = infinite_ || over_ >= kLargest, underflows = under_ >= kSmallest;
    const double bits = over_ - under_;
    if (overflows && (underflows || zero_)) return true;
    if (overflows) return !infinite_ && bits < kLargest + 2;
    return underflows && !zero_ && bits > -kLeast;
  }

 private:
  static constexpr double kLargest = 127, kSmallest = 125, kLeast = 151;  // of f32, a bit to either side
  bool looks_, nan_ = false, infinite_ = false, zero_ = false, lost_ = false;
  double over_ = 0, under_ = 0;
};

/// A value that was lost, as the oracle goes on with it: finite, as infinities of the oracle's own are sure.
inline double lost_value(double value) {
  constexpr double kMost = 0x1p127;
  return std::isnan(value) ? kMost : std::clamp(value, -kMost, kMost);
}

}  // namespace hone::evaluate
