// The figures of docs/comparisons.md: false calls, power, coverage.
// Prints its tables and fails when a promise is broken. What is named Long is left to `make check-long`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "hone/evaluate/compare/simulate.h"

namespace hone::evaluate {
namespace {

constexpr uint64_t kSeed = 20240917;

void print_head(std::string_view what) {
  fmt::print("{:<32} {:>7} {:>7} {:>8} {:>11}\n", what, "FASTER", "SLOWER", "covered",
             "mean pairs");
}

void print_row(std::string_view what, const simulate::Tally& t) {
  fmt::print("{:<32} {:>6.1f}% {:>6.1f}% {:>7.1f}% {:>11.0f}\n", what, 100 * t.faster,
             100 * t.slower, 100 * t.covered, t.pairs);
}

/// The noises first, first + step, …
void expect_few_calls_of_equals(size_t first, size_t step) {
  print_head("equal, 1,000 trials");
  const auto& models = simulate::models();
  for (size_t i = first; i < models.size(); i += step) {
    const simulate::Noise& noise = models[i];
    const auto t = simulate::tally(noise, 1.0, 1000, kSeed);
    print_row(noise.name, t);
    EXPECT_LE(t.faster + t.slower, 0.01) << noise.name;
    EXPECT_GE(t.covered, 0.92) << noise.name;
  }
}

// The last has luck, drift, modes and spikes together. compare_test.cc has 300 trials of each noise.
TEST(CompareSimulation, EqualsAreCalledInAtMostOnePercentOfTrials) { expect_few_calls_of_equals(0, 3); }

TEST(LongCompareSimulation, EqualsAreCalledInAtMostOnePercentOfTrials) { expect_few_calls_of_equals(0, 1); }

/// Equal kernels with each of these noises and kinds of luck are hardly ever called different.
void expect_few_calls(const std::vector<double>& samples, const std::vector<simulate::Noise>& kinds) {
  print_head("equal, 1,000 trials");
  for (const double sample : samples) {
    for (simulate::Noise noise : kinds) {
      noise.sample = sample;
      const auto t = simulate::tally(noise, 1.0, 1000, kSeed + 3);
      print_row(fmt::format("noise {:.1f} %, {}", 100 * sample, noise.name), t);
      EXPECT_LE(t.faster + t.slower, 0.01) << sample << ' ' << noise.name;
    }
  }
}

const simulate::Noise kNoLuck{.name = "no luck"}, kLuck{.name = "luck 1 %", .luck = 0.01},
    kTwoValuedLuck{.name = "two-valued luck 2 %", .coin_luck = 0.02};

TEST(LongCompareSimulation, EqualsAtOtherNoiseLevels) {
  expect_few_calls({0.003, 0.01, 0.05}, {kNoLuck, kLuck, kTwoValuedLuck});
}

void expect_no_wear(const simulate::Noise& noise) {
  CompareOptions options;
  options.max_pairs = 1000;
  print_head("equal, cap 1,000, 300 trials");
  const auto t = simulate::tally(noise, 1.0, 300, kSeed + 4, options);
  print_row(noise.name, t);
  EXPECT_LE(t.faster + t.slower, 0.01) << noise.name;
}

TEST(CompareSimulation, ALongSessionDoesNotWearTheTestOut) { expect_no_wear(simulate::models()[9]); }

TEST(LongCompareSimulation, ALongSessionDoesNotWearTheTestOut) { expect_no_wear(simulate::models()[3]); }

TEST(CompareSimulation, ADifferenceOfExactlyTheMarginIsEqual) {
  CompareOptions options;
  options.margin = 0.02;
  print_head("2 % faster, margin 2 %");
  const simulate::Noise noise{.name = "process luck 1 % a side", .luck = 0.01};
  const auto t = simulate::tally(noise, 1.02, 1000, kSeed + 5, options);
  print_row(noise.name, t);
  EXPECT_LE(t.faster + t.slower, 0.01);
  EXPECT_GE(t.covered, 0.92);
}

// Why a confidence sequence: the plain interval, looked at after every pair, is wrong far too often.
TEST(LongCompareSimulation, PeekingAtThePlainIntervalMisleads) {
  constexpr int kTrials = 200;
  int called = 0;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    simulate::Session session({.luck = 0.01}, 1.0, trial);
    Comparer c;
    bool excluded = false;
    while (c.pairs() < 200 && !excluded) {
      if (c.wants_new_process()) session.restart();
      c.add(session.pair());
      if (c.processes() < c.options().min_processes) continue;
      const Ratio ratio = c.ratio();
      excluded = ratio.low > 1 || ratio.high < 1;
    }
    called += excluded;
  }
  fmt::print("plain 95 % interval looked at after every pair: {:.1f}% of {} equal pairs called\n",
             100.0 * called / kTrials, kTrials);
  EXPECT_GT(called, kTrials / 10);
}

TEST(CompareSimulation, FivePercentAtThreePercentNoiseIsFound) {
  print_head("5 % faster, 1,000 trials");
  for (const auto& noise : simulate::models()) {
    const auto t = simulate::tally(noise, 1.05, 1000, kSeed + 1);
    print_row(noise.name, t);
    EXPECT_GE(t.faster, 0.95) << noise.name;
    EXPECT_LE(t.slower, 0.001) << noise.name;
  }
}

TEST(LongCompareSimulation, RoughProcessesDoNotHideALargeDifference) {
  for (const double truth : {1.0, 1.5}) {
    print_head(fmt::format("ratio {:.2f}, rough processes", truth));
    for (const auto& noise : simulate::rough_models()) {
      const auto t = simulate::tally(noise, truth, 1000, kSeed + 7);
      print_row(noise.name, t);
      if (truth == 1.0) {
        EXPECT_LE(t.faster + t.slower, 0.01) << noise.name;
      } else {
        EXPECT_GE(t.faster, 0.95) << noise.name;
        EXPECT_LE(t.slower, 0.001) << noise.name;
      }
    }
  }
}

TEST(LongCompareSimulation, PowerCurve) {
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
