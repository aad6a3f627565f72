// How fast the emulator is: inner loops of a tiled matmul, every access to shared memory looked at.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/file.h"
#include "hone/evaluate/loader.h"
#include "hone/evaluate/verify/inputs.h"

namespace hone::evaluate {
namespace {

constexpr int64_t kSize = 256;
/// Of the inner loop, per step: two loads, two conversions, a multiply-add, and the loop's own.
constexpr double kInstructions = 6;

TEST(SimtSpeed, TwentyMillionThreadInstructionsASecond) {
  auto made = target::simt_toolchain();
  if (!made) GTEST_SKIP() << made.error().to_string();
  const auto kernel = kernel::parse_kernel(base::read_file(HONE_SOURCE_DIR "/test/simt/matmul.cu").value(), "matmul.cu").value();
  const auto task = task::task_from_expressions("y = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=256,K=256,N=256"}).value();
  Loader loader(task, std::shared_ptr<target::Toolchain>(std::move(*made)), 1);
  StageOptions options;
  options.contents = 1;
  const auto stage = Stage::create(task, task.workloads[0].bindings, options).value();
  stage->draw(0, Family::kNormal, 1);
  const Loaded loaded = loader.load(kernel, *stage).value();
  ASSERT_TRUE(loaded.session) << loaded.verdict.reason;
  const int slots[] = {0};
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    stage->poison(slots);
    const target::Call calls[] = {stage->call(0)};
    const auto outcome = loaded.session->run(calls, std::chrono::seconds(60));
    ASSERT_EQ(outcome.how, target::BatchOutcome::How::kDone) << outcome.why;
    best = std::max(best, kInstructions * kSize * kSize * kSize / (static_cast<double>(outcome.wall_ns) * 1e-9));
  }
  EXPECT_TRUE(stage->check(0).accepted());
  fmt::print("{:.0f} million thread-instructions a second\n", best * 1e-6);
  EXPECT_GE(best, 20e6);
}

}  // namespace
}  // namespace hone::evaluate
