// A run with a fake evaluator: what it finds, how it ends, how it is interrupted and resumed, what it
// refuses to resume. Kills are in run_kill_test.cc.
#include "hone/engine/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "hone/engine/testing/fake_run.h"

namespace hone::engine::run_cases {
namespace {

using nlohmann::json;
using search::StrategyKind;
using testing::Bench;
using testing::fake_seed;
using testing::kAllowedOfASource;
using testing::must;
using testing::Truth;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr StrategyKind kStrategies[] = {StrategyKind::kBeam, StrategyKind::kGreedy, StrategyKind::kTune};

RunOptions evaluations(int budget, StrategyKind strategy = StrategyKind::kBeam, uint64_t seed = 1) {
  RunOptions options;
  options.strategy = strategy;
  options.seed = seed;
  options.budget_seconds = 0;
  options.budget_evaluations = budget;
  return options;
}

std::vector<std::string> screened(const Bench& bench) {
  std::vector<std::string> all;
  for (const json& event : bench.events("screened")) all.push_back(event.at("kernel"));
  return all;
}

/// The fastest of the kernels with these hashes.
std::string fastest(const Bench& bench, const std::vector<std::string>& hashes) {
  std::string best;
  double best_ns = 0;
  for (const kernel::Kernel& kernel : bench.all_kernels()) {
    const std::string hash = kernel.hash();
    if (std::find(hashes.begin(), hashes.end(), hash) == hashes.end() || !bench.truth.right(kernel)) continue;
    if (const double ns = bench.truth.time_ns(kernel); best.empty() || ns < best_ns) best = hash, best_ns = ns;
  }
  return best;
}

std::vector<std::string> all_hashes(const Bench& bench) {
  std::vector<std::string> all;
  for (const kernel::Kernel& kernel : bench.all_kernels()) all.push_back(kernel.hash());
  return all;
}

TEST(RunTest, ends_with_the_best_of_what_it_evaluated) {
  for (const StrategyKind strategy : kStrategies)
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(fmt::format("{} {}", search::name_of(strategy), seed));
      Bench bench;
      bench.truth = {seed, 0.3, 0.5};
      bench.sources = 4;
      const RunResult result = must(bench.start(evaluations(17, strategy, seed)));
      const std::vector<std::string> seen = screened(bench);
      EXPECT_LE(seen.size(), 17u);
      EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size()) << "a kernel was evaluated twice";
      EXPECT_EQ(result.champion, fastest(bench, seen));
      EXPECT_EQ(bench.info().champion, result.champion);
      const json summary = json::parse(result.summary_json);
      EXPECT_EQ(summary["evaluations"], seen.size());
      EXPECT_EQ(bench.info().summary_json, result.summary_json);
      EXPECT_THAT(must(bench.open().check()), ::testing::IsEmpty());
    }
}

TEST(RunTest, finds_the_best_there_is_where_effects_add_up) {
  for (const StrategyKind strategy : {StrategyKind::kBeam, StrategyKind::kGreedy}) {
    int found = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      Bench bench;
      bench.truth = {seed, 0, 0};
      const RunResult result = must(bench.start(evaluations(25, strategy, seed)));
      found += result.champion == fastest(bench, all_hashes(bench)) ? 1 : 0;
    }
    // Greed stays with the source that looks best at first, and may be wrong about it.
    EXPECT_GE(found, strategy == StrategyKind::kBeam ? 8 : 5) << search::name_of(strategy);
  }
}

/// Whatever the budget, and however much else waits to be looked at.
TEST(RunTest, ends_with_plain_loops_where_nothing_else_is_right) {
  const std::string plain = fake_seed(9).kernel.source;
  for (const StrategyKind strategy : {StrategyKind::kBeam, StrategyKind::kGreedy, StrategyKind::kEvolution})
    for (const int budget : {1, 2, 7, 100})
      for (const bool waits_as_a_seed : {false, true})
        for (const bool refused_late : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", search::name_of(strategy), budget, waits_as_a_seed, refused_late));
          Bench bench;
          for (int n = 0; n < 5; ++n) bench.own_seeds.push_back(fake_seed(n));
          if (waits_as_a_seed) bench.own_seeds.push_back(fake_seed(9));
          bench.last_resort = fake_seed(9);
          if (refused_late)
            bench.hooks.refuse_promotion = [&](const kernel::Kernel& kernel) { return kernel.source != plain; };
          else
            bench.truth.measured_ns = [&](const kernel::Kernel& kernel) { return kernel.source == plain ? 1e6 : 0.0; };
          const RunResult result = must(bench.start(evaluations(budget, strategy)));
          ASSERT_NE(result.champion, "");
          EXPECT_EQ(must(bench.open().kernel(result.champion)).source, plain);
          EXPECT_LE(screened(bench).size(), static_cast<size_t>(budget) + 1);
        }
}

