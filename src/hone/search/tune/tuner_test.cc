#include "hone/search/tune/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <fmt/format.h>

#include "hone/search/tune/baselines.h"
#include "hone/search/tune/replay.h"
#include "hone/search/tune/testing/spaces.h"

namespace hone::search::tune {
namespace {

using testing::numbers;
using testing::space_of;

Oracle oracle_of(const TuningCache& cache) {
  PointMap<std::optional<double>> known;
  for (size_t n = 0; n < cache.points.size(); ++n) known[cache.points[n]] = cache.measured[n].cost;
  return [known](const Point& point) { return known.at(point); };
}

std::vector<Trace> traces_of(const TuningCache& cache, int evaluations, int repeats, std::span<const Experience> warm = {}, TunerOptions options = {}, int batch = 1) {
  std::vector<Trace> traces;
  for (int r = 0; r < repeats; ++r) {
    Tuner tuner(cache.space(), 100 + static_cast<uint64_t>(r), evaluations, warm, options);
    traces.push_back(replay(tuner, oracle_of(cache), evaluations, batch).costs);
  }
  return traces;
}

Baseline baseline_of(const TuningCache& cache) {
  std::vector<double> costs;
  for (const Measured& m : cache.measured)
    if (m.cost) costs.push_back(*m.cost);
  return Baseline(costs);
}

TEST(TunerTest, finds_the_optimum_of_landscapes_with_constraints_and_failures) {
  int number = 0;
  for (const TuningCache& cache : {testing::tiles(256, 4), testing::tiles(64, 16), testing::switches()}) {
    SCOPED_TRACE(number++);
    const Baseline baseline = baseline_of(cache);
    const auto ours = traces_of(cache, 80, 6);
    std::vector<Trace> random;
    const Space space = cache.space();
    for (int r = 0; r < 6; ++r) {
      const auto searcher = random_search(space, 100 + static_cast<uint64_t>(r));
      random.push_back(replay(*searcher, oracle_of(cache), 80).costs);
    }
    EXPECT_GT(score(baseline, ours, 80), score(baseline, random, 80) + 0.3);
    EXPECT_GT(fraction_of_optimum(baseline, ours, 80), 0.95);
  }
}

TEST(TunerTest, is_a_function_of_its_seed_and_of_what_it_is_told) {
  const TuningCache cache = testing::tiles(256, 4);
  const auto run = [&](uint64_t seed, int batch) {
    Tuner tuner(cache.space(), seed, 60);
    return replay(tuner, oracle_of(cache), 60, batch).points;
  };
  EXPECT_EQ(run(1, 1), run(1, 1));
  EXPECT_EQ(run(1, 4), run(1, 4));
  EXPECT_NE(run(1, 1), run(2, 1));
  EXPECT_NE(run(1, 1), run(1, 4));
}

TEST(TunerTest, asks_for_nothing_twice_and_for_everything_in_the_end) {
  const TuningCache cache = testing::measured(space_of({numbers("a", {1, 2, 3, 4}), numbers("b", {1, 2, 3}), numbers("c", {0, 1})}, {"a != b"}),
                                              [](const std::vector<double>& v) { return std::optional(v[0] + v[1] + v[2]); });
  for (const int batch : {1, 5}) {
    Tuner tuner(cache.space(), 3);
    const Replay all = replay(tuner, oracle_of(cache), 1000, batch);
    EXPECT_EQ(all.points.size(), cache.points.size());
    EXPECT_EQ(PointSet(all.points.begin(), all.points.end()).size(), cache.points.size());
    EXPECT_TRUE(tuner.ask(1).empty());
  }
}

TEST(TunerTest, goes_on_when_everything_fails) {
  const TuningCache cache = testing::measured(testing::tiles(256, 4).space(), [](const std::vector<double>&) { return std::nullopt; });
  Tuner tuner(cache.space(), 3, 50);
  EXPECT_EQ(replay(tuner, oracle_of(cache), 50).points.size(), 50u);
  EXPECT_FALSE(tuner.champion());
}

TEST(TunerTest, takes_odd_costs) {
  Tuner tuner(testing::tiles(256, 4).space(), 3, 50);
  const double odd[] = {0, -1, std::nan(""), INFINITY, 1e300, 1e-300, 5, 5, 5};
  for (int i = 0; i < 40; ++i) {
    const auto asked = tuner.ask(1);
    ASSERT_EQ(asked.size(), 1u);
    tuner.tell(asked.front(), odd[i % 9]);
  }
  EXPECT_TRUE(tuner.champion());
}

TEST(TunerTest, searches_a_space_of_a_million_million_points) {
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}) parameters.push_back(numbers(name, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const Space space = space_of(parameters, {"a + b <= 14", "c * d <= 60"});
  ASSERT_FALSE(space.enumerated());
  const auto cost = [&](const Point& point) {
    double sum = 1;
    for (size_t p = 0; p < 6; ++p) sum += 0.05 * std::pow(point[p] - 4.0, 2);
    return std::optional(sum);
  };
  Tuner tuner(space, 5, 100);
  const Replay ours = replay(tuner, cost, 100);
  const auto random = random_search(space, 5);
  Trace theirs = replay(*random, cost, 101).costs;
  std::nth_element(theirs.begin(), theirs.begin() + 50, theirs.end());
  double best = INFINITY;
  for (const auto& c : ours.costs) best = std::min(best, *c);
  for (const Point& point : ours.points) EXPECT_TRUE(space.allowed(point));
  EXPECT_LT(best, 1 + 0.4 * (*theirs[50] - 1)) << "far below a typical point";
}

TEST(TunerTest, a_batch_does_not_ask_for_one_place_only) {
  const TuningCache cache = testing::tiles(256, 4);
  const Baseline baseline = baseline_of(cache);
  const auto in_batches = traces_of(cache, 80, 6, {}, {}, 8);
  EXPECT_GT(fraction_of_optimum(baseline, in_batches, 80), 0.95);
}

TEST(TunerTest, learns_from_another_device) {
  const TuningCache cache = testing::tiles(256, 4);
  const Baseline baseline = baseline_of(cache);
  const double cold = expected_evaluations(baseline, traces_of(cache, 80, 8), 80);
  // Nearly the same device, and one whose best block is half as large.
  const std::vector<Experience> near{testing::tiles(200, 4).experience()}, related{testing::tiles(128, 4).experience()};
  EXPECT_LT(expected_evaluations(baseline, traces_of(cache, 80, 8, near), 80), 0.3 * cold);
  EXPECT_LT(expected_evaluations(baseline, traces_of(cache, 80, 8, related), 80), cold);
}

TEST(TunerTest, is_not_led_astray_for_long) {
  const TuningCache cache = testing::tiles(256, 4);
  const Baseline baseline = baseline_of(cache);
  // What was good there is bad here.
  Experience wrong = cache.experience();
  for (auto& c : wrong.costs)
    if (c) c = 1 / *c;
  const std::vector<Experience> warm{wrong};
  const double cold = expected_evaluations(baseline, traces_of(cache, 80, 8), 80);
  EXPECT_LT(expected_evaluations(baseline, traces_of(cache, 80, 8, warm), 80), 1.5 * cold + 10);
}

/// What every single change from `at` truly does, times `factor`.
Hint hint_at(const Space& space, const Oracle& oracle, const Point& at, double factor) {
  Hint hint{at, {}};
  for (size_t p = 0; p < at.size(); ++p) {
    auto& adds = hint.adds.emplace_back(space.parameters()[p].values.size());
    for (size_t v = 0; v < adds.size(); ++v) {
      Point other = at;
      other[p] = static_cast<uint16_t>(v);
      if (!space.allowed(other)) continue;
      if (const auto cost = oracle(other)) adds[v] = factor * std::log(*cost / *oracle(at));
    }
  }
  return hint;
}

/// Evaluations until within 5 % of the best; `factor` 0: nobody gives hints.
double evaluations_with_hints(double factor) {
  const TuningCache cache = testing::tiles(256, 4);
  const Space space = cache.space();
  const Oracle oracle = oracle_of(cache);
  double best = 1e300, sum = 0;
  for (const Measured& m : cache.measured)
    if (m.cost) best = std::min(best, *m.cost);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Tuner tuner(cache.space(), seed);
    double least = 1e300;
    int n = 0;
    while (least > 1.05 * best && n < 100) {
      const Point point = tuner.ask(1).at(0);
      const auto cost = oracle(point);
      tuner.tell(point, cost);
      ++n;
      if (!cost || *cost >= least) continue;
      least = *cost;
      if (factor != 0) tuner.hint(hint_at(space, oracle, point, factor));
    }
    sum += n;
  }
  return sum / 10;
}

TEST(TunerTest, hints_help_and_wrong_ones_cost_little) {
  const double without = evaluations_with_hints(0), with = evaluations_with_hints(1), wrong = evaluations_with_hints(-1);
  fmt::print("evaluations to within 5 % of the best: {:.1f}, with true hints {:.1f}, with their opposite {:.1f}\n", without, with, wrong);
  EXPECT_LT(with, 0.7 * without);
  EXPECT_LT(wrong, 2.5 * without);
}

TEST(TunerTest, learns_from_what_it_did_not_ask_for) {
  const TuningCache cache = testing::tiles(256, 4);
  Tuner tuner(cache.space(), 3, 60);
  const Point best = cache.points[static_cast<size_t>(std::min_element(cache.measured.begin(), cache.measured.end(), [](const Measured& a, const Measured& b) {
    return a.cost.value_or(1e9) < b.cost.value_or(1e9);
  }) - cache.measured.begin())];
  tuner.tell(best, oracle_of(cache)(best));
  const Replay rest = replay(tuner, oracle_of(cache), 30);
  EXPECT_THAT(rest.points, ::testing::Not(::testing::Contains(best)));
  EXPECT_EQ(tuner.champion(), best);
}

}  // namespace
}  // namespace hone::search::tune
