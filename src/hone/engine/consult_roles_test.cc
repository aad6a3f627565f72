// The diagnoser and the researcher within a run: who is asked when, what becomes of the answers, and that they are paid for
// once and replayed like all questions.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "hone/agent/prompt.h"
#include "hone/base/hash.h"
#include "hone/engine/consult.h"
#include "hone/engine/testing/model_run.h"
#include "hone/engine/transcript.h"

namespace hone::engine {
namespace {

using agent::Request;
using nlohmann::json;
using testing::answer_text;
using testing::kernel_text;
using testing::last_text;
using testing::ModelBench;
using testing::must;
using testing::says;
using ::testing::HasSubstr;
using ::testing::Not;

bool asks(const Request& request, const char* who) { return request.messages.front().text.find(std::string("You are the ") + who) != std::string::npos; }

std::string diagnosis(const std::string& metric = "light", double promised = 2) {
  return "```json\n" + json{{"bottleneck", "memory"}, {"evidence", json::array({{{"metric", metric}, {"value", 0.25}, {"says", "far from light"}}})},
                            {"plan", {"read x once"}}, {"expected_speedup", promised}}.dump() + "\n```";
}
std::string research() {
  return "```json\n" + json{{"applies", json::array({{{"name", "pattern0: look"}, {"why", "rows are short"}}})},
                            {"ideas", {"keep rows in registers"}}}.dump() + "\n```";
}

/// Where hone's rules are sure of themselves, or not.
Result<Examined> examined(bool sure) {
  Examined out;
  out.workload = "w0";
  out.profiles.push_back({"w0", {}, 1, {}});
  out.profiles[0].metrics.measured("light", 0.25, "");
  out.profiles[0].metrics.absent("cache_miss_share", "no counters here");
  out.diagnosis.bottleneck = sure ? diagnose::kBalance : diagnose::kUnknown;
  out.diagnosis.says = "so say the rules";
  if (sure) {
    diagnose::Action action;
    action.name = "split rows";
    action.gain = 1.4;
    out.diagnosis.actions.push_back(action);
  }
  return out;
}

struct RolesBench : ModelBench {
  bool sure = true;
  int looks = 0;
  RolesBench() { options.diagnose = true; }
  Services all(archive::Store& store) {
    Services services = with_models(store);
    services.examine = [this](evaluate::Evaluator&, const kernel::Kernel&, bool thorough) {
      looks += thorough ? 0 : 1;
      return examined(sure);
    };
    return services;
  }
  RunResult start() {
    options.models_json = config.to_json();
    archive::Store store = open();
    return must(start_run(task, options, all(store)));
  }
  std::vector<std::string> agents() const {
    std::vector<std::string> all;
    for (const json& event : events("asked")) all.push_back(event.at("agent"));
    return all;
  }
  /// Ever faster kernels from whoever writes them, advice from whoever advises.
  void add_obliging(double promised = 2) {
    auto made = std::make_shared<std::atomic<int>>(0);
    add("m", [made, promised](const Request& request, int) {
      if (asks(request, "researcher")) return says(research());
      if (asks(request, "diagnoser")) return says(diagnosis("light", promised));
      const int n = (*made)++;
      return says(answer_text(kernel_text(fmt::format("time {}", 4e5 / (1 << n))), fmt::format("try {}", n)));
    });
  }
};

TEST(Diagnoser, is_asked_before_each_optimiser_that_has_another_kernel) {
  RolesBench bench;
  bench.config.diagnose = agent::Diagnose::kAlways;
  bench.config.limits.calls = 5;
  bench.add_obliging(3);
  const RunResult result = bench.start();
  EXPECT_EQ(bench.agents(), (std::vector<std::string>{"generator", "diagnoser", "optimiser", "diagnoser", "optimiser"}));
  const auto requests = bench.clients[0]->requests();
  ASSERT_EQ(requests.size(), 5U);
  EXPECT_THAT(last_text(requests[1]), HasSubstr("light: 0.25 (measured)"));
  EXPECT_THAT(last_text(requests[1]), HasSubstr("cache_miss_share: absent"));
  EXPECT_THAT(last_text(requests[1]), HasSubstr("so say the rules"));
  EXPECT_THAT(last_text(requests[1]), HasSubstr("split rows"));
  EXPECT_TRUE(requests[1].tools.empty());
  EXPECT_THAT(last_text(requests[2]), HasSubstr("step 1: read x once"));
  EXPECT_THAT(last_text(requests[2]), HasSubstr("<<<DIAGNOSIS-"));
  EXPECT_THAT(last_text(requests[2]), HasSubstr("What holds it back on workload w0:\nhone's rules say:\n"));
  EXPECT_THAT(last_text(requests[2]), HasSubstr("so say the rules"));
  // Prediction against outcome: each optimiser's kernel takes half of its parent's time, and three was promised.
  const json predictions = json::parse(result.summary_json).at("predictions");
  int of_diagnoser = 0;
  for (const json& row : predictions.at("rows"))
    if (row.at("cause") == "diagnoser: memory") {
      ++of_diagnoser;
      EXPECT_EQ(row.at("predicted"), 3);
      EXPECT_NEAR(row.at("gained").get<double>(), 2, 0.01);
    }
  EXPECT_EQ(of_diagnoser, 2);
  int in_log = 0;
  for (const json& event : bench.events("screened")) in_log += event.value("cause", "") == "diagnoser: memory" ? 1 : 0;
  EXPECT_EQ(in_log, 2);
  const auto again = bench.replay();
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->summary_json, result.summary_json);
}

TEST(Diagnoser, is_asked_where_the_rules_are_unsure_and_calls_are_few) {
  for (const bool sure : {true, false}) {
    RolesBench bench;
    bench.sure = sure;
    bench.config.limits.calls = 4;
    bench.add_obliging();
    (void)bench.start();
    const auto agents = bench.agents();
    EXPECT_EQ(std::count(agents.begin(), agents.end(), "diagnoser"), sure ? 0 : 2) << sure;
    // The rules' answer is the optimiser's in any case.
    for (const Request& request : bench.clients[0]->requests()) {
      if (asks(request, "optimiser")) { EXPECT_THAT(last_text(request), HasSubstr("so say the rules")); }
    }
  }
}

TEST(Diagnoser, goes_by_the_setting_and_the_budget) {
  agent::ModelsConfig config;
  const auto resolved = [&] { return must(agent::ModelsConfig::from_json(config.to_json())); };
  for (const auto& [calls, expected] :
       {std::pair(11, agent::Diagnose::kUnsure), std::pair(12, agent::Diagnose::kAlways), std::pair(0, agent::Diagnose::kAlways)}) {
    config.limits.calls = calls;
    EXPECT_EQ(resolved().diagnoses(), expected) << calls;
    EXPECT_EQ(resolved().researches(), calls != 11) << calls;
  }
  const auto file = [](const std::string& head) { return must(agent::parse_models(head + "\n[[model]]\ncommand = \"x\"\n", "m")); };
  EXPECT_EQ(file("diagnose = false\nresearch = false").diagnoses(), agent::Diagnose::kNever);
  EXPECT_FALSE(file("diagnose = false\nresearch = false").researches());
  EXPECT_EQ(file("diagnose = true\n[budget]\ncalls = 2").diagnoses(), agent::Diagnose::kAlways);
  EXPECT_EQ(file("feedback = false\ndiagnose = true\nresearch = true").diagnoses(), agent::Diagnose::kNever);
  EXPECT_FALSE(file("feedback = false\ndiagnose = true\nresearch = true").researches());
  EXPECT_FALSE(agent::parse_models("diagnose = 3\n[[model]]\ncommand = \"x\"\n", "m"));
  // A run of before there was either asks neither.
  json old = json::parse(config.to_json());
  old.erase("diagnose");
  old.erase("research");
  EXPECT_EQ(must(agent::ModelsConfig::from_json(old.dump())).diagnoses(), agent::Diagnose::kNever);
  EXPECT_FALSE(must(agent::ModelsConfig::from_json(old.dump())).researches());
}

TEST(Diagnoser, evidence_that_was_never_measured_is_sent_back_once_and_then_done_without) {
  RolesBench bench;
  bench.config.diagnose = agent::Diagnose::kAlways;
  bench.config.limits.calls = 4;
  bench.add("m", [](const Request& request, int) {
    if (asks(request, "diagnoser")) return says(diagnosis("cache_miss_share"));
    return says(answer_text(kernel_text(asks(request, "generator") ? "time 4e5" : "time 1e5")));
  });
  const RunResult result = bench.start();
  EXPECT_EQ(bench.agents(), (std::vector<std::string>{"generator", "diagnoser", "diagnoser", "optimiser"}));
  const auto requests = bench.clients[0]->requests();
  EXPECT_THAT(last_text(requests[2]), HasSubstr("no metric that was given"));
  EXPECT_THAT(last_text(requests[2]), Not(HasSubstr("holding the whole kernel file")));
  EXPECT_THAT(last_text(requests[3]), Not(HasSubstr("<<<DIAGNOSIS-")));
  EXPECT_EQ(json::parse(result.summary_json).at("models").at("models")[0].at("failures"), 1);
}

TEST(Diagnoser, is_not_asked_of_what_nobody_can_measure) {
  RolesBench bench;
  bench.config.diagnose = agent::Diagnose::kAlways;
  bench.config.limits.calls = 4;
  bench.add_obliging();
  (void)bench.run();  // its services cannot look at kernels
  for (const std::string& agent : bench.agents()) EXPECT_NE(agent, "diagnoser");
  EXPECT_TRUE(bench.events("profiled").empty());
}

TEST(Researcher, is_asked_once_and_every_line_begins_with_the_answer) {
  RolesBench bench;
  bench.config.research = true;
  bench.config.diagnose = agent::Diagnose::kNever;
  bench.config.calls_at_once = 3;
  bench.config.limits.calls = 10;
  ASSERT_TRUE(bench.open().put_fact(lessons_key(bench.task.hash()), R"(["blocks of 64 were best"])"));
  bench.add_obliging();
  const RunResult result = bench.start();
  const auto agents = bench.agents();
  EXPECT_EQ(agents.front(), "researcher");
  EXPECT_EQ(std::count(agents.begin(), agents.end(), "researcher"), 1);
  const auto asked = bench.events("asked");
  EXPECT_EQ(bench.events("answered").front().at("ask"), 0) << "nobody else is asked before its answer is there";
  std::set<int> briefed;
  const auto requests = bench.clients[0]->requests();
  EXPECT_THAT(last_text(requests[0]), HasSubstr("pattern0: look"));
  EXPECT_THAT(last_text(requests[0]), HasSubstr("blocks of 64 were best"));
  EXPECT_TRUE(requests[0].tools.empty());
  archive::Store store = bench.open();
  std::map<int, int> generators;
  for (const json& event : asked) {
    const std::string text = must(store.blob(event.at("request").get<std::string>()));
    if (event.at("agent") == "generator" && generators[event.at("direction").get<int>()]++ == 0) {
      EXPECT_THAT(text, HasSubstr("keep rows in registers"));
      briefed.insert(event.at("direction").get<int>());
    } else if (event.at("agent") == "optimiser") {
      EXPECT_THAT(text, HasSubstr("You are the optimiser"));
    }
  }
  EXPECT_EQ(briefed.size(), 3U);
  const auto again = bench.replay();
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->summary_json, result.summary_json);
}

