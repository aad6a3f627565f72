// What plain kernels are made of, where their own checks would hardly ever see it: values next to the middle between two
// of 16 bits, which a rounding on the way to them, by way of f32, would put there.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#define HONE_INLINE inline
#include "hone/target/toolchain/include/hone/plain_loops.h"

namespace hone::pattern {
namespace {

/// x rounded to `digits` binary digits, once, halves to even. Far from the ends of the range.
double rounded(double x, int digits) {
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(x, &exponent), digits);
  return std::ldexp(std::nearbyint(scaled), exponent - digits);
}

TEST(PlainLoops, AFloatOnTheWayChangesNoRounding) {
  constexpr int kF16 = 11, kBf16 = 8;
  int by_way_of_f32 = 0;
  for (const int digits : {kF16, kBf16})
    for (const double magnitude : {1.0, 3.7421875, 1000.5, 0.0078125})
      for (const double sign : {1.0, -1.0})
        for (const double off : {0.0, 0x1p-20, 0x1p-26, 0x1p-30, 0x1p-40, -0x1p-26, -0x1p-30, -0x1p-40}) {
          // The middle between a number of so many digits and the next, and a little beside it.
          const double lower = rounded(magnitude, digits), ulp = std::ldexp(1.0, std::ilogb(lower) + 1 - digits);
          for (const double middle : {lower + ulp / 2, lower + 3 * ulp / 2}) {
            const double x = sign * middle * (1 + off);
            EXPECT_EQ(rounded(plain::to_odd(x), digits), rounded(x, digits)) << x << " to " << digits << " digits";
            by_way_of_f32 += rounded(static_cast<float>(x), digits) != rounded(x, digits);
          }
        }
  EXPECT_GT(by_way_of_f32, 50) << "these numbers tell nothing";
}

TEST(PlainLoops, WhatAFloatHoldsStays) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity(), kMost = std::numeric_limits<float>::max();
  for (const float x : {0.0F, -0.0F, 1.0F, -2.5F, kMost, kInfinite, -kInfinite, 0x1p-149F}) {
    EXPECT_EQ(plain::to_odd(x), x);
    EXPECT_EQ(std::signbit(plain::to_odd(x)), std::signbit(x));
  }
  EXPECT_TRUE(std::isnan(plain::to_odd(std::nan(""))));
  // Beyond both ends: what comes next rounds them to infinity and to zero.
  EXPECT_EQ(plain::to_odd(1e300), kMost);
  EXPECT_EQ(plain::to_odd(-1e300), -kMost);
  EXPECT_EQ(plain::to_odd(1e-300), 0x1p-149F);
  EXPECT_EQ(plain::to_odd(-1e-300), -0x1p-149F);
}

}  // namespace
}  // namespace hone::pattern
