// A bench over two cards that there are not: who works on what, who is timed beside whom, and what it saves.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "hone/face/bench/testing/fake_bench.h"
#include "hone/face/bench/work.h"

namespace hone::face::bench {
namespace {

using ::testing::HasSubstr;
using testing::FakeBench;
using testing::must;

int64_t now_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// One timing: from when to when, on which card, in which process.
struct Timing {
  std::string card;
  int64_t process = 0, begins = 0, ends = 0;
};

struct Cards {
  FakeBench bench;
  std::filesystem::path log = bench.engine.scratch.path() / "timings";
  std::function<void(const task::Task&)> on_run;

  Cards() {
    for (int i = 0; i < 8; ++i) bench.add_task(fmt::format("{}_times", i), fmt::format("y = x * {}", i + 2));
    bench.begin();
  }

  Work work() {
    Work work;
    work.home = bench.home;
    work.open_archive = [this] { return archive::Store::open(bench.engine.archive); };
    work.interrupts = [] { return 0; };
    work.services = [this](archive::Store& store, const std::string& card) -> Result<Services> {
      // A kernel is timed for so long, and nobody else knows of it.
      auto begins = std::make_shared<int64_t>(0);
      bench.engine.hooks.before = [begins](const char*, const kernel::Kernel&) { *begins = now_ns(); };
      bench.engine.hooks.after = [this, begins, card](const char* call, const kernel::Kernel&) {
        if (std::string(call) == "build") return;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        std::ofstream(log, std::ios::app) << fmt::format("{} {} {} {}\n", card, ::getpid(), *begins, now_ns()) << std::flush;
      };
      bench.next_run_id = static_cast<uint64_t>(::getpid()) << 16;
      Services services = bench.services(store);
      services.run = [this, run = services.run](const task::Task& task, const engine::RunOptions& options) {
        if (on_run) on_run(task);
        return run(task, options);
      };
      return services;
    };
    return work;
  }

  double seconds_over(const std::string& targets) {
    bench.state.asked.options.target = targets;
    const int64_t before = now_ns();
    EXPECT_TRUE(must(work_through(bench.state, work())));
    return static_cast<double>(now_ns() - before) * 1e-9;
  }

  std::map<std::string, std::vector<Timing>> timings() const {
    std::map<std::string, std::vector<Timing>> all;
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      Timing timing;
      words >> timing.card >> timing.process >> timing.begins >> timing.ends;
      all[timing.card].push_back(timing);
    }
    return all;
  }
};

TEST(BenchCards, two_share_the_tasks_and_take_about_half_the_time) {
  Cards one, two;
  const double alone = one.seconds_over("cuda:0"), both = two.seconds_over("cuda:0,cuda:1");
  RecordProperty("one_card_seconds", fmt::format("{:.2f}", alone));
  RecordProperty("two_cards_seconds", fmt::format("{:.2f}", both));
  EXPECT_LT(both, alone / 1.5) << alone << " s on one, " << both << " s on two";
  for (const Entry& entry : two.bench.state.entries) EXPECT_TRUE(entry.row && entry.row->accepted()) << entry.name;
  const auto timings = two.timings();
  ASSERT_EQ(timings.size(), 2U);
  for (const auto& [card, all] : timings) EXPECT_GT(all.size(), 6U) << card;
  // Every task was worked on once, and the archive knows on which card.
  archive::Store store = two.bench.engine.open();
  std::set<std::string> tasks;
  for (const archive::RunInfo& run : must(store.runs(100))) tasks.insert(run.task_name);
  EXPECT_EQ(tasks.size(), 8U);
  EXPECT_EQ(must(store.runs(100)).size(), 8U);
}

TEST(BenchCards, no_two_timings_overlap_on_one_card_and_some_do_on_two) {
  Cards cards;
  (void)cards.seconds_over("cuda:0,cuda:1");
  const auto timings = cards.timings();
  ASSERT_EQ(timings.size(), 2U);
  for (const auto& [card, all] : timings)
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        EXPECT_EQ(all[i].process, all[j].process) << card << " is one process's";
        EXPECT_TRUE(all[i].begins >= all[j].ends || all[j].begins >= all[i].ends) << "two at once on " << card;
      }
  int beside = 0;
  for (const Timing& a : timings.at("cuda:0"))
    for (const Timing& b : timings.at("cuda:1")) beside += a.begins < b.ends && b.begins < a.ends ? 1 : 0;
  EXPECT_GT(beside, 4) << "the cards wait for each other";
}

TEST(BenchCards, a_process_that_dies_costs_its_own_task_and_its_card_goes_on) {
  Cards cards;
  cards.on_run = [](const task::Task& task) {
    if (task.name == "1_times" || task.name == "6_times") std::abort();
  };
  (void)cards.seconds_over("cuda:0,cuda:1");
  for (const Entry& entry : cards.bench.state.entries) {
    const bool died = entry.name == "1_times" || entry.name == "6_times";
    ASSERT_TRUE(entry.row) << entry.name;
    EXPECT_EQ(entry.row->accepted(), !died) << entry.name;
    if (died) {
      EXPECT_THAT(entry.row->reason, HasSubstr("killed by signal 6"));
    }
  }
  EXPECT_TRUE(must(kept(cards.bench.home, cards.bench.state.id)).finished());
}

TEST(BenchCards, an_error_of_one_has_the_others_finish_what_they_are_at) {
  Cards cards;
  cards.bench.state.asked.options.target = "cuda:0,cuda:1";
  Work work = cards.work();
  work.services = [services = work.services](archive::Store& store, const std::string& card) -> Result<Services> {
    if (card == "cuda:1") return fail(ErrorCode::kUnavailable, "card 1 cannot be used");
    return services(store, card);
  };
  const auto ended = work_through(cards.bench.state, work);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "card 1 cannot be used");
  const State known = must(kept(cards.bench.home, cards.bench.state.id));
  EXPECT_LT(known.left(), 8U);
  EXPECT_GT(known.left(), 4U);
}

}  // namespace
}  // namespace hone::face::bench
