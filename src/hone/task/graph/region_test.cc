#include "hone/task/graph/region.h"

#include <gtest/gtest.h>

#include <random>

namespace hone::task {
namespace {

TEST(Region, UnionsAreCountedOnce) {
  Need need;
  need.add({{0, 4, 1}, {0, 8, 1}});
  need.add({{2, 4, 1}, {4, 8, 1}});
  EXPECT_EQ(need.count(), 32 + 32 - 2 * 4);
  need.add({{0, 2, 1}, {0, 2, 1}});  // inside the first
  EXPECT_EQ(need.regions().size(), 2U);
  need.add({{0, 10, 1}, {0, 20, 1}});  // holds all
  EXPECT_EQ(need.regions().size(), 1U);
  EXPECT_EQ(need.count(), 200);
  need.add({{0, 0, 1}, {0, 3, 1}});  // empty
  EXPECT_EQ(need.count(), 200);
}

TEST(Region, ManyBoxesAreALowerBound) {
  Need need;
  for (int64_t i = 0; i < 100; ++i) need.add({{2 * i, 1, 1}});
  EXPECT_GT(need.count(), 0);
  EXPECT_LE(need.count(), 100);
}

TEST(Region, ReshapeKnowsRows) {
  const Region row = reshape_region({{3, 2, 1}, {0, 8, 1}}, {6, 8}, {48});
  EXPECT_EQ(row, (Region{{24, 16, 1}}));
  EXPECT_EQ(reshape_region({{24, 16, 1}}, {48}, {6, 8}), (Region{{3, 2, 1}, {0, 8, 1}}));
  EXPECT_EQ(reshape_region({{1, 2, 1}, {5, 1, 1}}, {4, 6}, {4, 2, 3}),
            (Region{{1, 2, 1}, {1, 1, 1}, {2, 1, 1}}));
  EXPECT_EQ(reshape_region({{1, 2, 2}}, {6}, {1, 6, 1}), (Region{{0, 1, 1}, {1, 2, 2}, {0, 1, 1}}));
}

/// Whatever the boxes: a reshaped region is never larger than the truth, and the same where whole.
TEST(Region, ReshapeNeverGrows) {
  std::mt19937 random(7);
  const Shape shapes[] = {{24}, {2, 12}, {4, 6}, {2, 3, 4}, {1, 24, 1}, {6, 1, 4}, {3, 8}};
  for (int round = 0; round < 2000; ++round) {
    const Shape& from = shapes[random() % std::size(shapes)];
    const Shape& to = shapes[random() % std::size(shapes)];
    Region region;
    for (const int64_t extent : from) {
      const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(extent));
      region.push_back(
          {start, 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(extent - start)), 1});
    }
    const Region result = reshape_region(region, from, to);
    ASSERT_EQ(result.size(), to.size());
    for (size_t i = 0; i < to.size(); ++i) {
      ASSERT_GE(result[i].start, 0);
      ASSERT_LT(result[i].last(), to[i]);
      ASSERT_GE(result[i].count, 1);
    }
    ASSERT_LE(volume(result), volume(region));
    if (is_whole(region, from)) {
      ASSERT_TRUE(is_whole(result, to));
    }
  }
}

}  // namespace
}  // namespace hone::task
