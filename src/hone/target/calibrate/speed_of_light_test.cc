#include "hone/target/calibrate/speed_of_light.h"

#include <gtest/gtest.h>

namespace hone::target {
namespace {

constexpr CpuPeaks kPeaks{.read = 40, .write = 20, .copy = 30, .f64 = 50, .f32 = 100, .bf16 = 200, .i8 = 400, .threads = 2, .quiet = true};

TEST(SpeedOfLight, equal_reads_and_writes_go_at_the_copy_peak) {
  task::Cost cost;
  cost.bytes_read = cost.bytes_written = 600;
  EXPECT_DOUBLE_EQ(memory_ns(cost, kPeaks), 1200 / 30.0);
}

TEST(SpeedOfLight, what_one_side_has_more_goes_at_its_own) {
  task::Cost cost;
  cost.bytes_read = 1000, cost.bytes_written = 200;
  EXPECT_DOUBLE_EQ(memory_ns(cost, kPeaks), 400 / 30.0 + 800 / 40.0);
  std::swap(cost.bytes_read, cost.bytes_written);
  EXPECT_DOUBLE_EQ(memory_ns(cost, kPeaks), 400 / 30.0 + 800 / 20.0);
}

TEST(SpeedOfLight, the_longest_type_binds) {
  task::Cost cost;
  EXPECT_EQ(compute_ns(cost, task::Track::kStrict, kPeaks), 0);
  cost.products = {.f64 = 0, .f32 = 1000, .bf16 = 1000, .i8 = 1000};
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kStrict, kPeaks), 10);
  cost.products.f64 = 5000;
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kStrict, kPeaks), 100);
  cost.products = {.f64 = 0, .f32 = 0, .bf16 = 0, .i8 = 1000};
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kStrict, kPeaks), 2.5);
}

TEST(SpeedOfLight, the_track_says_what_operands_may_be) {
  task::Cost cost;
  cost.products.f32 = 1000;
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kTf32, kPeaks), 10);
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kBf16, kPeaks), 5);
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kF16, kPeaks), 10);
  CpuPeaks card = kPeaks;
  card.tf32 = 125;
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kStrict, card), 10);
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kTf32, card), 8);
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kF16, card), 5);
  // PyTorch rounds what convolves.
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kAsPytorch, card), 10);
  cost.products.convolved_f32 = 500;
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kAsPytorch, card), 9);
  EXPECT_DOUBLE_EQ(compute_ns(cost, task::Track::kStrict, card), 10);
}

TEST(SpeedOfLight, a_peak_that_is_not_known_bounds_nothing) {
  task::Cost cost;
  cost.bytes_read = 100, cost.products.f32 = 100;
  EXPECT_EQ(memory_ns(cost, {}), 0);
  EXPECT_EQ(compute_ns(cost, task::Track::kStrict, {}), 0);
}

TEST(SpeedOfLight, the_longer_side_binds) {
  EXPECT_EQ(bound_by(2, 1), "memory");
  EXPECT_EQ(bound_by(1, 2), "compute");
  EXPECT_EQ(bound_by(1, 0), "memory");
}

}  // namespace
}  // namespace hone::target
