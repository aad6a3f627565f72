// HIP kernels for AMD cards, built without one. Skips where there is no clang 22 or no lld.
#include <gmock/gmock.h>

#include "hone/base/file.h"
#include "hone/base/testing/covering.h"
#include "hone/target/toolchain/code_object.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target::hip_cases {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr const char* kHead = R"hone(/* hone
language = "hip"
tunables = { BLOCK = [128, 256] }
[[launch]]
kernel = "twist"
grid   = ["ceil_div(N, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "y", "i64:N"]
*/
)hone";
constexpr int kHeadLines = 9;

class Hip : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto found = hip_toolchain(GetParam());
    if (!found) GTEST_SKIP() << found.error().to_string();
    toolchain_ = std::move(*found);
  }
  Result<BuildOutcome> build(const std::string& body, std::chrono::seconds deadline = std::chrono::seconds(60)) {
    BuildOptions options;
    options.deadline = deadline;
    options.mix = true;
    return toolchain_->build(kernel::parse_kernel(kHead + body, "k.hip").value(), task_, {{"N", 1024}}, options);
  }
  Build built(const std::string& body) {
    const auto outcome = build(body);
    if (outcome && std::holds_alternative<Build>(*outcome)) return std::get<Build>(*outcome);
    ADD_FAILURE() << (outcome ? std::get<BuildFailure>(*outcome).log : outcome.error().to_string());
    return {};
  }
  BuildFailure refused(const std::string& body) {
    const auto outcome = build(body);
    if (outcome && std::holds_alternative<BuildFailure>(*outcome)) return std::get<BuildFailure>(*outcome);
    ADD_FAILURE() << (outcome ? "it was built" : outcome.error().to_string());
    return {};
  }

  std::unique_ptr<Toolchain> toolchain_;
  task::Task task_ = task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=1024"}).value();
};
INSTANTIATE_TEST_SUITE_P(Archs, Hip, testing::Values("gfx90a", "gfx942", "gfx950"));
INSTANTIATE_TEST_SUITE_P(LongArchs, Hip, testing::Values("gfx90a", "gfx942"));  // the newest does all of it in the other

constexpr const char* kTwist = R"(
#include <hip/hip_runtime.h>
#include <cmath>
#include "hone/gpu.h"
__device__ int counter[3];
__constant__ float factors[4] = {1, 2, 3, 4};
__global__ void __launch_bounds__(BLOCK) twist(const float* x, float* y, int64_t n) {
  __shared__ float s[BLOCK];
  const int64_t i = int64_t(blockIdx.x) * BLOCK + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (n > 3) counter[threadIdx.x % 3] = 1;
  const float4 four = *reinterpret_cast<const float4*>(x + 4 * threadIdx.x);
  const float sum = hone::wave_sum(std::exp(s[threadIdx.x]) + tanhf(four.x) + erff(four.y) + powf(four.z, four.w));
  if (i < n) y[i] = s[BLOCK - 1 - threadIdx.x] * factors[i % 4] + __half2float(__float2half(x[i])) + sum;
}
)";

TEST_P(Hip, AGoodKernelHasASymbolAndFacts) {
  const Build build = built(kTwist);
  EXPECT_EQ(build.card_arch, GetParam());
  EXPECT_THAT(build.symbols, ElementsAre(Pair("twist", "_Z5twistPKfPfl")));
  EXPECT_EQ(build.facts.at("static_shared_bytes/twist"), 512);
  EXPECT_EQ(build.facts.at("spilled_vgprs/twist"), 0);
  EXPECT_EQ(build.facts.at("stack_bytes/twist"), 0);
  EXPECT_EQ(build.facts.at("max_threads/twist"), 128);
  EXPECT_EQ(build.facts.at("constant_bytes/twist"), 24);
  EXPECT_EQ(build.facts.at("writable_global_bytes"), 12);
  EXPECT_GE(build.facts.at("registers/twist"), 8);
  EXPECT_LE(build.facts.at("registers/twist"), 96);
  EXPECT_GE(build.facts.at("sgprs/twist"), 8);
  EXPECT_GE(build.facts.at("code_bytes/twist"), 256);
  if (build.facts.contains("mix/twist/all")) {
    EXPECT_EQ(build.facts.at("mix/twist/global_load.128"), 1);
    EXPECT_GE(build.facts.at("mix/twist/ds_bpermute"), 6);
    EXPECT_LE(4 * build.facts.at("mix/twist/all"), build.facts.at("code_bytes/twist"));
  }
  const Build again = built(kTwist);
  EXPECT_EQ(again.wall_ns, 0);
  EXPECT_EQ(again.symbols, build.symbols);
  EXPECT_EQ(again.facts, build.facts);
}

