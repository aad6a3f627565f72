// Tasks in processes of their own: deaths, errors and Ctrl-C.
#include "hone/face/bench/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "hone/archive/locks.h"
#include "hone/face/bench/apart.h"
#include "hone/face/bench/testing/fake_bench.h"

namespace hone::face::bench {
namespace {

using ::testing::HasSubstr;
using testing::FakeBench;
using testing::must;

int never() { return 0; }

TEST(BenchApartTest, says_how_it_ended) {
  EXPECT_EQ(must(must(apart([]() -> Result<std::string> { return "a word"; }, never)).said), "a word");
  const Ended failed = must(apart([]() -> Result<std::string> { return fail(ErrorCode::kExhausted, "disk full", "make room"); }, never));
  ASSERT_FALSE(failed.said);
  EXPECT_EQ(failed.said.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(failed.said.error().message, "disk full");
  EXPECT_EQ(failed.said.error().hint, "make room");
  EXPECT_THAT(must(apart([]() -> Result<std::string> { std::abort(); }, never)).died_of, HasSubstr("signal 6"));
  EXPECT_FALSE(must(apart([]() -> Result<std::string> { std::_Exit(0); }, never)).said) << "an exit is no answer";
}

TEST(BenchApartTest, passes_an_interrupt_on) {
  int asked = 0;
  const auto begun = [&] { return asked++ > 0 ? 1 : 0; };
  const Ended ended = must(apart([]() -> Result<std::string> {
    for (;;) ::pause();
  }, begun));
  EXPECT_THAT(ended.died_of, HasSubstr("signal 2"));
}

TEST(BenchApartTest, at_once_is_one_signal_and_what_does_not_heed_it_is_killed) {
  const auto ends = [](int asked) {
    const auto work = []() -> Result<std::string> {
      std::this_thread::sleep_for(40 * kPoll);
      return "its task";
    };
    Apart under_way = must(Apart::begin(work, never));
    for (;;) {
      if (auto ended = must(under_way.ended([&] { return asked; }, 2 * kPoll))) return std::move(*ended);
      std::this_thread::sleep_for(kPoll);
    }
  };
  EXPECT_THAT(ends(2).died_of, HasSubstr("signal 15"));
  // Set before the fork: the child must not miss it.
  const auto end = std::signal(SIGTERM, SIG_IGN);
  const auto interrupt = std::signal(SIGINT, SIG_IGN);
  const Ended killed = ends(2), finished = ends(1);
  std::signal(SIGTERM, end);
  std::signal(SIGINT, interrupt);
  ASSERT_FALSE(killed.said);
  EXPECT_EQ(killed.said.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(killed.died_of, "");
  EXPECT_EQ(must(finished.said), "its task") << "the first Ctrl-C lets the task at hand end";
}

struct WorkTest : ::testing::Test {
  FakeBench bench;
  int interrupts = 0;
  int done = 0;
  std::function<void(const task::Task&)> on_run;

  Work work() {
    Work work;
    work.home = bench.home;
    work.open_archive = [this] { return archive::Store::open(bench.engine.archive); };
    work.interrupts = [this] { return interrupts; };
    work.services = [this](archive::Store& store, const std::string&) -> Result<Services> {
      Services services = bench.services(store);
      services.new_run_id = [this] { return fmt::format("{:012x}", 0xb0000000 + bench.state.left()); };
      services.run = [this, run = services.run](const task::Task& task, const engine::RunOptions& options) {
        if (on_run) on_run(task);
        return run(task, options);
      };
      return services;
    };
    return work;
  }
};

TEST_F(WorkTest, a_task_whose_process_dies_is_a_row_and_the_next_goes_on) {
  bench.three_tasks();
  bench.begin();
  on_run = [](const task::Task& task) {
    if (task.name == "2_log") std::abort();
  };
  EXPECT_TRUE(must(work_through(bench.state, work())));
  ASSERT_TRUE(bench.state.finished());
  EXPECT_TRUE(bench.state.entries[0].row->accepted());
  EXPECT_EQ(bench.state.entries[1].row->verdict, "error");
  EXPECT_THAT(bench.state.entries[1].row->reason, HasSubstr("killed by signal 6"));
  EXPECT_TRUE(bench.state.entries[2].row->accepted());
  EXPECT_TRUE(must(kept(bench.home, bench.state.id)).finished());
}

TEST_F(WorkTest, asked_for_an_end_it_stops_before_the_next_task) {
  bench.three_tasks();
  bench.begin();
  interrupts = 1;
  EXPECT_FALSE(must(work_through(bench.state, work())));
  EXPECT_EQ(bench.state.left(), 3u);
  interrupts = 0;
  EXPECT_TRUE(must(work_through(bench.state, work())));
  EXPECT_TRUE(bench.state.finished());
}

TEST_F(WorkTest, a_run_that_another_process_works_on_is_left_alone) {
  bench.three_tasks();
  bench.begin();
  EXPECT_TRUE(must(work_through(bench.state, work())));
  bench.state.entries[1].row.reset();
  const std::string run = bench.state.entries[1].run;
  must(bench.engine.open().update_run(run, "running", "", ""));
  const auto lock = must(archive::take_run_lock(bench.engine.archive, run));
  const auto ended = work_through(bench.state, work());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(bench.state.entries[1].row) << "it is no failure of the task";
}

}  // namespace
}  // namespace hone::face::bench
