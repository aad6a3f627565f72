// The figures of docs/how_we_measure.md, "Comparing two kernels": false calls, power, coverage.
// Prints its tables and fails when a promise is broken.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hone/evaluate/compare/simulate.h"

namespace hone::evaluate {
namespace {

constexpr uint64_t kSeed = 20240917;

TEST(CompareSimulation, EqualsAreCalledInAtMostOnePercentOfTrials) {
  fmt::print("{:<28} {:>7} {:>7} {:>9} {:>11}\n", "A/A, 1,000 trials", "FASTER", "SLOWER",
             "in 95 %", "mean pairs");
  for (const auto& noise : simulate::models()) {
    const auto t = simulate::tally(noise, 1.0, 1000, kSeed);
    fmt::print("{:<28} {:>6.1f}% {:>6.1f}% {:>8.1f}% {:>11.0f}\n", noise.name, 100 * t.faster,
               100 * t.slower, 100 * t.covered, t.pairs);
    EXPECT_LE(t.faster + t.slower, 0.01) << noise.name;
    EXPECT_GE(t.covered, 0.92) << noise.name;
  }
}

TEST(CompareSimulation, FivePercentAtThreePercentNoiseIsFound) {
  fmt::print("{:<28} {:>7} {:>7} {:>9} {:>11}\n", "5 % faster, 1,000 trials", "FASTER", "SLOWER",
             "in 95 %", "mean pairs");
  for (const auto& noise : simulate::models()) {
    const auto t = simulate::tally(noise, 1.05, 1000, kSeed + 1);
    fmt::print("{:<28} {:>6.1f}% {:>6.1f}% {:>8.1f}% {:>11.0f}\n", noise.name, 100 * t.faster,
               100 * t.slower, 100 * t.covered, t.pairs);
    EXPECT_GE(t.faster, 0.95) << noise.name;
    EXPECT_LE(t.slower, 0.001) << noise.name;
  }
}

TEST(CompareSimulation, PowerCurve) {
  for (const double luck : {0.0, 0.01}) {
    fmt::print("process luck {:.0f} % a side: share called FASTER (mean pairs), 200 trials\n",
               100 * luck);
    fmt::print("{:>10}", "true");
    for (const double noise : {0.01, 0.03, 0.05}) fmt::print(" {:>8.0f} % noise", 100 * noise);
    fmt::print("\n");
    double before[3] = {};
    for (const double difference : {0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.10}) {
      fmt::print("{:>8.1f} %", 100 * difference);
      int column = 0;
      for (const double noise : {0.01, 0.03, 0.05}) {
        const auto t = simulate::tally({.sample = noise, .luck = luck}, 1.0 + difference, 200,
                                       kSeed + 2);
        fmt::print(" {:>8.1f}% ({:>3.0f})", 100 * t.faster, t.pairs);
        EXPECT_GE(t.faster, before[column] - 0.05) << "power should grow with the difference";
        before[column++] = t.faster;
      }
      fmt::print("\n");
    }
  }
}

}  // namespace
}  // namespace hone::evaluate
