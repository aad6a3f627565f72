// A run over cards that there are not: who looks at what, what is timed beside what, what a replay and a killed run make of it, and what
// a second card saves.
#include <gmock/gmock.h>

#include <chrono>
#include <mutex>

#include "hone/engine/testing/fake_run.h"
#include "hone/engine/workbench.h"

namespace hone::engine {
namespace {

using ::testing::HasSubstr;
using testing::Bench;
using testing::FakeEvaluator;
using testing::must;
using nlohmann::json;

struct Timing {
  std::string kernel;
  std::chrono::steady_clock::time_point begins, ends;
};

/// Whatever is done on a card takes a while; builds come at once.
struct CardRun {
  Bench bench;
  int cards;
  std::function<FakeEvaluator::Hooks(int card)> hooks_on;
  std::mutex mutex;
  std::map<int, std::vector<Timing>> timings;
  std::map<int, std::vector<std::string>> calls;
  RunOptions options;

  CardRun(int number, bool ahead, std::chrono::milliseconds takes = std::chrono::milliseconds(8)) : cards(number) {
    bench.ahead = ahead;
    bench.batch = 8;
    bench.costs.build = 0;
    options.budget_seconds = 0;
    hooks_on = [this, takes](int card) {
      FakeEvaluator::Hooks hooks;
      auto begins = std::make_shared<std::chrono::steady_clock::time_point>();
      hooks.before = [begins](const char* call, const kernel::Kernel&) {
        if (std::string(call) != "build") *begins = std::chrono::steady_clock::now();
      };
      hooks.after = [this, begins, card, takes](const char* call, const kernel::Kernel& kernel) {
        if (std::string(call) == "build") return;
        std::this_thread::sleep_for(takes);
        const std::scoped_lock lock(mutex);
        timings[card].push_back({kernel.hash(), *begins, std::chrono::steady_clock::now()});
        calls[card].emplace_back(call);
      };
      return hooks;
    };
  }
  Services services(archive::Store& store) {
    Services all = bench.services(store);
    const auto on_card = [this](int card) {
      return [this, card]() -> Result<std::unique_ptr<evaluate::Evaluator>> {
        return std::make_unique<FakeEvaluator>(bench.clock, bench.truth, hooks_on(card), bench.costs, bench.bound_ns);
      };
    };
    all.evaluator = on_card(0);
    all.target = "cuda:0";
    for (int card = 1; card < cards; ++card) all.beside.push_back({fmt::format("cuda:{}", card), on_card(card)});
    return all;
  }
  RunResult start(int evaluations) {
    options.budget_evaluations = evaluations;
    archive::Store store = bench.open();
    return must(start_run(bench.task, options, services(store)));
  }
  RunResult resume() {
    archive::Store store = bench.open();
    return must(resume_run(must(store.run(bench.run_id)), bench.task, services(store)));
  }
  /// With no card at all.
  RunResult replay() {
    archive::Store store = bench.open();
    return must(replay_run(bench.info(), bench.task, bench.services(store)));
  }
  double seconds(int evaluations) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(start(evaluations).champion.empty());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  }
};

class RunOnCards : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Builds, RunOnCards, ::testing::Bool(), [](const auto& ahead) { return ahead.param ? "aside" : "first"; });

TEST_P(RunOnCards, two_take_about_half_the_time_of_one) {
  // The finals are on one card, and where batches are built first, a card waits for the other at the end of each.
  const std::chrono::milliseconds takes(25);
  CardRun one(1, GetParam(), takes), two(2, GetParam(), takes);
  const double alone = one.seconds(36), both = two.seconds(36);
  fmt::print("36 evaluations: one card {:.2f} s, two {:.2f} s ({:.2f} times)\n", alone, both, alone / both);
  EXPECT_LT(both, alone / (GetParam() ? 1.3 : 1.15));
  EXPECT_EQ(one.bench.events("screened").size(), 36U);
  EXPECT_EQ(two.bench.events("screened").size(), 36U);
}

TEST_P(RunOnCards, nothing_overlaps_on_a_card_and_every_kernel_is_looked_at_once) {
  CardRun run(3, GetParam());
  (void)run.seconds(24);
  ASSERT_EQ(run.timings.size(), 3U);
  int beside = 0;
  for (const auto& [card, all] : run.timings)
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < i; ++j) EXPECT_TRUE(all[i].begins >= all[j].ends || all[j].begins >= all[i].ends) << "two at once on card " << card;
      for (const Timing& other : run.timings.at((card + 1) % 3)) beside += all[i].begins < other.ends && other.begins < all[i].ends ? 1 : 0;
    }
  EXPECT_GT(beside, 10) << "the cards wait for each other";
  std::map<std::string, int> on;
  std::set<std::string> kernels;
  for (const json& e : run.bench.events("screened")) {
    ++on[e.at("card")];
    EXPECT_TRUE(kernels.insert(e.at("kernel")).second);
  }
  EXPECT_THAT(on, ::testing::ElementsAre(::testing::Pair("cuda:0", ::testing::Gt(4)), ::testing::Pair("cuda:1", ::testing::Gt(4)), ::testing::Pair("cuda:2", ::testing::Gt(4))));
}

