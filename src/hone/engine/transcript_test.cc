// Transcripts: what replays from the text alone and what is found out. And the two ways of asking that comparisons
// need: without feedback, and with evaluations kept for answers to come.
#include "hone/engine/transcript.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <thread>

#include "hone/engine/testing/model_run.h"

namespace hone::engine {
namespace {

using agent::Request;
using nlohmann::json;
using testing::answer_text;
using testing::calls;
using testing::kernel_text;
using testing::last_text;
using testing::ModelBench;
using testing::must;
using testing::says;
using ::testing::HasSubstr;
using ::testing::Not;

/// Models that use a tool, write nonsense, name tunables, repeat themselves and are refused.
void add_models(ModelBench& bench) {
  bench.config.calls_at_once = 2;
  bench.config.limits.calls = 9;
  bench.add("m", [](const Request&, int n) {
    switch (n) {
      case 0: return calls("list_patterns", json::object());
      case 1: return says("nonsense");
      case 2: return says(answer_text(kernel_text("compile")));
      case 3: return says(answer_text(kernel_text("time 3e5", "tunables = { A = [1, 2, 4] }\n"), "tunables", "a lesson"));
      case 4: return says(answer_text(kernel_text("time 3e5", "tunables = { A = [1, 2, 4] }\n"), "the same"));
      default: return says(answer_text(kernel_text(fmt::format("time {}", 300000 - n))));
    }
  });
}

std::string transcript(ModelBench& bench) {
  archive::Store store = bench.open();
  return must(transcript_of(store, must(store.run(bench.run_id))));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Transcript, replays_from_its_text_alone) {
  ModelBench bench;
  add_models(bench);
  const RunResult run = bench.run();
  const std::string text = transcript(bench);
  const TranscriptReplay replay = must(replay_transcript(text));
  EXPECT_EQ(replay.result.run, run.run);
  EXPECT_EQ(replay.result.champion, run.champion);
  EXPECT_EQ(replay.result.summary_json, run.summary_json);
  EXPECT_EQ(replay.events, static_cast<int>(must(bench.open().events(run.run)).size()));
  EXPECT_EQ(replay.questions, 9);
  EXPECT_GE(replay.kernels, 3);
  EXPECT_TRUE(bench.replay()) << "and so does the run itself, with the search's own decisions";
}

TEST(Transcript, holds_every_question_in_full) {
  ModelBench bench;
  add_models(bench);
  (void)bench.run();
  const std::string text = transcript(bench);
  std::set<std::string> told;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const json value = json::parse(line);
    if (value.contains("question")) told.insert(value.at("request").at("messages").back().at("text").get<std::string>());
  }
  for (const Request& request : bench.clients[0]->requests()) EXPECT_TRUE(told.contains(last_text(request))) << last_text(request);
}

TEST(Transcript, an_answer_that_was_changed_is_found) {
  ModelBench bench;
  add_models(bench);
  (void)bench.run();
  const std::string text = transcript(bench);
  const auto result = replay_transcript(replaced(text, R"(\"reason\":\"because\"})", R"(\"reason\":\"because\"} )"));
  EXPECT_TRUE(result) << "words beside the kernel change nothing";
  // In the answer alone: the kernel that was looked at is another.
  std::string changed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    changed += (line.find(R"("event":"answered")") != std::string::npos && line.find("// time 299995") != std::string::npos
                    ? replaced(line, "// time 299995", "// time 299996") : line) + "\n";
  ASSERT_NE(changed, text);
  EXPECT_FALSE(replay_transcript(changed));
}

TEST(Transcript, every_question_is_formed_from_the_documents_on_record) {
  ModelBench bench;
  add_models(bench);
  (void)bench.run();
  const std::string text = transcript(bench);
  const auto result = replay_transcript(replaced(text, "You are the generator: write a new kernel", "You are the generator: write another kernel"));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().to_string(), HasSubstr("another question"));
  const auto guide = replay_transcript(replaced(text, "A kernel is one file. Its first", "A kernel is one fire. Its first"));
  ASSERT_FALSE(guide);
}

TEST(Transcript, a_verdict_that_was_changed_is_found) {
  ModelBench bench;
  add_models(bench);
  (void)bench.run();
  // The summary has it too, which stands in front.
  const std::string text = transcript(bench);
  const size_t at = text.find(R"("event":"screened")");
  ASSERT_NE(at, std::string::npos);
  EXPECT_FALSE(replay_transcript(text.substr(0, at) + replaced(text.substr(at), R"("verdict":"does not compile")", R"("verdict":"accepted")")));
}

TEST(Transcript, what_is_none_is_refused) {
  ModelBench bench;
  add_models(bench);
  (void)bench.run();
  const std::string text = transcript(bench);
  for (const std::string& wrong : {std::string(), std::string("{}\n"), std::string("not json\n"), std::string(R"({"hone_transcript":2})" "\n"),
                                   text.substr(0, text.size() / 2), text + "{\"event\":\"late\",\"body\":{}}\n"})
    EXPECT_FALSE(replay_transcript(wrong)) << wrong.substr(0, 60);
}

TEST(Consult, without_feedback_no_question_knows_of_another) {
  ModelBench bench;
  bench.config.feedback = false;
  bench.config.calls_at_once = 2;
  bench.config.limits.calls = 6;
  bench.add("m", [](const Request&, int n) {
    return says(answer_text(kernel_text(n == 1 ? "compile" : fmt::format("time {}", 200000 - n)), "my idea", "my lesson"));
  });
  (void)bench.run();
  const auto requests = bench.clients[0]->requests();
  ASSERT_EQ(requests.size(), 6U);
  std::set<std::string> texts;
  for (const Request& request : requests) {
    EXPECT_EQ(request.messages.size(), 1U);
    EXPECT_TRUE(request.tools.empty());
    for (const char* told : {"my idea", "my lesson", "does not compile", "// time", "times the first", "The best kernel so far"})
      EXPECT_THAT(last_text(request), Not(HasSubstr(told)));
    EXPECT_THAT(last_text(request), HasSubstr("You are the generator"));
    texts.insert(last_text(request));
  }
  EXPECT_EQ(texts.size(), 6U) << "each along a direction of its own";
  EXPECT_EQ(bench.model_verdicts().size(), 6U);
  EXPECT_TRUE(bench.replay());
  EXPECT_TRUE(replay_transcript(transcript(bench)));
}

TEST(Consult, patience_keeps_evaluations_for_answers) {
  for (const bool patient : {false, true}) {
    ModelBench bench;
    bench.config.patient = patient;
    bench.config.calls_at_once = 2;
    bench.config.limits.calls = 5;
    bench.options.budget_evaluations = 24;
    bench.add("m", [](const Request&, int n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      return says(answer_text(kernel_text(fmt::format("time {}", 200000 - n))));
    });
    const RunResult result = bench.run();
    if (patient) EXPECT_EQ(bench.model_verdicts().size(), 5U);
    else EXPECT_LT(bench.model_verdicts().size(), 5U) << "the search had used them up";
    EXPECT_EQ(json::parse(result.summary_json)["evaluations"], 24);
    EXPECT_TRUE(bench.replay());
    EXPECT_TRUE(replay_transcript(transcript(bench)));
  }
}

}  // namespace
}  // namespace hone::engine
