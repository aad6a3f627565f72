// CUDA kernels for real cards, built without one, by each of the two compilers. Skips what is not here.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <optional>

#include "hone/base/file.h"
#include "hone/base/embedded.h"
#include "hone/base/testing/environment.h"
#include "hone/target/bundle.h"
#include "hone/target/toolchain/cubin.h"
#include "hone/target/toolchain/pack.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr const char* kHead = R"hone(/* hone
language = "cuda"
tunables = { BLOCK = [128, 256] }
specialise = ["N"]
[[launch]]
kernel = "twist"
grid   = ["ceil_div(N, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "y", "i64:N"]
*/
)hone";
constexpr int kHeadLines = 10;

using base::testing::Variable;

class Cuda : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!nvrtc()) without_.emplace("HONE_NVRTC", "none");
    auto found = cuda_toolchain("sm_90a");
    if (!found) GTEST_SKIP() << found.error().to_string();
    toolchain_ = std::move(*found);
    if (toolchain_->name().find(GetParam()) == std::string::npos) GTEST_SKIP() << "there is no " << GetParam();
  }
  [[nodiscard]] static bool nvrtc() { return std::string(GetParam()) == "NVRTC"; }
  Result<BuildOutcome> build(const std::string& body, std::chrono::seconds deadline = std::chrono::seconds(60)) {
    BuildOptions options;
    options.deadline = deadline;
    options.mix = true;
    return toolchain_->build(kernel::parse_kernel(kHead + body, "k.cu").value(), task_, {{"N", 1024}}, options);
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

  std::optional<Variable> without_;   // NVRTC
  std::unique_ptr<Toolchain> toolchain_;
  task::Task task_ = task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=1024"}).value();
};

INSTANTIATE_TEST_SUITE_P(Compilers, Cuda, testing::Values("nvcc", "NVRTC"), [](const auto& tested) { return std::string(tested.param); });

constexpr const char* kTwist = R"(
__device__ int counter[3];
__constant__ float factors[4] = {1, 2, 3, 4};
__global__ void __launch_bounds__(BLOCK) twist(const float* x, float* y, int64_t n) {
  __shared__ float s[BLOCK];
  const int64_t i = int64_t(blockIdx.x) * BLOCK + threadIdx.x;
  s[threadIdx.x] = i < N ? x[i] : 0;
  __syncthreads();
  if (n > 3) counter[threadIdx.x % 3] = 1;
  if (i < n) y[i] = s[BLOCK - 1 - threadIdx.x] * factors[i % 4] + __half2float(__float2half(x[i]));
}
)";

/// compute-sanitizer's racecheck does not follow them (evaluate/card_sanitize.cc).
TEST_P(Cuda, BarriersWithPhasesAreSeen) {
  const auto has_phases = [](const Build& build) { return read_cubin(build.artifact).value().phase_barriers; };
  EXPECT_FALSE(has_phases(built(kTwist)));
  EXPECT_TRUE(has_phases(built("#include \"hone/gpu/prim_phases.h\"\n" R"(
__global__ void twist(const float* x, float* y, int64_t n) {
  __shared__ hone::prim::PhaseBarrier all;
  if (threadIdx.x == 0) all.init(BLOCK);
  __syncthreads();
  all.arrive();
  all.wait(0);
  y[n] = x[n];
}
)")));
}

/// What NVRTC refuses nvcc compiles in its place, right but in ten times the time: nobody would notice.
TEST_P(Cuda, OurHeadersAreForBoth) {
  std::string body;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(HONE_SOURCE_DIR) + "/src/hone/target/toolchain/include/hone/gpu"))
    if (const std::string name = entry.path().filename(); !name.starts_with("prim_"))  // prim.h includes what is for the card
      body += "#include \"hone/gpu/" + name + "\"\n";
  body += "__global__ void twist(const float* x, float* y, int64_t n) { y[n] = hone::gpu::kHighest<double> > x[n]; }\n";
  EXPECT_THAT(built(body).toolchain, StartsWith(GetParam()));
}

