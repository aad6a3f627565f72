// Kernels whose traffic is known by arithmetic, in valgrind, with caches of a size that a test can fill.
#include "hone/diagnose/profile/cache_model.h"

#include <gmock/gmock.h>

#include "hone/diagnose/profile/tools.h"
#include "hone/target/cpu.h"

namespace hone::diagnose {
namespace {

constexpr int64_t kRows = 4096, kColumns = 512;
constexpr CacheModelGeometry kCaches{{32 << 10, 8, 64}, {32 << 10, 8, 64}, {1 << 20, 16, 64}};

/// Sums of columns; `body` is a block's work, `blocks` how many columns each takes.
std::string sums(int columns, const std::string& body) {
  return "/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"sums\"\ngrid = [\"C // " + std::to_string(columns) +
         "\"]\nargs = [\"x\", \"y\", \"i64:R\", \"i64:C\"]\n*/\n#include <immintrin.h>\n"
         "void sums(const float* x, float* y, int64_t R, int64_t C, int64_t block) {\n" + body + "}\n";
}
/// A column after the other: each element is on a line that has left the caches when the next column comes.
const std::string kStrided = sums(1, "  float sum = 0;\n  for (int64_t r = 0; r < R; ++r) sum += x[r * C + block];\n  y[block] = sum;\n");
/// A line's columns at once.
const std::string kTiled = sums(16, "  float sum[16] = {};\n  for (int64_t r = 0; r < R; ++r)\n"
                                    "    for (int64_t c = 0; c < 16; ++c) sum[c] += x[r * C + block * 16 + c];\n"
                                    "  for (int64_t c = 0; c < 16; ++c) y[block * 16 + c] = sum[c];\n");
/// The matrix copied to a workspace by one launch and added up by another: 1 read, 1 written, 1 read again.
constexpr const char* kTwice = R"(/* hone
language = "c++"
workspaces = { w = "f32[R, C]" }
[[launch]]
kernel = "copy"
grid = ["R"]
args = ["x", "w", "i64:C"]
[[launch]]
kernel = "sums"
grid = ["C // 16"]
args = ["w", "y", "i64:R", "i64:C"]
*/
void copy(const float* x, float* w, int64_t C, int64_t row) {
  for (int64_t c = 0; c < C; ++c) w[row * C + c] = hone::exp(x[row * C + c]);
}
void sums(const float* w, float* y, int64_t R, int64_t C, int64_t block) {
  float sum[16] = {};
  for (int64_t r = 0; r < R; ++r)
    for (int64_t c = 0; c < 16; ++c) sum[c] += w[r * C + block * 16 + c];
  for (int64_t c = 0; c < 16; ++c) y[block * 16 + c] = sum[c];
}
)";

class CacheModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (first_tool({"valgrind"}).empty()) GTEST_SKIP() << "there is no valgrind";
    auto made = target::local_toolchain();
    ASSERT_TRUE(made) << made.error().to_string();
    toolchain_ = std::move(*made);
  }
  Metrics metrics_of(const std::string& source, int64_t rows = kRows) {
    const auto kernel = kernel::parse_kernel(source, "k.cc");
    const auto task = task::task_from_expressions("y = sum(exp(x), axis=0)", {"x=f32[R,C]"}, {"R=4096,C=512"}).value();
    EXPECT_TRUE(kernel) << kernel.error().to_string();
    evaluate::Conditions times;
    times.workload = "w0";
    times.bindings = {{"R", rows}, {"C", kColumns}};
    times.one_thread_ns = 1e7 * static_cast<double>(rows) / static_cast<double>(kRows);
    Metrics metrics;
    CacheModel model(toolchain_, kCaches);
    const Status done = model.add(*kernel, task, times, target::cpu_limits(target::cpu_info()), metrics);
    EXPECT_TRUE(done) << done.error().to_string();
    return metrics;
  }
  std::shared_ptr<target::Toolchain> toolchain_;
};