constexpr const char* kMatrices = R"(#include "hone/gpu/prim.h"
__global__ void __launch_bounds__(64) twist(const float* x, float* y, int64_t n) {
  const uint32_t one[1] = {__float_as_uint(x[threadIdx.x])}, two[2] = {one[0], __float_as_uint(x[threadIdx.x + 64])};
  float small[4] = {}, large[16] = {};
  int32_t few[4] = {}, many[16] = {};
  hone::prim::mfma_f32_16x16x4(small, one, one);
  hone::prim::mfma_f16_16x16x16(small, two, two);
  hone::prim::mfma_bf16_16x16x16(small, two, two);
  hone::prim::mfma_f32_32x32x2(large, one, one);
  hone::prim::mfma_f16_32x32x8(large, two, two);
  hone::prim::mfma_bf16_32x32x8(large, two, two);
  hone::prim::mfma_i8_16x16x16(few, one, one);
  hone::prim::mfma_i8_16x16x32(few, two, two);
  hone::prim::mfma_i8_32x32x8(many, one, one);
  hone::prim::mfma_i8_32x32x16(many, two, two);
#if defined(__gfx942__)
  hone::prim::mfma_tf32_16x16x8(small, two, two);
  hone::prim::mfma_tf32_32x32x4(large, two, two);
#endif
  for (int i = 0; i < 4; ++i) y[hone::prim::mfma_row<16>(i) * 16 + hone::prim::mfma_line<16>()] = small[i] + static_cast<float>(few[i]);
  for (int i = 0; i < 16; ++i) y[256 + hone::prim::mfma_row<32>(i) * 32 + hone::prim::mfma_line<32>()] = large[i] + static_cast<float>(many[i]);
}
)";

TEST_P(Hip, MatrixCoresAreInstructions) {
  const Build build = built(kMatrices);
  EXPECT_EQ(build.facts.at("spilled_vgprs/twist"), 0);
  if (build.facts.contains("mix/twist/all")) {
    const std::string arch = GetParam();
    EXPECT_EQ(build.facts.at("mix/twist/mfma"), arch == "gfx950" ? 10 : 12);
  }
}

constexpr const char* kMany = R"(
__global__ void __launch_bounds__(THREADS) twist(const float* x, float* y, long long n) {
  float a[300];
  #pragma unroll
  for (int i = 0; i < 300; ++i) a[i] = x[i * n];
  #pragma unroll 1
  for (int k = 0; k < n; ++k)
    #pragma unroll
    for (int i = 0; i < 300; ++i) a[i] = a[i] * a[(i + 7) % 300] + k;
  #pragma unroll
  for (int i = 0; i < 300; ++i) y[i * n] = a[i];
}
)";

TEST_P(Hip, RegistersAndSpillsAreCounted) {
  // A block of 256 leaves a lane 512 registers, half of them accumulators; one of 1024 leaves 128.
  if (GetParam() != std::string("gfx950") && !base::testing::in_long_part()) return;
  const Build wide = built("#define THREADS 256\n" + std::string(kMany));
  EXPECT_GE(wide.facts.at("registers/twist"), 300);
  EXPECT_LE(wide.facts.at("registers/twist"), 512);
  EXPECT_GE(wide.facts.at("agprs/twist"), 40);
  EXPECT_LT(wide.facts.at("agprs/twist"), wide.facts.at("registers/twist"));
  const Build tight = built("#define THREADS 1024\n" + std::string(kMany));
  EXPECT_LE(tight.facts.at("registers/twist"), 128);
  EXPECT_GE(tight.facts.at("spilled_vgprs/twist"), 100);
  EXPECT_GE(tight.facts.at("stack_bytes/twist"), 400);
  EXPECT_EQ(tight.facts.at("max_threads/twist"), 1024);
}

