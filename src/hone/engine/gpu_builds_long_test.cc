// Kernels built for real GPUs without one: for every task of level 1 the plain kernel and all that the patterns offer, and
// the small kernels that test/simt has for the emulator, so that one source serves both. Prints a table; skips what has no
// compiler here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "hone/evaluate/parallel.h"
#include "hone/evaluate/simt_table_testing.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/task/task.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// One kernel to build, and what came of it.
struct Job {
  std::string name;
  task::Task task;
  kernel::Kernel kernel;
  std::string found;
  bool ok = false;
};

/// "built", with the largest facts of its functions, or why not.
std::string build(target::Toolchain& toolchain, const kernel::Kernel& kernel, const task::Task& task, bool& ok) {
  target::BuildOptions options;
  options.deadline = std::chrono::seconds(120);
  const auto outcome = toolchain.build(kernel, task, task.workloads.at(0).bindings, options);
  if (!outcome) return "error: " + outcome.error().to_string();
  if (const auto* failure = std::get_if<target::BuildFailure>(&*outcome)) return failure->reason;
  const auto& built = std::get<target::Build>(*outcome);
  ok = built.symbols.size() >= 1 && !built.card_arch.empty();
  const auto most = [&](const std::string& prefix) {
    double value = -1;
    for (const auto& [name, number] : built.facts)
      if (name.starts_with(prefix)) value = std::max(value, number);
    return value;
  };
  return fmt::format("built, {:.0f} ms; registers {}, spilled {}, code {}", static_cast<double>(built.wall_ns) / 1e6, most("registers/"), most("spill_bytes/"),
                     most("code_bytes/"));
}

class GpuBuilds : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto made = target::gpu_toolchain(GetParam());
    if (!made) GTEST_SKIP() << made.error().to_string();
    toolchain_ = std::move(*made);
  }
  [[nodiscard]] static bool cuda() { return GetParam().starts_with("cuda:"); }
  /// As many at a time as there are processors.
  void build_all(std::vector<Job>& jobs) {
    evaluate::parallel_for(static_cast<int64_t>(jobs.size()), static_cast<int>(std::thread::hardware_concurrency()), [&](int64_t i) {
      Job& job = jobs[static_cast<size_t>(i)];
      job.found = build(*toolchain_, job.kernel, job.task, job.ok);
    });
  }
  void count(const std::string& name, const std::string& found, bool ok) {
    fmt::print("{} {:<12} {:<52} {}\n", ok ? " " : "X", GetParam(), name, found);
    ++all_;
    built_ += ok;
  }
  void TearDown() override { if (all_) fmt::print("{}: {} of {} as they should be\n", GetParam(), built_, all_); }

  std::unique_ptr<target::Toolchain> toolchain_;
  int all_ = 0, built_ = 0;
};

TEST_P(GpuBuilds, KernelsOfLevelOne) {
  const kernel::Language language = cuda() ? kernel::Language::kCuda : kernel::Language::kHip;
  const std::vector<fs::path> files = files_in("tasks/kernelbench/level1", ".toml");
  std::vector<Job> jobs;
  for (const fs::path& file : files) {
    const auto task = task::load_task(file);
    ASSERT_TRUE(task) << task.error().to_string();
    const std::string number = file.stem().string().substr(0, 3);
    jobs.push_back({number + " plain", *task, pattern::plain_gpu(*task, language)});
    std::vector<std::string> why_not;
    for (pattern::Offer& offer : pattern::offers_gpu(*task, language, why_not))
      jobs.push_back({number + " " + offer.pattern + ": " + offer.action, *task, std::move(offer.kernel)});
  }
  build_all(jobs);
  for (const Job& job : jobs) count(job.name, job.found, job.ok);
  EXPECT_EQ(files.size(), 100u);
  EXPECT_EQ(built_, all_);
}

TEST_P(GpuBuilds, KernelsOfTheEmulatorsTable) {
  std::vector<Job> jobs;
  std::vector<evaluate::SimtCase> cases;
  for (evaluate::SimtCase& c : evaluate::simt_table()) {
    if (!c.name.ends_with(cuda() ? ".cu" : ".hip")) continue;
    const auto kernel = kernel::parse_kernel(c.source, c.name);
    ASSERT_TRUE(kernel) << kernel.error().to_string();
    const auto task = c.task();
    ASSERT_TRUE(task) << task.error().to_string();
    jobs.push_back({c.name, *task, *kernel});
    cases.push_back(std::move(c));
  }
  build_all(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    // What the emulator does not compile is not built either; what it finds when it runs is, unless it is more static
    // shared memory than a block can have, which the compiler sees.
    const Job& job = jobs[i];
    const bool too_much = cases[i].words.find("of __shared__ variables") != std::string::npos && job.found.find("exceeds limit") != std::string::npos;
    count(job.name, job.found, too_much || job.ok == (cases[i].verdict != "does not compile"));
  }
  EXPECT_GE(all_, 40);
  EXPECT_EQ(built_, all_);
}

INSTANTIATE_TEST_SUITE_P(Targets, GpuBuilds, ::testing::Values("cuda:sm_90a", "hip:gfx90a", "hip:gfx942", "hip:gfx950"), [](const auto& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

}  // namespace
}  // namespace hone::engine
