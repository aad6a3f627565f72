// Metrics in, a diagnosis out: each cause found where it was put, predictions within what is possible.
#include "hone/diagnose/rules.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "hone/base/random.h"
#include "hone/diagnose/tunable_role.h"

namespace hone::diagnose::rules_cases {
namespace {

kernel::Header header_with(const std::vector<kernel::Tunable>& tunables, const std::string& pattern = "rows") {
  kernel::Header header;
  header.tunables = tunables;
  header.pattern = pattern;
  return header;
}

const kernel::Header kRows = header_with({{"ROWS", {4, 1, 16, 64}}, {"UNROLL", {4, 2, 1, 8}}, {"AHEAD", {1, 0, 2}}, {"STREAM", {1, 0}}});
const kernel::Config kConfig = {{"ROWS", 4}, {"UNROLL", 4}, {"AHEAD", 1}, {"STREAM", 0}};

Metrics timed(double memory, double hot) {
  Metrics m;
  m.measured("time_ns", 1e6, "");
  m.measured("memory_light", memory, "");
  m.measured("light", memory, "");
  m.measured("hot_share", hot, "");
  m.modelled("balance", 1, "");
  m.modelled("blocks_per_thread", 8, "");
  m.modelled("blocks", 16, "");
  m.modelled("write_share", 0.5, "");
  return m;
}

TEST(Rules, StoresThroughTheCachesWhereACopyIsFasterPastThem) {
  Metrics m = timed(0.6, 0.6);
  m.measured("stream_store_gain", 1.5, "");
  m.modelled("stream_store_share", 0, "");
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}});
  ASSERT_FALSE(d.actions.empty());
  EXPECT_EQ(d.actions[0].to_string(), "STREAM 0 -> 1");
  EXPECT_EQ(d.actions[0].cause, kStores);
  EXPECT_FALSE(d.redesign);
  // The other way round where it stores past them already and that is dearer.
  kernel::Config streams = kConfig;
  streams["STREAM"] = 1;
  Metrics other = timed(0.6, 0.6);
  other.measured("stream_store_gain", 1 / 1.5, "");
  const Diagnosis back = diagnose(other, {kRows, streams, {}});
  ASSERT_FALSE(back.actions.empty());
  EXPECT_EQ(back.actions[0].to_string(), "STREAM 1 -> 0");
}

/// One maximum a row: whatever a copy gained at a moment, the stores cannot.
TEST(Rules, StoresSaveNoMoreThanWhatIsWritten) {
  for (const double gain : {1.175, 1 / 1.175}) {
    Metrics m = timed(0.6, 0.6);
    m.modelled("write_share", 0.002, "");
    m.measured("stream_store_gain", gain, "");
    kernel::Config config = kConfig;
    config["STREAM"] = gain < 1;
    const auto speaks = [&](const kernel::Header& header) {
      const Diagnosis d = diagnose(m, {header, config, {}});
      return std::ranges::any_of(d.actions, [](const Action& a) { return a.cause == kStores; });
    };
    EXPECT_FALSE(speaks(kRows)) << gain;
    m.modelled("write_share", 0.5, "");
    EXPECT_TRUE(speaks(kRows)) << gain;
  }
}

TEST(Rules, WaitingForItsOwnResultsAsksForMoreAccumulators) {
  Metrics m = timed(0.2, 0.98);
  m.modelled("dependency_share", 0.7, "");
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kDependencies);
  ASSERT_FALSE(d.actions.empty());
  EXPECT_EQ(d.actions[0].to_string(), "UNROLL 4 -> 8");
  EXPECT_THAT(d.evidence, ::testing::Contains(::testing::Field(&Metric::name, "dependency_share")));
}