TEST_P(Hip, AnErrorNamesTheLineOfTheUsersFile) {
  const BuildFailure failure = refused("\n__global__ void twist(const float* x, float* y, int64_t n) {\n  y[0] = undeclared;\n}\n");
  EXPECT_THAT(failure.reason, HasSubstr("kernel.hip:" + std::to_string(kHeadLines + 3) + ":10: error"));
  EXPECT_THAT(failure.reason, HasSubstr("undeclared"));
}

TEST_P(Hip, EntriesAreFoundOrNamed) {
  EXPECT_THAT(refused("__global__ void twists(const float* x, float* y, int64_t n) {}").reason, HasSubstr("the launch of twist has no __global__ function of that name; there is twists"));
  EXPECT_THAT(refused("__global__ void twist(const float* x, float* y) {}").reason, HasSubstr("twist takes 2 arguments, its launch gives 3"));
  EXPECT_THAT(refused("__global__ void twist(const float* x, float* y, int64_t n) { asm(\"\"); }").reason, HasSubstr("kernel.hip:" + std::to_string(kHeadLines + 1) + ": inline assembly"));
}

TEST_P(Hip, WhatNobodyLinksIsRefused) {
  EXPECT_THAT(refused("extern \"C\" __device__ void* malloc(size_t);\n__global__ void twist(const float* x, float* y, int64_t n) { *(float*)malloc(4) = x[0]; }").log, HasSubstr("malloc"));
}

TEST_P(Hip, TheCompilerSeesNothingOfTheMachine) {
  const BuildFailure failure = refused("#include \"/etc/passwd\"\n__global__ void twist(const float* x, float* y, int64_t n) {}");
  EXPECT_THAT(failure.log, Not(HasSubstr("root:")));
  EXPECT_THAT(failure.log, HasSubstr("'/etc/passwd' file not found"));
}

TEST_P(Hip, AnEndlessTemplateMeetsTheDeadline) {
  if (GetParam() != std::string("gfx950") && !base::testing::in_long_part()) return;   // the same compiler, waited for
  const auto outcome = build(R"(
template <int D, long long I> struct Tree { static constexpr long long v = Tree<D - 1, 2 * I>::v + Tree<D - 1, 2 * I + 1>::v; };
template <long long I> struct Tree<0, I> { static constexpr long long v = I; };
__global__ void twist(const float* x, float* y, int64_t n) { y[0] = Tree<40, 1>::v; }
)", std::chrono::seconds(2));
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_TRUE(std::holds_alternative<BuildFailure>(*outcome));
  EXPECT_EQ(std::get<BuildFailure>(*outcome).reason, "the compiler was stopped after 2 s");
}

TEST(HipArchs, OthersAreRefused) {
  const auto unknown = hip_toolchain("gfx1100");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInput);
  EXPECT_EQ(gpu_toolchain("emulator:cuda").error().code, ErrorCode::kUsage);
}

TEST(CodeObject, InstructionsAreCounted) {
  const auto mixes = read_amd_assembly("\nkernel.co:\tfile format elf64-amdgpu\n\n0000000000004600 <rows>:\n\ts_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                                       "\tglobal_load_dwordx4 v[0:3], v[0:1], off\n\tds_read2_b64 v[0:3], v0\n\tglobal_store_short v0, v1, off\n"
                                       "\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]\n\tv_exp_f32_e32 v0, v1\n\ts_nop 0\n");
  EXPECT_THAT(mixes.at("rows"), UnorderedElementsAre(Pair("all", 6), Pair("s_load", 1), Pair("global_load.128", 1), Pair("ds_read.64", 1),
                                                     Pair("global_store.16", 1), Pair("mfma", 1), Pair("transcendental", 1)));
}

TEST(CodeObject, WhatIsNoneIsAnError) {
  const auto folder = base::ScratchDirectory::create("code").value();
  for (const std::string content : {"", "\x7f" "ELF", "not a code object but long enough to hold the header of a file in the ELF format, which it is not"}) {
    ASSERT_TRUE(base::write_file_atomic(folder.path() / "k", content));
    EXPECT_FALSE(read_code_object(folder.path() / "k"));
  }
}

}  // namespace
}  // namespace hone::target::hip_cases
