#include "hone/target/device/counters.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

namespace hone::target {
namespace {

TEST(CountersTest, CountsOnlyBetweenStartAndStop) {
  // A software event, which virtual machines have too.
  Counters counters(getpid(), {{"clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}});
  if (!counters.absent().empty()) GTEST_SKIP() << counters.absent();
  EXPECT_EQ(*counters.count("clock"), 0);
  counters.start();
  volatile double sum = 0;
  for (int i = 0; i < 2'000'000; ++i) sum = sum + i;
  counters.stop();
  const double counted = *counters.count("clock");
  EXPECT_GT(counted, 1e5);  // nanoseconds
  for (int i = 0; i < 2'000'000; ++i) sum = sum + i;
  EXPECT_EQ(*counters.count("clock"), counted);
  EXPECT_FALSE(counters.count("cycles"));
}

TEST(CountersTest, SaysWhyNothingIsCounted) {
  Counters nobody(-1, hardware_events());
  EXPECT_FALSE(nobody.absent().empty());
  Counters unknown(getpid(), {{"nonsense", 12345, 0}});
  EXPECT_FALSE(unknown.absent().empty());
  EXPECT_FALSE(unknown.count("nonsense"));
  unknown.start();
  unknown.stop();
}

}  // namespace
}  // namespace hone::target
