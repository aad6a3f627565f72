#include "hone/face/report/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::face::report {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Units, ThreeSignificantDigits) {
  EXPECT_EQ(three(0), "0");
  EXPECT_EQ(three(1), "1.00");
  EXPECT_EQ(three(12.345), "12.3");
  EXPECT_EQ(three(999.6), "1000");
  EXPECT_EQ(three(9.996), "10.0");
  EXPECT_EQ(three(12107), "12100");
  EXPECT_EQ(three(0.012345), "0.0123");
  EXPECT_EQ(three(-0.5), "-0.500");
  EXPECT_EQ(three(2.31e-7), "2.31e-7");
  EXPECT_EQ(three(4.56e12), "4.56e12");
  EXPECT_EQ(three(std::nan("")), kNone);
  EXPECT_EQ(three(kInf), "\u221E");
}

TEST(Units, Times) {
  EXPECT_EQ(time_ns(412'345), "412\u00A0µs");
  EXPECT_EQ(time_ns(999'900), "1.00\u00A0ms") << "not 1000 µs";
  EXPECT_EQ(time_ns(3e12), "3000\u00A0s");
  EXPECT_EQ(time_ns(0), kNone);
  EXPECT_EQ(time_ns(-1), kNone);
  EXPECT_EQ(time_s(0.25), "250\u00A0ms");
  EXPECT_EQ(time_s(192), "3\u00A0min\u00A012\u00A0s");
  EXPECT_EQ(time_s(3720), "1\u00A0h\u00A002\u00A0min");
  EXPECT_EQ(time_s(std::nan("")), kNone);
}

TEST(Units, Amounts) {
  EXPECT_EQ(bytes_moved(268.5e6), "268\u00A0MB");
  EXPECT_EQ(bytes_held(32 << 20), "32\u00A0MiB");
  EXPECT_EQ(bytes_held(1.5 * 1024), "1.50\u00A0KiB");
  EXPECT_EQ(bandwidth(4680), "4.68\u00A0TB/s");
  EXPECT_EQ(flop_rate(0.0934), "93.4\u00A0MFLOP/s");
  EXPECT_EQ(percent(0.7123), "71.2\u00A0%");
  EXPECT_EQ(whole(1234567), "1\u202F234\u202F567");
  EXPECT_EQ(whole(-123), "-123");
  EXPECT_EQ(date_utc(1'767'861'720'000), "2026-01-08 08:42 UTC");
  EXPECT_EQ(date_utc(std::numeric_limits<int64_t>::max()), kNone);
}

TEST(Units, RatiosNearOneKeepTheirSide) {
  const RatioText close = ratio_text({1.004, 1.002, 1.006});
  EXPECT_EQ(close.median + " " + close.interval, "1.004 [1.002, 1.006]");
  EXPECT_EQ(ratio_text({2.314, 2.28, 2.351}).interval, "[2.28, 2.35]");
  EXPECT_EQ(ratio_text({24.9, 14.7, 254181655369.0}).interval, "[14.7, 2.54e11]");
  EXPECT_EQ(ratio_text({14.25, 13.9, kInf}).interval, "[13.9, \u221E]");
  EXPECT_EQ(ratio_text({14.25, 0, kInf}).interval, "[too few pairs]");
  EXPECT_EQ(ratio_text({14.25, 1e-9, kInf}).interval, "[too few pairs]") << "with dispatch taken off";
}

}  // namespace
}  // namespace hone::face::report
