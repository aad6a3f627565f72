#include "hone/target/toolchain/simt_source.h"

#include <gtest/gtest.h>

namespace hone::target {
namespace {

std::string rewritten(const std::string& source) { return simt_rewrite(source, "kernel.cu").value(); }

TEST(SimtSource, DynamicSharedMemoryGetsTheLinkersName) {
  EXPECT_EQ(rewritten("extern __shared__ float s[];"), "extern  float s[] __asm__(\"hone_simt_dynamic\");");
  EXPECT_EQ(rewritten("extern __shared__ __align__(16) char s[];\nint x;"),
            "extern  __align__(16) char s[] __asm__(\"hone_simt_dynamic\");\nint x;");
}

TEST(SimtSource, NothingElseChanges) {
  for (const char* source : {"extern \"C\" __global__ void k() { __shared__ float s[3]; }", "// extern __shared__ float s[];\n",
                             "const char* t = \"extern __shared__ asm\";", "int asmb; /* asm */", "extern int other;", "int n = 1'000;"})
    EXPECT_EQ(rewritten(source), source);
}

TEST(SimtSource, InlineAssemblyIsRefusedWithItsLine) {
  const auto refused = simt_rewrite("int a;\nvoid f() {\n  asm volatile(\"\");\n}\n", "kernel.cu");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_NE(refused.error().message.find("kernel.cu:3"), std::string::npos) << refused.error().message;
}

TEST(SimtSource, AsksNothingThatTellsTheEmulatorFromACard) {
  for (const char* question : {"#if defined(__x86_64__)\n#endif\n", "#ifdef __clang__\n#endif\n", "#if __has_builtin(__builtin_popcount)\n#endif\n", "int a = __AVX2__;\n"}) {
    const auto refused = simt_rewrite(std::string("\n") + question, "kernel.cu");
    ASSERT_FALSE(refused) << question;
    EXPECT_NE(refused.error().message.find("kernel.cu:2"), std::string::npos) << refused.error().message;
  }
  EXPECT_TRUE(simt_rewrite("#if __CUDA_ARCH__ >= 900\n#endif\n__global__ void __launch_bounds__(32) k(float* __restrict__ y) { __shared__ int a; }\n", "kernel.cu"));
}

kernel::Kernel kernel_with(const std::string& launch) {
  return kernel::parse_kernel("/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"k\"\ngrid = [\"N\"]\nblock = [\"32\"]\n" + launch +
                                  "\n*/\n__global__ void k() {}\n", "k.cu").value();
}

TEST(SimtSource, ArgumentsAreCheckedAgainstTheTask) {
  const auto task = task::task_from_expressions("y = x + 1", {"x=i64[N]"}, {"N=3"}).value();
  const auto unit = simt_unit(kernel_with("args = [\"x\", \"y\", \"i32:N\"]"), task, {{"N", 3}});
  ASSERT_TRUE(unit) << unit.error().to_string();
  EXPECT_NE(unit->find("k(::hone::simt::address(hone_a[0]), ::hone::simt::address(hone_a[1]), (int)hone_a[2])"), std::string::npos) << *unit;
  EXPECT_FALSE(simt_unit(kernel_with("args = [\"z\"]"), task, {{"N", 3}}));
  EXPECT_FALSE(simt_unit(kernel_with("args = [\"shared\"]"), task, {{"N", 3}}));
}

/// A macro of the source, be it a keyword's, is none any more where the call is made; the launch is in a file of its own.
TEST(SimtSource, NoMacroReachesTheCall) {
  const auto task = task::task_from_expressions("y = x + 1", {"x=f32[N]"}, {"N=3"}).value();
  const kernel::Kernel kernel = kernel_with("args = [\"x\", \"y\", \"i32:N\"]");
  const std::string unit = simt_unit(kernel, task, {{"N", 3}}).value();
  const size_t calls = unit.find("#line 1 \"calls.cc\"\n");
  ASSERT_NE(calls, std::string::npos);
  for (const char* word : {"extern", "void", "const", "unsigned", "long", "float", "int", "hone_a", "k", "hone", "requires", "constexpr"})
    EXPECT_LT(unit.find(std::string("#undef ") + word + "\n"), calls) << word;
  EXPECT_EQ(unit.find("hone_simt_launch"), std::string::npos);
  EXPECT_NE(simt_entries(kernel).find("hone_simt_launch(context, a, 3, 1, grid, hone_call_0)"), std::string::npos);
}

TEST(SimtSource, RepeatedLaunchesCountTheirSteps) {
  const auto task = task::task_from_expressions("y = x + 1", {"x=f32[N]"}, {"N=3"}).value();
  const auto plan = kernel::bind(kernel_with("args = [\"x\", \"y\", \"i64:10 * STEP\"]\nrepeat = \"N\"\nwhen = \"STEP != 1\""), task, {{"N", 3}}, {});
  ASSERT_TRUE(plan) << plan.error().to_string();
  ASSERT_EQ(plan->launches.size(), 2u);
  EXPECT_EQ(plan->launches[0].args[2].value, 0);
  EXPECT_EQ(plan->launches[1].args[2].value, 20);
  EXPECT_FALSE(kernel::bind(kernel_with("args = [\"x\"]\nrepeat = \"1000\""), task, {{"N", 3}}, {}));
  // Beyond 256 launches a plan does not apply, as if its header said so; of those only that are made.
  const auto applies = [&](const std::string& keys, int64_t n) { return kernel::applies(kernel_with("args = [\"x\"]\n" + keys), {{"N", n}}, {}).value(); };
  EXPECT_TRUE(applies("repeat = \"N\"", 256));
  EXPECT_FALSE(applies("repeat = \"N\"", 257));
  EXPECT_FALSE(applies("repeat = \"N\"\nwhen = \"STEP != 1\"", 300));
}

TEST(SimtSource, AClusterDividesItsGrid) {
  const auto task = task::task_from_expressions("y = x + 1", {"x=f32[N]"}, {"N=3"}).value();
  const auto bound = [&](const std::string& cluster, int64_t n) { return kernel::bind(kernel_with("args = [\"x\"]\ncluster = " + cluster), task, {{"N", n}}, {}); };
  const auto plan = bound("[\"N // 3\"]", 12);
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->launches[0].cluster, std::vector<int64_t>{4});
  EXPECT_EQ(bound("[\"4\"]", 6).error().message, "the grid of k has 6 blocks along x, which is no multiple of its cluster's 4");
  EXPECT_EQ(bound("[\"2\", \"2\"]", 6).error().message, "the grid of k has 1 blocks along y, which is no multiple of its cluster's 2");
  EXPECT_EQ(bound("[\"17\"]", 17).error().message, "a cluster of k has 17 blocks; 16 are the most");
  EXPECT_EQ(bound("[\"3\", \"6\"]", 6).error().message, "a cluster of k has 18 blocks; 16 are the most");
  EXPECT_TRUE(bound("[\"2\", \"1\", \"1\"]", 6));
  EXPECT_FALSE(bound("[\"0\"]", 6));
}

TEST(SimtSource, ClustersAreForCuda) {
  const auto parsed = [](const std::string& language, const std::string& cluster) {
    return kernel::parse_kernel("/* hone\nlanguage = \"" + language + "\"\n[[launch]]\nkernel = \"k\"\ngrid = [\"N\"]\nblock = [\"32\"]\nargs = []\ncluster = " + cluster + "\n*/\n", "k.cu");
  };
  EXPECT_TRUE(parsed("cuda", "[\"2\", 2]"));
  EXPECT_EQ(parsed("hip", "[\"2\"]").error().message, "\"cluster\" is for cuda, not for hip: clusters need sm_90");
  EXPECT_EQ(parsed("cuda", "[]").error().message, "\"cluster\" must hold one to three extents");
  EXPECT_FALSE(parsed("cuda", "[\"1\", \"1\", \"1\", \"1\"]"));
}

}  // namespace
}  // namespace hone::target