std::string of_two(int second) {
  return fmt::format(R"hone(/* hone
language = "cuda"
tunables = {{ BLOCK_1 = [128], BLOCK_2 = [{}] }}
[[launch]]
kernel = "one::twist"
grid   = ["ceil_div(N, BLOCK_1)"]
block  = ["BLOCK_1"]
args   = ["x", "y", "i64:N"]
[[launch]]
kernel = "two::turn"
grid   = ["ceil_div(N, BLOCK_2)"]
block  = ["BLOCK_2"]
args   = ["x", "y", "i64:N"]
*/
namespace one {{
__device__ int counter;
__global__ void __launch_bounds__(BLOCK_1) twist(const float* x, float* y, int64_t n) {{ y[threadIdx.x % n] = x[counter++]; }}
}}
namespace two {{
__device__ int counter;
__global__ void __launch_bounds__(BLOCK_2) turn(const float* x, float* y, int64_t n) {{
  __shared__ float s[BLOCK_2];
  s[threadIdx.x] = x[n + counter++];
  __syncthreads();
  y[threadIdx.x] = s[BLOCK_2 - 1 - threadIdx.x];
}}
}}
)hone", second);
}

TEST_P(Cuda, PiecesAreCompiledApartAndOnce) {
  // Of its own: other tests build beside this one, and did before.
  const base::ScratchDirectory cache = base::ScratchDirectory::create("pieces").value();
  const Variable there("XDG_CACHE_HOME", cache.path().string().c_str());
  const auto built_of = [&](int second, bool pieces) {
    BuildOptions options;
    options.pieces = pieces;
    const auto outcome = toolchain_->build(kernel::parse_kernel(of_two(second), "k.cu").value(), task_, {{"N", 1024}}, options);
    EXPECT_TRUE(outcome && std::holds_alternative<Build>(*outcome));
    return std::get<Build>(*outcome);
  };
  const auto kept = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(base::cache_directory() / "builds")) count += entry.path().extension() == ".json" ? 1 : 0;
    return count;
  };
  const Build whole = built_of(64, false), apart = built_of(64, true);
  EXPECT_EQ(binaries_in(base::read_file(whole.artifact).value()).size(), 1);
  EXPECT_EQ(binaries_in(base::read_file(apart.artifact).value()).size(), 2);
  EXPECT_EQ(apart.symbols, whole.symbols);
  EXPECT_EQ(apart.facts, whole.facts);
  EXPECT_EQ(apart.facts.at("writable_global_bytes"), 8);
  EXPECT_THAT(apart.toolchain, StartsWith(GetParam()));
  EXPECT_FALSE(apart.code.empty());
  EXPECT_EQ(built_of(64, true).code, apart.code);
  const int before = kept();
  EXPECT_NE(built_of(96, true).code, apart.code);
  EXPECT_EQ(kept(), before + 2) << "the second piece, and the bundle";
}

TEST_P(Cuda, AGoodKernelHasASymbolAndFacts) {
  const Build build = built(kTwist);
  EXPECT_EQ(build.card_arch, "sm_90a");
  EXPECT_THAT(build.toolchain, StartsWith(GetParam()));
  EXPECT_THAT(build.symbols, ElementsAre(Pair("twist", nvrtc() ? "_Z5twistPKfPfx" : "_Z5twistPKfPfl")));
  EXPECT_EQ(build.facts.at("static_shared_bytes/twist"), 512);
  EXPECT_EQ(build.facts.at("spill_bytes/twist"), 0);
  EXPECT_EQ(build.facts.at("stack_bytes/twist"), 0);
  EXPECT_EQ(build.facts.at("max_threads/twist"), 128);
  EXPECT_EQ(build.facts.at("constant_bytes/twist"), 24 + 16);
  EXPECT_EQ(build.facts.at("writable_global_bytes"), 12);
  EXPECT_GE(build.facts.at("registers/twist"), 8);
  EXPECT_LE(build.facts.at("registers/twist"), 64);
  EXPECT_GE(build.facts.at("code_bytes/twist"), 256);
  // Nobody counts what nobody asked for, nor loses what was counted.
  const kernel::Kernel other = kernel::parse_kernel(kHead + std::string(kTwist) + "// another text\n", "k.cu").value();
  bool mixed = false;
  for (const bool mix : {false, true, false}) {
    BuildOptions options;
    options.mix = mix;
    const auto outcome = toolchain_->build(other, task_, {{"N", 1024}}, options);
    ASSERT_TRUE(outcome && std::holds_alternative<Build>(*outcome));
    const Build& one = std::get<Build>(*outcome);
    EXPECT_EQ(one.code, build.code);
    mixed = mixed || mix;
    if (!mixed) EXPECT_FALSE(one.facts.contains("mix/twist/all"));
    else EXPECT_EQ(one.facts.contains("mix/twist/all"), build.facts.contains("mix/twist/all"));
  }
  if (build.facts.contains("mix/twist/all")) {
    EXPECT_EQ(build.facts.at("mix/twist/BAR"), 1);
    EXPECT_GE(build.facts.at("mix/twist/LDG.32"), 1);
    EXPECT_LE(16 * build.facts.at("mix/twist/all"), build.facts.at("code_bytes/twist"));
  }
  EXPECT_THAT(build.log, Not(HasSubstr("ptxas info")));
  const Build again = built(kTwist);
  EXPECT_EQ(again.wall_ns, 0);
  EXPECT_EQ(again.symbols, build.symbols);
  EXPECT_EQ(again.facts, build.facts);
  EXPECT_EQ(again.card_arch, "sm_90a");
  EXPECT_EQ(again.toolchain, build.toolchain);
}

