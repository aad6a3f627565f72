// Kernels of the library as PTX, with each stage left out and with instructions that count: what is written is what NVIDIA's
// assembler takes, and stages that a kernel has are found in it. Skips where there is no CUDA compiler with an assembler.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/base/testing/covering.h"
#include "hone/diagnose/profile/card_variants.h"
#include "hone/engine/workbench.h"
#include "hone/engine/testing/diagnosis_space.h"
#include "hone/evaluate/parallel.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::engine {
namespace {

namespace fs = std::filesystem;
using diagnose::Without, testing::must;

struct Job {
  std::string name;
  task::Task task;
  kernel::Kernel kernel;
  std::vector<Without> has{};   ///< stages that it must be found to have
  std::string problem{};
};

std::string assembles(const std::string& text) {
  const auto scratch = must(base::ScratchDirectory::create("ptx"));
  must(base::write_file_atomic(scratch.path() / "variant.ptx", text));
  base::SpawnOptions spawn;
  spawn.argv = {"ptxas", "-arch=sm_90a", "-O1", "-o", "/dev/null", (scratch.path() / "variant.ptx").string()};
  spawn.environment = {{"PATH", std::getenv("PATH")}};
  const base::Exit exit = must(base::run(spawn, std::chrono::seconds(120)));
  return exit.ok() ? "" : exit.describe() + ": " + exit.err.substr(0, 500);
}

std::string problem_of(target::Toolchain& toolchain, const Job& job) {
  const auto made = diagnose::make_variants(toolchain, job.kernel, job.task, job.task.workloads.at(0).bindings);
  if (!made) return made.error().to_string();
  for (const Without stage : job.has)
    if (!made->texts.contains(stage)) return fmt::format("stage {} is not found in it: {}", static_cast<int>(stage), made->problems.at(stage));
  std::string all;
  for (const auto& [what, text] : made->texts)
    if (const std::string wrong = assembles(text); !wrong.empty()) all += fmt::format("without stage {}: {}\n", static_cast<int>(what), wrong);
  if (const std::string wrong = assembles(made->counting); !wrong.empty()) all += "counting: " + wrong;
  return all;
}

class PtxVariants : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = target::cuda_toolchain("sm_90a");
    if (!made) GTEST_SKIP() << made.error().to_string();
    if (std::system("ptxas --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no ptxas";
    toolchain_ = std::move(*made);
    if (!toolchain_->assembly(pattern_kernel("y = exp(x)", {"x=f32[N]"}, "N=4096").kernel, must(task::task_from_expressions("y = exp(x)", {"x=f32[N]"}, {"N=4096"})), {{"N", 4096}}))
      GTEST_SKIP() << "nothing here compiles for cards";
  }
  static Job pattern_kernel(const std::string& compute, const std::vector<std::string>& inputs, const std::string& workload, size_t which = 0) {
    task::Task task = must(task::task_from_expressions(compute, inputs, {workload}));
    Alternatives offered{library_seeds(task, {kernel::Language::kCuda}, {}), {}};
    EXPECT_GT(offered.seeds.size(), which) << compute;
    const search::Seed& seed = offered.seeds.at(which);
    return {fmt::format("{}, {} {}", compute, seed.pattern, seed.action), task, seed.kernel};
  }
  void expect_all(std::vector<Job> jobs) {
    evaluate::parallel_for(static_cast<int64_t>(jobs.size()), static_cast<int>(std::thread::hardware_concurrency()), [&](int64_t i) {
      Job& job = jobs[static_cast<size_t>(i)];
      job.problem = problem_of(*toolchain_, job);
    });
    for (const Job& job : jobs) EXPECT_EQ(job.problem, "") << job.name;
  }

  std::unique_ptr<target::Toolchain> toolchain_;
};

/// The first kernel of each family: every fourth one in `make check`.
class PtxVariantsOfFamilies : public PtxVariants {
 protected:
  void expect_families(size_t each);
};
TEST_F(PtxVariantsOfFamilies, FirstKernels) { expect_families(4); }
TEST_F(PtxVariantsOfFamilies, LongFirstKernels) { expect_families(1); }

void PtxVariantsOfFamilies::expect_families(size_t each) {
  std::vector<Job> jobs;
  const auto add = [&](const char* compute, std::vector<std::string> inputs, const char* workload, std::vector<Without> has) {
    jobs.push_back(pattern_kernel(compute, inputs, workload));
    jobs.back().has = std::move(has);
  };
  using enum Without;
  add("y = gelu(x)", {"x=f32[N]"}, "N=1048576", {kGlobalLoads, kGlobalStores, kGlobalMemory, kSpread, kWork});
  add("y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=8192,D=2048", {kGlobalLoads, kGlobalStores, kBlockBarriers, kWork});
  add("y = x / sqrt(sum(x * x, axis=-1, keepdims=true))", {"x=f32[B, D]"}, "B=64,D=65536", {kGlobalLoads, kGlobalStores});
  add("y = sum(x, axis=0)", {"x=f32[B, D]"}, "B=4096,D=4096", {kGlobalLoads});
  add("y = cumsum(x, axis=-1)", {"x=f32[B, D]"}, "B=512,D=24576", {kGlobalStores});
  add("y = max_pool2d(x, 3, stride=2, padding=1)", {"x=f32[N, C, H, W]"}, "N=16,C=64,H=128,W=128", {kGlobalStores});
  add("c = matmul(a, b)", {"a=f32[M, K]", "b=f32[K, N]"}, "M=2048,N=2048,K=2048", {kGlobalStores});
  add("y = mean(maximum(0, 1 - x * t))", {"x=f32[N, D]", "t=f32[N, D]"}, "N=4096,D=4096", {kGlobalLoads});
  expect_all(base::testing::one_of_each(each, jobs));
}

/// Every kernel that was made slow on purpose, and every source of the families above: minutes.
TEST_F(PtxVariants, LongOfAllThatIsDiagnosed) {
  std::vector<Job> jobs;
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "test/diagnosis")) {
    if (entry.path().extension() != ".cu") continue;
    fs::path task = entry.path();
    task.replace_extension(".toml");
    jobs.push_back({entry.path().stem().string(), must(task::load_task(task)), must(kernel::parse_kernel(must(base::read_file(entry.path())), entry.path().string()))});
  }
  EXPECT_GE(jobs.size(), 35u);
  jobs.push_back(pattern_kernel("y = sum(x, axis=0)", {"x=f32[B, D]"}, "B=4096,D=4096", 1));
  for (size_t which = 1; which < 4; ++which) {
    jobs.push_back(pattern_kernel("y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=64,D=65536", which));
    jobs.push_back(pattern_kernel("c = matmul(a, b)", {"a=f32[M, K]", "b=f32[K, N]"}, "M=2048,N=2048,K=2048", which));
  }
  expect_all(std::move(jobs));
}

}  // namespace
}  // namespace hone::engine
