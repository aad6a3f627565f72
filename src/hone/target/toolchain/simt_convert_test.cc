// The emulator's conversions (hone/simt/convert.h) against the processor's own, under each of its ways to round.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

namespace hone::target {
namespace {

template <class To, class From>
inline To __hone_bits(From v) {
  To r;
  static_assert(sizeof r == sizeof v);
  std::memcpy(&r, &v, sizeof r);
  return r;
}
#include "hone/target/toolchain/include/hone/simt/convert.h"

template <class To, class From>
To cast(int mode, From v) {
  std::fesetround(mode);
  volatile From from = v;
  volatile To to = static_cast<To>(from);
  std::fesetround(FE_TONEAREST);
  return to;
}

/// What the type holds that is nearest to the whole number that v is rounded to.
template <class To, class From>
To whole(int mode, From v) {
  std::fesetround(mode);
  const long double w = std::nearbyint(static_cast<long double>(v));
  std::fesetround(FE_TONEAREST);
  using Limits = std::numeric_limits<To>;
  return w <= static_cast<long double>(Limits::min()) ? Limits::min() : w >= static_cast<long double>(Limits::max()) ? Limits::max() : static_cast<To>(w);
}

#define HONE_EACH_WAY(CHECK) CHECK(rn, FE_TONEAREST) CHECK(rd, FE_DOWNWARD) CHECK(ru, FE_UPWARD) CHECK(rz, FE_TOWARDZERO)

void look_at(long long v) {
  const auto u = static_cast<unsigned long long>(v);
#define CHECK(ROUND, MODE)                                                                                     \
  ASSERT_EQ(__ll2float_##ROUND(v), cast<float>(MODE, v)) << v;                                                 \
  ASSERT_EQ(__ll2double_##ROUND(v), cast<double>(MODE, v)) << v;                                               \
  ASSERT_EQ(__ull2float_##ROUND(u), cast<float>(MODE, static_cast<long double>(u))) << u;                      \
  ASSERT_EQ(__ull2double_##ROUND(u), cast<double>(MODE, static_cast<long double>(u))) << u;                    \
  ASSERT_EQ(__int2float_##ROUND(static_cast<int>(v)), cast<float>(MODE, static_cast<int>(v))) << v;            \
  ASSERT_EQ(__uint2float_##ROUND(static_cast<unsigned>(v)), cast<float>(MODE, static_cast<unsigned>(v))) << v;
  HONE_EACH_WAY(CHECK)
#undef CHECK
}

void look_at(double v) {
  const auto f = static_cast<float>(v);
#define CHECK(ROUND, MODE)                                                                     \
  ASSERT_EQ(__double2float_##ROUND(v), cast<float>(MODE, v)) << v;                             \
  ASSERT_EQ(__double2int_##ROUND(v), whole<int>(MODE, v)) << v;                                \
  ASSERT_EQ(__double2uint_##ROUND(v), whole<unsigned>(MODE, v)) << v;                          \
  ASSERT_EQ(__double2ll_##ROUND(v), whole<long long>(MODE, v)) << v;                           \
  ASSERT_EQ(__double2ull_##ROUND(v), whole<unsigned long long>(MODE, v)) << v;                 \
  ASSERT_EQ(__float2int_##ROUND(f), whole<int>(MODE, f)) << f;                                 \
  ASSERT_EQ(__float2uint_##ROUND(f), whole<unsigned>(MODE, f)) << f;                           \
  ASSERT_EQ(__float2ll_##ROUND(f), whole<long long>(MODE, f)) << f;                            \
  ASSERT_EQ(__float2ull_##ROUND(f), whole<unsigned long long>(MODE, f)) << f;
  HONE_EACH_WAY(CHECK)
#undef CHECK
  ASSERT_EQ(__hiloint2double(__double2hiint(v), __double2loint(v)), v);
}

TEST(SimtConvert, RoundsAsTheProcessorDoes) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    look_at(static_cast<long long>(random()) >> random() % 64);
    look_at(std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -static_cast<int>(random() % 100)));
    look_at((static_cast<double>(random() % 4001) - 2000) / 2);
  }
  for (const long long v : {0LL, -1LL, INT64_MAX + 0LL, INT64_MIN + 0LL, (1LL << 53) + 1, 16777217LL}) look_at(v);
  for (const double v : {0.0, 1e300, -1e300, 5e-324, 2147483647.5, -2147483648.5, 0x1p63, -0x1p63, 0x1p64}) look_at(v);
}

TEST(SimtConvert, WhatBecomesOfNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(__float2int_rn(nan), 0);
  EXPECT_EQ(__float2uint_rz(nan), 0U);
  EXPECT_EQ(__float2ll_rn(nan), INT64_MIN);
  EXPECT_EQ(__double2int_rn(nan), INT32_MIN);
  EXPECT_TRUE(std::isnan(__double2float_ru(nan)));
}

}  // namespace
}  // namespace hone::target