constexpr const char* kPrims = R"(#include "hone/gpu/prim.h"
__global__ void __launch_bounds__(BLOCK) twist(const float* x, float* y, int64_t n) {
  __shared__ __align__(16) float tile[BLOCK];
  __shared__ hone::prim::PhaseBarrier full;
  if (threadIdx.x == 0) full.init(1);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_expecting(sizeof tile);
    full.bulk_copy(tile, x + blockIdx.x * BLOCK, sizeof tile);
  }
  full.wait(0);
  int sum[4] = {};
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = __float_as_uint(tile[(threadIdx.x + 4 * i) % BLOCK]);
  for (int i = 0; i < 2; ++i) b[i] = __float_as_uint(tile[(threadIdx.x + 8 * i) % BLOCK]);
  hone::prim::mma_i8(sum, a, b[0], b[1]);
  y[blockIdx.x * BLOCK + threadIdx.x] = static_cast<float>(sum[0] + sum[1] + sum[2] + sum[3]);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.invalidate();
    full.init(BLOCK);
  }
  __syncthreads();
  full.arrive();
  while (!full.try_wait(0)) {}
}
)";

TEST_P(Cuda, BarriersWithPhasesAndProductsOfBytesAreInstructions) {
  const Build build = built(kPrims);
  EXPECT_EQ(build.symbols.count("twist"), 1u);
  if (build.facts.contains("mix/twist/all")) {
    EXPECT_GE(build.facts.at("mix/twist/all"), 40);
  }
}

constexpr const char* kClusterHead = R"hone(/* hone
language = "cuda"
[[launch]]
kernel = "twist"
grid   = ["align(N, 4)"]
block  = ["64"]
cluster = ["2", "1"]
args   = ["x", "y", "i64:N"]
*/ #include "hone/gpu/prim.h"
__global__ void twist(const float* x, float* y, long long n) {
  namespace prim = hone::prim;
  __shared__ float part;
  __shared__ int count;
  if (threadIdx.x == 0) part = x[blockIdx.x], count = 0;
  prim::cluster_sync();
  atomicAdd(prim::map_shared(&count, 0), 1);
  const float other = *prim::map_shared(&part, (prim::cluster_rank() + 1) % prim::cluster_size());
  prim::cluster_arrive();
  y[threadIdx.x] = other;
  prim::cluster_wait();
}
)hone";

TEST_P(Cuda, ClustersAreForThoseThatHaveThem) {
  const auto kernel = kernel::parse_kernel(kClusterHead, "k.cu").value();
  const auto outcome = toolchain_->build(kernel, task_, {{"N", 1024}}, {});
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_TRUE(std::holds_alternative<Build>(*outcome)) << std::get<BuildFailure>(*outcome).log;
  EXPECT_THAT(std::get<Build>(*outcome).toolchain, StartsWith(GetParam()));
  auto older = cuda_toolchain("sm_80");
  ASSERT_TRUE(older) << older.error().to_string();
  const auto refused = (*older)->build(kernel, task_, {{"N", 1024}}, {});
  ASSERT_TRUE(refused) << refused.error().to_string();
  ASSERT_TRUE(std::holds_alternative<BuildFailure>(*refused));
  EXPECT_EQ(std::get<BuildFailure>(*refused).reason, "twist is launched in clusters: clusters need sm_90, this is sm_80");
}

