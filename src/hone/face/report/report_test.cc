#include "hone/face/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "hone/agent/model/message.h"
#include "hone/base/file.h"
#include "hone/face/report/testing/html_check.h"
#include "hone/face/report/testing/synthetic_run.h"
#include "hone/face/report/units.h"
#include "hone/kernel/kernel.h"

namespace hone::face {
namespace {

using ::testing::HasSubstr;
using testing::HtmlCheck;
using ::testing::Not;
using testing::Synthetic;
using testing::SyntheticRun;

class ReportTest : public ::testing::Test {
 protected:
  std::string page_of(const archive::RunInfo& run) {
    auto page = run_report(store_, run);
    EXPECT_TRUE(page.has_value()) << page.error().to_string();
    keep(*page);
    return page ? *page : std::string();
  }
  std::string page_of(Synthetic options) { return page_of(SyntheticRun(store_, std::move(options)).write()); }

  /// HONE_REPORT_PAGES=folder keeps the tests' pages there, to be looked at.
  static void keep(const std::string& page) {
    const char* folder = std::getenv("HONE_REPORT_PAGES");
    if (!folder) return;
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_TRUE(base::write_file_atomic(std::filesystem::path(folder) / (name + ".html"), page));
  }

  archive::RunInfo run_of(const std::vector<std::pair<std::string, std::string>>& events) {
    archive::RunInfo run;
    run.id = "0123456789ab";
    run.task_name = "odd";
    run.task_hash = std::string(64, 'a');
    run.target = "cpu";
    run.options_json = "{}";
    run.status = "running";
    EXPECT_TRUE(store_.create_run(run));
    int64_t seq = 0;
    for (const auto& [kind, json] : events) EXPECT_TRUE(store_.append_event(run.id, seq++, kind, json));
    return *store_.run(run.id);
  }