TEST(RunTest, builds_ahead_of_what_it_measures) {
  Bench bench;
  bench.ahead = true, bench.batch = 4, bench.sources = 6;
  std::mutex mutex;
  std::condition_variable changed;
  size_t built = 0, most_waiting = 0;
  std::set<std::string> looked_at;
  bool in_time = true;
  bench.hooks.before = [&](std::string_view call, const kernel::Kernel& kernel) {
    std::unique_lock lock(mutex);
    if (call != "screen") return;
    looked_at.insert(kernel.hash());
    // The screening goes on when three more are built, or what is left of the budget.
    const size_t wanted = std::min<size_t>(16, looked_at.size() + 3);
    in_time = in_time && changed.wait_for(lock, std::chrono::seconds(20), [&] { return built >= wanted; });
    most_waiting = std::max(most_waiting, built - looked_at.size());
  };
  bench.hooks.after = [&](std::string_view call, const kernel::Kernel&) {
    const std::scoped_lock lock(mutex);
    if (call == "build") ++built, changed.notify_all();
  };
  must(bench.start(evaluations(16)));
  EXPECT_TRUE(in_time);
  EXPECT_EQ(most_waiting, 3u);
  EXPECT_EQ(screened(bench).size(), 16u);
}

TEST(RunTest, a_search_that_builds_ahead_ends_with_the_best_it_saw_and_so_does_its_replay) {
  for (const StrategyKind strategy : {StrategyKind::kBeam, StrategyKind::kGreedy, StrategyKind::kTune, StrategyKind::kEvolution})
    for (const int budget : {1, 3, 23}) {
      SCOPED_TRACE(fmt::format("{} {}", search::name_of(strategy), budget));
      Bench bench;
      bench.truth = {7, 0.2, 0.3};
      bench.ahead = true, bench.batch = 5, bench.sources = 4;
      // Some builds take longer: what was proposed later overtakes them.
      bench.hooks.slow_build = [](const kernel::Kernel& kernel) { return std::chrono::milliseconds(testing::draw("slow " + kernel.hash()) < 0.3 ? 20 : 0); };
      const RunResult result = must(bench.start(evaluations(budget, strategy, 3)));
      const std::vector<std::string> seen = screened(bench);
      EXPECT_EQ(seen.size(), static_cast<size_t>(strategy == StrategyKind::kTune ? std::min(budget, kAllowedOfASource) : budget));
      EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
      EXPECT_EQ(result.champion, fastest(bench, seen));
      archive::Store store = bench.open();
      EXPECT_EQ(must(replay_run(bench.info(), bench.task, bench.services(store))).champion, result.champion);
    }
}

