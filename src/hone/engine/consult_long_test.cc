// Models that take ten seconds an answer: the device goes on working meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hone/engine/testing/model_run.h"

namespace hone::engine {
namespace {

using agent::Request;
using testing::answer_text;
using testing::kernel_text;
using testing::ModelBench;
using testing::says;

TEST(Consult, the_device_does_not_wait_for_slow_models) {
  ModelBench bench;
  bench.config.calls_at_once = 4;
  bench.config.limits.calls = 24;
  bench.options.budget_evaluations = 44;
  bench.sources = 2;
  std::atomic<int64_t> busy_ns{0};
  const auto now = [] { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  int64_t first = 0, last = 0;
  bench.work = [&] {
    const int64_t before = now();
    if (first == 0) first = before;
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    last = now();
    busy_ns += last - before;
  };
  bench.add("m", [&](const Request&, int n) {
    // Each better than the last: a search that gains nothing for long waits for its models, by its own choice.
    return says(answer_text(kernel_text(fmt::format("time {}", 100000 - 4000 * n), "tunables = { A = [1, 2, 4, 8], B = [1, 2, 3, 4] }\n")));
  });
  bench.clients[0]->takes = std::chrono::seconds(10);
  (void)bench.run();
  EXPECT_EQ(bench.clients[0]->most_at_once(), 4);
  const double idle = 1 - static_cast<double>(busy_ns) / static_cast<double>(last - first);
  fmt::print("idle {:.2f} % with four calls in flight\n", 100 * idle);
  EXPECT_TRUE(bench.events("waited").empty()) << "there was always something to look at";
  EXPECT_TRUE(bench.events("stalled").empty()) << "and it never stopped gaining";
  EXPECT_LT(idle, 0.05);
}

}  // namespace
}  // namespace hone::engine