  base::ScratchDirectory scratch_ = *base::ScratchDirectory::create("report-test");
  archive::Store store_ = *archive::Store::open(scratch_.path() / "archive.db");
};

TEST_F(ReportTest, FinishedRunHasEverySection) {
  const std::string page = page_of(Synthetic{});
  const HtmlCheck check(page);
  ASSERT_EQ(check.problem(), "");
  for (const char* id : {"results", "progress", "roofline", "candidates", "source", "refused", "conditions"})
    EXPECT_TRUE(check.has_id(id)) << id;
  EXPECT_THAT(check.text(), HasSubstr("pytorch eager [")) << "the strongest opponent makes the headline";
  EXPECT_THAT(check.text(), HasSubstr("FASTER on 2, INCONCLUSIVE on 1 of 3 workloads"));
  EXPECT_THAT(check.text(), HasSubstr("pytorch compiled: torch.compile needs"));
  EXPECT_THAT(check.text(), HasSubstr("No compute peak is recorded"));
  EXPECT_THAT(check.text(), HasSubstr("config = {"));
  EXPECT_THAT(check.text(), Not(HasSubstr("has not finished")));
  for (const std::string& link : check.links()) EXPECT_TRUE(check.has_id(link.substr(1))) << link;
}

TEST_F(ReportTest, EveryEvaluationIsAMarkAndARow) {
  const std::string page = page_of(Synthetic{});
  const auto marks = [&](const std::string& what) {
    int count = 0;
    for (size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(marks("data-p=\""), 60);
  EXPECT_EQ(marks("<span class=\"row") + marks("<li id=\"k-"), 60);
}

TEST_F(ReportTest, HostileTextStaysText) {
  const std::string hostile =
      "</script></style></title></pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'><!-- & &lt; "
      "\xFF\xC3\x28 \x1B[31m \xE2\x80\xAE gnp.exe";
  const std::string page = page_of(Synthetic{.hostile = hostile});
  const HtmlCheck check(page);
  ASSERT_EQ(check.problem(), "");
  EXPECT_EQ(check.count("script"), 1);
  EXPECT_EQ(check.count("img"), 0);
  EXPECT_THAT(check.text(), HasSubstr("<script>alert(1)</script>"));
  EXPECT_THAT(check.text(), HasSubstr("\u27E8U+202E\u27E9 gnp.exe"));
  EXPECT_THAT(page, Not(HasSubstr("\xE2\x80\xAE")));
}

TEST_F(ReportTest, UnfinishedRunSaysSo) {
  const HtmlCheck check(page_of(Synthetic{.finished = false}));
  EXPECT_EQ(check.problem(), "");
  EXPECT_THAT(check.text(), HasSubstr("This run has not finished"));
  EXPECT_THAT(check.text(), HasSubstr("hone resume 5ca1ab1e0001"));
}

TEST_F(ReportTest, RunKilledBeforeAnyPromotion) {
  const HtmlCheck check(page_of(Synthetic{.evaluations = 9, .finished = false, .champion = false}));
  EXPECT_EQ(check.problem(), "");
  EXPECT_THAT(check.text(), HasSubstr("No champion."));
  EXPECT_FALSE(check.has_id("source"));
  EXPECT_FALSE(check.has_id("roofline"));
}

TEST_F(ReportTest, RefusedPromotionMakesNoChampion) {
  const HtmlCheck check(page_of(Synthetic{.champion = false}));
  EXPECT_EQ(check.problem(), "");
  EXPECT_THAT(check.text(), HasSubstr("No champion. Nothing is confirmed by a promotion."));
  EXPECT_THAT(check.text(), HasSubstr("y differs on fresh inputs"));
}

TEST_F(ReportTest, RunWithNothingAccepted) {
  const HtmlCheck check(page_of(Synthetic{.champion = false, .accepting = false}));
  EXPECT_EQ(check.problem(), "");
  EXPECT_THAT(check.text(), HasSubstr("None of the 60 evaluated kernels was accepted"));
  EXPECT_FALSE(check.has_id("candidates"));
}

TEST_F(ReportTest, TaskThatOnlyMovesDataShowsBandwidth) {
  const HtmlCheck check(page_of(Synthetic{.operations = false}));
  EXPECT_EQ(check.problem(), "");
  EXPECT_THAT(check.text(), HasSubstr("least megabytes moved"));
  EXPECT_THAT(check.text(), Not(HasSubstr("GFLOP/s")));
}

TEST_F(ReportTest, EmptyLog) {
  const HtmlCheck check(page_of(run_of({})));
  EXPECT_EQ(check.problem(), "");
  EXPECT_THAT(check.text(), HasSubstr("Nothing has been evaluated"));
}

TEST_F(ReportTest, EventsOfAnotherShapeDoNotStopIt) {
  const HtmlCheck check(page_of(run_of({
      {"started",
       R"({"machine":"a string","workloads":[1,{"name":7,"weight":"x"}],"opponents":{},"task":{}})"},
      {"calibrated", R"({"bounds_ns":[null,"x",-1]})"},
      {"screened", R"({})"},
      {"screened",
       R"({"n":-4,"kernel":5,"parent":"5","score":-2,"at":"late","screening":{"verdict":{"verdict":"accepted"}}})"},
      {"screened",
       R"({"n":1e300,"kernel":"k","parent":"k","score":1e308,"at":-1e300,"screening":{"verdict":{"verdict":"accepted"},"median_ns":[0]}})"},
      {"screened", R"({"kernel":"odd one","screening":{"verdict":{"verdict":"too clever","reason":"new"}}})"},
      {"considered", R"({"why":["list"]})"},
      {"promoted",
       R"({"kernel":"k","promotion":{"verdict":{"verdict":"accepted"},"workloads":[{},{"bytes":1,"flops":1,"bound_ns":1,"candidate_ns":1,"opponents":[{"opponent":"o","ratio":{"median":-1,"high":null}},{}]}]}})"},
      {"champion", R"({"kernel":"k","score":null})"},
      {"imagined", R"({"of":"a later version"})"},
      {"finished", R"({"champion":3})"},
  })));
  EXPECT_EQ(check.problem(), "");
  EXPECT_THAT(check.text(), HasSubstr("1 events of kind imagined are left out"));
  EXPECT_THAT(check.text(), HasSubstr("too clever"));
}

TEST_F(ReportTest, TheChampionsDiagnosisAndEveryPredictionAreShown) {
  const std::string page = page_of(run_of({
      {"screened", R"({"n":1,"kernel":"a","score":1,"screening":{"verdict":{"verdict":"accepted"}}})"},
      {"diagnosed", R"({"kernel":"a","workload":"w0","diagnosis":{"bottleneck":"balance","says":"of the parent","evidence":[],"actions":[]}})"},
      {"screened", R"({"n":2,"kernel":"b","parent":"a","score":1.3,"action":"STREAM 0 -> 1","predicted":1.2,"cause":"write traffic","screening":{"verdict":{"verdict":"accepted"}}})"},
      {"screened", R"({"n":3,"kernel":"c","parent":"a","score":0,"action":"ROWS 4 -> 1","predicted":1e300,"cause":"<b>","screening":{"verdict":{"verdict":"wrong"}}})"},
      {"screened", R"({"n":4,"kernel":"d","parent":"unheard of","score":1,"predicted":1.1,"cause":"x","screening":{"verdict":{"verdict":"accepted"}}})"},
      {"champion", R"({"kernel":"b","score":1.3})"},
      {"diagnosed", R"({"kernel":"b","workload":"large","diagnosis":{"bottleneck":"memory latency","says":"it <waits>","verdict":"retune","light":0.5,
        "evidence":[{"metric":"hot_share","value":0.4,"origin":"measured","about":"hot / cold"}],
        "actions":[{"action":"AHEAD 0 -> 2","kind":"tunable","name":"AHEAD","from":0,"to":2,"gain":1.17,"cause":"memory latency","why":"reckoned"}]}})"},
  }));
  const HtmlCheck check(page);
  EXPECT_EQ(check.problem(), "");
  EXPECT_TRUE(check.has_id("diagnosis"));
  for (const char* text : {"how the 2 predictions of the search came out: 1 gained", "memory latency on large", "it <waits>", "hot_share", "AHEAD 0 -> 2", "1.17x", "write traffic"})
    EXPECT_THAT(check.text(), HasSubstr(text));
  EXPECT_THAT(check.text(), Not(HasSubstr("of the parent")));
  EXPECT_THAT(check.text(), Not(HasSubstr("Each candidate was checked")));
}

TEST_F(ReportTest, OfSeveralCardsItSaysWhichJudgedWhat) {
  const HtmlCheck check(page_of(run_of({
      {"screened", R"({"n":1,"kernel":"a","score":1,"card":"cuda:0","action":"look","screening":{"spent_ns":{"verify":1000000000},"verdict":{"verdict":"accepted"}}})"},
      {"screened", R"({"n":2,"kernel":"b","parent":"a","score":1.3,"card":"cuda:1","action":"try","screening":{"verdict":{"verdict":"accepted"}}})"},
      {"screened", R"({"n":3,"kernel":"c","parent":"a","card":"cuda:1","action":"try more","screening":{"verdict":{"verdict":"wrong","reason":"it differs"}}})"},
  })));
  EXPECT_EQ(check.problem(), "");
  for (const char* text : {"on cuda:0", "on cuda:1", "Each candidate was checked and timed on one card"}) EXPECT_THAT(check.text(), HasSubstr(text));
}

/// A run in which a model was asked `calls` times, each time about the kernel of the answer before.
std::vector<std::pair<std::string, std::string>> asked_of_models(archive::Store& store, int calls, const std::string& hostile, size_t prompt_bytes) {
  using nlohmann::json;
  std::vector<std::pair<std::string, std::string>> events;
  std::string parent;
  for (int n = 0; n < calls; ++n) {
    const std::string source = fmt::format("/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"f\"\ngrid = [\"1\"]\nargs = [\"x\", \"y\"]\n*/\n// {}\nvoid f() {{}}\n", n);
    agent::Request request;
    request.system = "the rules " + hostile;
    request.messages.push_back({agent::Message::Role::kUser, fmt::format("question {} {}{}", n, hostile, std::string(prompt_bytes, 'q')), {}, {}, false, json::array()});
    const std::string reply = fmt::format("said {}\n```json\n{}\n```\n```cpp\n{}```\n", hostile, json{{"action", "try"}, {"reason", "r"}, {"expected_speedup", 2}, {"lesson", ""}}.dump(), source);
    events.emplace_back("asked", json{{"ask", n}, {"direction", 0}, {"model", 0}, {"name", "m"}, {"agent", n == 0 ? "generator" : "optimiser"}, {"parent", parent},
                                      {"hash", "h"}, {"request", *store.put_blob(request.to_json())}, {"most_tokens", 9}, {"most_nanodollars", 9}, {"at", 1.0 + n}}.dump());
    events.emplace_back("answered", json{{"ask", n}, {"name", "m"}, {"cancelled", false}, {"problem", ""}, {"tokens", 12345}, {"nanodollars", 20'000'000},
                                         {"reply", {{"text", reply}, {"stop", "end"}, {"id", ""}, {"raw", json::array()}, {"calls", json::array()}, {"usage", nullptr}}},
                                         {"attempts", json::array({{{"status", 200}, {"problem", ""}, {"began", true}, {"latency_ns", 14'000'000'000}, {"waited_ns", 0}, {"id", ""},
                                                                    {"usage", {{"input", 2000}, {"cache_read", 10000}, {"cache_write", 0}, {"output", 345}}}}})}}.dump());
    parent = kernel::parse_kernel(source, "answer")->hash();
    events.emplace_back("screened", json{{"n", n + 1}, {"kernel", parent}, {"author", "model:m"}, {"score", 1.25 + n}, {"action", "try"}, {"screening", {{"verdict", {{"verdict", "accepted"}}}}}}.dump());
  }
  if (!parent.empty()) events.emplace_back("champion", json{{"kernel", parent}, {"score", 3}}.dump());
  return events;
}

TEST_F(ReportTest, QuestionsToModelsAreATreeWithPromptAndAnswerFolded) {
  const std::string page = page_of(run_of(asked_of_models(store_, 3, "</pre><script>alert(1)</script>", 10)));
  const HtmlCheck check(page);
  ASSERT_EQ(check.problem(), "");
  EXPECT_EQ(check.count("script"), 1);
  const std::string cost = report::whole(12'345) + " tokens, $0.0200, " + report::time_s(14);
  for (const std::string& text : {std::string("3 questions to language models, for $0.0600"), std::string("question 2 </pre>"), std::string("said </pre>"), cost,
                                  report::whole(2000) + ", " + report::whole(10'000) + ", 345", std::string("champion"), std::string("the rules </pre>")})
    EXPECT_THAT(check.text(), HasSubstr(text));
  EXPECT_EQ(page.find("the rules &lt;"), page.rfind("the rules &lt;")) << "what all begin with is there once";
  // The third hangs below the second, that below the first.
  const size_t first = page.find("question 0 "), second = page.find("question 1 "), third = page.find("question 2 ");
  ASSERT_TRUE(first < second && second < third && third != std::string::npos);
  EXPECT_THAT(page.substr(first, second - first), HasSubstr("<ul><li class=\"talk\">"));
  EXPECT_THAT(page.substr(second, third - second), HasSubstr("<ul><li class=\"talk\">"));
  for (const std::string& link : check.links()) EXPECT_TRUE(check.has_id(link.substr(1))) << link;
}

TEST_F(ReportTest, ManyLongQuestionsStaySmall) {
  const std::string page = page_of(run_of(asked_of_models(store_, 60, "", 60'000)));
  const HtmlCheck check(page);
  EXPECT_EQ(check.problem(), "");
  EXPECT_LT(page.size(), 3'000'000U);
  EXPECT_LT(check.depth(), 200);
  EXPECT_THAT(check.text(), HasSubstr("left out to keep the page small"));
  EXPECT_THAT(check.text(), HasSubstr("#59 optimiser"));
}

TEST_F(ReportTest, LongRunStaysSmallAndQuick) {
  const archive::RunInfo run = SyntheticRun(store_, Synthetic{.evaluations = 2000}).write();
  const auto start = std::chrono::steady_clock::now();
  const std::string page = page_of(run);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(page.size(), 3'000'000U);
  EXPECT_LT(took.count(), 3.0);
  const HtmlCheck check(page);
  EXPECT_EQ(check.problem(), "");
  EXPECT_LT(check.depth(), 200) << "browsers flatten what is nested 512 deep";
}

}  // namespace
}  // namespace hone::face
