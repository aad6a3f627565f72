// What diagnoses are worth on this machine, printed whatever it is: how often the first action gains at least a third of
// what was predicted, and how many evaluations a search needs with true metrics, with metrics shuffled between kernels,
// and with none. Spaces of tunables are measured once, completely; searches on them are simulated over many seeds.
// $HONE_DIAGNOSIS_TASKS: how many of the tasks (default: all); $HONE_DIAGNOSIS_POINTS: most configurations of a space.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/diagnose/rules.h"
#include "hone/engine/examine.h"
#include "hone/pattern/library.h"
#include "hone/search/advice.h"
#include "hone/search/strategy.h"
#include "hone/target/cpu.h"

namespace hone::engine {
namespace {

using diagnose::Action;
using kernel::Config;
using kernel::Kernel;

struct Case {
  const char *name, *inputs, *outputs, *compute, *workload;
};
/// Every C++ pattern of one loop nest, with much and little to compute, f32 and bf16.
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
};

struct Entry {
  bool accepted = false;
  double score = 0;
  diagnose::Metrics metrics;
};
struct Space {
  std::string name;
  Kernel kernel;
  kernel::Limits limits;
  std::map<Config, Entry> entries;
  [[nodiscard]] double best() const {
    double most = 0;
    for (const auto& [config, entry] : entries) most = std::max(most, entry.score);
    return most;
  }
};
/// A first action and what came of it.
struct Trial {
  std::string kernel, action, cause;
  double predicted, gained;
};

int setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text && *text ? std::atoi(text) : otherwise;
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().to_string();
    throw std::runtime_error(result.error().to_string());
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

task::Task task_of(const Case& c) {
  return must(
      task::parse_task(fmt::format("name = \"{}\"\ninputs = {{ {} }}\noutputs = {{ {} }}\ncompute = \"{}\"\nworkloads = [ {{ {} }} ]\n",
                                   c.name, c.inputs, c.outputs, c.compute, c.workload),
                       c.name));
}

/// At most three values of each tunable, then two, until the space is small enough.
void thin_out(kernel::Header& header, size_t most) {
  const auto size = [&] {
    return std::accumulate(header.tunables.begin(), header.tunables.end(), size_t{1},
                           [](size_t n, const auto& t) { return n * t.values.size(); });
  };
  for (size_t values = 3; values >= 2 && size() > most; --values)
    for (auto tunable = header.tunables.rbegin(); tunable != header.tunables.rend() && size() > most; ++tunable)
      if (tunable->values.size() > values) tunable->values.resize(values);
}

void configurations(const kernel::Header& header, const kernel::Limits& limits, size_t tunable, Config& config, std::vector<Config>& all) {
  if (tunable == header.tunables.size()) {
    if (const auto fine = kernel::allowed(header, config, limits); fine && *fine) all.push_back(config);
    return;
  }
  for (const int64_t value : header.tunables[tunable].values) {
    config[header.tunables[tunable].name] = value;
    configurations(header, limits, tunable + 1, config, all);
  }
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
  thin_out(space.kernel.header, static_cast<size_t>(setting("HONE_DIAGNOSIS_POINTS", 36)));
  std::vector<Config> all;
  Config config = space.kernel.config;
  configurations(space.kernel.header, limits, 0, config, all);
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

/// The first actions of every configuration: what they gained is in the space.
void try_tunables(const Space& space, std::vector<Trial>& trials) {
  for (const auto& [config, entry] : space.entries) {
    if (!entry.accepted) continue;
    for (const Action& action : diagnose::diagnose(entry.metrics, {space.kernel.header, config, space.limits}).actions) {
      if (action.kind != Action::Kind::kTunable) continue;
      Config other = config;
      other[action.name] = action.to;
      const auto found = space.entries.find(other);
      if (found == space.entries.end()) continue;
      trials.push_back({space.name + ", tunables", action.to_string(), action.cause, action.gain,
                        found->second.accepted ? found->second.score / entry.score : 0});
      break;
    }
  }
}

enum class Mode : uint8_t { kTrue, kShuffled, kNone };

/// Evaluations until a configuration within 3 % of the space's best is found, from a random one on.
int evaluations(const Space& space, const std::vector<const diagnose::Metrics*>& everybody, Mode mode, uint64_t seed) {
  base::Rng rng(seed);
  std::vector<Config> accepted;
  for (const auto& [config, entry] : space.entries)
    if (entry.accepted) accepted.push_back(config);
  Kernel start = space.kernel;
  start.config = accepted[rng.below(accepted.size())];
  std::map<std::string, Config> by_hash;
  const auto strategy = search::make_strategy(search::StrategyKind::kTune, {{start, "rows", "start"}}, space.limits, seed);
  const double wanted = space.best() / 1.03;
  for (int n = 1; n <= static_cast<int>(space.entries.size()); ++n) {
    if (const std::string hash = strategy->wants_diagnosis(); !hash.empty()) {
      const Config& config = by_hash.at(hash);
      const diagnose::Metrics& metrics = mode == Mode::kShuffled ? *everybody[rng.below(everybody.size())]
                                                                 : space.entries.at(config).metrics;
      strategy->advise(hash, mode == Mode::kNone ? std::vector<Action>()
                                                 : diagnose::diagnose(metrics, {space.kernel.header, config, space.limits}).actions);
    }
    const auto batch = strategy->next(1);
    if (batch.empty()) break;
    const Entry& entry = space.entries.at(batch[0].kernel.config);
    by_hash[batch[0].kernel.hash()] = batch[0].kernel.config;
    strategy->observe(batch[0], {entry.accepted, entry.score});
    if (entry.score >= wanted) return n;
  }
  return static_cast<int>(space.entries.size());
}

/// Prints a table of shares by a key; gives the share of all.
double print_held(const std::vector<Trial>& trials, const char* title) {
  std::map<std::string, std::pair<int, int>> by_cause;
  int all = 0;
  for (const Trial& t : trials) {
    auto& [tried, kept] = by_cause[t.cause];
    const bool good = search::held(t.predicted, t.gained);
    ++tried, kept += good, all += good;
  }
  const double share = trials.empty() ? 0 : static_cast<double>(all) / static_cast<double>(trials.size());
  fmt::print("\n{}: {} of {} first actions gained at least a third of what was predicted ({:.0f} %)\n", title, all, trials.size(),
             100 * share);
  for (const auto& [cause, counts] : by_cause) fmt::print("  {:24} {:3} of {:3}\n", cause, counts.second, counts.first);
  return share;
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
    const Alternatives alternatives = cpu_alternatives(task, *tools);
    ASSERT_FALSE(alternatives.seeds.empty()) << task.name;
    try_library(*evaluator, task, alternatives, limits, library);
    spaces.push_back(measure(*evaluator, task, alternatives, limits));
    try_tunables(spaces.back(), tunables);
    fmt::print("{}: {} configurations, the best {:.2f}x the default\n", task.name, spaces.back().entries.size(), spaces.back().best());
    std::fflush(stdout);
  }
  for (const auto* trials : {&library, &tunables})
    for (const Trial& t : *trials)
      fmt::print("  {:40} {:28} {:24} predicted {:.2f}x  gained {:.2f}x\n", t.kernel, t.action, t.cause, t.predicted, t.gained);
  const double kernels_share = print_held(library, "kernels of the library"), tunables_share = print_held(tunables, "configurations");

  std::vector<const diagnose::Metrics*> everybody;
  for (const Space& space : spaces)
    for (const auto& [config, entry] : space.entries)
      if (entry.accepted) everybody.push_back(&entry.metrics);
  constexpr int kSeeds = 60;
  double total[3] = {}, difference = 0, squares = 0;
  int pairs = 0;
  fmt::print("\nevaluations to within 3 % of the best (mean of {} seeds): true metrics, shuffled, none\n", kSeeds);
  for (const Space& space : spaces) {
    double mean[3] = {};
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      int n[3];
      for (const Mode mode : {Mode::kTrue, Mode::kShuffled, Mode::kNone}) {
        n[static_cast<int>(mode)] = evaluations(space, everybody, mode, seed);
        mean[static_cast<int>(mode)] += static_cast<double>(n[static_cast<int>(mode)]) / kSeeds;
      }
      difference += n[1] - n[0], squares += (n[1] - n[0]) * (n[1] - n[0]), ++pairs;
    }
    for (int m = 0; m < 3; ++m) total[m] += mean[m] / static_cast<double>(spaces.size());
    fmt::print("  {:16} {:6.1f} {:6.1f} {:6.1f}\n", space.name, mean[0], mean[1], mean[2]);
  }
  const double mean = difference / pairs, error = std::sqrt((squares / pairs - mean * mean) / pairs);
  fmt::print("  {:16} {:6.1f} {:6.1f} {:6.1f}; shuffled - true {:.2f} +- {:.2f}\n", "all", total[0], total[1], total[2], mean,
             1.96 * error);
  RecordProperty("held_library", fmt::format("{:.3f}", kernels_share));
  RecordProperty("held_tunables", fmt::format("{:.3f}", tunables_share));
  RecordProperty("evaluations", fmt::format("{:.2f} {:.2f} {:.2f}", total[0], total[1], total[2]));
  EXPECT_GT(kernels_share, 0.5);
  EXPECT_GT(mean - 1.96 * error, 0) << "shuffled metrics cost no evaluations";
}

}  // namespace
}  // namespace hone::engine