TEST_F(CacheModelTest, AStrideThatMissesEachLineAndATileThatDoesNot) {
  const Metrics strided = metrics_of(kStrided), tiled = metrics_of(kTiled);
  for (const char* name : kCacheMetrics) {
    ASSERT_TRUE(strided.get(name)) << name << ": " << strided.find(name)->about;
    EXPECT_EQ(strided.find(name)->origin, Origin::kModelled);
  }
  // 16 floats a line: the least bytes count each once.
  EXPECT_NEAR(strided.get_or("traffic_ratio", 0), 16, 0.1);
  EXPECT_NEAR(strided.get_or("l1_miss_share", 0), 1, 0.02);
  EXPECT_NEAR(strided.get_or("last_level_miss_share", 0), 1, 0.02);
  EXPECT_NEAR(tiled.get_or("traffic_ratio", 0), 1, 0.02);
  EXPECT_NEAR(tiled.get_or("l1_traffic_ratio", 0), 1, 0.02);
  // The loader's 170,000 instructions are not the kernel's: at least a load an element, or a vector of 8.
  EXPECT_GT(strided.get_or("instructions", 0), kRows * kColumns);
  EXPECT_LT(strided.get_or("instructions", 0), 8 * kRows * kColumns);
  EXPECT_GT(tiled.get_or("instructions", 0), kRows * kColumns / 8);
  EXPECT_LT(tiled.get_or("instructions", 0), strided.get_or("instructions", 0));
  // The line of the kernel's own source: five of the header, one of the function, then the loop.
  EXPECT_THAT(strided.find("last_level_miss_share")->about, ::testing::HasSubstr("% of them at kernel.cc:"));
}

TEST_F(CacheModelTest, LongWorkspacesAreTraffic) {
  const Metrics metrics = metrics_of(kTwice);
  ASSERT_TRUE(metrics.get("traffic_ratio")) << metrics.find("traffic_ratio")->about;
  EXPECT_NEAR(metrics.get_or("traffic_ratio", 0), 3, 0.05);
}

TEST_F(CacheModelTest, ASmallerShapeIsNamed) {
  const Metrics metrics = metrics_of(kTiled, int64_t{1} << 19);  // 1 GiB
  ASSERT_TRUE(metrics.get("traffic_ratio")) << metrics.find("traffic_ratio")->about;
  EXPECT_NEAR(metrics.get_or("traffic_ratio", 0), 1, 0.02);
  EXPECT_THAT(metrics.find("instructions")->about, ::testing::HasSubstr("one thread, at the smaller shape C="));
  EXPECT_THAT(metrics.find("traffic_ratio")->about, ::testing::HasSubstr(", C="));
}

TEST_F(CacheModelTest, LongAKernelThatNamesMultiplyAddsGetsThem) {
  if (target::cpu_info().isa != "avx512" && target::cpu_info().isa != "avx2") GTEST_SKIP() << "this CPU has no AVX2";
  const Metrics metrics = metrics_of(sums(8, "  __m256 sum = _mm256_setzero_ps();\n  for (int64_t r = 0; r < R; ++r)\n"
                                             "    sum = _mm256_fmadd_ps(_mm256_loadu_ps(x + r * C + block * 8), _mm256_set1_ps(1), sum);\n"
                                             "  _mm256_storeu_ps(y + block * 8, sum);\n"));
  ASSERT_TRUE(metrics.get("traffic_ratio")) << metrics.find("traffic_ratio")->about;
  EXPECT_NEAR(metrics.get_or("traffic_ratio", 0), 2, 0.05);  // half a line at a time, in a stride
}

TEST_F(CacheModelTest, AbsentWithTheReason) {
  Metrics metrics = metrics_of(sums(1, "  y[block] = (float)_mm512_reduce_add_ps(_mm512_loadu_ps(x)) + R + C;\n"));
  ASSERT_FALSE(metrics.get("traffic_ratio"));
  EXPECT_THAT(metrics.find("traffic_ratio")->about, ::testing::ContainsRegex("does not build with -march=x86-64-v3.*target (specific option|feature)"));
  // A candidate that dies in there.
  metrics = metrics_of(sums(1, "  y[block] = x[(R + C) << 40];\n"));
  ASSERT_FALSE(metrics.get("traffic_ratio"));
  EXPECT_THAT(metrics.find("traffic_ratio")->about, ::testing::HasSubstr("valgrind killed by SIGSEGV"));
}

}  // namespace
}  // namespace hone::diagnose
