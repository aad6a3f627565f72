// The ledger of a run with scripted models: each question with what came of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "hone/engine/ledger.h"
#include "hone/engine/testing/model_run.h"

namespace hone::engine {
namespace {

using agent::Request;
using nlohmann::json;
using testing::answer_text;
using testing::kernel_text;
using testing::ModelBench;
using testing::must;
using testing::says;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Came = LedgerCall::Came;

bool asks_the(const Request& request, const char* who) { return request.messages.front().text.find(std::string("You are the ") + who) != std::string::npos; }

struct LedgerBench : ModelBench {
  RunResult result;
  LedgerBench() {
    config.limits.calls = 7;
    config.diagnose = agent::Diagnose::kAlways;
    config.research = true;
    options.diagnose = true;
    auto kernels = std::make_shared<std::atomic<int>>(0);
    add("m", [kernels](const Request& request, int) {
      if (asks_the(request, "researcher")) return says("```json\n{\"applies\":[],\"ideas\":[\"keep rows in registers\"]}\n```");
      if (asks_the(request, "diagnoser"))
        return says("```json\n{\"bottleneck\":\"memory\",\"evidence\":[{\"metric\":\"light\",\"value\":0.25}],\"plan\":[\"read x once\"],\"expected_speedup\":2}\n```");
      switch ((*kernels)++) {
        case 0: return testing::calls("list_patterns", json::object());
        case 1: return says("nothing to say");
        case 2: return says(answer_text(kernel_text("wrong"), "first try"));
        case 3: return says(answer_text(kernel_text("time 2e4", "tunables = { R = [1, 2, 4] }\n"), "mended"));
        default: return says(answer_text(kernel_text("time 1.5e4"), "read x once"));
      }
    }, agent::Price{1, 1, 1, 10, ""});
    options.models_json = config.to_json();
    archive::Store store = open();
    Services all = with_models(store);
    all.examine = [](evaluate::Evaluator&, const kernel::Kernel&, bool) -> Result<Examined> {
      Examined out;
      out.workload = "w0";
      out.profiles.push_back({"w0", {}, 1, {}});
      out.profiles[0].metrics.measured("light", 0.25, "");
      out.diagnosis.bottleneck = diagnose::kBalance;
      out.diagnosis.says = "so say the rules";
      return out;
    };
    result = must(start_run(task, options, all));
  }
  std::vector<LedgerCall> ledger() const {
    archive::Store store = open();
    return ledger_of(read_events(must(store.events(run_id))), ledger_sources(store));
  }
};

/// One run for all tests, none of which changes it.
LedgerBench& the_run() {
  static LedgerBench it;
  return it;
}

TEST(Ledger, says_of_each_question_what_came_of_it) {
  const LedgerBench& bench = the_run();
  const std::vector<LedgerCall> calls = bench.ledger();
  std::vector<std::string> agents;
  std::vector<Came> came;
  for (const LedgerCall& call : calls) agents.push_back(call.asked.agent), came.push_back(call.came);
  ASSERT_THAT(agents, ElementsAre("researcher", "generator", "generator", "generator", "fixer", "diagnoser", "optimiser"));
  EXPECT_THAT(came, ElementsAre(Came::kAdvice, Came::kTools, Came::kUnusable, Came::kKernel, Came::kKernel, Came::kAdvice, Came::kKernel));
  EXPECT_THAT(calls[2].problem, HasSubstr("exactly one json block"));
  EXPECT_EQ(calls[1].tools.at(0).tool, "list_patterns");
  EXPECT_EQ(calls[3].verdict, "wrong");
  EXPECT_EQ(calls[3].settings, 1);
  EXPECT_EQ(calls[3].best, "");
  EXPECT_EQ(calls[4].verdict, "accepted");
  EXPECT_EQ(calls[4].settings, 3) << "all of its tunable's values were looked at";
  EXPECT_EQ(calls[6].verdict, "accepted");
  EXPECT_EQ(calls[6].action, "read x once");
  for (const LedgerCall& call : calls) {
    EXPECT_DOUBLE_EQ(call.seconds, 1);
    EXPECT_EQ(call.usage.total(), 1100);
    EXPECT_EQ(call.answered->charged.nanodollars, 2'000'000) << "1000 tokens at one dollar a million, 100 at ten";
  }
}

TEST(Ledger, conversations_make_a_tree) {
  const LedgerBench& bench = the_run();
  const std::vector<LedgerCall> calls = bench.ledger();
  std::vector<int> follows, about;
  for (const LedgerCall& call : calls) follows.push_back(call.follows), about.push_back(call.about);
  EXPECT_THAT(follows, ElementsAre(-1, -1, 1, 2, -1, -1, -1));
  EXPECT_THAT(about, ElementsAre(-1, -1, -1, -1, 3, 4, 4));
}

TEST(Ledger, whose_advice_stood_in_a_question) {
  const LedgerBench& bench = the_run();
  const std::vector<LedgerCall> calls = bench.ledger();
  EXPECT_THAT(calls[1].advice, ElementsAre("researcher (question 0)"));
  EXPECT_THAT(calls[4].advice, ElementsAre());
  EXPECT_THAT(calls[6].advice, ElementsAre("diagnoser (question 5)", "hone's rules"));
}

TEST(Ledger, who_won_and_who_met_the_best_again) {
  const LedgerBench& bench = the_run();
  const std::vector<LedgerCall> calls = bench.ledger();
  EXPECT_TRUE(calls[6].champion && calls[6].raced && calls[6].promoted);
  EXPECT_EQ(calls[6].kernel, bench.result.champion);
  EXPECT_TRUE(calls[4].raced) << "the other answer that was accepted";
  EXPECT_FALSE(calls[4].champion || calls[4].promoted || calls[3].raced);
  EXPECT_THAT(outcome_text(calls[6]), HasSubstr("; raced; champion"));
  EXPECT_EQ(outcome_text(calls[1]), "tools: list_patterns");
}

TEST(Ledger, is_in_the_summary_and_the_same_after_a_replay) {
  LedgerBench& bench = the_run();
  const json questions = json::parse(bench.result.summary_json).at("models").at("questions");
  ASSERT_EQ(questions.size(), 7U);
  EXPECT_EQ(questions[2].at("follows"), 1);
  EXPECT_EQ(questions[6].at("champion"), true);
  EXPECT_EQ(questions[6].at("about"), 4);
  EXPECT_EQ(questions, ledger_json(bench.ledger()));
  EXPECT_TRUE(bench.replay().has_value());
}

}  // namespace
}  // namespace hone::engine
