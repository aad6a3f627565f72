#include "hone/evaluate/compare/steady.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"

namespace hone::evaluate {
namespace {

int times_until_done(Steady& steady, double noise, uint64_t seed) {
  base::Rng rng(seed);
  while (!steady.done()) steady.add(1000 * std::exp(noise * rng.normal()));
  return steady.count();
}

TEST(Steady, QuietTimesStopAtTheFloor) {
  Steady steady;
  EXPECT_EQ(times_until_done(steady, 0.0001, 1), 3);
}

TEST(Steady, NoiseTakesMoreTimesUpToTheCap) {
  Steady some({.relative_error = 0.01, .cap = 1000}), more({.relative_error = 0.002, .cap = 1000});
  const int few = times_until_done(some, 0.03, 2), many = times_until_done(more, 0.03, 2);
  EXPECT_GE(few, 3);
  EXPECT_GT(many, few);
  EXPECT_LE(more.relative_error(), 0.002);
  Steady hopeless;
  EXPECT_EQ(times_until_done(hopeless, 1.0, 3), 50);
}

TEST(Steady, WarmUpKeepsItGoing) {
  Steady steady;
  for (const double ns : {2000.0, 1500.0, 1200.0, 1100.0}) {
    steady.add(ns);
    EXPECT_FALSE(steady.done()) << ns;
  }
  // The older half is quiet in itself and so is the newer one, but they differ.
  Steady stepped({.relative_error = 0.05});
  for (int i = 0; i < 10; ++i) stepped.add(i < 5 ? 1000 + i : 1040 + i);
  EXPECT_LT(stepped.relative_error(), 0.05);
  EXPECT_GT(stepped.relative_shift(), 0.02);
  EXPECT_FALSE(stepped.done());
}

TEST(Steady, SpikesDoNotMoveTheMedian) {
  Steady steady;
  for (const double ns : {1000.0, 1001.0, 9000.0, 1002.0, 999.0}) steady.add(ns);
  EXPECT_EQ(steady.median(), 1001);
  EXPECT_LT(steady.relative_error(), 0.01);
}

TEST(Steady, OneRepetitionWhenTheCapSaysSo) {
  Steady once({.floor = 1, .cap = 1});
  EXPECT_FALSE(once.done());
  EXPECT_TRUE(std::isinf(once.relative_error()));
  once.add(5);
  EXPECT_TRUE(once.done());
  EXPECT_EQ(once.median(), 5);
}

}  // namespace
}  // namespace hone::evaluate