TEST_P(Cuda, TheGradersOwnCodeIsBuilt) {
  const auto source = base::find_embedded("card/grader.cu");
  ASSERT_TRUE(source.has_value());
  const auto outcome = toolchain_->build(kernel::parse_kernel(*source, "grader.cu").value(), task_, {{"N", 1024}}, {});
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_TRUE(std::holds_alternative<Build>(*outcome)) << std::get<BuildFailure>(*outcome).log;
  for (const char* function : {"count_words", "read_clocks"}) EXPECT_TRUE(std::get<Build>(*outcome).symbols.contains(function)) << function;
}

TEST_P(Cuda, ProductsOfGroupsOfWarpsAreInstructionsThatDoNotWaitForEachOther) {
  const Build build = built(R"(#include "hone/gpu/prim.h"
__global__ void __launch_bounds__(256, 1) twist(const float* x, float* y, int64_t n) {
  __shared__ __align__(128) hone::bf16 left[64 * 32], right[256 * 32];
  for (int i = threadIdx.x; i < 64 * 32; i += 256) left[i] = x[i];
  for (int i = threadIdx.x; i < 256 * 32; i += 256) right[i] = x[n - i];
  hone::prim::async_fence();
  __syncthreads();
  if (threadIdx.x >= 128) {
    hone::prim::registers_down<24>();
    return;
  }
  hone::prim::registers_up<240>();
  hone::prim::GroupProducts products;
  const hone::prim::GroupFactor a(left, 1024, 128), b(right, 4096, 128);
  const auto multiply = [&](auto& sums, int first) {
    products.fence();
    products.multiply(sums, a, b, false);
    products.multiply(sums, a.after(2048), b.after(8192), true);
    products.commit();
    products.wait<0>(sums);
#pragma unroll
    for (int i = 0; i < int(sizeof sums / sizeof sums[0]); ++i) y[(first + i) * 128 + threadIdx.x] = sums[i];
  };
  float whole[128], half[64], quarter[32];
  multiply(whole, 0);
  multiply(half, 128);
  multiply(quarter, 192);
}
)");
  EXPECT_EQ(build.symbols.count("twist"), 1u);
  EXPECT_EQ(build.facts.at("spill_bytes/twist"), 0);
  EXPECT_THAT(build.log, Not(HasSubstr("serialized")));
  if (build.facts.contains("mix/twist/all")) {
    EXPECT_EQ(build.facts.at("mix/twist/HGMMA"), 6);
  }
}

TEST_P(Cuda, SoAreThoseOfFactorsInRegisters) {
  const Build build = built(R"(#include "hone/gpu/prim.h"
__global__ void __launch_bounds__(128, 1) twist(const float* x, float* y, int64_t n) {
  __shared__ __align__(128) float right[64 * 32];
  for (int i = threadIdx.x; i < 64 * 32; i += 128) right[i] = x[n - i];
  hone::prim::async_fence();
  __syncthreads();
  hone::prim::GroupProducts products;
  const hone::prim::GroupFactor b(right, 1024, 128);
  float sums[32];
  uint32_t a[2][4];
#pragma unroll
  for (int step = 0; step < 2; ++step)
#pragma unroll
    for (int i = 0; i < 4; ++i) a[step][i] = __float_as_uint(x[(step * 4 + i) * 128 + threadIdx.x]);
  products.fence();
  products.multiply_from(sums, a[0], b, false);
  products.multiply_from(sums, a[1], b.after(2048), true);
  products.commit();
  products.wait<0>(sums);
#pragma unroll
  for (int i = 0; i < 32; ++i) y[i * 128 + threadIdx.x] = sums[i];
}
)");
  EXPECT_EQ(build.facts.at("spill_bytes/twist"), 0);
  EXPECT_THAT(build.log, Not(HasSubstr("serialized")));
  if (build.facts.contains("mix/twist/all")) {
    EXPECT_EQ(build.facts.at("mix/twist/HGMMA"), 2);
  }
}

