// Division of many vectors by one number, without dividing: a vector division takes ten times as long
// as a product.
#pragma once
#include "hone/cpu/arithmetic.h"
#include "hone/cpu/math.h"

namespace hone {

/// a / d for every a, as a fused product with 1 / d in two parts: within 0.501 units in the last place
/// (1 without FMA, 1.5 where the quotient is below 2^-100). Zeros, infinities and NaN
/// of a come out as from a / d. Outside [2^-100, 2^100], where the reciprocal or its second part leaves the
/// range of f32, it does divide, by d rounded to f32.
///
///   const hone::Divisor<f32v> total(sum);
///   y = x / total;
template <class V>
class Divisor;

template <>
class Divisor<f32v> {
 public:
  HONE_INLINE explicit Divisor(double d) : divisor_(splat<f32v>(d)) {
    const double r = 1 / d, size = r < 0 ? -r : r;
    by_product_ = size >= 0x1p-100 && size <= 0x1p100;
    // Cut, not rounded, and never 0: with both parts of one sign, infinity times each is the same infinity.
    const double high = bit_cast<double>(bit_cast<uint64_t>(r) & ~((uint64_t{1} << 29) - 1));
    const double low = r - high, least = high * 0x1p-48;
    high_ = splat<f32v>(high);
    low_ = splat<f32v>(low == 0 ? least : low);
  }
  friend HONE_INLINE f32v operator/(f32v a, const Divisor& d) {
    return d.by_product_ ? fma(a, d.high_, a * d.low_) : a / d.divisor_;
  }

 private:
  f32v high_, low_, divisor_;
  bool by_product_;
};

}  // namespace hone
