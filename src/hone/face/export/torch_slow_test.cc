// Exports for PyTorch as their users meet them: written to a folder, imported by the tests' Python, compared with
// PyTorch (testing/check_torch.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/engine/champion.h"
#include "hone/evaluate/baseline/pytorch_testing.h"
#include "hone/face/export/testing/kernels.h"
#include "hone/face/export/torch_package.h"
#include "hone/pattern/library.h"
#include "hone/target/cpu.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::face {
namespace {

using ::testing::HasSubstr;
using testing::make_kernel;
using testing::make_task;

/// For a card: two launches, a cleared workspace, shared memory.
std::string mean_on_a_card() { return base::read_file(HONE_SOURCE_DIR "/test/cases/export/column_mean.cu").value(); }

TorchOptions verified_here() {
  const auto toolchain = target::cpp_toolchain();
  EXPECT_TRUE(toolchain.has_value());
  TorchOptions options;
  options.common.limits = target::cpu_limits(target::cpu_info());
  options.common.isa = target::cpu_info().isa;
  const auto cpu = target::open_target("cpu", {2});
  options.verified = cpu ? (*cpu)->place() : engine::Place{};
  return options;
}

class TorchExport : public ::testing::Test {
 protected:
  TorchExport() : folder_(base::ScratchDirectory::create("torch").value()) {}

  void SetUp() override { SKIP_WITHOUT_TORCH(); }

  /// What was to be checked, by one Python, which imports torch once.
  void TearDown() override {
    if (checks_.empty() || HasFatalFailure()) return;
    base::SpawnOptions spawn;
    spawn.argv = {evaluate::pytorch_for_tests()->python.string(), HONE_SOURCE_DIR "/src/hone/face/export/testing/check_torch.py"};
    spawn.argv.insert(spawn.argv.end(), checks_.begin(), checks_.end());
    spawn.environment = {{"PATH", std::getenv("PATH")}, {"LANG", "C.UTF-8"}, {"PYTHONDONTWRITEBYTECODE", "1"}, {"HOME", folder_.path().string()},
                         {"KERNELBENCH_PROBLEMS", HONE_SOURCE_DIR "/test/cases/suites/kernelbench_level1.json"}};
    spawn.directory = folder_.path();
    const auto exit = base::run(spawn, std::chrono::seconds(500));
    ASSERT_TRUE(exit.has_value()) << exit.error().to_string();
    EXPECT_TRUE(exit->ok()) << exit->err << exit->out;
    EXPECT_THAT(exit->out, HasSubstr(fmt::format("{} done", std::count(checks_.begin(), checks_.end(), "--"))));
  }

  /// Where the files of the next check lie.
  [[nodiscard]] std::filesystem::path place() const { return folder_.path() / std::to_string(std::count(checks_.begin(), checks_.end(), "--")); }

  void save(const std::vector<ExportedFile>& files) {
    for (const ExportedFile& file : files) {
      const std::filesystem::path path = place() / file.name;
      ASSERT_TRUE(base::make_directories(path.parent_path()).has_value());
      ASSERT_TRUE(base::write_file_atomic(path, file.content).has_value());
    }
  }
  void save_package(const std::string& kernel, const std::string& task, const TorchOptions& options) {
    const auto files = export_torch(make_kernel(kernel), make_task(task), options);
    ASSERT_TRUE(files.has_value()) << files.error().to_string();
    save(*files);
  }
  /// Files of KernelBench problems with hone's plain kernels, by the beginnings of their tasks' names.
  std::vector<std::string> save_models(const std::string& which) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/tasks/kernelbench/level1")) {
      const auto task = task::load_task(entry.path());
      EXPECT_TRUE(task.has_value());
      if (!task || (!which.empty() && which.find(entry.path().filename().string().substr(0, 4)) == std::string::npos)) continue;
      TorchOptions options = verified_here();
      options.common.specialised = task->workloads.front().bindings;
      const auto file = export_kernelbench(pattern::naive_cpp(*task), *task, options);
      EXPECT_TRUE(file.has_value()) << task->name << ": " << file.error().to_string();
      if (!file) continue;
      save({*file});
      paths.push_back((place() / file->name).string());
    }
    return paths;
  }

  /// What was saved, as `what` of check_torch.py says, when the test ends.
  void check(const std::string& what, const std::vector<std::string>& arguments = {}) {
    const std::string folder = place().string();
    checks_.insert(checks_.end(), {what, folder});
    checks_.insert(checks_.end(), arguments.begin(), arguments.end());
    checks_.emplace_back("--");
  }

  void kernel_where_it_holds_pytorch_elsewhere();
  void several_outputs_and_awkward_names();
  void several_launches_and_callers();
  void another_processor_is_refused();
  void launches_on_a_card();
  void machine_code_of_triton();
  void machine_code_of_tilelang();
  void kernelbench_models(const std::string& which);

  std::vector<std::string> checks_;   ///< each: a case, its folder, its arguments, "--"
  base::ScratchDirectory folder_;
};