TEST(RunTest, a_search_that_builds_ahead_looks_first_at_what_is_built_first) {
  Bench bench;
  bench.ahead = true, bench.batch = 3, bench.sources = 3;
  const std::string slow = testing::fake_seed(0).kernel.hash();
  std::atomic<bool> others = false;
  bench.hooks.slow_build = [&](const kernel::Kernel& kernel) {
    for (int i = 0; kernel.hash() == slow && !others && i < 20'000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::chrono::milliseconds(0);
  };
  bench.hooks.before = [&](std::string_view call, const kernel::Kernel& kernel) {
    if (call == "screen" && kernel.hash() != slow) others = true;
  };
  must(bench.start(evaluations(6)));
  EXPECT_NE(screened(bench).at(0), slow);
  EXPECT_THAT(screened(bench), ::testing::Contains(slow));
}

TEST(RunTest, no_search_ends_without_a_look_at_the_first_offer) {
  Bench bench;
  bench.ahead = true, bench.batch = 3, bench.sources = 3;
  const std::string slow = testing::fake_seed(0).kernel.hash();
  std::atomic<int> others = 0;
  bench.hooks.slow_build = [&](const kernel::Kernel& kernel) {
    for (int i = 0; kernel.hash() == slow && others == 0 && i < 20'000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::chrono::milliseconds(0);
  };
  bench.hooks.before = [&](std::string_view call, const kernel::Kernel& kernel) { others += call == "screen" && kernel.hash() != slow ? 1 : 0; };
  RunOptions options;
  options.budget_seconds = 1e-9;   // over when the first has been looked at
  options.sampling_seconds = 1;
  EXPECT_EQ(must(bench.start(options)).reason, "budget");
  EXPECT_THAT(screened(bench), ::testing::Contains(slow));
}

TEST(RunTest, a_search_that_builds_ahead_stops_between_two_kernels) {
  Bench bench;
  bench.ahead = true, bench.batch = 8, bench.costs.build = 0;
  RunOptions options;
  options.budget_seconds = 4;
  options.sampling_seconds = 1;
  EXPECT_EQ(must(bench.start(options)).reason, "budget");
  const double stopped = bench.events("stopped").at(0).at("at");
  EXPECT_GT(stopped, options.budget_seconds);
  // The first of all, or what is to be the yardstick, may be looked at twice.
  EXPECT_LE(stopped, options.budget_seconds + 1e-9 * static_cast<double>(2 * bench.costs.screen + bench.costs.yardstick));
}

TEST(RunTest, what_is_looked_at_first_is_built_while_the_evaluator_gets_ready) {
  Bench bench;
  bench.ahead = true, bench.batch = 2, bench.sources = 5;
  archive::Store store = bench.open();
  Services services = bench.services(store);
  std::mutex mutex;
  std::set<std::string> early, first;
  services.prebuild = [&](const kernel::Kernel& kernel) {
    const std::scoped_lock lock(mutex);
    early.insert(kernel.hash());
  };
  must(start_run(bench.task, evaluations(9), services));
  // The queue and as many again.
  for (int n = 0; n < 4; ++n) first.insert(testing::fake_seed(n).kernel.hash());
  EXPECT_EQ(early, first);
}

TEST(RunTest, tunes_the_first_source_only) {
  Bench bench;
  must(bench.start(evaluations(100, StrategyKind::kTune)));
  for (const json& event : bench.events("screened")) EXPECT_EQ(event.at("note"), "source 0");
}

TEST(RunTest, keeps_to_a_budget_of_evaluations_to_the_last_one) {
  for (const int budget : {1, 2, 3, 8, 9}) {
    Bench bench;
    const RunResult result = must(bench.start(evaluations(budget)));
    EXPECT_EQ(screened(bench).size(), static_cast<size_t>(budget));
    EXPECT_EQ(result.reason, "budget");
  }
}

TEST(RunTest, keeps_to_a_budget_of_time) {
  Bench bench;
  RunOptions options;
  options.budget_seconds = 40;
  const RunResult result = must(bench.start(options));
  EXPECT_EQ(result.reason, "budget");
  EXPECT_GT(screened(bench).size(), 10u);
  // The search leaves the share that the trial needs, up to the batch it had begun.
  const double batch = 1e-9 * static_cast<double>(2 * bench.costs.build + 2 * bench.costs.screen + bench.costs.yardstick);
  EXPECT_LE(bench.events("stopped").at(0).at("at").get<double>(), 0.6 * options.budget_seconds + batch);
  EXPECT_LE(bench.events("finished").at(0).at("at").get<double>(), options.budget_seconds);
  EXPECT_DOUBLE_EQ(json::parse(result.summary_json)["seconds"]["total"], bench.events("finished").at(0).at("at"));
}

TEST(RunTest, a_trial_with_time_of_its_own_leaves_the_budget_to_the_search) {
  Bench bench;
  RunOptions options;
  options.budget_seconds = 40;
  options.sampling_seconds = 10;
  EXPECT_EQ(must(bench.start(options)).reason, "budget");
  const double stopped = bench.events("stopped").at(0).at("at");
  const double batch = 1e-9 * static_cast<double>(2 * bench.costs.build + 2 * bench.costs.screen + bench.costs.yardstick);
  EXPECT_GT(stopped, options.budget_seconds);
  EXPECT_LE(stopped, options.budget_seconds + batch);
}

TEST(RunTest, looks_at_a_first_kernel_even_when_preparing_took_all_the_time) {
  Bench bench;
  RunOptions options;
  options.budget_seconds = 40;
  bench.prepare_ns = 100'000'000'000;
  const RunResult result = must(bench.start(options));
  EXPECT_EQ(result.reason, "budget");
  EXPECT_GE(screened(bench).size(), 1u);
  EXPECT_LE(screened(bench).size(), 2u);  // the first batch
  EXPECT_FALSE(result.champion.empty());
}

TEST(RunTest, accounts_for_the_time_of_every_step) {
  Bench bench;
  const RunResult result = must(bench.start(evaluations(6)));
  const json seconds = json::parse(result.summary_json)["seconds"];
  const auto screened = bench.events("screened");
  // What would become the yardstick is screened twice.
  const auto again = std::count_if(screened.begin(), screened.end(), [](const json& e) { return e.contains("first_score"); });
  EXPECT_GT(again, 0);
  const auto screens = static_cast<double>(6 + again) + static_cast<double>(bench.events("raced").size());
  EXPECT_NEAR(seconds["build"], 6e-9 * static_cast<double>(bench.costs.build), 1e-6);
  EXPECT_NEAR(seconds["verify"], screens * 1e-9 * static_cast<double>(bench.costs.screen), 1e-6);
  EXPECT_NEAR(seconds["run"], 1e-9 * static_cast<double>(bench.costs.promote), 1e-6);
  EXPECT_NEAR(seconds["total"], 1e-9 * static_cast<double>(bench.clock.now_ns()), 1e-4);
}

TEST(RunTest, ends_when_there_is_nothing_left_to_try) {
  Bench bench;
  bench.sources = 1;
  bench.truth.wrong = 1.1;
  const RunResult result = must(bench.start(evaluations(100)));
  EXPECT_EQ(result.reason, "exhausted");
  EXPECT_EQ(result.champion, "");
  EXPECT_FALSE(result.promotion);
  EXPECT_EQ(bench.info().status, "finished");
  EXPECT_EQ(json::parse(result.summary_json)["verdict"], "none");
}

TEST(RunTest, ends_at_the_speed_of_light) {
  // Every kernel takes as long.
  const auto reason_at = [](double light) {
    Bench bench;
    bench.truth.measured_ns = [](const kernel::Kernel&) { return 1e6; };
    bench.bound_ns = light * 1e6;
    const std::string reason = must(bench.start(evaluations(100))).reason;
    EXPECT_LE(screened(bench).size(), reason == "speed of light" ? 30u : 100u) << light;
    return reason;
  };
  EXPECT_EQ(reason_at(0.99), "speed of light");
  EXPECT_EQ(reason_at(1.0), "speed of light");
  EXPECT_EQ(reason_at(0.9), "stagnation");
  EXPECT_EQ(reason_at(1.1), "stagnation") << "what is beaten is no bound";
}

TEST(RunTest, ends_where_nothing_gets_better) {
  Bench bench;
  bench.sources = 60;
  bench.truth.seed = 3;
  EXPECT_EQ(must(bench.start(evaluations(1000))).reason, "stagnation");
}

TEST(RunTest, counts_no_proposal_twice) {
  Bench bench;
  const RunResult result = must(bench.start(evaluations(1000)));
  const json summary = json::parse(result.summary_json);
  EXPECT_GE(summary["considered"], summary["evaluations"]);
  EXPECT_LE(summary["considered"], bench.sources * 24);
}

TEST(RunTest, calls_gain_what_pairs_say_and_nothing_else) {
  Bench bench;
  const auto summary_with = [&](std::vector<evaluate::Opponent> opponents) {
    Bench own;
    archive::Store store = own.open();
    Services services = own.services(store);
    services.opponents = std::move(opponents);
    return json::parse(must(start_run(own.task, evaluations(12), services)).summary_json);
  };
  evaluate::Opponent other, first, start;
  other.name = "pytorch eager", first.name = "naive", start.name = "start";
  {
    archive::Store store = bench.open();
    first.kernel = bench.services(store).seeds.front().kernel;
  }
  const json nothing = summary_with({other});
  EXPECT_TRUE(nothing["gain"].is_null()) << nothing["gain"].dump();
  EXPECT_GE(nothing["quick_looks_over_first"].get<double>(), 1);
  EXPECT_FALSE(nothing.contains("gain_over_first"));
  const json paired = summary_with({other, first});
  EXPECT_EQ(paired["gain"]["over"], "naive");
  // The fake's opponents take 2 ms each, whatever looks said.
  EXPECT_EQ(paired["gain"]["median"], paired["speedup"]["median"]);
  EXPECT_LT(paired["gain"]["low"].get<double>(), paired["gain"]["high"].get<double>());
  EXPECT_EQ(paired["gain"]["comparison"], "FASTER");
  EXPECT_EQ(summary_with({other, first, start})["gain"]["over"], "start") << "the kernel given";
}

TEST(RunTest, gives_one_source_offered_twice_one_look) {
  Bench bench;
  archive::Store store = bench.open();
  Services services = bench.services(store);
  services.seeds.insert(services.seeds.begin(), testing::fake_seed(1));
  const RunResult result = must(start_run(bench.task, evaluations(1000), services));
  const std::vector<std::string> seen = screened(bench);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
  EXPECT_EQ(bench.events("considered").at(0).at("duplicate"), 1);
}

TEST(RunTest, falls_to_the_next_best_when_promotion_refuses) {
  Bench bench;
  std::vector<std::string> tried;
  bench.hooks.refuse_promotion = [&](const kernel::Kernel& kernel) {
    tried.push_back(kernel.hash());
    return tried.size() < 3;
  };
  const RunResult result = must(bench.start(evaluations(12)));
  ASSERT_EQ(tried.size(), 3u);
  std::vector<std::string> left = screened(bench);
  for (const std::string& hash : tried) {
    EXPECT_EQ(hash, fastest(bench, left));
    std::erase(left, hash);
  }
  EXPECT_EQ(result.champion, tried.back());
  EXPECT_EQ(json::parse(result.summary_json)["refused"], 2);
}

TEST(RunTest, has_no_champion_when_every_promotion_is_refused) {
  Bench bench;
  int tried = 0;
  bench.hooks.refuse_promotion = [&](const kernel::Kernel&) { return ++tried > 0; };
  const RunResult result = must(bench.start(evaluations(12)));
  EXPECT_EQ(result.champion, "");
  ASSERT_TRUE(result.promotion);
  EXPECT_EQ(result.promotion->verdict.kind, evaluate::VerdictKind::kLessAccurate);
  EXPECT_EQ(tried, 3) << "a run tries a few, not all";
}

TEST(RunTest, drops_a_finalist_that_fails_when_looked_at_again) {
  Truth truth;
  std::string best, rival;
  for (truth.seed = 1; rival.empty(); ++truth.seed) {
    Bench bench;
    bench.truth = truth;
    best = must(bench.start(evaluations(20))).champion;
    const auto raced = bench.events("raced");
    if (!raced.empty()) {
      rival = raced.front().at("kernel");
      break;
    }
    ASSERT_LT(truth.seed, 30u) << "no rival is ever in reach";
  }
  Bench again;
  again.truth = truth;
  again.hooks.refuse_race = [&](const kernel::Kernel& kernel) { return kernel.hash() == rival; };
  std::vector<std::string> promoted;
  again.hooks.refuse_promotion = [&](const kernel::Kernel& kernel) {
    promoted.push_back(kernel.hash());
    return promoted.size() == 1;
  };
  const RunResult result = must(again.start(evaluations(20)));
  EXPECT_EQ(promoted.at(0), best);
  EXPECT_THAT(promoted, Not(::testing::Contains(rival)));
  EXPECT_NE(result.champion, rival);
}

TEST(RunTest, writes_the_champion_with_its_configuration) {
  Bench bench;
  const RunResult result = must(bench.start(evaluations(12)));
  const json summary = json::parse(result.summary_json);
  const std::string path = summary["champion"]["path"];
  const kernel::Kernel written = must(kernel::parse_kernel(must(base::read_file(path)), path));
  const archive::KernelRow row = must(bench.open().kernel(result.champion));
  EXPECT_EQ(json(written.config).dump(), json::parse(row.config_json).dump());
  EXPECT_EQ(summary["opponent"], "naive") << "ties go to the first";
}

TEST(RunTest, does_the_same_from_the_same_seed) {
  const auto dump = [](uint64_t seed) {
    Bench bench;
    bench.truth = {2, 0.2, 0.4};
    bench.sources = 3;
    must(bench.start(evaluations(40, StrategyKind::kBeam, seed)));
    std::string text;
    for (const archive::Event& event : bench.events())
      if (event.kind == "screened") text += event.json + "\n";
    return text;
  };
  EXPECT_EQ(dump(1), dump(1));
  EXPECT_NE(dump(1), dump(2));
}

TEST(RunTest, an_interrupted_run_has_a_champion_and_goes_on_when_resumed) {
  Bench bench;
  bool interrupted = false;
  bench.interrupted = [&] { return interrupted; };
  bench.progress = [&](const Progress& p) { interrupted = interrupted || p.evaluated == 7; };
  const RunResult first = must(bench.start(evaluations(15)));
  EXPECT_EQ(first.reason, "interrupted");
  EXPECT_EQ(bench.info().status, "interrupted");
  const std::vector<std::string> before = screened(bench);
  ASSERT_GE(before.size(), 7u);
  ASSERT_LE(before.size(), 8u) << "it ends after the batch it had begun";
  EXPECT_EQ(first.champion, fastest(bench, before));

  // Interrupted again at once: no more work, the same answer.
  const RunResult second = must(bench.resume());
  EXPECT_EQ(second.reason, "interrupted");
  EXPECT_EQ(second.champion, first.champion);
  EXPECT_EQ(screened(bench), before);

  bench.interrupted = nullptr;
  bench.progress = nullptr;
  const RunResult last = must(bench.resume());
  EXPECT_EQ(last.reason, "budget");
  EXPECT_EQ(bench.info().status, "finished");
  const std::vector<std::string> after = screened(bench);
  EXPECT_EQ(after.size(), 15u);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin())) << "acknowledged work stays as it was";
  EXPECT_EQ(std::set<std::string>(after.begin(), after.end()).size(), after.size());
  EXPECT_EQ(last.champion, fastest(bench, after));
  EXPECT_THAT(must(bench.open().check()), ::testing::IsEmpty());
}