TEST(Researcher, is_done_without_when_it_does_not_answer) {
  RolesBench bench;
  bench.config.research = true;
  bench.config.limits.calls = 3;
  bench.add("m", [](const Request& request, int) {
    if (asks(request, "researcher")) return testing::calls("read_pattern", {{"name", "../../etc/passwd"}});
    return says(answer_text(kernel_text("time 4e5")));
  });
  (void)bench.start();
  EXPECT_EQ(bench.agents(), (std::vector<std::string>{"researcher", "researcher", "generator"}));
  EXPECT_TRUE(bench.events("tool").empty()) << "it was offered no tools";
}

TEST(Researcher, is_not_asked_where_there_is_nothing_to_ask_about) {
  RolesBench bench;
  bench.config.research = true;
  bench.config.limits.calls = 2;
  bench.options.memory = false;
  bench.add_obliging();
  bench.options.models_json = bench.config.to_json();
  archive::Store store = bench.open();
  Services services = bench.all(store);
  for (search::Seed& seed : services.seeds) seed.pattern = "start";
  (void)must(start_run(bench.task, bench.options, services));
  EXPECT_EQ(bench.agents().front(), "generator");
}

agent::TeamOptions team_of_one() {
  agent::TeamOptions options;
  options.models.emplace_back().name = "m";
  options.width = 1;
  options.documents = agent::own_documents();
  return options;
}