TEST_P(Cuda, ASpillingKernelSaysSo) {
  const Build build = built(R"(
extern "C" __global__ void __launch_bounds__(1024) twist(const float* x, float* y, long long n) {
  double a[64];
  #pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = x[i * n];
  #pragma unroll 1
  for (int k = 0; k < n; ++k)
    #pragma unroll
    for (int i = 0; i < 64; ++i) a[i] = a[i] * a[(i + 7) % 64] + k;
  #pragma unroll
  for (int i = 0; i < 64; ++i) y[i * n] = a[i];
}
)");
  EXPECT_THAT(build.symbols, ElementsAre(Pair("twist", "twist")));
  EXPECT_EQ(build.facts.at("registers/twist"), 64);
  EXPECT_GE(build.facts.at("spill_bytes/twist"), 512);
  EXPECT_GE(build.facts.at("stack_bytes/twist"), 256);
  if (build.facts.contains("mix/twist/all")) {
    EXPECT_GE(build.facts.at("mix/twist/STL.64") + build.facts.at("mix/twist/LDL.64"), 32);
  }
}

TEST_P(Cuda, AnErrorNamesTheLineOfTheUsersFile) {
  const BuildFailure failure = refused("\n__global__ void twist(const float* x, float* y, int64_t n) {\n  y[0] = undeclared;\n}\n");
  EXPECT_THAT(failure.reason, HasSubstr("kernel.cu(" + std::to_string(kHeadLines + 3) + "): error"));
  EXPECT_THAT(failure.reason, HasSubstr("undeclared"));
}

TEST_P(Cuda, EntriesAreFoundOrNamed) {
  EXPECT_THAT(refused("__global__ void twists(const float* x, float* y, int64_t n) {}").reason, HasSubstr("the launch of twist has no __global__ function of that name; there is twists"));
  EXPECT_THAT(refused("template <int> __global__ void twist(const float* x, float* y, int64_t n) {}").reason, HasSubstr("the source has none"));
  EXPECT_THAT(refused("__global__ void twist(const float* x, float* y) {}").reason, HasSubstr("twist takes 2 arguments, its launch gives 3"));
  EXPECT_THAT(refused("__global__ void twist(const float* x, int y, int64_t n) {}").reason, HasSubstr("argument 2 of twist has 4 bytes, its launch gives a pointer of 8"));
}

TEST_P(Cuda, WhatTheEmulatorRefusesIsRefused) {
  const BuildFailure assembly = refused("__global__ void twist(const float* x, float* y, int64_t n) { asm(\"\"); }");
  EXPECT_THAT(assembly.reason, HasSubstr("kernel.cu:" + std::to_string(kHeadLines + 1) + ": inline assembly"));
  EXPECT_THAT(refused("#include <stdio.h>\n__global__ void twist(const float* x, float* y, int64_t n) { printf(\"%d\", 3); }").reason, HasSubstr("it calls vprintf"));
}

TEST_P(Cuda, TheCompilerSeesNothingOfTheMachine) {
  for (const char* include : {"/etc/passwd", "/root/.profile"}) {
    const BuildFailure failure = refused("#include \"" + std::string(include) + "\"\n__global__ void twist(const float* x, float* y, int64_t n) {}");
    EXPECT_THAT(failure.log, Not(HasSubstr("root:"))) << failure.log;
    EXPECT_THAT(failure.log, HasSubstr(include));
    EXPECT_THAT(failure.reason, AnyOf(HasSubstr("No such file"), HasSubstr("cannot open source file")));
  }
}

TEST_P(Cuda, AnEndlessTemplateMeetsTheDeadline) {
  const auto outcome = build(R"(
template <int D, long long I> struct Tree { static constexpr long long v = Tree<D - 1, 2 * I>::v + Tree<D - 1, 2 * I + 1>::v; };
template <long long I> struct Tree<0, I> { static constexpr long long v = I; };
__global__ void twist(const float* x, float* y, int64_t n) { y[0] = Tree<40, 1>::v; }
)", std::chrono::seconds(2));
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_TRUE(std::holds_alternative<BuildFailure>(*outcome));
  EXPECT_EQ(std::get<BuildFailure>(*outcome).reason, "the compiler was stopped after 2 s");
}