TEST(RunTest, is_running_again_while_an_interrupted_run_goes_on) {
  Bench bench;
  bench.interrupted = [] { return true; };
  must(bench.start(evaluations(5)));
  EXPECT_EQ(bench.info().status, "interrupted");
  bench.interrupted = nullptr;
  std::string status;
  bench.progress = [&](const Progress&) { status = bench.info().status; };
  bench.hooks.before = [&](const char*, const kernel::Kernel&) { EXPECT_EQ(bench.info().status, "running"); };
  must(bench.resume());
}

TEST(RunTest, what_promotion_refused_is_not_promoted_again_after_an_interruption) {
  Bench bench;
  std::vector<std::string> promoted;
  bench.hooks.refuse_promotion = [&](const kernel::Kernel& kernel) {
    promoted.push_back(kernel.hash());
    return promoted.size() == 1;
  };
  bool interrupted = false;
  bench.interrupted = [&] { return interrupted; };
  bench.progress = [&](const Progress& p) { interrupted = p.evaluated >= 10; };
  must(bench.start(evaluations(12)));
  bench.interrupted = nullptr;
  must(bench.resume());
  ASSERT_GE(promoted.size(), 3u);
  EXPECT_EQ(std::count(promoted.begin(), promoted.end(), promoted.front()), 1);
}