TEST(Diagnoser, what_is_said_of_settings_that_the_optimiser_does_not_see_is_marked) {
  agent::TeamOptions options = team_of_one();
  options.diagnose = agent::Diagnose::kUnsure;
  agent::Team team(options);
  team.sent(must(team.prepare(0, 0, {})));
  const auto taken = team.take(0, says(answer_text(kernel_text("time 1", "tunables = { A = [1, 2] }\n"))), "", 1, {});
  ASSERT_TRUE(taken.seed);
  kernel::Kernel kernel = taken.seed->kernel;
  const auto judge = [&](double score) {
    agent::Judged judged;
    judged.accepted = true;
    judged.verdict = "accepted";
    judged.score = score;
    judged.source = base::content_hash(kernel.source);
    judged.config = kernel.config;
    team.judged(kernel.hash(), judged);
  };
  judge(2);
  EXPECT_EQ(team.wants_facts(), std::vector<std::string>{kernel.hash()});
  team.tell(kernel.hash(), {{{"light", 0.25, false}}, "bottleneck: balance\n", "wide", true});
  EXPECT_THAT(last_text(must(team.prepare(0, 0, {kernel, 2, 0})).request), HasSubstr("What holds it back on workload wide:\nhone's rules say:\nbottleneck: balance\n"));
  kernel.config["A"] = 2;
  judge(3);
  const agent::Ask ask = must(team.prepare(0, 0, {kernel, 3, 0}));
  EXPECT_EQ(ask.agent, "optimiser");
  EXPECT_THAT(last_text(ask.request), HasSubstr("What holds it back on workload wide, looked at with the settings A=1:\nhone's rules say:\nbottleneck: balance\n"));
  EXPECT_TRUE(team.wants_facts().empty()) << "a setting is no other kernel";
}

