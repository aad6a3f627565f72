#include "hone/evaluate/measure/pace.h"

#include <gtest/gtest.h>

namespace hone::evaluate {
namespace {

TEST(Pace, ProbesWithEightCallsOrAsManyAsThereAre) {
  EXPECT_EQ(Pace(1000).calls(), 8);
  EXPECT_EQ(Pace(3).calls(), 3);
  EXPECT_FALSE(Pace(3).known());
}

TEST(Pace, ABatchOutlastsTheShortest) {
  for (const double call_ns : {100.0, 1'000.0, 33'333.0, 800'000.0, 2'000'000.0, 7e9}) {
    Pace pace(100'000);
    pace.took(8, 8 * call_ns);
    EXPECT_GE(pace.calls() * call_ns, static_cast<double>(kShortestBatchNs)) << call_ns;
    // And not much longer than it must: by a quarter, and at most a call.
    EXPECT_LE((pace.calls() - 1) * call_ns, 1.25 * static_cast<double>(kShortestBatchNs)) << call_ns;
  }
}

TEST(Pace, FollowsTheQuickestBatch) {
  Pace pace(1000);
  pace.took(8, 8e6);  // a cold start: 1 ms a call
  EXPECT_EQ(pace.calls(), 3);
  pace.took(3, 3 * 50'000);
  EXPECT_EQ(pace.calls(), 50);
  pace.took(50, 50 * 90'000);  // a neighbour
  EXPECT_EQ(pace.calls(), 50);
}

TEST(Pace, StaysWithinTheBuffers) {
  Pace pace(20);
  pace.took(8, 80);
  EXPECT_EQ(pace.calls(), 20);
  pace.took(20, -5);  // less than an empty batch
  EXPECT_EQ(pace.calls(), 20);
}

}  // namespace
}  // namespace hone::evaluate