TEST(Rules, AdviceOnAccumulatorsCountsThoseThatThereAre) {
  const kernel::Header plain = header_with({}, "");
  const auto first = [&](double chains, const kernel::Header& header, const kernel::Config& config) {
    Metrics m = timed(0.2, 0.98);
    m.modelled("dependency_share", 0.75, "");
    m.modelled("loop_cycles", 4, "");
    m.modelled("port_cycles", 1, "");
    m.modelled("accumulators", chains, "");
    const Diagnosis d = diagnose(m, {header, config, {}});
    EXPECT_EQ(d.bottleneck, kDependencies);
    for (const Action& action : d.actions)
      if (action.cause == kDependencies) return d.says + " | " + action.to_string();
    return std::string();
  };
  EXPECT_THAT(first(1, plain, {}), ::testing::AllOf(::testing::HasSubstr("it has 1 accumulator |"), ::testing::HasSubstr("more independent accumulators: 4 instead of 1")));
  EXPECT_THAT(first(2, plain, {}), ::testing::HasSubstr("more independent accumulators: 8 instead of 2"));
  EXPECT_THAT(first(8, plain, {}), ::testing::HasSubstr("shorten the chains of dependent instructions: 8 accumulators are enough"));
  EXPECT_THAT(first(0, plain, {}), ::testing::AllOf(::testing::HasSubstr("keeps no accumulator"), ::testing::HasSubstr("hand less from one iteration to the next")));
  // A tunable that unrolls is turned up where it makes accumulators, and not where the compiler left one of four.
  EXPECT_THAT(first(4, kRows, kConfig), ::testing::HasSubstr("UNROLL 4 -> 8"));
  EXPECT_THAT(first(1, kRows, kConfig), ::testing::HasSubstr("more independent accumulators: 4 instead of 1"));
}

TEST(Rules, MathematicsOfTheLibraryThatTakesTheTimeIsNamed) {
  Metrics m = timed(0.05, 0.98);
  // Moves around the call are packed and wide: nothing of them is to blame.
  m.modelled("vector_share", 1, "");
  m.modelled("vector_width", 1, "");
  m.modelled("library_call_share", 0.9, "expf called an element at a time");
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kScalar);
  EXPECT_THAT(d.says, ::testing::HasSubstr("expf called an element at a time"));
  ASSERT_FALSE(d.actions.empty());
  EXPECT_EQ(d.actions[0].name, "call its mathematics on whole vectors, not an element at a time");
  EXPECT_GT(d.actions[0].gain, 2);
  EXPECT_THAT(d.evidence, ::testing::Contains(::testing::Field(&Metric::name, "library_call_share")));
}

TEST(Rules, LinesFetchedAgainAreRedundantReads) {
  Metrics m = timed(0.3, 0.5);
  m.modelled("traffic_ratio", 2.5, "");
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}, {"columns: a line at once"}});
  EXPECT_EQ(d.bottleneck, kRedundant);
  EXPECT_THAT(d.evidence, ::testing::Contains(::testing::Field(&Metric::name, "traffic_ratio")));
  ASSERT_FALSE(d.actions.empty());
  EXPECT_EQ(d.actions[0].to_string(), "pattern columns: a line at once");
  EXPECT_NEAR(d.actions[0].saved, 0.5 * 0.3 * 1.5, 1e-9);
  // Workspaces have a cause of their own, and arithmetic that takes longer than memory hides what is fetched again.
  m.modelled("workspace_ratio", 1.5, "");
  EXPECT_EQ(diagnose(m, {kRows, kConfig, {}}).bottleneck, kPasses);
  Metrics busy = timed(0.3, 0.5);
  busy.modelled("traffic_ratio", 2.5, "");
  busy.modelled("compute_light", 0.4, "");
  EXPECT_NE(diagnose(busy, {kRows, kConfig, {}}).bottleneck, kRedundant);
}

