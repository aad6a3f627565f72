#include "hone/target/device/emulation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace hone::target {
namespace {

kernel::BoundPlan plan_of(std::vector<int64_t> grid, std::vector<int64_t> block, int64_t shared) {
  kernel::BoundPlan plan;
  kernel::BoundLaunch launch;
  launch.function = "k";
  launch.grid = std::move(grid);
  launch.block = std::move(block);
  launch.shared = shared;
  plan.launches.push_back(launch);
  return plan;
}

std::string refused(kernel::Language language, const kernel::BoundPlan& plan, double fixed = 0) {
  return refuse_launches(*simt_device(language), plan, {{"static_shared_bytes/k", fixed}});
}

TEST(Emulation, TakesWhatTheDeviceTakes) {
  EXPECT_EQ(refused(kernel::Language::kCuda, plan_of({INT32_MAX, 65535, 65535}, {1024}, 232448)), "");
  EXPECT_EQ(refused(kernel::Language::kCuda, plan_of({1}, {4, 4, 64}, 232448 - 49152), 49152), "");
  EXPECT_EQ(refused(kernel::Language::kHip, plan_of({1}, {1024}, 65536)), "");
}

TEST(Emulation, RefusesWhatItDoesNot) {
  EXPECT_NE(refused(kernel::Language::kCuda, plan_of({1}, {1025}, 0)), "");
  EXPECT_NE(refused(kernel::Language::kCuda, plan_of({1}, {1, 1, 65}, 0)), "");
  EXPECT_NE(refused(kernel::Language::kCuda, plan_of({1, 65536}, {32}, 0)), "");
  EXPECT_NE(refused(kernel::Language::kCuda, plan_of({1}, {32}, 232449)), "");
  EXPECT_NE(refused(kernel::Language::kCuda, plan_of({1}, {32}, 0), 49153), "");
  EXPECT_NE(refused(kernel::Language::kCuda, plan_of({1}, {32}, 232448), 4), "");
  EXPECT_NE(refused(kernel::Language::kHip, plan_of({1}, {32}, 65537)), "");
}

TEST(Emulation, AsManyWholeClustersAsTheDeviceHolds) {
  const SimtDevice& device = *simt_device(kernel::Language::kCuda);
  auto control = std::make_unique<worker::Control>();
  kernel::BoundPlan plan = plan_of({1000, 10}, {1024}, 0);
  const auto prepared = [&] {
    prepare_emulation(device, plan, {}, {}, *control);
    return control->launch[0].resident;
  };
  EXPECT_EQ(prepared(), 264);
  EXPECT_EQ(control->launch[0].cluster[0], 1);
  EXPECT_EQ(control->launch[0].together, 16);
  plan.launches[0].cluster = {5, 1};
  EXPECT_EQ(prepared(), 260);
  EXPECT_EQ(control->launch[0].cluster[0], 5);
  EXPECT_EQ(control->launch[0].together, 80);
  EXPECT_EQ(control->launch[0].cluster[2], 1);
  plan.launches[0].grid = {5};
  EXPECT_EQ(prepared(), 5);
}

TEST(Emulation, AReportBecomesWords) {
  simt::Report report{};
  report.finding = simt::Finding::kOutOfBounds;
  report.block[0] = 2;
  report.thread[1] = 7;
  report.line = 9;
  std::strcpy(report.text, "writes an output (buffer 1)\n");
  BatchOutcome outcome;
  describe_finding(report, {}, {"x", "y"}, outcome);
  EXPECT_EQ(outcome.finding, "line 9, block (2, 0, 0), thread (0, 7, 0): writes an output (y)?");
  EXPECT_TRUE(outcome.outside);
  ASSERT_EQ(setenv("HONE_SIMT_SEED", "17", 1), 0);
  describe_finding(report, {}, {"x", "y"}, outcome);
  unsetenv("HONE_SIMT_SEED");
  EXPECT_EQ(outcome.finding, "line 9, block (2, 0, 0), thread (0, 7, 0): writes an output (y)? (schedule seed 17)");
  // Nothing found, or nonsense: what the process's end says stays.
  BatchOutcome other;
  other.why = "killed";
  report.finding = static_cast<simt::Finding>(77);
  describe_finding(report, {}, {}, other);
  EXPECT_EQ(other.why, "killed");
  EXPECT_EQ(other.finding, "");
}

}  // namespace
}  // namespace hone::target
