#include "hone/evaluate/measure/workload.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "hone/evaluate/fake_card_testing.h"

namespace hone::evaluate {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

double on_card(const std::vector<Playing>& plays) {
  double bytes = 0;
  for (const Playing& play : plays) bytes += play.bytes * play.slots;
  return bytes;
}

/// y = relu(x), so many GiB of inputs; as much again of outputs.
task::Task task_of_gib(const std::vector<int>& gib) {
  std::vector<std::string> workloads;
  for (const int n : gib) workloads.push_back("N=" + std::to_string(n * kGiB / 4));
  return task::task_from_expressions("y = relu(x)", {"x=f32[N]"}, workloads).value();
}

TEST(PlanWorkloads, EveryFullWorkloadOfKernelBenchFitsACardOf24GiB) {
  FakeCard card(24 * kGiB);
  int tasks = 0, with_one_slot = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HONE_SOURCE_DIR "/tasks/kernelbench")) {
    if (entry.path().extension() != ".toml") continue;
    auto loaded = task::load_task(entry.path());
    ASSERT_TRUE(loaded) << loaded.error().to_string();
    const auto task = task::select_workloads(std::move(*loaded), {"full"});
    ASSERT_TRUE(task) << entry.path();
    const auto plays = plan_workloads(*task, &card, 64 * kGiB);
    ASSERT_TRUE(plays) << entry.path() << ": " << plays.error().to_string();
    ++tasks;
    EXPECT_LE(on_card(*plays), 0.85 * 24 * kGiB) << entry.path();
    for (const Playing& play : *plays) {
      EXPECT_GE(play.slots, 1);
      EXPECT_GE(play.slots, play.batch);
      EXPECT_GE(play.batch, 1);
      with_one_slot += play.slots == 1;
    }
  }
  EXPECT_GE(tasks, 200);
  EXPECT_GT(with_one_slot, 0) << "the largest leave no room for a second call";
}

TEST(PlanWorkloads, SlotsFallToWhatTheCardHolds) {
  const task::Task task = task_of_gib({4});
  const auto slots = [&](int64_t gib) {
    FakeCard card(gib * kGiB);
    const auto plays = plan_workloads(task, &card, 1000 * kGiB);
    return plays ? plays->front().slots : 0;
  };
  EXPECT_EQ(slots(80), 2);  // as many as there are contents of so large a task
  EXPECT_EQ(slots(22), 1);  // two would leave an opponent no room for its outputs
  EXPECT_EQ(slots(10), 1);
  EXPECT_EQ(slots(9), 0);
}

TEST(PlanWorkloads, TheLargestWorkloadGivesFirst) {
  const task::Task task = task_of_gib({4, 1});
  FakeCard card(20 * kGiB);
  const auto plays = plan_workloads(task, &card, 1000 * kGiB);
  ASSERT_TRUE(plays) << plays.error().to_string();
  EXPECT_EQ((*plays)[0].slots, 1);
  EXPECT_EQ((*plays)[1].slots, 2);
}

TEST(PlanWorkloads, TheHostsMemoryCountsToo) {
  const task::Task task = task_of_gib({4});
  const auto planned = [&](int64_t gib) {
    FakeCard card(80 * kGiB);
    return plan_workloads(task, &card, gib * kGiB);
  };
  // Inputs of each content once, and once more for the anchor.
  EXPECT_EQ(planned(16)->front().slots, 2);
  EXPECT_EQ(planned(11)->front().slots, 1);
  ASSERT_FALSE(planned(9));
  EXPECT_EQ(planned(9).error().code, ErrorCode::kExhausted);
  EXPECT_EQ(planned(-1)->front().slots, 2) << "not known";
}

TEST(PlanWorkloads, OnACpuSlotsStayOrTheTaskIsRefused) {
  const task::Task task = task_of_gib({4});
  const auto all = plan_workloads(task, nullptr, 1000 * kGiB);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().slots, 2);
  EXPECT_FALSE(plan_workloads(task, nullptr, 20 * kGiB));
}

TEST(Workload, a_bound_measured_again_only_falls) {
  Playing play;
  const auto times = [](double plain, double streaming) {
    TwinTimes all;
    for (const int64_t streams : {0, 1}) {
      kernel::Kernel variant;
      variant.config = {{"NON_TEMPORAL", streams}};
      all.variants.push_back(variant);
    }
    all.ns = {plain, streaming};
    return all;
  };
  take_twins(times(900, 700), play);
  EXPECT_EQ(play.memory_ns, 700);
  EXPECT_EQ(play.twin.config.at("NON_TEMPORAL"), 1);
  // In a quieter moment, and in a worse one.
  take_twins(times(500, 800), play);
  EXPECT_EQ(play.memory_ns, 500);
  EXPECT_EQ(play.twin.config.at("NON_TEMPORAL"), 0);
  EXPECT_EQ(play.memory_plain_ns, 500);
  EXPECT_EQ(play.memory_stream_ns, 700);
  take_twins(times(0, 9000), play);
  EXPECT_EQ(play.memory_ns, 500);
}

}  // namespace
}  // namespace hone::evaluate