TEST(RunTest, a_second_interruption_leaves_it_resumable) {
  Bench bench;
  archive::Store store = bench.open();
  Services services = bench.services(store);
  services.evaluator = []() -> Result<std::unique_ptr<evaluate::Evaluator>> {
    return fail(ErrorCode::kInterrupted, "interrupted");
  };
  const auto result = start_run(bench.task, evaluations(5), services);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(bench.info().status, "interrupted");
  EXPECT_EQ(must(bench.resume()).reason, "budget");
}

TEST(RunTest, goes_on_when_the_evaluator_could_not_be_made_at_first) {
  Bench bench;
  archive::Store store = bench.open();
  Services services = bench.services(store);
  services.evaluator = []() -> Result<std::unique_ptr<evaluate::Evaluator>> {
    return fail(ErrorCode::kUnavailable, "no memory today");
  };
  const auto result = start_run(bench.task, evaluations(5), services);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no memory today");
  EXPECT_EQ(must(bench.resume()).reason, "budget");
}

TEST(RunTest, a_finished_run_is_not_resumed) {
  Bench bench;
  must(bench.start(evaluations(5)));
  const auto events = bench.events();
  const auto result = bench.resume();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInput);
  EXPECT_THAT(result.error().message, HasSubstr("is finished"));
  EXPECT_THAT(result.error().hint, HasSubstr("hone show"));
  EXPECT_EQ(bench.events().size(), events.size());
}

