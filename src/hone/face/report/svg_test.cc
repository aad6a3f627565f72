#include "hone/face/report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::face::report::svg {
namespace {

using ::testing::ElementsAre;

TEST(Scale, PlacesValues) {
  const Scale linear(Scale::Kind::kLinear, 10, 20);
  EXPECT_DOUBLE_EQ(linear.at(15), 50);
  EXPECT_DOUBLE_EQ(linear.at(9), 0);
  EXPECT_DOUBLE_EQ(linear.at(99), 100);
  const Scale log(Scale::Kind::kLog, 1, 100);
  EXPECT_DOUBLE_EQ(log.at(10), 50);
  EXPECT_DOUBLE_EQ(log.at(std::nan("")), 0);
}

TEST(Scale, TicksAreRound) {
  EXPECT_THAT(Scale(Scale::Kind::kLinear, 0, 214).ticks(5), ElementsAre(0, 50, 100, 150, 200));
  EXPECT_THAT(Scale(Scale::Kind::kLog, 0.9, 110).ticks(6), ElementsAre(1, 2, 5, 10, 20, 50, 100));
}

TEST(Scale, AnyScaleHasFewTicks) {
  for (const double low : {1e-12, 0.3, 1.0, 7.3e5}) {
    for (const double span : {1.0001, 1.01, 1.5, 3.0, 40.0, 1e4, 1e9, 1e20}) {
      for (const auto kind : {Scale::Kind::kLinear, Scale::Kind::kLog}) {
        const Scale scale(kind, low, low * span);
        const auto ticks = scale.ticks(6);
        EXPECT_GE(ticks.size(), 1U) << low << " " << span;
        EXPECT_LE(ticks.size(), 9U) << low << " " << span;
      }
    }
  }
}

TEST(Scale, NonsenseIsMadeSense) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const auto& [low, high] :
       {std::pair(nan, nan), {inf, inf}, {0.0, 0.0}, {-1.0, inf}, {5.0, 5.0}, {0.0, 1e308}}) {
    for (const auto kind : {Scale::Kind::kLinear, Scale::Kind::kLog}) {
      const Scale scale(kind, low, high);
      EXPECT_LT(scale.low(), scale.high());
      EXPECT_LE(scale.ticks(5).size(), 9U);
      EXPECT_TRUE(std::isfinite(scale.at(3)));
    }
  }
}

TEST(Scale, PercentagesAreShort) {
  EXPECT_EQ(pc(50), "50%");
  EXPECT_EQ(pc(33.33333), "33.33%");
  EXPECT_EQ(pc(0), "0%");
}

}  // namespace
}  // namespace hone::face::report::svg