TEST(Rules, LinesThatLeaveTheFirstLevelAreRedundantReadsToo) {
  // A last level that holds all: memory sees each line once, the first level sixteen times, on every third instruction.
  Metrics m = timed(0.05, 0.9);
  m.modelled("traffic_ratio", 1, "");
  m.modelled("l1_traffic_ratio", 16, "");
  m.modelled("l1_misses_per_instruction", 1.0 / 3, "");
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}, {"columns: a line at once"}});
  EXPECT_EQ(d.bottleneck, kRedundant);
  EXPECT_THAT(d.says, ::testing::HasSubstr("16.00 times the least bytes into the first level"));
  // Few instructions that miss, as of a product in tiles, are hidden behind the others.
  Metrics tiles = timed(0.05, 0.9);
  tiles.modelled("l1_traffic_ratio", 16, "");
  tiles.modelled("l1_misses_per_instruction", 0.002, "");
  EXPECT_EQ(diagnose(tiles, {kRows, kConfig, {}}).bottleneck, kInstructions);
  // Lines fetched once cost what they must.
  Metrics once = timed(0.05, 0.9);
  once.modelled("l1_traffic_ratio", 1, "");
  once.modelled("l1_misses_per_instruction", 1.0 / 3, "");
  EXPECT_EQ(diagnose(once, {kRows, kConfig, {}}).bottleneck, kInstructions);
}

TEST(Rules, FewBlocksAreABalanceProblem) {
  Metrics m = timed(0.3, 0.9);
  m.modelled("dependency_share", 0, "");
  m.modelled("balance", 0.5, "");
  m.modelled("blocks_per_thread", 0.5, "");
  m.absent("hot_share", "");
  Metrics without_hot;
  for (const Metric& metric : m.all())
    if (metric.name != "hot_share") without_hot.add(metric);
  const Diagnosis d = diagnose(without_hot, {kRows, kConfig, {}, {"split: partial results"}});
  ASSERT_FALSE(d.actions.empty());
  EXPECT_THAT(d.actions, ::testing::Contains(::testing::AllOf(::testing::Field(&Action::cause, kBalance), ::testing::Field(&Action::name, "ROWS"),
                                                          ::testing::Field(&Action::to, 1))));
}

TEST(Rules, TheOtherKernelsOfTheLibraryForPlainLoops) {
  Metrics m = timed(0.1, 1);
  m.modelled("vector_share", 0, "");
  m.modelled("vector_width", 0, "");
  const kernel::Header plain = header_with({}, "plain");
  const Diagnosis d = diagnose(m, {plain, {}, {}, {"rows: one pass"}});
  EXPECT_EQ(d.bottleneck, kScalar);
  ASSERT_FALSE(d.actions.empty());
  EXPECT_EQ(d.actions[0].kind, Action::Kind::kPattern);
  EXPECT_TRUE(d.redesign);
}

TEST(Rules, DistanceAloneSpeaksForNoKernelOfMoreLaunches) {
  // Somebody's own kernel, far from light, and no metric says why.
  const Metrics m = timed(0.3, 0.3);
  const kernel::Header own = header_with({}, "");
  const auto proposed = [&](const std::vector<std::string>& longer) {
    std::vector<std::string> names;
    for (const Action& action : diagnose(m, {own, {}, {}, {"rows: one pass", "parts: naive, map"}, {}, 1, longer}).actions)
      if (action.kind == Action::Kind::kPattern) names.push_back(action.name);
    return names;
  };
  EXPECT_EQ(proposed({}), (std::vector<std::string>{"rows: one pass", "parts: naive, map"}));
  EXPECT_EQ(proposed({"parts: naive, map"}), std::vector<std::string>{"rows: one pass"});
}

TEST(Rules, AtTheSpeedOfLightNothingIsProposed) {
  const Diagnosis d = diagnose(timed(0.97, 0.9), {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kLight);
  EXPECT_TRUE(d.actions.empty());
  EXPECT_EQ(to_json(d)["verdict"], "leave");
}

TEST(Rules, FarBeyondTheSpeedOfLightTheMeasurementWasNoGood) {
  Metrics m = timed(2.4, 1);
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}});
  EXPECT_EQ(d.bottleneck, kUnknown);
  EXPECT_THAT(d.says, ::testing::HasSubstr("0.42 of the least time"));
  EXPECT_TRUE(d.actions.empty());
  EXPECT_EQ(diagnose(timed(1.1, 1), {kRows, kConfig, {}}).bottleneck, kLight);
}

