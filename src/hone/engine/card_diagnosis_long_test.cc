// Measures tasks completely on a card: the library's kernels with every configuration (of many values the default and the
// extremes), in pairs of tasks that are siblings, and the metrics of some, a space in one run of Nsight Compute. Prints how often
// first actions held. With $HONE_MEASURED=FILE it writes down all of it (testing/measured_tasks.h), for measured_tasks_slow_test, which
// simulates searches on it. Skips where there is no card, or where counters may not be read.
// $HONE_DIAGNOSIS_TASKS: how many of the tasks (default: all); $HONE_DIAGNOSIS_POINTS: most configurations of a space;
// $HONE_DIAGNOSIS_SOURCES: most sources of a task.
#include <algorithm>
#include <chrono>
#include <thread>

#include "hone/engine/workbench.h"
#include "hone/engine/testing/measured_tasks.h"
#include "hone/evaluate/parallel.h"
#include "hone/target/card.h"
#include "hone/target/cpu.h"

namespace hone::engine {
namespace {

using testing::Config, testing::Entry, testing::Kernel, testing::must, testing::setting, testing::Space, testing::Trial;

struct Case {
  const char* compute;
  std::vector<std::string> inputs;
  const char* workload;
  int profiled;   ///< sources whose kernels Nsight Compute looks at
};
/// Each is followed by its sibling: another norm, another shape, the next operation of a kind.
const Case kCases[] = {
    {"y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=8192,D=2048", 2},
    {"y = log_softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=4096,D=3072", 0},
    {"y = x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5)", {"x=f32[B, D]"}, "B=16384,D=1024", 2},
    {"y = layer_norm(x, axis=-1)", {"x=f32[B, D]"}, "B=8192,D=1536", 0},
    {"y = sum(x, axis=0)", {"x=f32[B, D]"}, "B=4096,D=4096", 2},
    {"y = mean(x, axis=0)", {"x=f32[B, D]"}, "B=8192,D=3072", 0},
    {"c = matmul(a, b)", {"a=f32[M, K]", "b=f32[K, N]"}, "M=2048,N=2048,K=2048", 1},
    {"c = gelu(matmul(a, b) + d)", {"a=f32[M, K]", "b=f32[K, N]", "d=f32[N]"}, "M=1536,N=3072,K=1024", 0},
    {"y = max_pool2d(x, 3, stride=2, padding=1)", {"x=f32[N, C, H, W]"}, "N=16,C=64,H=128,W=128", 1},
    {"y = max_pool2d(x, 3, stride=2, padding=1)", {"x=f32[N, C, H, W]"}, "N=32,C=96,H=64,W=96", 0},
    {"y = cumsum(x, axis=-1)", {"x=f32[B, D]"}, "B=2048,D=8192", 1},
    {"y = cumsum(x, axis=-1)", {"x=f32[B, D]"}, "B=512,D=24576", 0},
};

/// The kernels of one task, nothing measured yet.
struct Plan {
  testing::MeasuredTask measured;
  task::Task task;
  std::vector<std::vector<Kernel>> kernels;   ///< of each space
};

Plan plan_of(const Case& c, const kernel::Limits& limits) {
  Plan plan{{c.compute, c.workload, c.inputs, limits, {}}, {}, {}};
  plan.task = plan.measured.task();
  const auto most = static_cast<size_t>(setting("HONE_DIAGNOSIS_POINTS", 48));
  const auto sources = static_cast<size_t>(setting("HONE_DIAGNOSIS_SOURCES", 6));
  for (const search::Seed& seed : library_seeds(plan.task, {kernel::Language::kCuda}, {})) {
    Space space{plan.task.name, seed.kernel, limits, {}, seed.pattern, seed.action};
    if (const auto fits = kernel::applies(seed.kernel, plan.task.workloads.front().bindings, limits); !fits || !*fits) continue;
    testing::thin_out(space.kernel.header, most);
    std::vector<Config> all;
    Config config = space.kernel.config;
    testing::configurations(space.kernel.header, limits, 0, config, all);
    if (std::find(all.begin(), all.end(), space.kernel.config) == all.end()) continue;
    std::vector<Kernel>& kernels = plan.kernels.emplace_back();
    for (const Config& point : all) {
      kernels.push_back(space.kernel);
      kernels.back().config = point;
    }
    plan.measured.spaces.push_back(std::move(space));
    if (plan.kernels.size() == sources) break;
  }
  return plan;
}

void measure(Plan& plan, evaluate::Evaluator& evaluator, diagnose::CardCounters& counters, int profiled) {
  must(evaluator.set_yardstick(plan.measured.spaces.front().kernel));
  for (size_t s = 0; s < plan.kernels.size(); ++s) {
    std::vector<diagnose::CardCase> cases;
    std::vector<Entry*> accepted;
    for (const Kernel& kernel : plan.kernels[s]) {
      Entry& entry = plan.measured.spaces[s].entries[kernel.config];
      const auto screening = must(evaluator.screen(kernel));
      entry.accepted = screening.verdict.accepted();
      if (!entry.accepted) continue;
      entry.score = screening.score;
      cases.push_back({kernel, &plan.task, plan.task.workloads.front().bindings});
      accepted.push_back(&entry);
    }
    if (static_cast<int>(s) >= profiled || cases.empty()) continue;
    const auto metrics = must(diagnose::profile_counted(counters, cases));
    for (size_t i = 0; i < accepted.size(); ++i) accepted[i]->metrics = metrics[i];
  }
}

TEST(CardDiagnosisLongTest, FirstActionsHold) {
  const auto cards = target::cards("cuda");
  if (!cards || cards->empty()) GTEST_SKIP() << (cards ? "there is no card" : cards.error().message);
  const std::shared_ptr<target::Card> card = must(target::Card::open("cuda:0"));
  const std::shared_ptr<target::Toolchain> toolchain = must(target::cuda_toolchain(card->info().arch));
  const kernel::Limits limits = target::card_limits(card->info());
  diagnose::CardCounters counters(card->info(), toolchain);
  const size_t count = std::min<size_t>(std::size(kCases), static_cast<size_t>(std::max(1, setting("HONE_DIAGNOSIS_TASKS", static_cast<int>(std::size(kCases))))));
  std::vector<Plan> plans;
  for (size_t i = 0; i < count; ++i) plans.push_back(plan_of(kCases[i], limits));
  // Builds go on beside measuring: they need cores, not the card.
  const std::jthread builder([&] {
    for (const Plan& plan : plans)
      for (const auto& kernels : plan.kernels)
        evaluate::parallel_for(static_cast<int64_t>(kernels.size()), std::max(1, target::cpu_info().threads - 2), [&](int64_t k) {
          (void)toolchain->build(kernels[static_cast<size_t>(k)], plan.task, plan.task.workloads.front().bindings, {});
        });
  });
  testing::Measured all{card->info().name, toolchain->name(), {}};
  std::vector<Trial> tunables;
  std::vector<Space> profiled;
  for (size_t i = 0; i < count; ++i) {
    Plan& plan = plans[i];
    evaluate::EvaluatorOptions options;
    options.repetitions = 7;
    const auto from = std::chrono::steady_clock::now();
    const auto evaluator = must(evaluate::card_evaluator(plan.task, toolchain, card, options));
    measure(plan, *evaluator, counters, kCases[i].profiled);
    size_t kernels = 0;
    double best = 0;
    for (const Space& space : plan.measured.spaces) {
      kernels += space.entries.size(), best = std::max(best, space.best());
      if (&space - plan.measured.spaces.data() < kCases[i].profiled) profiled.push_back(space);
    }
    fmt::print("{} on {}: {} sources, {} kernels, the best {:.2f}x the default; {:.1f} s\n", plan.task.name, kCases[i].workload, plan.kernels.size(), kernels, best,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    std::fflush(stdout);
    all.tasks.push_back(plan.measured);
    if (const char* const path = std::getenv("HONE_MEASURED"); path && *path) must(base::write_file_atomic(path, base::gzip(testing::to_json(all).dump())));
  }
  for (const Space& space : profiled) testing::try_tunables(space, tunables);
  EXPECT_GT(testing::print_held(tunables, "configurations"), 0.5);
}

}  // namespace
}  // namespace hone::engine