TEST_P(RunOnCards, a_score_is_a_ratio_to_what_was_timed_on_the_same_card) {
  // There is no noise here: every score must come out as the truth has it, whatever was the yardstick on its card.
  CardRun run(3, GetParam());
  (void)run.seconds(40);
  const auto screened = run.bench.events("screened");
  std::map<std::string, double> time;
  for (const kernel::Kernel& kernel : run.bench.all_kernels()) time[kernel.hash()] = run.bench.truth.time_ns(kernel);
  const double first = time.at(screened.front().at("kernel"));
  std::set<std::string> yardsticks;
  for (const json& e : screened) {
    EXPECT_NEAR(e.at("score").get<double>(), first / time.at(e.at("kernel")), 1e-9);
    yardsticks.insert(e.at("yardstick"));
  }
  EXPECT_GT(yardsticks.size(), 2U) << "no yardstick was replaced";
  // Nobody else's scores count before the first: it is looked at alone.
  EXPECT_EQ(screened.front().at("yardstick"), "");
  EXPECT_NE(screened.at(1).at("yardstick"), "");
}

TEST_P(RunOnCards, races_and_promotion_are_at_home) {
  CardRun run(2, GetParam());
  (void)run.seconds(20);
  EXPECT_THAT(run.calls.at(0), ::testing::Contains("promote"));
  EXPECT_THAT(run.calls.at(1), ::testing::Not(::testing::Contains("promote")));
}

TEST_P(RunOnCards, a_replay_needs_no_cards) {
  CardRun run(2, GetParam());
  const RunResult ran = run.start(30);
  EXPECT_EQ(run.replay().champion, ran.champion);
}

TEST_P(RunOnCards, an_interrupted_run_goes_on_and_replays) {
  CardRun run(2, GetParam());
  std::atomic<bool> stop = false;
  run.bench.interrupted = [&] { return stop.load(); };
  run.bench.progress = [&](const Progress& p) { stop = stop || p.evaluated >= 9; };
  EXPECT_EQ(run.start(25).reason, "interrupted");
  stop = false;
  run.bench.progress = {};
  EXPECT_EQ(run.resume().reason, "budget");
  EXPECT_EQ(run.bench.events("screened").size(), 25U);
  (void)run.replay();
}

TEST_P(RunOnCards, one_that_cannot_be_opened_ends_the_run_with_its_words) {
  CardRun run(2, GetParam());
  archive::Store store = run.bench.open();
  Services services = run.services(store);
  services.beside[0].evaluator = []() -> Result<std::unique_ptr<evaluate::Evaluator>> { return fail(ErrorCode::kUnavailable, "card 1 cannot be used"); };
  run.options.budget_evaluations = 25;
  const auto ended = start_run(run.bench.task, run.options, services);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "card 1 cannot be used");
}

TEST_P(RunOnCards, twins_are_not_looked_at_on_two_cards) {
  CardRun run(2, GetParam());
  run.hooks_on = [hooks_on = run.hooks_on](int card) {
    FakeEvaluator::Hooks hooks = hooks_on(card);
    hooks.code = [](const kernel::Kernel& kernel) { return fmt::format("{} {}", kernel.header.note, kernel.config.at("A")); };
    return hooks;
  };
  (void)run.start(8);
  std::set<std::string> codes;
  for (const json& e : run.bench.events("screened")) EXPECT_TRUE(codes.insert(e.at("code")).second);
  EXPECT_GT(run.bench.events("duplicate").size(), 0U);
  (void)run.replay();
}

TEST(TargetLists, what_they_may_hold) {
  EXPECT_EQ(targets_of("cuda:0,cuda:1"), (std::vector<std::string>{"cuda:0", "cuda:1"}));
  EXPECT_EQ(targets_of(""), std::vector<std::string>{""});
  EXPECT_TRUE(check_targets({"cuda:0", "cuda:1"}));
  EXPECT_TRUE(check_targets({"cpu"}));
  EXPECT_THAT(check_targets({"cuda:0", "cuda:0"}).error().message, HasSubstr("named twice"));
  EXPECT_THAT(check_targets({"cpu", "cuda:0"}).error().message, HasSubstr("in a list of targets"));
  EXPECT_THAT(check_targets({"cuda:0", "emulator:cuda"}).error().message, HasSubstr("in a list of targets"));
  EXPECT_FALSE(check_targets({"cuda:0", "x"}));
  EXPECT_TRUE(check_alike({"cuda:0", "H100", ""}, {"cuda:1", "H100", ""}));
  EXPECT_THAT(check_alike({"cuda:0", "H100", ""}, {"cuda:1", "H200", ""}).error().message, HasSubstr("cuda:0 is H100, cuda:1 is H200"));
}

}  // namespace
}  // namespace hone::engine
