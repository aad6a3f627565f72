// What diagnoses are worth on this machine, printed whatever it is: how often the first action gains at least a third of
// what was predicted, and how many evaluations a search needs with true metrics, with metrics shuffled between kernels,
// and with none. Spaces of tunables are measured once, completely; searches on them are simulated over many seeds.
// $HONE_DIAGNOSIS_TASKS: how many of the tasks (default: all); $HONE_DIAGNOSIS_POINTS: most configurations of a space.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/engine/workbench.h"
#include "hone/engine/testing/diagnosis_space.h"
#include "hone/pattern/library.h"
#include "hone/target/cpu.h"

namespace hone::engine::diagnosis_long_cases {
namespace {

using testing::Action, testing::Config, testing::Kernel, testing::Space, testing::Entry, testing::Trial, testing::must, testing::setting;

struct Case {
  const char *name, *inputs, *outputs, *compute, *workload;
};
/// Every C++ pattern of one loop nest, with much and little to compute, f32 and bf16; and a product.
constexpr Case kCases[] = {
    {"softmax", "x = \"f32[B, D]\"", "y = \"f32[B, D]\"", "y = softmax(x, axis=-1)", "B = 2048, D = 2048"},
    {"gelu", "x = \"f32[N]\"", "y = \"f32[N]\"", "y = gelu(x)", "N = 4194304"},
    {"row sum", "x = \"f32[B, D]\"", "y = \"f32[B]\"", "y = sum(x, axis=-1)", "B = 4096, D = 2048"},
    {"add", "x = \"f32[N]\", z = \"f32[N]\"", "y = \"f32[N]\"", "y = x + z", "N = 4194304"},
    {"column mean", "x = \"f32[B, D]\"", "y = \"f32[D]\"", "y = mean(x, axis=0)", "B = 2048, D = 2048"},
    {"total", "x = \"f32[N]\"", "y = \"f32[]\"", "y = sum(x)", "N = 8388608"},
    {"rms norm", "x = \"bf16[B, D]\", w = \"bf16[D]\"", "y = \"bf16[B, D]\"",
     "y = x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5) * w", "B = 2048, D = 2048"},
    {"layer norm", "x = \"f32[B, D]\"", "y = \"f32[B, D]\"",
     "y = (x - mean(x, axis=-1, keepdims=true)) * rsqrt(var(x, axis=-1, keepdims=true) + 1e-5)", "B = 2048, D = 1024"},
    {"product", "a = \"f32[M, K]\", b = \"f32[K, N]\"", "c = \"f32[M, N]\"", "c = matmul(a, b)", "M = 512, N = 512, K = 512"},
};

task::Task task_of(const Case& c) {
  return must(
      task::parse_task(fmt::format("name = \"{}\"\ninputs = {{ {} }}\noutputs = {{ {} }}\ncompute = \"{}\"\nworkloads = [ {{ {} }} ]\n",
                                   c.name, c.inputs, c.outputs, c.compute, c.workload),
                       c.name));
}

/// Plain loops and the library's kernels with their defaults: the first action that hone can take, taken and measured.
void try_library(evaluate::Evaluator& evaluator, const task::Task& task, const Alternatives& alternatives, const kernel::Limits& limits,
                 std::vector<Trial>& trials) {
  std::vector<std::pair<std::string, Kernel>> kernels = {{"naive", pattern::naive_cpp(task)}};
  for (const search::Seed& seed : alternatives.seeds) kernels.emplace_back(name_of(seed), seed.kernel);
  for (const auto& [name, kernel] : kernels) {
    if (!must(evaluator.screen(kernel)).verdict.accepted()) continue;
    const Examined examined = must(examine(evaluator, kernel, task, limits, alternatives, true));
    for (const Action& action : examined.diagnosis.actions) {
      const auto next = take(action, kernel, alternatives);
      if (!next) continue;
      must(evaluator.set_yardstick(kernel));
      const auto after = must(evaluator.screen(*next));
      trials.push_back(
          {task.name + ", " + name, action.to_string(), action.cause, action.gain, after.verdict.accepted() ? after.score : 0});
      break;
    }
  }
}

Space measure(evaluate::Evaluator& evaluator, const task::Task& task, const Alternatives& alternatives, const kernel::Limits& limits) {
  Space space{task.name, alternatives.seeds.front().kernel, limits, {}};
  testing::thin_out(space.kernel.header, static_cast<size_t>(setting("HONE_DIAGNOSIS_POINTS", 36)));
  std::vector<Config> all;
  Config config = space.kernel.config;
  testing::configurations(space.kernel.header, limits, 0, config, all);
  must(evaluator.set_yardstick(space.kernel));
  for (const Config& point : all) {
    Kernel kernel = space.kernel;
    kernel.config = point;
    Entry& entry = space.entries[point];
    const auto screening = must(evaluator.screen(kernel));
    entry.accepted = screening.verdict.accepted();
    if (!entry.accepted) continue;
    entry.score = screening.score;
    const Examined examined = must(examine(evaluator, kernel, task, limits, {}, false));
    if (examined.verdict.accepted()) entry.metrics = examined.profiles.front().metrics;
  }
  return space;
}

TEST(DiagnosisLongTest, FirstActionsGainAndMetricsAreWorthHaving) {
  auto toolchain = target::local_toolchain();
  if (!toolchain) GTEST_SKIP() << toolchain.error().message;
  const std::shared_ptr<target::Toolchain> tools = std::move(*toolchain);
  const kernel::Limits limits = target::cpu_limits(target::cpu_info());
  std::vector<Trial> library, tunables;
  std::vector<Space> spaces;
  const size_t count = std::min<size_t>(
      std::size(kCases), static_cast<size_t>(std::max(1, setting("HONE_DIAGNOSIS_TASKS", static_cast<int>(std::size(kCases))))));
  for (size_t i = 0; i < count; ++i) {
    const task::Task task = task_of(kCases[i]);
    evaluate::EvaluatorOptions options;
    options.repetitions = 7;
    const auto evaluator = must(evaluate::cpu_evaluator(task, tools, options));
    const Alternatives alternatives{library_seeds(task, {kernel::Language::kCpp}, {}), tools->other_compilers()};
    ASSERT_FALSE(alternatives.seeds.empty()) << task.name;
    try_library(*evaluator, task, alternatives, limits, library);
    spaces.push_back(measure(*evaluator, task, alternatives, limits));
    testing::try_tunables(spaces.back(), tunables);
    fmt::print("{}: {} configurations, the best {:.2f}x the default\n", task.name, spaces.back().entries.size(), spaces.back().best());
    std::fflush(stdout);
  }
  for (const auto* trials : {&library, &tunables})
    for (const Trial& t : *trials)
      fmt::print("  {:40} {:28} {:24} predicted {:.2f}x  gained {:.2f}x\n", t.kernel, t.action, t.cause, t.predicted, t.gained);
  const double kernels_share = testing::print_held(library, "kernels of the library"), tunables_share = testing::print_held(tunables, "configurations");

  const testing::Worth worth = testing::print_worth(spaces);
  RecordProperty("held_library", fmt::format("{:.3f}", kernels_share));
  RecordProperty("held_tunables", fmt::format("{:.3f}", tunables_share));
  RecordProperty("evaluations", fmt::format("{:.2f} {:.2f} {:.2f}", worth.total[0], worth.total[1], worth.total[2]));
  EXPECT_GT(kernels_share, 0.5);
  EXPECT_GT(worth.more - worth.interval, 0) << "shuffled metrics cost no evaluations";
}

}  // namespace
}  // namespace hone::engine::diagnosis_long_cases
