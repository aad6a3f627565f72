// Whole spaces, measured with a real compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hone/base/file.h"
#include "hone/engine/sweep.h"
#include "hone/engine/testing/fake_run.h"

namespace hone::engine::sweep_slow_cases {
namespace {

using search::tune::Invalidity;
using search::tune::Measured;
using search::tune::TuningCache;
using testing::must;

constexpr const char* kTask = R"(
name = "scaled"
inputs = { x = "f32[N]" }
outputs = { y = "f32[N]" }
compute = "y = 3 * x"
workloads = [{ name = "one", N = 65536 }]
)";
/// Wrong where it multiplies by four.
constexpr const char* kKernel = R"hone(/* hone
language = "c++"
tunables = { FACTOR = [3, 4], PART = [1024, 4096] }
[[launch]]
kernel = "scale"
grid   = ["ceil_div(N, PART)"]
args   = ["x", "y", "i64:N"]
*/
void scale(const float* x, float* y, int64_t N, int64_t block) {
  const int64_t end = hone::min<int64_t>((block + 1) * PART, N);
  for (int64_t i = block * PART; i < end; ++i) y[i] = FACTOR * x[i];
}
)hone";

SweepResult swept(SweepOptions options, const std::optional<TuningCache>& known = {}) {
  options.threads = 1;
  const task::Task task = must(task::parse_task(kTask, "scaled.toml"));
  return must(sweep(must(kernel::parse_kernel(kKernel, "scaled.cc")), "scaled", task, must(target::local_toolchain()), options, known));
}

std::vector<size_t> timings(const TuningCache& cache) {
  std::vector<size_t> counts;
  for (const Measured& m : cache.measured)
    if (m.cost) counts.push_back(m.times.size());
  return counts;
}

TEST(Sweep, TimesComeInRoundsOverAllThatWorks) {
  SweepOptions options;
  options.timings = 7, options.rounds = 3;
  std::vector<int> rounds;
  options.progress = [&](const SweepProgress& p) { rounds.push_back(p.round); };
  const SweepResult result = swept(options);
  EXPECT_EQ(result.total, 4u);
  EXPECT_EQ(result.rounds, 3);
  EXPECT_THAT(timings(result.cache), ::testing::ElementsAre(7, 7));
  // Those that are wrong are asked once.
  EXPECT_THAT(rounds, ::testing::ElementsAre(1, 1, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(result.first_refusal, ::testing::HasSubstr("wrong"));
  EXPECT_EQ(std::count_if(result.cache.measured.begin(), result.cache.measured.end(), [](const Measured& m) { return m.invalidity == Invalidity::kCorrectness; }), 2);
}

TEST(Sweep, GoesOnWithTheRoundThatItWasIn) {
  SweepOptions options;
  options.timings = 4, options.rounds = 2;
  int measured = 0;
  options.progress = [&](const SweepProgress&) { ++measured; };
  options.interrupted = [&] { return measured >= 5; };
  const SweepResult first = swept(options);
  EXPECT_EQ(first.rounds, 1);
  EXPECT_THAT(timings(first.cache), ::testing::UnorderedElementsAre(4, 2));
  options.interrupted = {};
  const SweepResult second = swept(options, first.cache);
  EXPECT_EQ(second.rounds, 2);
  EXPECT_EQ(measured, 6) << "one lacked its second round";
  EXPECT_THAT(timings(second.cache), ::testing::ElementsAre(4, 4));
  EXPECT_EQ(second.cache.keys, first.cache.keys);
}

/// Kernels that users are shown compile and are right; that a helper of ours got another signature, they would find out.
void expect_examples_work(int settings) {
  int examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/examples/tuning")) {
    if (entry.path().extension() != ".cc") continue;
    SCOPED_TRACE(entry.path().filename());
    const std::string task_file = std::filesystem::path(entry.path()).replace_extension(".toml");
    const task::Task task = must(task::parse_task(must(base::read_file(task_file)), task_file));
    const kernel::Kernel kernel = must(kernel::parse_kernel(must(base::read_file(entry.path())), entry.path()));
    SweepOptions options;
    options.threads = 1, options.timings = 1, options.rounds = 1;
    int measured = 0;
    options.progress = [&](const SweepProgress&) { ++measured; };
    options.interrupted = [&] { return measured >= settings; };
    const SweepResult result = must(sweep(kernel, "example", task, must(target::local_toolchain()), options));
    EXPECT_EQ(result.first_refusal, "");
    EXPECT_EQ(timings(result.cache).size(), result.cache.points.size());
    ++examples;
  }
  EXPECT_EQ(examples, 5);
}
TEST(Sweep, ExamplesWork) { expect_examples_work(1); }
TEST(LongSweep, ExamplesWork) { expect_examples_work(3); }

}  // namespace
}  // namespace hone::engine::sweep_slow_cases
