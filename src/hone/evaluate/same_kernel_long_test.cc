// A kernel against itself under another name, through the real evaluator: fresh processes, interleaved,
// with the other core kept busy. What is called FASTER or SLOWER here is called wrongly.
//   HONE_AA_TRIALS=20 build/hone_evaluate_long_test --gtest_filter='SameKernel.*'      some of the 200
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "hone/evaluate/evaluator.h"

namespace hone::evaluate {
namespace {

constexpr const char* kSoftmax = R"(/* hone
language = "c++"
[[launch]]
kernel = "rows"
grid   = ["B"]
args   = ["x", "y", "i64:D"]
*/
void rows(const float* x, float* y, int64_t D, int64_t row) {
  x += row * D, y += row * D;
  float most = x[0];
  for (int64_t j = 1; j < D; ++j) most = hone::max(most, x[j]);
  double sum = 0;
  for (int64_t j = 0; j < D; ++j) sum += y[j] = hone::exp(x[j] - most);
  const float scale = (float)(1 / sum);
  for (int64_t j = 0; j < D; ++j) y[j] *= scale;
}
)";

/// Keeps the last CPU that we may run on busy while it lives. Runners of one thread take the first.
class Load {
 public:
  Load() : thread_([this] { run(); }) {}
  ~Load() {
    stop_ = true;
    thread_.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  void run() {
    cpu_set_t allowed, last;
    CPU_ZERO(&last);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu)
      if (CPU_ISSET(cpu, &allowed)) {
        CPU_SET(cpu, &last);
        break;
      }
    pthread_setaffinity_np(pthread_self(), sizeof last, &last);
    // Moves memory too: a neighbour takes bandwidth as well as cycles.
    std::vector<uint64_t> area(1 << 20);
    uint64_t sum = 0;
    while (!stop_)
      for (size_t i = 0; i < area.size(); i += 8) sum += area[i]++;
    sink_ = sum;
  }
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> sink_ = 0;
  std::thread thread_;
};

TEST(SameKernel, IsRarelyCalledFasterOrSlowerThanItself) {
  constexpr int kFewest = 40;  // pairs that give a false call its chance
  const char* wanted = std::getenv("HONE_AA_TRIALS");
  const int trials = wanted ? std::max(1, std::atoi(wanted)) : 200;
  const task::Task task =
      task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, {"B=256,D=1024"}).value();
  const kernel::Kernel kernel = kernel::parse_kernel(kSoftmax, "one.cc").value();
  Opponent itself;
  itself.name = "itself";
  itself.kernel = kernel::parse_kernel(kSoftmax, "other.cc").value();
  EvaluatorOptions options;
  options.threads = 1;
  options.sampling_seconds = 7;
  const auto evaluator = cpu_evaluator(task, target::cpp_toolchain().value(), options).value();
  const Load load;
  int faster = 0, slower = 0, pairs = 0, short_ones = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto promotion = evaluator->promote(kernel, {itself});
    ASSERT_TRUE(promotion) << promotion.error().to_string();
    ASSERT_TRUE(promotion->verdict.accepted()) << promotion->verdict.reason;
    const OpponentResult& result = promotion->workloads.at(0).opponents.at(0);
    faster += result.comparison == Comparison::kFaster;
    slower += result.comparison == Comparison::kSlower;
    pairs += result.pairs;
    short_ones += result.pairs < kFewest && result.stopped == "time";
    fmt::print("{:>3}: {:<12} {:.4f} [{:.4f}, {:.4f}] {:>3} pairs, {:>3} processes, {}\n", trial + 1,
               name_of(result.comparison), result.ratio.median, result.ratio.low, result.ratio.high, result.pairs,
               result.processes, result.stopped);
    std::fflush(stdout);
  }
  fmt::print("{} trials: {} FASTER, {} SLOWER ({:.1f} %); {:.0f} pairs in the mean, {} trials with fewer than {}\n", trials,
             faster, slower, 100.0 * (faster + slower) / trials, static_cast<double>(pairs) / trials, short_ones, kFewest);
  EXPECT_LE(faster + slower, std::max(1, trials / 50));
  EXPECT_LE(short_ones, trials / 10) << "too slow a machine to give false calls their chance";
}

}  // namespace
}  // namespace hone::evaluate