void TorchExport::kernel_where_it_holds_pytorch_elsewhere() {
  save_package(testing::kSoftmaxFast, testing::kSoftmaxTask, verified_here());
  check("softmax");
}

void TorchExport::several_outputs_and_awkward_names() {
  save_package(testing::kMapTiles, testing::kMapTask, verified_here());
  check("sum_and_product");
}

void TorchExport::several_launches_and_callers() {
  save_package(testing::kMeanTwoSteps, testing::kMeanTask, verified_here());
  check("column_mean");
}

void TorchExport::another_processor_is_refused() {
  TorchOptions options = verified_here();
  options.verified->device = "Another CPU, sse2, 2 threads";
  save_package(testing::kSoftmaxFast, testing::kSoftmaxTask, options);
  check("elsewhere", {"Another CPU, sse2"});
}

TEST_F(TorchExport, LongAnotherCompilerIsRefused) {
  TorchOptions options = verified_here();
  options.verified->toolchain = "g++ 1.2.3";
  save_package(testing::kSoftmaxFast, testing::kSoftmaxTask, options);
  check("elsewhere", {"g++ 1.2.3"});
}

void TorchExport::launches_on_a_card() {
  TorchOptions options;
  options.verified = engine::Place{"cuda:0", "NVIDIA H200, sm_90a, 132 multiprocessors, driver 13.0", "NVRTC 13.0"};
  save_package(mean_on_a_card(), testing::kMeanTask, options);
  check("cuda");
}

/// A build for Hopper that nobody made.
ExportedBuild build_of(const task::Bindings& bindings, const std::string& image, const std::map<std::string, std::string>& symbols, int64_t scratch = 0) {
  ExportedBuild made{bindings, {}, image};
  made.build.card_arch = "sm_90a";
  made.build.symbols = symbols;
  made.build.facts = {{"dynamic_shared_bytes/scaled", 4096}, {"scratch_bytes/scaled", static_cast<double>(scratch)}};
  return made;
}