TEST(Rules, WithoutTimesNothingIsKnown) {
  const Diagnosis d = diagnose({}, {kRows, kConfig, {}, {"rows"}});
  EXPECT_EQ(d.bottleneck, kUnknown);
  EXPECT_TRUE(d.actions.empty());
}

TEST(Rules, NoPredictionBeatsTheSpeedOfLight) {
  base::Rng rng(7);
  const auto any = [&] { return static_cast<double>(rng.below(1001)) / 1000; };
  for (int i = 0; i < 2000; ++i) {
    Metrics m = timed(any(), any());
    for (const char* name :
         {"dependency_share", "spill_share", "vector_share", "vector_width", "balance", "division_share", "gather_share", "call_share"})
      m.modelled(name, any(), "");
    m.measured("stream_store_gain", 0.5 + 1.5 * any(), "");
    m.modelled("workspace_ratio", 3 * any(), "");
    m.modelled("traffic_ratio", 5 * any(), "");
    m.modelled("l1_traffic_ratio", 20 * any(), "");
    m.modelled("l1_misses_per_instruction", any(), "");
    const double share = any();
    const Diagnosis d = diagnose(m, {kRows, kConfig, {}, {"split", "columns"}, {"clang"}, share});
    double last = 1e300;
    for (const Action& action : d.actions) {
      EXPECT_GE(action.gain, 1);
      EXPECT_LE(action.gain, 1.0001 / std::max(*m.get("light"), 0.05));
      EXPECT_LE(action.gain, last);
      last = action.gain;
      if (action.kind == Action::Kind::kTunable) {
        EXPECT_NE(action.from, action.to);
      }
    }
    EXPECT_FALSE(d.bottleneck.empty());
  }
}

TEST(Rules, ADiagnosisSurvivesItsJson) {
  Metrics m = timed(0.2, 0.98);
  m.modelled("dependency_share", 0.7, "waits");
  const Diagnosis d = diagnose(m, {kRows, kConfig, {}, {"split"}, {"clang"}});
  const nlohmann::json value = to_json(d);
  EXPECT_EQ(to_json(diagnosis_from(value)), value);
  EXPECT_EQ(to_json(metrics_from(to_json(m))), to_json(m));
  EXPECT_TRUE(diagnosis_from(nlohmann::json::array()).actions.empty());
  EXPECT_TRUE(metrics_from(nlohmann::json::parse(R"({"a": 1, "b": {"origin": "guessed", "value": 2}})")).all().empty());
}

TEST(Roles, ByNameAndPattern) {
  EXPECT_EQ(role_of("ROWS", "rows"), Role::kGrain);
  EXPECT_EQ(role_of("ROWS", "matmul"), Role::kTile);
  EXPECT_EQ(role_of("UNROLL_2", "composed"), Role::kUnroll);
  EXPECT_EQ(role_of("STREAM1", "composed"), Role::kStream);
  EXPECT_EQ(role_of("MYSTERY", ""), Role::kOther);
}

TEST(Roles, AStepKeepsToTheConstraints) {
  const auto constraint = task::IntExpr::parse("UNROLL * ROWS <= 16");
  ASSERT_TRUE(constraint);
  kernel::Header header = header_with({{"ROWS", {4, 1, 16, 64}}, {"UNROLL", {4, 2, 1, 8}}});
  header.constraints.push_back(*constraint);
  const kernel::Config config = {{"ROWS", 4}, {"UNROLL", 4}};
  EXPECT_EQ(step(header.tunables[0], header, config, {}, -1), 1);
  EXPECT_EQ(step(header.tunables[0], header, config, {}, +1), std::nullopt);
  EXPECT_EQ(step(header.tunables[1], header, config, {}, -1), 2);
}

}  // namespace
}  // namespace hone::diagnose::rules_cases
