// Benches over fake kernels with a fake clock: what becomes a row, what is done again after an end and what is not.
#include "hone/face/bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "hone/engine/recall.h"
#include "hone/face/bench/page.h"
#include "hone/face/bench/testing/fake_bench.h"

namespace hone::face::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::FakeBench;
using testing::must;
using Step = Progress::Step;

std::vector<std::string> verdicts(const State& state) {
  std::vector<std::string> all;
  for (const Entry& entry : state.entries) all.push_back(entry.row ? entry.row->verdict : "-");
  return all;
}

TEST(BenchTest, every_task_becomes_a_row_in_order) {
  FakeBench bench;
  bench.three_tasks();
  bench.begin();
  must(bench.play_all());
  EXPECT_THAT(verdicts(bench.state), ElementsAre("accepted", "accepted", "accepted"));
  const Row& row = *bench.state.entries[1].row;
  EXPECT_EQ(row.task, "2_log");
  EXPECT_EQ(row.pattern, "fake");
  EXPECT_EQ(row.champion.size(), 64u);
  EXPECT_FALSE(row.recalled);
  EXPECT_TRUE(row.compiled);
  ASSERT_EQ(row.speedups.size(), 2u);
  EXPECT_EQ(row.opponent, row.speedups.front().opponent);
  // Three kernels built two at a time and looked at, at most two changes of yardstick and two finalists, one promotion.
  EXPECT_GT(row.seconds, 1e-9 * static_cast<double>(3 * bench.engine.costs.screen + bench.engine.costs.promote));
  EXPECT_LT(row.seconds, 30);
  EXPECT_THAT(bench.steps, ElementsAre(Step::kBegins, Step::kDone, Step::kBegins, Step::kDone, Step::kBegins, Step::kDone));
  archive::Store store = bench.engine.open();
  EXPECT_EQ(must(store.runs(10)).size(), 3u);
  EXPECT_EQ(must(store.run(row.run)).task_name, "2_log");
}

TEST(BenchTest, a_task_that_fails_is_a_row_with_its_reason) {
  FakeBench bench;
  bench.add("1_malformed.toml", "name = \"odd\"\ninputs = { x = \"f32[N]\" }\ncompute = \"y = expp(x)\"\nworkloads = [ { N = 4 } ]\n");
  bench.add_task("2_good", "y = exp(x)");
  bench.add("3_no_toml.toml", "this is no task");
  bench.begin();
  must(bench.play_all());
  EXPECT_THAT(verdicts(bench.state), ElementsAre("error", "accepted", "error"));
  EXPECT_THAT(bench.state.entries[0].row->reason, HasSubstr("expp"));
  EXPECT_THAT(bench.state.entries[0].row->reason, HasSubstr("1_malformed.toml:3")) << "it says where";
  EXPECT_EQ(bench.state.entries[0].row->task, "1_malformed");
  EXPECT_FALSE(bench.state.entries[0].row->compiled);
}

TEST(BenchTest, a_task_without_an_accepted_kernel_is_a_row) {
  FakeBench bench;
  bench.add_task("1_wrong", "y = exp(x)");
  bench.begin();
  bench.engine.truth.wrong = 1;
  must(bench.play_all());
  EXPECT_THAT(verdicts(bench.state), ElementsAre("none"));
  EXPECT_THAT(bench.state.entries[0].row->reason, HasSubstr("so says the fake truth"));
  EXPECT_TRUE(bench.state.entries[0].row->compiled) << "wrong, but it did compile";

  FakeBench refused;
  refused.add_task("1_refused", "y = exp(x)");
  refused.begin();
  refused.engine.hooks.refuse_promotion = [](const kernel::Kernel&) { return true; };
  must(refused.play_all());
  EXPECT_THAT(verdicts(refused.state), ElementsAre("less accurate"));
  EXPECT_EQ(refused.state.entries[0].row->reason, "refused by the test");
}

TEST(BenchTest, an_engine_that_cannot_do_it_ends_the_task_alone) {
  FakeBench bench;
  bench.three_tasks();
  bench.begin();
  archive::Store store = bench.engine.open();
  Services services = bench.services(store);
  const auto run = services.run;
  services.run = [&](const task::Task& task, const engine::RunOptions& options) -> Result<engine::Services> {
    if (task.name == "1_exp") return fail(ErrorCode::kUnavailable, "no built-in pattern covers this task yet");
    if (task.name == "2_log") throw std::bad_alloc();
    return run(task, options);
  };
  for (size_t i = 0; i < 3; ++i) must(play(bench.state, i, services));
  EXPECT_THAT(verdicts(bench.state), ElementsAre("error", "error", "accepted"));
  EXPECT_EQ(bench.state.entries[0].row->reason, "no built-in pattern covers this task yet");
  EXPECT_EQ(bench.state.entries[1].row->reason, "std::bad_alloc");
}

