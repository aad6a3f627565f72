#include "hone/target/card.h"

#include <gtest/gtest.h>

#include "hone/base/embedded.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::target {
namespace {

TEST(ClockMhz, IsTheMedianOfThoseInBothReadings) {
  const std::vector<ClockReading> before = {{1000, 500}, {}, {7000, 500}, {0, 500}, {5, 500}};
  const std::vector<ClockReading> after = {{1000 + 1980, 1500}, {1990, 1500}, {7000 + 1400, 1500}, {1985, 1500}, {}};
  EXPECT_DOUBLE_EQ(clock_mhz(before, after), 1980);
}

TEST(ClockMhz, IsNoneWhereNothingCanBeCompared) {
  EXPECT_EQ(clock_mhz({}, {}), 0);
  const std::vector<ClockReading> same = {{1000, 500}, {}};
  EXPECT_EQ(clock_mhz(same, same), 0);
}

}  // namespace
}  // namespace hone::target
