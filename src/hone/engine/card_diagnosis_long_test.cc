// What diagnoses are worth on a card, printed whatever it is: spaces of the library's kernels are measured completely and
// profiled, a space in one run of Nsight Compute; searches on them are simulated with true metrics, with metrics shuffled
// between kernels, and with none. Skips where there is no card, or where counters may not be read.
// $HONE_DIAGNOSIS_TASKS: how many of the tasks (default: all); $HONE_DIAGNOSIS_POINTS: most configurations of a space.
#include <algorithm>

#include "hone/engine/examine.h"
#include "hone/engine/testing/diagnosis_space.h"
#include "hone/evaluate/parallel.h"
#include "hone/target/card.h"
#include "hone/target/cpu.h"

namespace hone::engine {
namespace {

using testing::Config, testing::Entry, testing::Kernel, testing::must, testing::setting, testing::Space, testing::Trial;

struct Case {
  const char *compute, *input, *workload;
};
constexpr Case kCases[] = {
    {"y = softmax(x, axis=-1)", "x=f32[B, D]", "B=8192,D=2048"},
    {"y = sum(x, axis=0)", "x=f32[B, D]", "B=4096,D=4096"},
    {"y = x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5)", "x=f32[B, D]", "B=16384,D=1024"},
    {"y = gelu(x)", "x=f32[N]", "N=16777216"},
};

Space measure(evaluate::Evaluator& evaluator, diagnose::CardCounters& counters, const task::Task& task, Kernel kernel, const kernel::Limits& limits) {
  Space space{task.name, std::move(kernel), limits, {}};
  const auto most = static_cast<size_t>(setting("HONE_DIAGNOSIS_POINTS", 90));
  testing::thin_out(space.kernel.header, most);
  std::vector<Config> all;
  Config config = space.kernel.config;
  testing::configurations(space.kernel.header, limits, 0, config, all);
  const auto at = [&](const Config& point) {
    Kernel one = space.kernel;
    one.config = point;
    return one;
  };
  evaluate::parallel_for(static_cast<int64_t>(all.size()), target::cpu_info().threads,
                         [&](int64_t i) { (void)evaluator.build(at(all[static_cast<size_t>(i)])); });
  must(evaluator.set_yardstick(space.kernel));
  std::vector<diagnose::CardCase> cases;
  std::vector<Entry*> accepted;
  for (const Config& point : all) {
    Entry& entry = space.entries[point];
    const auto screening = must(evaluator.screen(at(point)));
    entry.accepted = screening.verdict.accepted();
    if (!entry.accepted) continue;
    entry.score = screening.score;
    cases.push_back({at(point), &task, task.workloads.front().bindings});
    accepted.push_back(&entry);
  }
  const auto metrics = must(diagnose::profile_counted(counters, cases));
  for (size_t i = 0; i < accepted.size(); ++i) accepted[i]->metrics = metrics[i];
  return space;
}

TEST(CardDiagnosisLongTest, MetricsAreWorthHaving) {
  const auto cards = target::cards();
  if (!cards || cards->empty()) GTEST_SKIP() << (cards ? "there is no card" : cards.error().message);
  const std::shared_ptr<target::Card> card = must(target::Card::open(0));
  const std::shared_ptr<target::Toolchain> toolchain = must(target::cuda_toolchain(card->info().arch));
  const kernel::Limits limits = target::card_limits(card->info());
  diagnose::CardCounters counters(card->info(), toolchain);
  std::vector<Trial> tunables;
  std::vector<Space> spaces;
  const size_t count = std::min<size_t>(std::size(kCases), static_cast<size_t>(std::max(1, setting("HONE_DIAGNOSIS_TASKS", static_cast<int>(std::size(kCases))))));
  for (size_t i = 0; i < count; ++i) {
    task::Task task = must(task::task_from_expressions(kCases[i].compute, {kCases[i].input}, {kCases[i].workload}));
    task.name = kCases[i].compute;
    evaluate::EvaluatorOptions options;
    options.repetitions = 7;
    const auto evaluator = must(evaluate::card_evaluator(task, toolchain, card, options));
    const Alternatives alternatives = card_alternatives(task);
    ASSERT_FALSE(alternatives.seeds.empty()) << task.name;
    spaces.push_back(measure(*evaluator, counters, task, alternatives.seeds.front().kernel, limits));
    for (const auto& [config, entry] : spaces.back().entries)
      if (entry.accepted && !entry.metrics.get("dram_share")) GTEST_SKIP() << entry.metrics.find("dram_share")->about;
    testing::try_tunables(spaces.back(), tunables);
    fmt::print("{}: {} configurations, the best {:.2f}x the default\n", task.name, spaces.back().entries.size(), spaces.back().best());
    std::fflush(stdout);
  }
  for (const Trial& t : tunables)
    fmt::print("  {:40} {:28} {:24} predicted {:.2f}x  gained {:.2f}x\n", t.kernel, t.action, t.cause, t.predicted, t.gained);
  (void)testing::print_held(tunables, "configurations");
  const testing::Worth worth = testing::print_worth(spaces);
  RecordProperty("evaluations", fmt::format("{:.2f} {:.2f} {:.2f}", worth.total[0], worth.total[1], worth.total[2]));
  EXPECT_GT(worth.more - worth.interval, 0) << "shuffled metrics cost no evaluations";
}

}  // namespace
}  // namespace hone::engine