TEST(BenchTest, goes_on_where_it_was_interrupted_and_redoes_nothing) {
  FakeBench bench;
  bench.three_tasks();
  bench.begin();
  int screened = 0;
  bool interrupted = false;
  bench.engine.hooks.before = [&](const char* call, const kernel::Kernel&) {
    if (std::string_view(call) == "screen" && ++screened == 5) interrupted = true;
  };
  bench.engine.interrupted = [&] { return interrupted; };
  const Status ended = bench.play_all();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kInterrupted);
  EXPECT_THAT(verdicts(bench.state), ElementsAre("accepted", "-", "-"));
  const std::string first = to_json(*bench.state.entries[0].row).dump(), second_run = bench.state.entries[1].run;

  bench.state = must(kept(bench.home, bench.state.id));
  EXPECT_EQ(bench.state.left(), 2u);
  bench.engine.interrupted = nullptr;
  bench.engine.hooks.before = nullptr;
  must(bench.play_all());
  EXPECT_THAT(verdicts(bench.state), ElementsAre("accepted", "accepted", "accepted"));
  EXPECT_EQ(to_json(*bench.state.entries[0].row).dump(), first);
  EXPECT_EQ(bench.state.entries[1].row->run, second_run) << "its run goes on, it does not begin again";
  EXPECT_EQ(must(bench.engine.open().runs(10)).size(), 3u);
}

/// Plays a bench in processes that end themselves by SIGKILL at their n-th step, n = 1, 2, 3, …, until one comes through.
TEST(BenchTest, killed_anywhere_it_goes_on_with_the_next_unfinished_task) {
  FakeBench bench;
  bench.three_tasks();
  bench.add("4_odd.toml", "no task");
  bench.begin();
  must(keep(bench.home, bench.state));
  int kills = 0;
  std::vector<std::string> done;
  for (bool through = false; !through; ++kills) {
    ASSERT_LT(kills, 300);
    const pid_t child = ::fork();
    if (child == 0) {
      int left = 1 + kills % 7;
      const auto burn = [&] {
        if (--left == 0) ::raise(SIGKILL);
      };
      bench.engine.hooks.before = [&](const char*, const kernel::Kernel&) { burn(); };
      bench.on_save = burn;
      bench.next_run_id = 0xa0000000 + 1000 * static_cast<uint64_t>(kills);
      ::_exit(bench.play_all() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    through = WIFEXITED(status);
    EXPECT_TRUE(!through || WEXITSTATUS(status) == 0);
    bench.state = must(kept(bench.home, bench.state.id));
    // What was done stays, to the byte.
    for (size_t i = 0; i < bench.state.entries.size(); ++i) {
      const auto& row = bench.state.entries[i].row;
      const std::string now = row ? to_json(*row).dump() : "";
      if (i == done.size()) done.push_back(now);
      EXPECT_TRUE(done[i].empty() || done[i] == now) << now;
      done[i] = now;
    }
  }
  EXPECT_GT(kills, 5);
  EXPECT_THAT(verdicts(bench.state), ElementsAre("accepted", "accepted", "accepted", "error"));
  archive::Store store = bench.engine.open();
  EXPECT_THAT(must(store.check()), IsEmpty());
  for (size_t i = 0; i < 3; ++i) {
    int screened = 0;
    for (const auto& event : must(store.events(bench.state.entries[i].row->run))) screened += event.kind == "screened" ? 1 : 0;
    EXPECT_EQ(screened, 3) << "as many as the budget says, over all processes";
  }
}

TEST(BenchTest, a_run_that_finished_unnoticed_is_taken_as_it_is) {
  FakeBench bench;
  bench.add_task("1_exp", "y = exp(x)");
  bench.begin();
  must(bench.play_all());
  const std::string before = to_json(*bench.state.entries[0].row).dump();
  bench.state.entries[0].row.reset();
  bench.engine.hooks.before = [](const char* call, const kernel::Kernel&) { FAIL() << call << ": nothing is left to do"; };
  must(bench.play_all());
  EXPECT_EQ(to_json(*bench.state.entries[0].row).dump(), before);
}

TEST(BenchTest, a_warm_archive_recalls_its_champion_and_measures_it_anew) {
  FakeBench bench;
  bench.add_task("1_exp", "y = exp(x)");
  bench.begin();
  must(bench.play_all());
  const Row cold = *bench.state.entries[0].row;

  bench.begin();
  std::vector<std::string> calls;
  bench.engine.hooks.before = [&](const char* call, const kernel::Kernel& kernel) {
    calls.emplace_back(call);
    EXPECT_EQ(kernel.hash(), cold.champion);
  };
  must(bench.play_all());
  const Row& warm = *bench.state.entries[0].row;
  EXPECT_TRUE(warm.recalled);
  EXPECT_TRUE(warm.accepted());
  EXPECT_EQ(warm.champion, cold.champion);
  EXPECT_EQ(warm.pattern, cold.pattern);
  EXPECT_NE(warm.run, cold.run) << "a run of its own, with verdict and times of its own";
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "screen"), 1);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "promote"), 1);
  EXPECT_LT(warm.seconds, cold.seconds);

  bench.begin(true);
  bench.engine.hooks.before = nullptr;
  must(bench.play_all());
  EXPECT_FALSE(bench.state.entries[0].row->recalled) << "cold is cold";
}