TEST(RunTest, a_run_that_another_holds_is_not_resumed) {
  Bench bench;
  bench.interrupted = [] { return true; };
  must(bench.start(evaluations(5)));
  archive::Store other = bench.open();
  const auto lock = must(other.lock_run(bench.run_id));
  const auto result = bench.resume();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(result.error().hint, Not(::testing::IsEmpty()));
}

TEST(RunTest, what_one_process_finished_meanwhile_another_does_not_resume) {
  Bench bench;
  bench.interrupted = [] { return true; };
  must(bench.start(evaluations(5)));
  const archive::RunInfo stale = bench.info();
  bench.interrupted = nullptr;
  must(bench.resume());
  archive::Store store = bench.open();
  const auto result = resume_run(stale, bench.task, bench.services(store));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInput);
}

TEST(RunTest, an_id_that_is_taken_is_refused) {
  Bench bench;
  must(bench.start(evaluations(3)));
  const auto result = bench.start(evaluations(3));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInput);
}

/// The log of a run, changed by `change`, in an archive of its own.
Result<RunResult> resume_changed(const std::function<void(std::vector<archive::Event>&)>& change,
                                 const std::function<void(Bench&)>& around = {}) {
  Bench bench;
  must(bench.start(evaluations(8)));
  std::vector<archive::Event> events = bench.events();
  change(events);
  archive::RunInfo info = bench.info();
  Bench other;
  info.status = "running";
  {
    archive::Store store = other.open();
    must(store.create_run(info));
    for (size_t i = 0; i < events.size(); ++i)
      must(store.append_event(info.id, static_cast<int64_t>(i), events[i].kind, events[i].json));
  }
  if (around) around(other);
  return other.resume();
}

