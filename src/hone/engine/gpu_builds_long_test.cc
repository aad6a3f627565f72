// Kernels built for real GPUs without one: the plain kernel of every task of level 1, and the small kernels that
// test/simt has for the emulator, so that one source serves both. Prints a table; skips what has no compiler here.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/file.h"
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

std::string after(const std::string& source, const std::string& mark) {
  const size_t at = source.find(mark);
  if (at == std::string::npos) return {};
  return source.substr(at + mark.size(), source.find('\n', at) - at - mark.size());
}

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

class GpuBuilds : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto made = target::gpu_toolchain(GetParam());
    if (!made) GTEST_SKIP() << made.error().to_string();
    toolchain_ = std::move(*made);
  }
  [[nodiscard]] static bool cuda() { return GetParam().starts_with("cuda:"); }
  void count(const std::string& name, const std::string& found, bool ok) {
    fmt::print("{} {:<12} {:<44} {}\n", ok ? " " : "X", GetParam(), name, found);
    ++all_;
    built_ += ok;
  }
  void TearDown() override { if (all_) fmt::print("{}: {} of {} as they should be\n", GetParam(), built_, all_); }

  std::unique_ptr<target::Toolchain> toolchain_;
  int all_ = 0, built_ = 0;
};

TEST_P(GpuBuilds, PlainKernelsOfLevelOne) {
  for (const fs::path& file : files_in("tasks/kernelbench/level1", ".toml")) {
    const auto task = task::load_task(file);
    ASSERT_TRUE(task) << task.error().to_string();
    bool ok = false;
    const std::string found = build(*toolchain_, pattern::plain_gpu(*task, cuda() ? kernel::Language::kCuda : kernel::Language::kHip), *task, ok);
    count(file.stem(), found, ok);
  }
  EXPECT_EQ(all_, 100);
  EXPECT_EQ(built_, all_);
}

TEST_P(GpuBuilds, KernelsOfTheEmulatorsTable) {
  for (const fs::path& file : files_in("test/simt", cuda() ? ".cu" : ".hip")) {
    const std::string source = base::read_file(file).value();
    const auto kernel = kernel::parse_kernel(source, file.filename());
    ASSERT_TRUE(kernel) << kernel.error().to_string();
    std::vector<std::vector<std::string>> parts;
    std::istringstream words(after(source, "// task: "));
    std::string compute;
    std::getline(words, compute, '|');
    for (std::string part; std::getline(words, part, '|');) {
      std::istringstream in(part);
      parts.emplace_back();
      for (std::string word; in >> word;) parts.back().push_back(word);
    }
    ASSERT_EQ(parts.size(), 2u) << file;
    const auto task = task::task_from_expressions(compute, parts[0], parts[1]);
    ASSERT_TRUE(task) << task.error().to_string();
    bool ok = false;
    const std::string found = build(*toolchain_, *kernel, *task, ok);
    // What the emulator does not compile is not built either; what it finds when it runs is, unless it is more static
    // shared memory than a block can have, which the compiler sees.
    const std::string expected = after(source, "// expect: ");
    const bool too_much = expected.find("of __shared__ variables") != std::string::npos && found.find("exceeds limit") != std::string::npos;
    count(file.stem(), found, too_much || ok == (expected.find("does not compile") == std::string::npos));
  }
  EXPECT_GE(all_, 40);
  EXPECT_EQ(built_, all_);
}

INSTANTIATE_TEST_SUITE_P(Targets, GpuBuilds, testing::Values("cuda:sm_90a", "hip:gfx90a", "hip:gfx942", "hip:gfx950"), [](const auto& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

}  // namespace
}  // namespace hone::engine