TEST(BenchTest, what_is_recalled_in_vain_is_searched_for) {
  FakeBench bench;
  bench.add_task("1_exp", "y = exp(x)");
  bench.begin();
  must(bench.play_all());
  const std::string champion = bench.state.entries[0].row->champion;
  bench.begin();
  // It holds no longer: another compiler's machine code, say.
  bench.engine.hooks.refuse_promotion = [&](const kernel::Kernel& kernel) { return kernel.hash() == champion; };
  must(bench.play_all());
  const Row& row = *bench.state.entries[0].row;
  EXPECT_TRUE(row.accepted());
  EXPECT_FALSE(row.recalled);
  EXPECT_NE(row.champion, champion);
  EXPECT_EQ(bench.begun, 3) << "the first bench, the recall, the search";
  EXPECT_GT(row.seconds, must(row_of_run(*std::make_unique<archive::Store>(bench.engine.open()), row.run,
                                         must(task_of(bench.state.entries[0], bench.state.asked)))).seconds)
      << "the time of the recall counts";
}

TEST(BenchTest, recalls_nothing_from_another_place_task_or_workload) {
  FakeBench bench;
  bench.add_task("1_exp", "y = exp(x)");
  bench.begin();
  must(bench.play_all());
  archive::Store store = bench.engine.open();
  const auto runs = must(store.runs(10));
  const engine::Place here = bench.state.conditions.place;
  const auto known = [&](const task::Task& task, const engine::Place& place) {
    return must(engine::known_champion(store, runs, task, place)).has_value();
  };
  const task::Task task = must(task_of(bench.state.entries[0], bench.state.asked));
  EXPECT_TRUE(known(task, here));
  EXPECT_FALSE(known(task, {"cpu", "another machine", here.toolchain}));
  EXPECT_FALSE(known(task, {"cpu", here.device, "another compiler"}));
  EXPECT_FALSE(known(task, {"gpu", here.device, here.toolchain}));
  EXPECT_FALSE(known(must(task::select_workloads(task, {"a"})), here));
  task::Task other = must(task::parse_task("name = \"1_exp\"\ninputs = { x = \"f32[N]\" }\ncompute = \"y = -x\"\n"
                                           "workloads = [ { N = 64 }, { N = 65 } ]\n", "other.toml"));
  EXPECT_FALSE(known(other, here));
}

TEST(BenchTest, asks_for_workloads_by_name) {
  FakeBench bench;
  bench.add_task("1_exp", "y = exp(x)");
  bench.begin();
  bench.state.asked.workloads = {"b"};
  EXPECT_EQ(must(task_of(bench.state.entries[0], bench.state.asked)).workloads.size(), 1u);
  bench.state.asked.workloads = {"huge"};
  must(bench.play_all());
  EXPECT_THAT(bench.state.entries[0].row->reason, HasSubstr("huge"));
}

