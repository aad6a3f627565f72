// What metrics and memory are worth, by searches simulated on tasks that were measured completely on a card (data/sm_90a; made by
// card_diagnosis_long_test): no device, no noise, the same figures everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hone/engine/testing/measured_tasks.h"

namespace hone::engine {
namespace {

using testing::Measured, testing::MeasuredTask, testing::Space, testing::Trial;

const Measured& measured() {
  static const Measured all = testing::measured_from(std::string(HONE_SOURCE_DIR) + "/data/sm_90a/changes.json.gz");
  return all;
}

/// Those whose metrics are known.
std::vector<Space> measured_spaces() {
  std::vector<Space> spaces;
  for (const MeasuredTask& task : measured().tasks)
    for (const Space& space : task.spaces)
      if (std::any_of(space.entries.begin(), space.entries.end(), [](const auto& e) { return !e.second.metrics.all().empty(); })) {
        spaces.push_back(space);
        spaces.back().task = task.compute;
        spaces.back().name = fmt::format("{} ({})", task.compute.substr(0, 24), space.pattern);
      }
  return spaces;
}

/// What variants of a kernel and counting instructions tell as well (docs/diagnosis.md), and what its code and plan do.
std::vector<Space> without_counters(std::vector<Space> spaces) {
  const std::set<std::string, std::less<>> known = {"light", "memory_light", "compute_light", "time_ns", "sm_active_share", "lane_share", "load_sectors", "store_sectors",
                                                    "load_use_share", "store_use_share", "excess_sector_share", "l1_read_ratio", "shared_conflict_share"};
  for (Space& space : spaces)
    for (auto& [config, entry] : space.entries) {
      diagnose::Metrics left;
      for (const diagnose::Metric& metric : entry.metrics.all())
        if (metric.origin == diagnose::Origin::kModelled || known.contains(metric.name)) left.add(metric);
      entry.metrics = std::move(left);
    }
  return spaces;
}

TEST(LongMeasuredTasksTest, ShuffledMetricsCostEvaluations) {
  const std::vector<Space> spaces = measured_spaces();
  std::vector<Trial> tunables;
  for (const Space& space : spaces) testing::try_tunables(space, tunables);
  (void)testing::print_held(tunables, "configurations");
  const testing::Worth worth = testing::print_worth(spaces, true);
  EXPECT_GT(worth.more - worth.interval, 0) << "shuffled metrics cost no evaluations";
}

/// The same where no counters may be read: what is known without them.
TEST(LongMeasuredTasksTest, WithoutCountersTheyCostSomeToo) {
  const testing::Worth worth = testing::print_worth(without_counters(measured_spaces()), true);
  EXPECT_GT(worth.more - worth.interval, 0) << "shuffled metrics cost no evaluations";
}

constexpr int kBudget = 40;

RunOptions asked(uint64_t seed, bool memory, uint64_t shuffle) {
  RunOptions options;
  options.seed = seed;
  options.budget_seconds = 0;
  options.budget_evaluations = kBudget;
  options.memory = memory;
  options.shuffle_memory = shuffle;
  options.diagnose = false;
  return options;
}

/// A run's times in the order of its evaluations; 0 for one that was refused.
struct Course {
  std::vector<double> ns;
  double champion = 0;

