#include "hone/base/clock.h"

#include <gtest/gtest.h>

namespace hone::base {
namespace {

TEST(Clock, SystemTimeGoesForward) {
  const int64_t before = system_clock().now_ns();
  EXPECT_GE(system_clock().now_ns(), before);
  EXPECT_GT(system_clock().unix_ms(), 1'600'000'000'000);
}

TEST(Clock, FakeTimeMovesOnlyWhenTold) {
  FakeClock clock;
  const int64_t ns = clock.now_ns(), ms = clock.unix_ms();
  EXPECT_EQ(clock.now_ns(), ns);
  clock.advance_ns(5'000'000);
  EXPECT_EQ(clock.now_ns(), ns + 5'000'000);
  EXPECT_EQ(clock.unix_ms(), ms + 5);
}

}  // namespace
}  // namespace hone::base