TEST(BenchTest, all_tasks_are_on_the_track_asked_for) {
  FakeBench bench;
  bench.add_task("1_exp", "y = exp(x)");
  bench.begin();
  const task::Task strict = must(task_of(bench.state.entries[0], bench.state.asked));
  EXPECT_EQ(strict.track, task::Track::kStrict);
  EXPECT_THAT(markdown_page(bench.state), HasSubstr("- track: f32\n"));
  bench.state.asked.track = "tf32";
  const task::Task tf32 = must(task_of(bench.state.entries[0], bench.state.asked));
  EXPECT_EQ(tf32.track, task::Track::kTf32);
  EXPECT_NE(tf32.hash(), strict.hash()) << "a champion of one track is none of another";
  EXPECT_THAT(markdown_page(bench.state), HasSubstr("- track: tf32\n"));
  bench.state.asked.track = "tf23";
  must(bench.play_all());
  EXPECT_THAT(bench.state.entries[0].row->reason, HasSubstr("no track 'tf23'"));
}

TEST(BenchTest, time_left_goes_by_what_was_done) {
  FakeBench bench;
  bench.three_tasks();
  bench.begin();
  bench.state.asked.options.budget_seconds = 20;
  EXPECT_DOUBLE_EQ(seconds_left(bench.state), 60);
  bench.state.entries[0].row = testing::accepted_row("a", {});  // 10 s
  EXPECT_DOUBLE_EQ(seconds_left(bench.state), 20);
  bench.state.entries[1].row = failed_row("b", {ErrorCode::kInput, "malformed"}, 0);
  EXPECT_DOUBLE_EQ(seconds_left(bench.state), 10) << "what could not be tried says nothing";
}

TEST(BenchTest, only_tasks_whose_files_changed_are_done_again) {
  FakeBench bench;
  bench.three_tasks();
  bench.begin();
  must(bench.play_all());
  bench.add_task("2_log", "y = x + x");
  bench.add_task("4_new", "y = x");
  std::filesystem::remove(bench.suite / "3_neg.toml");
  const auto entries = carried_over(must(read_entries(bench.state.asked)), bench.state.entries);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_TRUE(entries[0].row);
  EXPECT_FALSE(entries[1].row);
  EXPECT_THAT(entries[1].run, IsEmpty());
  EXPECT_EQ(entries[2].name, "4_new");
}

TEST(BenchTest, state_travels_through_its_file) {
  FakeBench bench;
  bench.three_tasks();
  bench.begin();
  bench.state.command = "hone bench suite";
  bench.state.asked.workloads = {"a"};
  bench.state.asked.track = "as-pytorch";
  bench.state.conditions.machine_json = R"({"model":"fake"})";
  must(bench.play_all());
  const State back = must(kept(bench.home, bench.state.id));
  EXPECT_EQ(to_text(back), to_text(bench.state));
  EXPECT_TRUE(same_bench(back.asked, back.conditions, bench.state.asked, bench.state.conditions));
  State other = back;
  other.asked.options.opponents = "naive";
  EXPECT_FALSE(same_bench(other.asked, other.conditions, back.asked, back.conditions));
  other = back;
  other.conditions.place.toolchain = "another";
  EXPECT_FALSE(same_bench(other.asked, other.conditions, back.asked, back.conditions));
  for (const char* wrong : {"", "[]", "{}", R"({"id":3})"}) {
    const auto read = state_from(wrong, "state.json");
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
}

TEST(BenchTest, benches_are_found_by_their_id_or_as_the_last_unfinished) {
  FakeBench bench;
  bench.three_tasks();
  EXPECT_EQ(find_kept(bench.home, "last").error().code, ErrorCode::kNotFound);
  bench.begin();
  for (const char* id : {"aaa000000000", "aab000000000", "ccc000000000"}) {
    bench.state.id = id;
    ++bench.state.created_unix_ms;
    if (id[0] == 'c') bench.state.entries.clear();  // nothing left to do
    must(keep(bench.home, bench.state));
  }
  EXPECT_EQ(must(find_kept(bench.home, "last")).id, "aab000000000");
  EXPECT_EQ(must(find_kept(bench.home, "cc")).id, "ccc000000000");
  EXPECT_THAT(find_kept(bench.home, "aa").error().message, HasSubstr("several"));
  EXPECT_THAT(find_kept(bench.home, "dd").error().hint, HasSubstr("ccc000000000"));
}

}  // namespace
}  // namespace hone::face::bench