TEST_P(Cuda, ArchitecturesAreKnownOrRefused) {
  const auto unknown = cuda_toolchain("sm_12");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInput);
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("sm_90"));
  BuildOptions sanitized;
  sanitized.sanitize = true;
  const auto outcome = toolchain_->build(kernel::parse_kernel(kHead + std::string(kTwist), "k.cu").value(), task_, {{"N", 1024}}, sanitized);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kUnavailable);
}

/// Another machine with the same compiler, its cache empty: what ships is not compiled, unless it is damaged, of another release or not
/// wanted.
TEST_P(Cuda, WhatShipsBuiltIsNotCompiled) {
  const auto folder = base::ScratchDirectory::create("pack").value();
  const Variable none("HONE_PACKS", "none"), cache("XDG_CACHE_HOME", (folder.path() / "maker").c_str());
  const auto build_there = [&](const char* machine, const std::filesystem::path& packs) {
    const Variable files("HONE_PACKS", packs.c_str()), there("XDG_CACHE_HOME", (folder.path() / machine).c_str());
    toolchain_ = cuda_toolchain("sm_90a").value();
    return built(kTwist);
  };
  const Build compiled = build_there("maker", "none");
  const std::filesystem::path pack = folder.path() / "k.pack", older = folder.path() / "older.pack", damaged = folder.path() / "damaged.pack";
  const std::string image = base::read_file(compiled.artifact).value();
  for (const std::string& by : {compiled.toolchain, std::string("NVRTC 1.0")}) {
    PackWriter writer;
    ASSERT_TRUE(writer.add({compiled.key, "sm_90a", by, compiled.facts, compiled.log, image}));
    std::string bytes = writer.finish();
    ASSERT_TRUE(base::write_file_atomic(by == compiled.toolchain ? pack : older, bytes));
    bytes[100] = static_cast<char>(~bytes[100]);
    if (by == compiled.toolchain) {
      ASSERT_TRUE(base::write_file_atomic(damaged, bytes));
    }
  }
  const Build shipped = build_there("other", pack);
  EXPECT_EQ(shipped.toolchain, compiled.toolchain + ", shipped");
  EXPECT_EQ(shipped.key, compiled.key);
  EXPECT_EQ(shipped.code, compiled.code);
  EXPECT_EQ(shipped.symbols, compiled.symbols);
  EXPECT_EQ(shipped.facts, compiled.facts);
  EXPECT_EQ(shipped.card_arch, "sm_90a");
  EXPECT_EQ(shipped.wall_ns, 0);
  EXPECT_EQ(base::read_file(shipped.artifact).value(), image);
  // Nor is what was taken from a pack found without it.
  for (const std::filesystem::path& packs : {std::filesystem::path("none"), older, damaged}) {
    const Build again = build_there("other", packs);
    EXPECT_EQ(again.toolchain, compiled.toolchain) << packs;
    EXPECT_GT(again.wall_ns, 0) << packs;
    if (packs != damaged) std::filesystem::remove_all(folder.path() / "other/hone/builds");
  }
  EXPECT_EQ(build_there("other", pack).toolchain, compiled.toolchain) << "what was compiled here comes first";
}

TEST_P(Cuda, WhatOneCompilerHasNoHeadersForTheOtherBuilds) {
  if (toolchain_->name().find("nvcc") == std::string::npos) GTEST_SKIP() << "there is no nvcc";
  const Build build = built("#include <algorithm>\n__global__ void twist(const float* x, float* y, int64_t n) { y[0] = std::max(x[0], x[1]); }");
  EXPECT_THAT(build.toolchain, StartsWith("nvcc"));
}

TEST(CudaAbsent, SaysWhatToInstall) {
  const Variable nvcc("HONE_NVCC", "/nonexistent/nvcc"), nvrtc("HONE_NVRTC", "none");
  const auto toolchain = cuda_toolchain("sm_90a");
  ASSERT_FALSE(toolchain);
  EXPECT_EQ(toolchain.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(toolchain.error().hint, HasSubstr("CUDA toolkit"));
}

}  // namespace
}  // namespace hone::target
