// Nsight Compute's CSV, as version 2025.3 wrote it on an H200, and the table of metrics over it.
#include "hone/diagnose/profile/ncu.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "hone/base/file.h"
#include "hone/diagnose/profile/card_metrics.h"
#include "hone/diagnose/rules.h"

namespace hone::diagnose {
namespace {

std::vector<LaunchCounters> sample(const char* file = "ncu_2025_3.csv") {
  const auto text = base::read_file(std::string(HONE_SOURCE_DIR) + "/test/cases/diagnose/" + file);
  EXPECT_TRUE(text);
  auto launches = read_ncu_csv(*text);
  EXPECT_TRUE(launches) << launches.error().to_string();
  return std::move(*launches);
}

TEST(Ncu, AColumnACounter) {
  const auto launches = sample();
  ASSERT_EQ(launches.size(), 8);
  EXPECT_EQ(launches[0].kernel, "good(const float4 *, float4 *, long)");
  EXPECT_EQ(launches[0].get("gpu__time_duration.sum"), 123296);
  EXPECT_EQ(launches[7].id, 7);
  EXPECT_DOUBLE_EQ(launches[2].get("sm__cycles_active.avg"), 4144631.43);
  EXPECT_TRUE(std::isnan(launches[0].get("no__such_counter.sum")));
}

TEST(Ncu, ARowACounterAndUnits) {
  const auto launches = read_ncu_csv(
      "==PROF== Connected to process 5531 (/tmp/sample)\n"
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
      "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"5531\",\"sample\",\"127.0.0.1\",\"a(const float *, \"\"x\"\")\",\"1\",\"7\",\"(256, 1, 1)\",\"(65536, 1, 1)\",\"0\",\"9.0\","
      "\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"us\",\"1,122.5\"\n"
      "\"0\",\"5531\",\"sample\",\"127.0.0.1\",\"a(const float *, \"\"x\"\")\",\"1\",\"7\",\"(256, 1, 1)\",\"(65536, 1, 1)\",\"0\",\"9.0\","
      "\"Command line profiler metrics\",\"dram__bytes_read.sum\",\"Mbyte\",\"2\"\n"
      "\"1\",\"5531\",\"sample\",\"127.0.0.1\",\"b\",\"1\",\"7\",\"(256, 1, 1)\",\"(65536, 1, 1)\",\"0\",\"9.0\","
      "\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"ns\",\"nan\"\n");
  ASSERT_TRUE(launches) << launches.error().to_string();
  ASSERT_EQ(launches->size(), 2);
  EXPECT_EQ((*launches)[0].kernel, "a(const float *, \"x\")");
  EXPECT_EQ((*launches)[0].get("gpu__time_duration.sum"), 1122500);
  EXPECT_EQ((*launches)[0].get("dram__bytes_read.sum"), 2e6);
  EXPECT_TRUE(std::isnan((*launches)[1].get("gpu__time_duration.sum")));
}

TEST(Ncu, WhatItCouldNotDo) {
  const auto forbidden = read_ncu_csv(
      "==PROF== Connected to process 12 (/tmp/x)\n"
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n");
  ASSERT_FALSE(forbidden);
  EXPECT_EQ(forbidden.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(forbidden.error().message, ::testing::HasSubstr("ERR_NVGPUCTRPERM"));
  const auto unknown = read_ncu_csv("==PROF== Connected to process 12 (/tmp/x)\n==ERROR== Failed to find metric regex:^x$\n\n");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, ::testing::HasSubstr("Failed to find metric"));
  EXPECT_FALSE(read_ncu_csv(""));
}

TEST(CardMetrics, EachIsReckonedOfWhatIsAskedFor) {
  const std::vector<std::string> wanted = wanted_counters();
  EXPECT_EQ(std::set<std::string>(wanted.begin(), wanted.end()).size(), wanted.size());
  const auto launches = sample();
  // Copies' counters are younger than the sample: "ncu --query-metrics" of the same version has both.
  for (const std::string& counter : wanted) EXPECT_TRUE(counter.find("ldgsts") != std::string::npos || !std::isnan(launches[1].get(counter))) << counter;
  for (const CardMetric& metric : card_metrics()) EXPECT_TRUE(std::isfinite(metric.value(launches[2]))) << metric.name;
}

TEST(CardMetrics, SharesAreMeansOverTimeAndBytesAreSums) {
  LaunchCounters one, two;
  one.kernel = "part_1::rows(float const*, float*)", two.kernel = "part_2::map(float const*)";
  one.values = {{"gpu__time_duration.sum", 300}, {"dram__bytes_read.sum", 10}, {"dram__bytes.sum.pct_of_peak_sustained_elapsed", 100}};
  two.values = {{"gpu__time_duration.sum", 100}, {"dram__bytes_read.sum", 5}, {"dram__bytes.sum.pct_of_peak_sustained_elapsed", 20}};
  Metrics metrics;
  const LaunchCounters both[] = {one, two};
  add_counters(both, metrics);
  EXPECT_EQ(metrics.get("kernel_ns"), 400);
  EXPECT_EQ(metrics.get("launch_1_ns"), 300);
  EXPECT_EQ(metrics.find("launch_2_ns")->about, "part_2::map");
  EXPECT_EQ(metrics.get("dram_read_bytes"), 15);
  EXPECT_DOUBLE_EQ(metrics.get("dram_share").value(), 0.8);
  EXPECT_EQ(metrics.find("lane_share")->origin, Origin::kAbsent);
}

/// A word that all lanes share is one sector, of which an eighth is used: no waste.
TEST(CardMetrics, ASharedWordIsNoExcess) {
  LaunchCounters launch;
  launch.values = {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 100},
                   {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100},
                   {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 12.5},
                   {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 300},
                   {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 10},
                   {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 12.5}};
  Metrics metrics;
  add_counters(std::span(&launch, 1), metrics);
  EXPECT_DOUBLE_EQ(metrics.get("excess_sector_share").value(), 0.75 * 0.875);
}

/// A product of 4096 x 4096 x 4096 that reads its factors by cp.async alone, in lines: 512 blocks, 128 tiles of 48 KB each.
TEST(CardMetrics, CopiesIntoSharedMemoryAreAskedFor) {
  const auto launches = sample("ncu_2025_3_cp_async.csv");
  ASSERT_EQ(launches.size(), 1);
  EXPECT_EQ(launches[0].get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 512.0 * 128 * 48 * 1024 / 32);
  Metrics metrics;
  add_counters(launches, metrics);
  EXPECT_DOUBLE_EQ(metrics.get("load_use_share").value(), 1);
  EXPECT_DOUBLE_EQ(metrics.get("excess_sector_share").value(), 0);
}

TEST(CardMetrics, LoadsAndCopiesCountByTheirSectors) {
  LaunchCounters launch;
  launch.values = {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1600},
                   {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100},
                   {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 25},
                   {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 1200},
                   {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct", 50}};
  const auto used = [&] {
    Metrics metrics;
    add_counters(std::span(&launch, 1), metrics);
    return metrics.get("load_use_share").value_or(-1);
  };
  EXPECT_DOUBLE_EQ(used(), 0.25 * 0.25 + 0.75 * 0.5);
  launch.values.erase("smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.pct");  // a profiler that has no such counter
  EXPECT_DOUBLE_EQ(used(), 0.25);
}

/// The kernels of the sample, each with the fault that it was written with.
TEST(CardRules, NameTheFaultsOfTheSample) {
  struct Case {
    double read, written;
    std::string_view expected;
  };
  constexpr double kAll = 268435456;
  const Case cases[] = {{kAll, kAll, kLight},           {kAll, kAll, kUncoalesced},        {kAll / 16, kAll / 16, kBanks},  {kAll / 16, kAll / 16, kDivergence},
                        {kAll, kAll, kSpills},          {kAll / 64, 4096, kTail},          {kAll / 64, 4, kAtomics},        {kAll / 16, kAll / 16, kArithmetic}};
  const auto launches = sample();
  const kernel::Header header = [] {
    kernel::Header h;
    h.language = kernel::Language::kCuda;
    return h;
  }();
  for (size_t i = 0; i < std::size(cases); ++i) {
    Metrics metrics;
    task::Cost cost;
    cost.bytes_read = cases[i].read, cost.bytes_written = cases[i].written;
    metrics.modelled("launches", 1, "");
    add_counters(std::span(&launches[i], 1), metrics);
    add_traffic(cost, metrics);
    add_light_of_counters(cost, 0, metrics);
    const Diagnosis found = diagnose(metrics, {header, {}, {}});
    EXPECT_EQ(found.bottleneck, cases[i].expected) << launches[i].kernel << ": " << found.says;
    for (const Action& action : found.actions) EXPECT_LE(action.saved, 1 - found.light + 1e-9) << action.to_string();
  }
}

}  // namespace
}  // namespace hone::diagnose