TEST(Researcher, whose_answer_is_missing_is_not_taken_for_a_kernel) {
  agent::TeamOptions options = team_of_one();
  options.research = true;
  options.lessons = {"blocks of 64 were best"};
  agent::Team team(options);
  agent::Ask ask = must(team.prepare(0, 0, {}));
  EXPECT_EQ(ask.agent, "researcher");
  team.sent(ask);
  EXPECT_EQ(team.take(0, std::nullopt, "no network", 1, {}).problem, "no network");
  ask = must(team.prepare(0, 0, {}));
  EXPECT_EQ(ask.agent, "generator");
  EXPECT_THAT(last_text(ask.request), HasSubstr("- (yours) researcher by m: no answer: no network\n"));
  EXPECT_THAT(last_text(ask.request), Not(HasSubstr("the best of the run")));
}

TEST(Roles, a_transcript_of_them_replays_anywhere) {
  RolesBench bench;
  bench.config.research = true;
  bench.config.diagnose = agent::Diagnose::kAlways;
  bench.config.limits.calls = 6;
  bench.add_obliging();
  const RunResult result = bench.start();
  archive::Store store = bench.open();
  const auto replayed = replay_transcript(must(transcript_of(store, bench.info())));
  ASSERT_TRUE(replayed) << replayed.error().to_string();
  EXPECT_EQ(replayed->questions, 6);
  EXPECT_EQ(replayed->result.champion, result.champion);
}