void expect_corrupt(const Result<RunResult>& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt) << result.error().to_string();
  EXPECT_THAT(result.error().message, HasSubstr("0123456789ab"));
  EXPECT_THAT(result.error().hint, HasSubstr("start a new run"));
}

void change_body(archive::Event& event, const std::function<void(json&)>& change) {
  json body = json::parse(event.json);
  change(body);
  event.json = body.dump();
}

archive::Event& first(std::vector<archive::Event>& events, std::string_view kind) {
  const auto it = std::find_if(events.begin(), events.end(), [&](const archive::Event& e) { return e.kind == kind; });
  if (it == events.end()) throw std::runtime_error("no such event");
  return *it;
}

TEST(RunTest, an_unchanged_log_is_resumed_to_the_same_end) {
  const auto result = resume_changed([](auto&) {});
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->reason, "budget");
}

TEST(RunTest, a_log_that_does_not_follow_is_corrupt) {
  for (const char* kind : {"screened", "yardstick", "promoted", "champion"}) {
    SCOPED_TRACE(kind);
    expect_corrupt(resume_changed([&](auto& events) {
      change_body(first(events, kind), [](json& body) { body["kernel"] = std::string(64, 'e'); });
    }));
  }
  expect_corrupt(resume_changed([](auto& events) { std::swap(events.at(0), events.at(1)); }));
  expect_corrupt(resume_changed([](auto& events) { first(events, "screened").kind = "raced"; }));
  expect_corrupt(resume_changed([](auto& events) { events.insert(events.begin() + 4, events.at(3)); }));
  expect_corrupt(resume_changed([](auto& events) { first(events, "stopped").kind = "unheard of"; }));
}

