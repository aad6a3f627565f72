// When models are asked, what becomes of what they answer, and that none of it is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "hone/engine/consult.h"
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
using ::testing::HasSubstr;

TEST(Schedule, an_answer_that_cannot_be_used_is_an_event_with_a_reason_and_is_counted) {
  ModelBench bench;
  bench.config.limits.calls = 4;
  const std::string good = answer_text(kernel_text("time 2e5"));
  bench.add("m", [&](const Request&, int n) { return says(n == 0 ? "I would rather not." : n == 1 ? "```json\n{\n```\n" : good); });
  const json summary = json::parse(bench.run().summary_json);
  const auto events = bench.events("unusable");
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].at("ask"), 0);
  EXPECT_THAT(events[0].at("reason").get<std::string>(), HasSubstr("expected exactly one json block"));
  EXPECT_EQ(events[1].at("ask"), 1);
  EXPECT_THAT(events[1].at("reason").get<std::string>(), HasSubstr("unusable twice"));
  EXPECT_THAT(events[2].at("reason").get<std::string>(), HasSubstr("the same text was tried before"));
  EXPECT_EQ(summary["models"]["models"][0]["unusable"], 2);
  EXPECT_EQ(summary["models"]["models"][0]["failures"], 1);
  (void)must(bench.replay());
}

TEST(Schedule, nobody_begins_before_the_library_was_looked_at) {
  ModelBench bench;
  bench.sources = 6;
  bench.config.limits.calls = 1;
  bench.add("m", [](const Request&, int) { return says(answer_text(kernel_text("time 2e5"))); });
  (void)bench.run();
  int screened = 0;
  for (const archive::Event& event : bench.Bench::events()) {
    if (event.kind == "screened") ++screened;
    if (event.kind == "asked") break;
  }
  EXPECT_GE(screened, 4);
  EXPECT_THAT(testing::last_text(bench.clients[0]->requests().at(0)), HasSubstr("The best kernel of the run so far, hone's own search's"));
  (void)must(bench.replay());
}

/// Eight calls at four a time would be four beginnings, and one look back at each.
TEST(Schedule, calls_are_kept_for_refinement) {
  ModelBench bench;
  bench.config.calls_at_once = 4;
  bench.config.limits.calls = 8;
  bench.add("m", [](const Request&, int n) { return says(answer_text(kernel_text(fmt::format("time {}", 300000 - 1000 * n)))); });
  (void)bench.run();
  std::vector<std::string> agents;
  for (const json& event : bench.events("asked")) agents.push_back(event.at("agent"));
  ASSERT_EQ(agents.size(), 8U);
  EXPECT_EQ(std::count(agents.begin(), agents.end(), "generator"), 2);
  EXPECT_EQ(std::count(agents.begin(), agents.end(), "optimiser"), 6);
  agent::ModelsConfig config;
  config.calls_at_once = 4;
  for (const auto& [calls, lines] : {std::pair(0, 4), {1, 1}, {5, 1}, {6, 2}, {12, 4}, {40, 4}}) {
    config.limits.calls = calls;
    EXPECT_EQ(lines_for(config), lines) << calls;
  }
}

/// A beam full of other sources, and a kernel that three of them beat: its tunables are searched all the same, and it is in the race.
TEST(Schedule, every_answer_is_tuned_and_raced) {
  ModelBench bench;
  bench.sources = 8;
  bench.config.limits.calls = 2;
  bench.clients.reserve(1);
  bench.add("m", [](const Request&, int n) { return says(answer_text(kernel_text(fmt::format("time {}", 1100000 + n), "tunables = { A = [1, 2, 4, 8], B = [1, 2, 3] }\n"))); });
  const json summary = json::parse(bench.run().summary_json);
  const json& answers = summary["models"]["answers"];
  ASSERT_EQ(answers.size(), 2U);
  for (const json& answer : answers) {
    EXPECT_GE(answer.at("settings").get<int>(), 7) << answer.dump();
    EXPECT_TRUE(answer.at("raced").get<bool>()) << answer.dump();
  }
  (void)must(bench.replay());
}

/// Where the budget ends it, the report says which were not.
TEST(Schedule, the_summary_says_what_the_budget_left_untuned) {
  ModelBench bench;
  bench.sources = 1;
  bench.config.limits.calls = 1;
  bench.options.budget_evaluations = 3;
  bench.config.patient = true;
  bench.add("m", [](const Request&, int) { return says(answer_text(kernel_text("time 9e7", "tunables = { A = [1, 2, 4, 8] }\n"))); });
  const RunResult result = bench.run();
  EXPECT_EQ(result.reason, "budget");
  const json answers = json::parse(result.summary_json)["models"]["answers"];
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_LT(answers[0].at("settings").get<int>(), 4);
}

/// Three pairs on a busy machine said half of the speed; more pairs say that it is faster.
TEST(Schedule, a_models_kernel_gets_more_pairs_before_it_is_given_up) {
  ModelBench bench;
  bench.config.limits.calls = 1;
  bench.add("m", [](const Request&, int) { return says(answer_text(kernel_text("time 1e5 unlucky"))); });
  const RunResult result = bench.run();
  EXPECT_THAT(must(bench.open().kernel(result.champion)).source, HasSubstr("unlucky"));
  EXPECT_GE(bench.closely, 1);
}

/// Shapes that verdicts are drawn at are in no question, no answer of a tool and nothing else that a model sees.
TEST(Secrets, hidden_extents_are_in_no_prompt_and_no_result_of_a_tool) {
  ModelBench bench;
  bench.config.limits.calls = 9;
  bench.sources = 1;
  bench.add("m", [](const Request&, int n) {
    if (n == 0) return testing::calls("evaluate_kernel", {{"source", kernel_text("wrong draft")}});
    if (n == 1) return testing::calls("evaluate_kernel", {{"source", kernel_text("time 3e5 draft")}});
    const char* const fates[] = {"wrong", "wrong again", "time 2e5", "cheat", "time 1e5"};
    return says(answer_text(kernel_text(fates[n % 5], "tunables = { A = [1, 2] }\n") ));
  });
  (void)bench.run();
  ASSERT_GE(bench.events("tool").size(), 2U);
  EXPECT_THAT(bench.events("screened").back().dump() + bench.events("raced").back().dump(), HasSubstr("7919")) << "the record has them: the test looks for something";
  for (const Request& request : bench.clients[0]->requests()) EXPECT_EQ(request.to_json().find("7919"), std::string::npos) << request.to_json();
  for (const json& event : bench.events("tool")) EXPECT_EQ(event.dump().find("7919"), std::string::npos);
  (void)must(bench.replay());
}

}  // namespace
}  // namespace hone::engine