/// Two answers that are looked at in one go: whoever replays it may not think of a diagnosis of the first before the second was looked at.
TEST(Roles, a_transcript_of_two_lines_at_once_replays_anywhere) {
  for (const bool second_is_right : {true, false}) {
    RolesBench bench;
    bench.config.diagnose = agent::Diagnose::kAlways;
    bench.config.calls_at_once = 2;
    bench.config.limits.calls = 6;
    std::atomic<int> made{0};
    bench.add("m", [&](const Request& request, int) {
      if (asks(request, "diagnoser")) return says(diagnosis());
      const int n = made++;
      return says(answer_text(kernel_text(n == 1 && !second_is_right ? "compile" : fmt::format("time {}", 400000 >> n)), fmt::format("try {}", n)));
    });
    // Both come while the library's kernels are looked at.
    bench.clients[0]->takes = std::chrono::milliseconds(30);
    bench.sources = 8;
    bench.work = [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
    const RunResult result = bench.start();
    archive::Store store = bench.open();
    const auto replayed = replay_transcript(must(transcript_of(store, bench.info())));
    ASSERT_TRUE(replayed) << replayed.error().to_string();
    EXPECT_EQ(replayed->questions, 6);
    EXPECT_EQ(replayed->result.champion, result.champion);
    // Else it was not about this.
    const auto events = bench.Bench::events();
    const auto of_model = [](const archive::Event& e) { return e.kind == "screened" && e.json.find("\"author\":\"model:") != std::string::npos; };
    bool both = false;
    for (size_t i = 0; i + 1 < events.size(); ++i)
      both = both || (of_model(events[i]) && (of_model(events[i + 1]) || (events[i + 1].kind == "yardstick" && i + 2 < events.size() && of_model(events[i + 2]))));
    EXPECT_TRUE(both);
  }
}

struct Shared {
  std::atomic<int> calls{0};
  std::atomic<int> kill_at{-1};
};

TEST(Roles, a_killed_run_pays_for_no_advice_twice) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* shared = new (memory) Shared;
  // The calls: researcher, generator, diagnoser, optimiser, diagnoser, optimiser.
  for (int kill_at = 0; kill_at < 6; ++kill_at) {
    RolesBench bench;
    bench.config.research = true;
    bench.config.diagnose = agent::Diagnose::kAlways;
    bench.config.limits.calls = 6;
    shared->calls = 0;
    shared->kill_at = kill_at;
    const auto folder = bench.scratch.path();
    bench.add("m", [&](const Request& request, int) {
      const std::string name = (folder / request.hash("m")).string();
      std::FILE* file = std::fopen(name.c_str(), "a");
      std::fputs("x", file);
      std::fclose(file);
      const int n = shared->calls++;
      if (n == shared->kill_at) ::raise(SIGKILL);
      if (asks(request, "researcher")) return says(research());
      if (asks(request, "diagnoser")) return says(diagnosis());
      return says(answer_text(kernel_text(fmt::format("time {}", 4e5 / (1 << n)))));
    });
    for (int lives = 0; lives < 4; ++lives) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        archive::Store store = bench.open();
        const auto known = store.run(bench.run_id);
        bench.options.models_json = bench.config.to_json();
        const Services services = bench.all(store);
        const auto result = known ? resume_run(*known, bench.task, services) : start_run(bench.task, bench.options, services);
        ::_exit(result ? 0 : 1);
      }
      int status = 0;
      ::waitpid(pid, &status, 0);
      if (WIFSIGNALED(status)) continue;
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << kill_at;
      break;
    }
    EXPECT_EQ(bench.info().status, "finished");
    int asked = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().size() != 64) continue;
      ++asked;
      EXPECT_EQ(std::filesystem::file_size(entry.path()), 1U) << "asked twice";
    }
    EXPECT_LE(asked, 6);
    const auto agents = bench.agents();
    EXPECT_EQ(std::count(agents.begin(), agents.end(), "researcher"), 1);
    EXPECT_EQ(agents.size(), bench.events("answered").size());
    const auto again = bench.replay();
    EXPECT_TRUE(again) << kill_at << ": " << again.error().to_string();
  }
  ::munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace hone::engine