TEST(RunTest, a_log_with_unreadable_or_incomplete_events_is_corrupt) {
  expect_corrupt(resume_changed([](auto& events) { events.at(2).json = "{\"at\":"; }));
  expect_corrupt(resume_changed([](auto& events) { events.at(2).json = "[1,2]"; }));
  expect_corrupt(resume_changed([](auto& events) { events.at(0).json = "{}"; }));
  for (const char* kind : {"calibrated", "screened", "yardstick", "promoted", "finished"}) {
    SCOPED_TRACE(kind);
    expect_corrupt(resume_changed([&](auto& events) { first(events, kind).json = R"({"at":1.0})"; }));
    expect_corrupt(resume_changed([&](auto& events) {
      change_body(first(events, kind), [](json& body) {
        for (auto& [key, value] : body.items()) value = "text";
      });
    }));
  }
}

TEST(RunTest, a_log_of_another_task_or_other_seeds_is_corrupt) {
  expect_corrupt(resume_changed([](auto&) {}, [](Bench& bench) {
    bench.task = must(task::task_from_expressions("y = x + x", {"x=f32[256,1000]"}, {}));
  }));
  Bench bench;
  bench.interrupted = [&] { return bench.clock.now_ns() > 5'000'000'000; };
  must(bench.start(evaluations(20)));
  archive::Store store = bench.open();
  Services services = bench.services(store);
  services.seeds = {testing::fake_seed(7)};
  expect_corrupt(resume_run(bench.info(), bench.task, services));
}

TEST(RunTest, a_recalled_kernel_goes_from_its_build_to_its_promotion) {
  for (const bool holds : {true, false}) {
    Bench bench;
    bench.truth = {3, 0, 0.3};
    std::vector<std::string> calls;
    bench.hooks.before = [&](const char* call, const kernel::Kernel&) { calls.emplace_back(call); };
    bench.hooks.code = [](const kernel::Kernel& kernel) { return kernel.hash(); };
    bench.hooks.refuse_promotion = [&](const kernel::Kernel&) { return !holds; };
    archive::Store store = bench.open();
    Services services = bench.services(store);
    services.seeds = {testing::fake_seed(7)};
    RunOptions options = evaluations(1, StrategyKind::kTune);
    options.recall = services.seeds.front().kernel.hash();
    const RunResult result = must(start_run(bench.task, options, services));
    EXPECT_EQ(result.champion, holds ? options.recall : "");
    EXPECT_THAT(calls, ::testing::ElementsAre("build", "promote"));
    const json event = bench.events("screened").at(0);
    EXPECT_EQ(event["screening"]["repetitions"], 0);
    EXPECT_EQ(must(replay_run(bench.info(), bench.task, services)).champion, result.champion);
  }
}

TEST(RunTest, options_travel_through_the_archive) {
  RunOptions options;
  options.strategy = StrategyKind::kGreedy;
  options.seed = 0xffff'ffff'ffff'fff7;
  options.budget_seconds = 12.5;
  options.budget_evaluations = 34;
  options.threads = 5;
  options.opponents = "naive";
  options.start_source = "/* hone */";
  options.recall = "0123";
  options.sampling_seconds = 7.5;
  const RunOptions back = must(RunOptions::from_json(options.to_json()));
  EXPECT_EQ(back.to_json(), options.to_json());
  EXPECT_EQ(back.seed, options.seed);
  EXPECT_EQ(back.opponents, "naive");
  EXPECT_EQ(back.sampling_seconds, 7.5);
  for (const char* wrong : {"", "[]", "{}", R"({"strategy":"none"})", R"({"strategy":"beam","seed":"one"})"}) {
    const auto read = RunOptions::from_json(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
}

TEST(RunTest, costs_little_beside_the_work) {
  // Wide enough that the model, the pool of ideas and the archive see a long run.
  Bench bench;
  bench.sources = 30;
  bench.truth = {11, 0.1, 0.3};
  const auto start = std::chrono::steady_clock::now();
  must(bench.start(evaluations(200)));
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const double each = ms / static_cast<double>(screened(bench).size());
  RecordProperty("ms_an_evaluation", fmt::format("{:.3f}", each));
  fmt::print("{} evaluations, {:.2f} ms each\n", screened(bench).size(), each);
  EXPECT_LT(each, 50) << "an evaluation takes a second or so; the loop around it must not show";
}

}  // namespace
}  // namespace hone::engine::run_cases