void TorchExport::machine_code_of_triton() {
  constexpr const char* kKernel = R"hone("""hone
language = "triton"
tunables = { BLOCK = [256] }
[[launch]]
kernel = "scaled"
grid   = ["ceil_div(N, BLOCK)"]
warps  = 4
args   = ["x", "y", "i32:N", "f32:0.5", "=BLOCK"]
"""
)hone";
  TorchOptions options;
  options.common.name = "scaled";
  const std::map<std::string, std::string> symbols{{"scaled", "scaled_symbol"}};
  // What promises nothing is named first, and taken last.
  options.builds = {build_of({{"N", 1000}}, "plain", symbols, 16), build_of({{"N", 1}}, "one", symbols), build_of({{"N", 1024}}, "promised", symbols)};
  const auto files = export_torch(make_kernel(kKernel), task::task_from_expressions("y = x * 0.5", {"x=f32[N]"}, {"N=1024"}).value(), options);
  ASSERT_TRUE(files.has_value()) << files.error().to_string();
  save(*files);
  check("triton_binary");
}

void TorchExport::machine_code_of_tilelang() {
  constexpr const char* kKernel = R"hone("""hone
language = "tilelang"
[[launch]]
kernel = "doubled"
args   = ["x", "y", "=N"]
"""
)hone";
  TorchOptions options;
  options.common.name = "doubled";
  for (const auto& [n, grid] : {std::pair{100, 4}, {3000, 12}}) {
    ExportedBuild made = build_of({{"N", n}}, fmt::format("for {}", n), {{"doubled_kernel", "kernel_symbol"}});
    made.build.lowered = std::make_shared<const kernel::Kernel>(make_kernel(fmt::format("/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"doubled_kernel\"\ngrid = [\"{}\"]\n"
                                                                                        "block = [\"256\"]\nshared = \"1024\"\nargs = [\"y\", \"x\"]\n*/\n", grid)));
    options.builds.push_back(std::move(made));
  }
  const auto files = export_torch(make_kernel(kKernel), task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=100"}).value(), options);
  ASSERT_TRUE(files.has_value()) << files.error().to_string();
  save(*files);
  check("tilelang_binary");
}

TEST_F(TorchExport, BuildsForACard) {
  if (const auto compiler = target::cuda_compiler(); !compiler) GTEST_SKIP() << compiler.error().to_string();
  save_package(mean_on_a_card(), testing::kMeanTask, {});
  check("cuda_builds");
}

void TorchExport::kernelbench_models(const std::string& which) {
  const auto paths = save_models(which);
  ASSERT_EQ(paths.size(), (which.size() + 1) / 5);
  check("kernelbench_run", paths);
}

TEST_F(TorchExport, WorksAsItsUsersMeetIt) {
  kernel_where_it_holds_pytorch_elsewhere();
  several_outputs_and_awkward_names();
  several_launches_and_callers();
  another_processor_is_refused();
  launches_on_a_card();
  machine_code_of_triton();
  machine_code_of_tilelang();
  kernelbench_models("019_ 033_ 063_ 095_");
}

TEST_F(TorchExport, LongKernelBenchModels) { kernelbench_models("005_ 019_ 033_ 035_ 063_ 095_"); }

TEST_F(TorchExport, LongEveryProblemOfKernelBench) {
  const auto paths = save_models("");
  ASSERT_EQ(paths.size(), 100U);
  check("kernelbench_shapes", paths);
}

TEST(TorchExportRefuses, WhatIsNoProblem) {
  const auto file = export_kernelbench(make_kernel(testing::kSoftmaxFast), make_task(testing::kSoftmaxTask), {});
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, ErrorCode::kInput);
  EXPECT_THAT(file.error().message, HasSubstr("softmax is no problem of KernelBench"));
}

TEST(TorchExportRefuses, OtherLanguages) {
  kernel::Kernel kernel = make_kernel(testing::kSoftmaxFast);
  kernel.header.language = kernel::Language::kHip;
  const auto files = export_torch(kernel, make_task(testing::kSoftmaxTask), {});
  ASSERT_FALSE(files.has_value());
  EXPECT_THAT(files.error().message, HasSubstr("hip"));
}

/// The flags of the package's compilers are those that kernels are verified with.
TEST(TorchExportFlags, AreTheToolchains) {
  const auto toolchain = base::read_file(HONE_SOURCE_DIR "/src/hone/target/toolchain/cuda.cc");
  const auto runtime = base::read_file(HONE_SOURCE_DIR "/src/hone/face/export/python/cuda.py");
  ASSERT_TRUE(toolchain && runtime);
  for (const char* flag : {"\"--std=c++20\"", "\"-lineinfo\"", "\"-default-device\"", "\"--diag-suppress=47\"", "\"--gpu-architecture=\"",
                           "\"-std=c++20\"", "\"-cubin\"", "\"--expt-relaxed-constexpr\"", "hone/nvrtc/shim"})
    EXPECT_TRUE(toolchain->find(flag) != std::string::npos && runtime->find(flag) != std::string::npos) << flag;
  EXPECT_THAT(*runtime, HasSubstr("\"--ptxas-options=-O3\""));
  EXPECT_THAT(*runtime, HasSubstr("\"-O3\", \"-Xptxas\", \"-O3\""));
}

}  // namespace
}  // namespace hone::face