  /// Evaluations until one is within 95 % of `best`; one more than there were where none is.
  [[nodiscard]] int until(double best) const {
    for (size_t n = 0; n < ns.size(); ++n)
      if (ns[n] > 0 && 0.95 * ns[n] <= best) return static_cast<int>(n) + 1;
    return static_cast<int>(ns.size()) + 1;
  }
};

Course course_in(testing::Bench& bench, const MeasuredTask& task, const RunOptions& options) {
  const RunResult result = testing::must(bench.start(options));
  const auto times = testing::times_of(task);
  Course course;
  for (const auto& event : bench.events("screened")) course.ns.push_back(times.at(event.at("kernel")));
  course.champion = times.at(result.champion);
  return course;
}

/// `first`, where it is given, leaves its archive to this run.
Course course_of(const MeasuredTask& task, const RunOptions& options, uint64_t scramble, testing::Bench& bench, const testing::Bench* first = nullptr) {
  testing::set_up(bench, task, scramble);
  if (first) {
    bench.run_id = "bbbbbbbbbbbb";
    std::filesystem::copy_file(first->archive, bench.archive);
  }
  return course_in(bench, task, options);
}

/// Evaluations to within 95 % of the champion of the run that knew nothing, summed over runs.
struct Spent {
  int first = 0, second = 0, second_shuffled = 0, alone = 0, sibling = 0, sibling_shuffled = 0;
};

Spent spent_on(const MeasuredTask& task, const MeasuredTask& kin, bool scrambled, int runs) {
  Spent spent;
  for (uint64_t run = 1; run <= static_cast<uint64_t>(runs); ++run) {
    const uint64_t order = scrambled ? run : 0, kin_order = scrambled ? run + 100 : 0;
    testing::Bench first, alone;
    const Course cold = course_of(task, asked(run, true, 0), order, first), kin_cold = course_of(kin, asked(run + 100, false, 0), kin_order, alone);
    spent.first += cold.until(cold.champion), spent.alone += kin_cold.until(kin_cold.champion);
    for (const uint64_t shuffle : {uint64_t{0}, run}) {
      testing::Bench second, sibling;
      (shuffle ? spent.second_shuffled : spent.second) += course_of(task, asked(run + 100, true, shuffle), order, second, &first).until(cold.champion);
      (shuffle ? spent.sibling_shuffled : spent.sibling) += course_of(kin, asked(run + 100, true, shuffle), kin_order, sibling, &first).until(kin_cold.champion);
    }
  }
  return spent;
}

/// Over the evaluations of runs that know nothing, geometric means over the tasks that take those more than two: a run that
/// remembers looks at the default and at what it remembers.
struct Saved {
  double second = 0, second_shuffled = 0, sibling = 0, sibling_shuffled = 0;
};

Saved print_saved(bool scrambled, int runs) {
  const auto& tasks = measured().tasks;
  double logs[4] = {};
  int counts[2] = {};
  fmt::print("\nevaluations to 95 % of the champion of a run that knows nothing, from {}, means of {} runs: first, second, shuffled | sibling alone, sibling, shuffled\n",
             scrambled ? "any order and defaults" : "the library's order and defaults", runs);
  for (size_t t = 0; t + 1 < tasks.size(); t += 2)
    for (const size_t from : {t, t + 1}) {
      const MeasuredTask &task = tasks[from], &kin = tasks[from == t ? t + 1 : t];
      const Spent s = spent_on(task, kin, scrambled, runs);
      const auto mean = [runs](int sum) { return static_cast<double>(sum) / runs; };
      fmt::print("  {:24} {:5.1f} {:5.1f} {:5.1f} | {:24} {:5.1f} {:5.1f} {:5.1f}\n", task.compute.substr(0, 24), mean(s.first), mean(s.second), mean(s.second_shuffled),
                 kin.compute.substr(0, 24), mean(s.alone), mean(s.sibling), mean(s.sibling_shuffled));
      const auto add = [&](int which, int base, int with, int shuffled) {
        if (base <= 2 * runs) return;
        logs[2 * which] += std::log(static_cast<double>(with) / base), logs[2 * which + 1] += std::log(static_cast<double>(shuffled) / base);
        ++counts[which];
      };
      add(0, s.first, s.second, s.second_shuffled), add(1, s.alone, s.sibling, s.sibling_shuffled);
    }
  for (int i = 0; i < 4; ++i) logs[i] = std::exp(logs[i] / counts[i / 2]);
  fmt::print("  over those of the run that knows nothing, geometric means of {} and {} tasks: second run {:.2f}, shuffled {:.2f}; sibling {:.2f}, shuffled {:.2f}\n",
             counts[0], counts[1], logs[0], logs[1], logs[2], logs[3]);
  return {logs[0], logs[1], logs[2], logs[3]};
}

void expect_saved(int runs) {
  const Saved saved = print_saved(true, runs);
  EXPECT_LE(saved.second, 0.4);
  EXPECT_LE(saved.sibling, 0.4);
  EXPECT_GT(saved.second_shuffled, 0.4);
  EXPECT_GT(saved.sibling_shuffled, 0.4);
}

/// Mean evaluations to within 95 % of a task's best from the library's order and defaults, geometric mean over tasks that begin
/// further away; `chosen`: whether searches are told that the defaults are good ones.
double evaluations_from_defaults(bool chosen, int runs) {
  double logs = 0;
  int count = 0;
  for (const MeasuredTask& task : measured().tasks) {
    double best = 0;
    for (const auto& [hash, ns] : testing::times_of(task))
      if (ns > 0 && (best == 0 || ns < best)) best = ns;
    int sum = 0;
    for (uint64_t run = 1; run <= static_cast<uint64_t>(runs); ++run) {
      testing::Bench bench;
      testing::set_up(bench, task, 0);
      for (search::Seed& seed : bench.own_seeds) seed.chosen = chosen;
      sum += course_in(bench, task, asked(run, false, 0)).until(best);
    }
    fmt::print("  {:24} {:4.1f}\n", task.compute.substr(0, 24), static_cast<double>(sum) / runs);
    if (sum > runs) logs += std::log(static_cast<double>(sum) / runs), ++count;
  }
  const double mean = std::exp(logs / count);
  fmt::print("  {}: {:.1f} evaluations, geometric mean of the {} that do not begin there\n", chosen ? "as patterns' are" : "as anybody's", mean, count);
  return mean;
}

TEST(LongMeasuredTasksTest, APatternsOwnChoiceIsAGoodPlaceToBegin) {
  EXPECT_LT(evaluations_from_defaults(true, 6), 0.8 * evaluations_from_defaults(false, 6));
}

TEST(LongMeasuredTasksTest, MemorySavesEvaluationsAndMuddledLessonsDoNot) { expect_saved(10); }

TEST(LongMeasuredTasksTest, MemorySavesEvaluationsBeyondGoodDefaults) {
  const Saved saved = print_saved(false, 10);
  EXPECT_LT(saved.second, 0.7);
  EXPECT_LT(saved.sibling, 0.7);
  EXPECT_GT(saved.second_shuffled, 0.7);
  EXPECT_GT(saved.sibling_shuffled, 0.7);
}

}  // namespace
}  // namespace hone::engine
