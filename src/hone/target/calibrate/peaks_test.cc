// What is kept, and when. Speeds themselves are nobody's to test: only that they are there.
#include "hone/target/calibrate/peaks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hone/base/file.h"

namespace hone::target {
namespace {

CpuPeaks peaks_of(double level, bool quiet = true) {
  return {level, level, level, level, level, level, level, 2, quiet};
}

/// Hands out what the test says, and counts how often it was asked.
struct Script {
  std::vector<CpuPeaks> next;
  int asked = 0;
  PeakKeeper keeper(const std::filesystem::path& folder) {
    return PeakKeeper(folder, [this](int threads) {
      CpuPeaks peaks = next.at(static_cast<size_t>(asked++));
      peaks.threads = threads;
      return peaks;
    });
  }
};

class Peaks : public testing::Test {
 protected:
  base::ScratchDirectory scratch_ = std::move(base::ScratchDirectory::create("peaks").value());
};

TEST_F(Peaks, are_measured_once_and_kept_for_the_next_process) {
  Script script{{peaks_of(10)}};
  PeakKeeper first = script.keeper(scratch_.path() / "kept");
  EXPECT_EQ(first.get(2), peaks_of(10));
  EXPECT_EQ(first.get(2), peaks_of(10));
  PeakKeeper second = script.keeper(scratch_.path() / "kept");
  EXPECT_EQ(second.get(2), peaks_of(10));
  EXPECT_EQ(script.asked, 1);
}

TEST_F(Peaks, each_number_of_threads_has_its_own) {
  Script script{{peaks_of(10), peaks_of(6)}};
  PeakKeeper keeper = script.keeper(scratch_.path());
  EXPECT_EQ(keeper.get(2).f32, 10);
  EXPECT_EQ(keeper.get(1).f32, 6);
  EXPECT_EQ(keeper.get(2).f32, 10);
}

TEST_F(Peaks, grow_and_never_shrink) {
  CpuPeaks mixed = peaks_of(5);
  mixed.read = 20;
  Script script{{peaks_of(10), mixed}};
  PeakKeeper keeper = script.keeper(scratch_.path());
  static_cast<void>(keeper.get(2));
  CpuPeaks wanted = peaks_of(10);
  wanted.read = 20;
  EXPECT_EQ(keeper.measure_again(2), wanted);
  EXPECT_EQ(keeper.get(2), wanted);
  Script nothing;
  EXPECT_EQ(nothing.keeper(scratch_.path()).get(2), wanted);
}

TEST_F(Peaks, disturbed_ones_are_measured_once_more_by_the_next_process) {
  Script script{{peaks_of(10, false), peaks_of(8)}};
  PeakKeeper first = script.keeper(scratch_.path());
  EXPECT_FALSE(first.get(2).quiet);
  EXPECT_EQ(first.get(2).f32, 10);
  EXPECT_EQ(script.asked, 1);
  EXPECT_EQ(script.keeper(scratch_.path()).get(2), peaks_of(10));
  EXPECT_EQ(script.asked, 2);
}

TEST_F(Peaks, three_disturbed_measurements_do_for_a_quiet_one) {
  Script script{{peaks_of(10, false), peaks_of(12, false), peaks_of(11, false)}};
  for (int process = 0; process < 5; ++process) {
    const CpuPeaks peaks = script.keeper(scratch_.path()).get(2);
    EXPECT_FALSE(peaks.quiet);
    EXPECT_EQ(peaks.f32, process == 0 ? 10 : 12);
  }
  EXPECT_EQ(script.asked, 3);
}

TEST_F(Peaks, damaged_files_are_measured_anew) {
  Script script{{peaks_of(10), peaks_of(11)}};
  static_cast<void>(script.keeper(scratch_.path()).get(2));
  for (const auto& file : std::filesystem::directory_iterator(scratch_.path()))
    ASSERT_TRUE(base::write_file_atomic(file.path(), R"({"threads":2,"quiet":true,"read":-1})"));
  EXPECT_EQ(script.keeper(scratch_.path()).get(2).f32, 11);
}

TEST_F(Peaks, a_folder_that_cannot_be_written_costs_only_time) {
  ASSERT_TRUE(base::write_file_atomic(scratch_.path() / "file", ""));
  Script script{{peaks_of(10)}};
  PeakKeeper keeper = script.keeper(scratch_.path() / "file" / "folder");
  EXPECT_EQ(keeper.get(2).f32, 10);
  EXPECT_EQ(keeper.get(2).f32, 10);
}

TEST(PeaksText, reads_back) {
  CpuPeaks peaks{1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 3, false};
  EXPECT_EQ(peaks_from(to_json(peaks)), peaks);
  EXPECT_FALSE(peaks_from(nlohmann::json::parse("[]")));
  nlohmann::json broken = to_json(peaks);
  broken["copy"] = 0;
  EXPECT_FALSE(peaks_from(broken));
}

TEST(PeaksMeasured, every_peak_is_there) {
  const CpuPeaks peaks = measure_cpu_peaks(1);
  EXPECT_TRUE(peaks_from(to_json(peaks))) << to_json(peaks);
  EXPECT_EQ(peaks.threads, 1);
  EXPECT_GE(peaks.bf16, peaks.f32);
  EXPECT_GE(peaks.i8, peaks.f32);
}

}  // namespace
}  // namespace hone::target
