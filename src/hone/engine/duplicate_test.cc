// Kernels that became the same machine code as one that was evaluated: dropped before they are measured, written down, and the same
// again in a replay and in a run that was stopped.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <set>

#include "hone/engine/code_name.h"
#include "hone/engine/testing/fake_run.h"
#include "hone/engine/transcript.h"

namespace hone::engine {
namespace {

using nlohmann::json;
using testing::Bench;
using testing::must;

RunOptions asked(search::StrategyKind kind = search::StrategyKind::kBeam) {
  RunOptions options;
  options.strategy = kind;
  options.budget_seconds = 0;
  options.budget_evaluations = 30;
  return options;
}

/// C changes no instruction.
std::string code_of(const kernel::Kernel& kernel) {
  return fmt::format("{} A={} B={}", kernel.source, kernel.config.at("A"), kernel.config.at("B"));
}

TEST(DuplicateTest, code_is_measured_once) {
  for (const auto kind : {search::StrategyKind::kBeam, search::StrategyKind::kEvolution}) {
    Bench bench;
    bench.hooks.code = code_of;
    std::map<std::string, std::set<std::string>> screened;
    bench.hooks.before = [&](const char* call, const kernel::Kernel& kernel) {
      if (std::string(call) == "screen") screened[code_of(kernel)].insert(kernel.hash());
    };
    const RunResult result = must(bench.start(asked(kind)));
    EXPECT_FALSE(result.champion.empty());
    const auto dropped = bench.events("duplicate");
    EXPECT_FALSE(dropped.empty());
    for (const auto& [code, kernels] : screened) EXPECT_EQ(kernels.size(), 1u) << code;
    std::set<std::string> judged;
    for (const json& event : bench.events("screened")) judged.insert(event.at("kernel"));
    for (const json& event : dropped) {
      EXPECT_TRUE(judged.contains(event.at("of")));
      EXPECT_FALSE(judged.contains(event.at("kernel")));
      EXPECT_NE(result.champion, event.at("kernel"));
    }
    archive::Store store = bench.open();
    EXPECT_EQ(must(replay_run(must(store.run(bench.run_id)), bench.task, bench.services(store))).champion, result.champion);
    const std::string transcript = must(transcript_of(store, bench.info()));
    EXPECT_EQ(must(replay_transcript(transcript)).result.champion, result.champion);
  }
}

TEST(DuplicateTest, a_run_that_was_stopped_knows_the_code_it_measured) {
  const auto kernels = [](const Bench& bench) {
    std::vector<std::string> all;
    for (const archive::Event& event : bench.events())
      if (event.kind == "screened" || event.kind == "duplicate") all.push_back(event.kind + json::parse(event.json).at("kernel").get<std::string>());
    return all;
  };
  Bench whole, cut;
  for (Bench* bench : {&whole, &cut}) bench->hooks.code = code_of;
  must(whole.start(asked()));
  bool stop = false;
  cut.progress = [&](const Progress& p) { stop = stop || p.evaluated >= 11; };
  cut.interrupted = [&] { return stop; };
  must(cut.start(asked()));
  cut.interrupted = nullptr;
  must(cut.resume());
  EXPECT_EQ(kernels(cut), kernels(whole));
  EXPECT_EQ(cut.info().champion, whole.info().champion);
}

/// Killed in the middle of what it had built side by side: the rest is built side by side again, and no code is measured twice.
TEST(DuplicateTest, a_run_that_was_killed_knows_the_code_of_the_rest) {
  const auto kernels = [](const Bench& bench) {
    std::vector<std::string> all;
    for (const archive::Event& event : bench.events())
      if (event.kind == "screened" || event.kind == "duplicate") all.push_back(event.kind + json::parse(event.json).at("kernel").get<std::string>());
    return all;
  };
  const auto set_up = [](Bench& bench) { bench.hooks.code = code_of, bench.batch = 6; };
  Bench whole;
  set_up(whole);
  must(whole.start(asked()));
  for (int at = 4; at < 16; ++at) {
    Bench cut;
    set_up(cut);
    const pid_t pid = ::fork();
    if (pid == 0) {
      cut.progress = [&](const Progress& p) {
        if (p.evaluated >= at) ::raise(SIGKILL);
      };
      (void)cut.start(asked());
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    must(cut.resume());
    EXPECT_EQ(kernels(cut), kernels(whole)) << at;
  }
}

TEST(DuplicateTest, without_a_name_for_the_code_nothing_is_dropped) {
  Bench bench;
  must(bench.start(asked()));
  EXPECT_TRUE(bench.events("duplicate").empty());
  EXPECT_EQ(bench.events("screened").size(), 30u);
}

TEST(CodeNameTest, is_of_instructions_and_plan) {
  const task::Task task = must(task::task_from_expressions("y = exp(x)", {"x=f32[256,1000]"}, {}));
  const auto name = [&](const std::string& code, const std::string& grid, int64_t tile) {
    auto kernel = must(kernel::parse_kernel(fmt::format(R"(/* hone
language = "c++"
tunables = {{ TILE = [1, 2] }}
[[launch]]
kernel = "f"
grid = ["{}"]
args = ["x", "y"]
*/
)", grid), "fake"));
    kernel.config["TILE"] = tile;
    target::Build build;
    build.code = code;
    return code_name(kernel, target::BuildOutcome(build), task, {});
  };
  EXPECT_EQ(name("code", "4", 1), name("code", "4", 2));
  EXPECT_NE(name("code", "4", 1), name("other", "4", 1));
  EXPECT_NE(name("code", "4 * TILE", 1), name("code", "4 * TILE", 2));
  EXPECT_EQ(name("", "4", 1), "");
  EXPECT_EQ(name("code", "TILE - 1", 1), "") << "a plan that does not bind";
}

}  // namespace
}  // namespace hone::engine
