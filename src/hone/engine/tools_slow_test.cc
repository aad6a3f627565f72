// Snippets and hot loops with real compilers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/engine/testing/fake_run.h"
#include "hone/engine/tools.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::engine {
namespace {

using testing::must;
using ::testing::HasSubstr;
using nlohmann::json;

SnippetTimes timed(Snippet snippet) {
  const auto toolchain = must(target::local_toolchain());
  return must(time_snippet(*toolchain, snippet));
}

TEST(Microbenchmark, TimesGrowWithTheWork) {
  const char* const divide = "float a = x[0]; for (int64_t i = 0; i < n; ++i) a = x[i] / a; y[0] = a;";
  const SnippetTimes few = timed({divide, "", 256, 2000}), many = timed({divide, "", 4096, 500});
  ASSERT_EQ(few.problem, "") << few.detail;
  ASSERT_EQ(many.problem, "") << many.detail;
  EXPECT_GT(few.batches, 0);
  // A chain of divisions, three nanoseconds or so each: sixteen times as many.
  EXPECT_GT(few.median_ns, 100);
  EXPECT_GT(many.least_ns, 6 * few.least_ns);
  EXPECT_LE(few.least_ns, few.median_ns);
}

TEST(Microbenchmark, CallsAreNotLeftOut) {
  // Nothing reads what it writes, and each call does the same.
  const SnippetTimes times = timed({"for (int64_t i = 0; i < n; ++i) y[i] = x[i] * 2.0f;", "", 1 << 16, 100});
  ASSERT_EQ(times.problem, "") << times.detail;
  EXPECT_GT(times.median_ns, 500) << "256 KiB cannot be written that fast";
}

TEST(Microbenchmark, HelpersAndDeviceHeadersAreThere) {
  const SnippetTimes times = timed({"hone::for_each<hone::f32v, 2>(n, [&](int64_t j, auto k) HONE_BODY {"
                                    "  hone::store_n(y + j, twice(hone::load_n<hone::f32v>(x + j, k)), k); });",
                                    "static inline hone::f32v twice(hone::f32v a) { return a + a; }"});
  EXPECT_EQ(times.problem, "") << times.detail;
}

TEST(Microbenchmark, SaysWhatIsWrong) {
  EXPECT_THAT(timed({"y[0] = undeclared;"}).detail, HasSubstr("undeclared"));
  EXPECT_NE(timed({"((float*)x)[0] = 1;"}).problem, "") << "x cannot be written";
  EXPECT_THAT(timed({"volatile float* p = y; for (;;) p[0] = 1;"}).problem, HasSubstr("did not finish"));
  EXPECT_EQ(timed({"}\n#include \"/etc/passwd\"\nvoid g() {"}).problem, "refused");
  EXPECT_NE(timed({"long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"(39L)); y[0] = r;"}).problem, "") << "it makes a system call";
  const auto toolchain = must(target::local_toolchain());
  EXPECT_FALSE(time_snippet(*toolchain, {"y[0] = 1;", "", kMostSnippetElements + 1, 1}));
  EXPECT_FALSE(time_snippet(*toolchain, {"y[0] = 1;", "", 1, 0}));
  EXPECT_FALSE(time_snippet(*toolchain, {std::string(kMostSnippet + 1, ' '), "", 1, 1}));
}

/// A loop that every compiler turns into vectors.
constexpr const char* kScale = R"(/* hone
language = "c++"
[[launch]]
kernel = "scale"
grid   = ["B"]
args   = ["x", "y", "i64:D"]
*/
void scale(const float* __restrict x, float* __restrict y, int64_t D, int64_t row) {
  for (int64_t j = 0; j < D; ++j) y[row * D + j] = x[row * D + j] * 2.0f + 1.0f;
}
)";

TEST(Disassembly, ShowsTheHotLoop) {
  const task::Task task = must(task::task_from_expressions("y = x * 2 + 1", {"x=f32[B,D]"}, {"B=64,D=1000"}));
  const kernel::Kernel kernel = must(kernel::parse_kernel(kScale, "scale"));
  const auto evaluator = must(evaluate::cpu_evaluator(task, must(target::local_toolchain()), {}));
  json out;
  const Status looked = add_look(Look::kDisassembly, *evaluator, kernel, {}, false, out);
  ASSERT_TRUE(looked) << looked.error().to_string();
  EXPECT_GT(out.at("mix").at("vector").get<int>(), 0);
  EXPECT_THAT(out.at("code").get<std::string>(), HasSubstr("ps "));
  const std::string code = out.at("code");
  const size_t all = out.at("instructions"), lines = static_cast<size_t>(std::count(code.begin(), code.end(), '\n'));
  EXPECT_EQ(lines, std::min(all, kMostInstructions));
  EXPECT_EQ(out.at("left_out").get<size_t>(), all - lines);
  EXPECT_TRUE(out.at("ports").contains("origin"));
  json profile;
  EXPECT_FALSE(add_look(Look::kProfile, *evaluator, kernel, {}, false, profile)) << "nobody can examine";
}

}  // namespace
}  // namespace hone::engine
