// Runs that diagnose: what is logged, what the search makes of it, and that a replay decides alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/engine/changes.h"
#include "hone/engine/testing/fake_run.h"

namespace hone::engine {
namespace {

using nlohmann::json;
using testing::Bench;
using testing::must;

/// Promises a fifth from the next value of A, and says so of every kernel.
Result<Examined> promising(evaluate::Evaluator&, const kernel::Kernel& kernel, bool) {
  Examined out;
  out.workload = "w0";
  out.profiles.push_back({"w0", {}, 1, {}});
  out.profiles[0].metrics.measured("light", 0.25, "");
  out.diagnosis.bottleneck = diagnose::kBalance;
  const auto& values = kernel.header.tunables[0].values;
  for (const int64_t value : values) {
    diagnose::Action action;
    action.kind = diagnose::Action::Kind::kTunable;
    action.name = "A", action.from = kernel.config.at("A"), action.to = value;
    action.gain = 1.2;
    action.cause = diagnose::kBalance;
    if (value != action.from) out.diagnosis.actions.push_back(action);
  }
  return out;
}

RunOptions evaluations(int budget) {
  RunOptions options;
  options.budget_seconds = 0;
  options.budget_evaluations = budget;
  return options;
}

Result<RunResult> start(Bench& bench, const RunOptions& options, decltype(Services::examine) examine = promising) {
  archive::Store store = bench.open();
  Services services = bench.services(store);
  services.examine = std::move(examine);
  return start_run(bench.task, options, services);
}

/// A kernel for cards, with tunables whose roles have names.
search::Seed seed_for_cards() {
  const std::string source = R"(/* hone
language = "cuda"
tunables = { A = [1, 2], VEC = [1, 2, 4], THREADS = [64, 128, 256], UNROLL = [1, 2, 4] }
[[launch]]
kernel = "f"
grid = ["1"]
block = ["THREADS"]
args = ["x", "y"]
*/
)";
  search::Seed seed{must(kernel::parse_kernel(source, "fake")), "rows", "look"};
  seed.kernel.author = "pattern:rows";
  return seed;
}

TEST(AdvisorTest, OnCardsWhatChangesDidElsewhereIsExpectedHere) {
  Bench bench;
  bench.own_seeds = {seed_for_cards()};
  constexpr const char* kCard = "NVIDIA H200, sm_90a, 132 multiprocessors, driver 580.1";
  const auto services_for = [&](archive::Store& store, const char* target) {
    Services services = bench.services(store);
    services.examine = promising;
    services.target = target;
    services.device = kCard;
    return services;
  };
  RunOptions options = evaluations(12);
  {
    archive::Store store = bench.open();
    must(start_run(bench.task, options, services_for(store, "cuda:0")));
    const auto diagnosed = bench.events("diagnosed");
    ASSERT_FALSE(diagnosed.empty());
    std::set<std::string> told;
    for (const json& effect : diagnosed[0].at("effects")) {
      EXPECT_GT(effect.at("gain"), 0);
      told.insert(effect.at("tunable"));
    }
    EXPECT_THAT(told, ::testing::ElementsAre("THREADS", "UNROLL", "VEC")) << "A's role has no name";
    EXPECT_EQ(must(replay_run(bench.info(), bench.task, services_for(store, "cuda:0"))).champion, bench.info().champion);
    // What that run saw adds to it, for others than itself.
    const size_t shipped = must(known_changes(nullptr, "cuda:0", kCard, "")).size();
    EXPECT_GT(shipped, 1000U);
    EXPECT_GT(must(known_changes(&store, "cuda:1", kCard, "")).size(), shipped);
    EXPECT_EQ(must(known_changes(&store, "cuda:0", kCard, bench.run_id)).size(), shipped);
  }
  bench.run_id = "bbbbbbbbbbbb";
  archive::Store store = bench.open();
  must(start_run(bench.task, options, services_for(store, "cpu")));
  EXPECT_TRUE(bench.events("diagnosed").at(0).at("effects").empty()) << "rules go on there";
}

TEST(AdvisorTest, PredictionsAreLoggedAndHeldAgainstWhatCame) {
  Bench bench;
  const RunResult result = must(start(bench, evaluations(14)));
  const auto diagnosed = bench.events("diagnosed");
  ASSERT_GE(diagnosed.size(), 2U);
  EXPECT_EQ(diagnosed.back().at("kernel"), result.champion);
  EXPECT_EQ(diagnosed[0].at("diagnosis").at("bottleneck"), "balance");
  EXPECT_EQ(diagnosed[0].at("metrics").at("light").at("origin"), "measured");
  std::map<std::string, double> scores;
  json rows = json::array();
  for (const json& event : bench.events("screened")) {
    scores[event.at("kernel")] = event.at("score");
    if (!event.contains("predicted")) continue;
    EXPECT_EQ(event.at("cause"), "balance");
    EXPECT_DOUBLE_EQ(event.at("predicted"), 1.2);
    rows.push_back({{"action", event.at("action")},
                    {"cause", "balance"},
                    {"predicted", 1.2},
                    {"gained", event.at("score").get<double>() / scores.at(event.at("parent"))}});
  }
  ASSERT_FALSE(rows.empty());
  const json predictions = json::parse(result.summary_json).at("predictions");
  EXPECT_EQ(predictions.at("tried"), rows.size());
  EXPECT_EQ(predictions.at("rows"), rows);
  int held = 0;
  for (const json& row : rows) held += row.at("gained").get<double>() - 1 >= 0.2 / 3;
  EXPECT_EQ(predictions.at("held"), held);
}

TEST(AdvisorTest, WhereverALogEndsTheRunGoesOnAsItWould) {
  Bench whole;
  must(start(whole, evaluations(12)));
  const auto events = whole.events();
  for (size_t kept = 1; kept < events.size(); ++kept) {
    SCOPED_TRACE(kept);
    Bench other;
    archive::RunInfo info = whole.info();
    info.status = "running";
    archive::Store store = other.open();
    must(store.create_run(info));
    for (size_t i = 0; i < kept; ++i) must(store.append_event(info.id, static_cast<int64_t>(i), events[i].kind, events[i].json));
    Services services = other.services(store);
    services.examine = promising;
    must(resume_run(must(store.run(info.id)), other.task, services));
    const auto again = must(store.events(info.id));
    ASSERT_EQ(again.size(), events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(again[i].kind, events[i].kind);
      json a = json::parse(again[i].json), b = json::parse(events[i].json);
      EXPECT_EQ(a.value("kernel", ""), b.value("kernel", "")) << i;
      EXPECT_EQ(a.value("predicted", 0.0), b.value("predicted", 0.0)) << i;
    }
  }
}

TEST(AdvisorTest, ADiagnosisThatFailsStopsNothing) {
  Bench bench;
  const RunResult result = must(
      start(bench, evaluations(8), [](auto&, const auto&, bool) -> Result<Examined> { return fail(ErrorCode::kInternal, "no luck"); }));
  EXPECT_EQ(bench.events("screened").size(), 8U);
  ASSERT_FALSE(bench.events("diagnosed").empty());
  EXPECT_EQ(bench.events("diagnosed")[0].at("problem"), "no luck");
  EXPECT_TRUE(bench.events("diagnosed")[0].at("diagnosis").is_null());
  EXPECT_FALSE(json::parse(result.summary_json).contains("predictions"));
}

TEST(AdvisorTest, WithoutOneThereAreNoDiagnoses) {
  Bench bench;
  RunOptions options = evaluations(8);
  options.diagnose = false;
  must(start(bench, options));
  EXPECT_TRUE(bench.events("diagnosed").empty());
  Bench nobody;
  must(start(nobody, evaluations(8), nullptr));
  EXPECT_TRUE(nobody.events("diagnosed").empty());
}

TEST(AdvisorTest, OptionsOfOldRunsSayNothingOfDiagnoses) {
  EXPECT_FALSE(must(RunOptions::from_json(R"({"strategy":"beam"})")).diagnose);
  EXPECT_TRUE(must(RunOptions::from_json(RunOptions().to_json())).diagnose);
}

}  // namespace
}  // namespace hone::engine
