// Kernels built by Triton itself, where it is installed: for Hopper, for AMD's cards, as text; errors with their lines; modules
// that never end. What it makes is judged in evaluate/triton_table_slow_test.
#include <gtest/gtest.h>

#include "hone/base/file.h"
#include "hone/target/toolchain/cuda_tools.h"
#include "hone/target/toolchain/triton.h"
#include "hone/target/toolchain/python_compiler.h"
#include "hone/target/toolchain/triton_start.h"

namespace hone::target {
namespace {

class Triton : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto& install = find_python(kTritonRow); !install) GTEST_SKIP() << install.error().to_string();
  }
  static BuildOutcome built(const std::string& target, const std::string& source, const task::Task& task, const task::Bindings& bindings = {},
                            std::chrono::seconds deadline = std::chrono::seconds(60)) {
    auto toolchain = target == "ttir" ? ttir_toolchain() : triton_toolchain(target);
    if (!toolchain) return BuildFailure{toolchain.error().to_string(), {}, false};
    const auto kernel = kernel::parse_kernel(source, "kernel.py");
    if (!kernel) return BuildFailure{kernel.error().to_string(), {}, false};
    BuildOptions options;
    options.deadline = deadline;
    options.mix = true;
    auto outcome = (*toolchain)->build(*kernel, task, bindings, options);
    return outcome ? *std::move(outcome) : BuildFailure{outcome.error().to_string(), {}, false};
  }
  static std::string reason(const BuildOutcome& outcome) {
    const auto* failure = std::get_if<BuildFailure>(&outcome);
    return failure ? failure->reason : "built";
  }
  static std::string table(const std::string& name) { return base::read_file(HONE_SOURCE_DIR "/test/triton/" + name).value(); }
};

const task::Task kMap = task::task_from_expressions("y = 2 * x + 1", {"x=f32[1000]"}, {}).value();
const task::Task kSum = task::task_from_expressions("y = sum(x, axis=0, keepdims=true)", {"x=f32[1000]"}, {}).value();
const task::Task kProduct = task::task_from_expressions("c = a @ b", {"a=bf16[M,K]", "b=bf16[K,N]"}, {"M=4096,N=4096,K=4096"}).value();

TEST_F(Triton, BuildsForHopper) {
  if (!find_cuda()) GTEST_SKIP() << "no CUDA toolkit";
  const std::string source = base::read_file(HONE_SOURCE_DIR "/examples/triton/matmul.py").value();
  const auto outcome = built("cuda:sm_90a", source, kProduct, {{"M", 4096}, {"N", 4096}, {"K", 4096}});
  ASSERT_EQ(reason(outcome), "built");
  const Build& build = std::get<Build>(outcome);
  EXPECT_EQ(build.symbols.at("matmul"), "matmul");
  EXPECT_EQ(build.facts.at("spill_bytes/matmul"), 0);
  EXPECT_GE(build.facts.at("dynamic_shared_bytes/matmul"), 3 * (128 * 64 + 64 * 128) * 2);
  EXPECT_GT(build.facts.at("registers/matmul"), 32);
  // A depth that 16 does not divide is another case, without wide copies.
  const auto odd = built("cuda:sm_90a", source, kProduct, {{"M", 4096}, {"N", 4095}, {"K", 4095}});
  ASSERT_EQ(reason(odd), "built");
  EXPECT_NE(std::get<Build>(odd).hash, build.hash);
  EXPECT_NE(std::get<Build>(odd).code, build.code);
}

TEST_F(Triton, SeveralFunctionsAreOneBinary) {
  if (!find_cuda()) GTEST_SKIP() << "no CUDA toolkit";
  const auto outcome = built("cuda:sm_90a", table("two_launches.py"), kSum);
  ASSERT_EQ(reason(outcome), "built");
  EXPECT_EQ(std::get<Build>(outcome).symbols.size(), 2u);
}

TEST_F(Triton, BuildsForAmd) {
  for (const char* target : {"hip:gfx942", "hip:gfx950"}) {
    const auto outcome = built(target, table("map.py"), kMap);
    ASSERT_EQ(reason(outcome), "built") << target;
    EXPECT_GT(std::get<Build>(outcome).facts.at("registers/k"), 0);
  }
  EXPECT_NE(reason(built("hip:gfx1100", table("map.py"), kMap)).find("not built for \"gfx1100\""), std::string::npos);
}

TEST_F(Triton, ErrorsNameLinesOfTheFile) {
  EXPECT_EQ(reason(built("ttir", table("map_block_of_100.py"), kMap)), "kernel.py:17:32: error: arange's range must be a power of 2");
  std::string hostile = table("map.py");
  hostile.replace(hostile.find("import triton\n"), 14, "import os    \n");
  EXPECT_EQ(reason(built("ttir", hostile, kMap)).find("kernel.py:11:1: error: import of os"), 0u);
}

TEST_F(Triton, StopsWhatNeverEnds) {
  std::string endless = table("map_static_range.py");
  endless.replace(endless.find("static_range(4)"), 15, "static_range(1 << 30)");
  EXPECT_EQ(reason(built("ttir", endless, kMap, {}, std::chrono::seconds(5))), "the compiler was stopped after 5 s");
  // Its process is gone with it, and the next one works.
  EXPECT_EQ(reason(built("ttir", table("map_tunable.py"), kMap)), "built");
}

TEST_F(Triton, AnOrdinaryKernelIsCompleted) {
  const std::string source = base::read_file(HONE_SOURCE_DIR "/examples/triton/add.py").value();
  const auto kernel = complete_triton(kernel::parse_kernel(source, "add.py").value(), "add.py");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  EXPECT_EQ(kernel->config, (kernel::Config{{"BLOCK_SIZE", 1024}, {"WARPS", 4}, {"STAGES", 3}}));
  EXPECT_EQ(kernel->header.tunables.size(), 3u);
  EXPECT_EQ(kernel->header.launches[0].args.size(), 5u);
  // What is complete stays as it is.
  const auto again = complete_triton(*kernel, "add.py");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->source, kernel->source);
}

}  // namespace
}  // namespace hone::target
