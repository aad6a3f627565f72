// kill -9 at any instant, with recorded timings and a fake clock: whatever is killed and however often,
// the log ends byte for byte as that of the run nobody touched. A forked process drives the run and ends
// itself by SIGKILL at its n-th point: before or after a call of the evaluator, or before, in the middle
// of, or after a write of the archive; n is random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "hone/base/random.h"
#include "hone/engine/testing/fake_run.h"

namespace hone::engine {
namespace {

using testing::Bench;
using testing::must;

constexpr int kKills = 50;

/// Lives in memory shared with the child, so that it outlives it.
struct Fuse {
  int64_t left = 0;          ///< points until the end; 0: none
  int64_t passed = 0;        ///< points so far, over all processes
  int64_t at_writes = 0, torn = 0;  ///< kills by kind
  int64_t screens = 0, promotes = 0;
  bool tear = false;

  /// From the run's thread and from those that build.
  [[nodiscard]] bool burnt() {
    ++std::atomic_ref(passed);
    return std::atomic_ref(left)-- == 1;
  }
};
Fuse* fuse = nullptr;

ssize_t killing_write(int fd, const void* data, size_t size, off64_t offset) {
  if (!fuse->burnt()) return ::pwrite64(fd, data, size, offset);
  ++fuse->at_writes;
  if (fuse->tear && size > 1) {
    ++fuse->torn;
    (void)!::pwrite64(fd, data, size / 2, offset);
  }
  ::raise(SIGKILL);
  return -1;
}

void hook_the_archive() {
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  const auto function = reinterpret_cast<sqlite3_syscall_ptr>(&killing_write);
  // Which of the two it uses is SQLite's choice at build time.
  for (const char* name : {"pwrite", "pwrite64"}) (void)vfs->xSetSystemCall(vfs, name, function);
}

void hook_the_evaluator(Bench& bench) {
  bench.hooks.before = [](const char* call, const kernel::Kernel&) {
    const std::string_view what = call;
    if (what == "screen") ++fuse->screens;
    if (what == "promote") ++fuse->promotes;
    if (fuse->burnt()) ::raise(SIGKILL);
  };
  bench.hooks.after = [](const char*, const kernel::Kernel&) {
    if (fuse->burnt()) ::raise(SIGKILL);
  };
}

class RunKillTest : public ::testing::Test {
 protected:
  RunKillTest() {
    void* shared = ::mmap(nullptr, sizeof(Fuse), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::bad_alloc();
    fuse = new (shared) Fuse;
  }
  ~RunKillTest() override { ::munmap(fuse, sizeof(Fuse)); }
};

/// One way to run: what the two runs, killed and not, have in common.
struct Case {
  RunOptions options;
  uint64_t truth = 1;
  int interrupt_after = 0;   ///< evaluations, once; 0: never
  bool ahead = false;        ///< builds go on beside screenings
  bool earlier = false;      ///< the archive holds a run already, from which this one recalls
};

void set_up(Bench& bench, const Case& c) {
  bench.truth = {c.truth, 0.25, 0.5};
  bench.sources = 4;
  if (c.ahead) bench.ahead = true, bench.batch = 5, bench.costs.build = 0;
  if (c.earlier) {
    const std::string id = std::exchange(bench.run_id, "eeeeeeeeeeee");
    RunOptions options;
    options.seed = c.options.seed + 100;
    options.budget_seconds = 0;
    options.budget_evaluations = 12;
    must(bench.start(options));
    bench.run_id = id;
  }
  // Some fall at promotion, always the same.
  bench.hooks.refuse_promotion = [](const kernel::Kernel& k) { return testing::draw(k.hash()) < 0.3; };
  hook_the_evaluator(bench);
}

/// Starts the run or goes on with it, here and now; 0 when it came to an end of whatever kind.
int go_on(Bench& bench, const Case& c) {
  archive::Store store = bench.open();
  bool interrupted = false;
  const auto known = store.run(bench.run_id);
  if (known && c.interrupt_after > 0)
    for (const archive::Event& event : must(store.events(bench.run_id))) interrupted |= event.kind == "stopped";
  if (c.interrupt_after > 0 && !interrupted) {
    auto due = std::make_shared<bool>(false);
    bench.progress = [due, n = c.interrupt_after](const Progress& p) { *due = *due || p.evaluated >= n; };
    bench.interrupted = [due] { return *due; };
  } else {
    bench.progress = nullptr;
    bench.interrupted = nullptr;
  }
  const Services services = bench.services(store);
  const auto result = known ? resume_run(*known, bench.task, services) : start_run(bench.task, c.options, services);
  if (result) return 0;
  fmt::print(stderr, "{}\n", result.error().to_string());
  return 1;
}

enum class End { kDone, kKilled, kFailed };

/// One life of the run, in another process.
End live(Bench& bench, const Case& c) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    hook_the_archive();
    int status = 99;
    try {
      status = go_on(bench, c);
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return End::kKilled;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::kDone : End::kFailed;
}

bool finished(const Bench& bench) {
  archive::Store store = bench.open();
  const auto run = store.run(bench.run_id);
  return run && run->status == "finished";
}

/// All that the archive knows of the run, and the champion's file, without the folder it lies in.
std::string dump(const Bench& bench) {
  archive::Store store = bench.open();
  const archive::RunInfo info = must(store.run(bench.run_id));
  std::string text = fmt::format("{} {} {}\n{}\n", info.status, info.champion, info.options_json, info.summary_json);
  for (const archive::Event& event : must(store.events(bench.run_id))) {
    text += fmt::format("{} {} {}\n", event.seq, event.kind, event.json);
    if (event.kind != "screened") continue;
    const archive::KernelRow row = must(store.kernel(nlohmann::json::parse(event.json).at("kernel").get<std::string>()));
    text += fmt::format("  {} {} {} {} {}\n", row.hash, row.config_json, row.parent, row.author, row.action);
  }
  if (!info.champion.empty()) {
    const std::string path = nlohmann::json::parse(info.summary_json).at("champion").at("path");
    text += must(base::read_file(path));
  }
  const std::string folder = bench.scratch.path().string();
  for (size_t at = 0; (at = text.find(folder, at)) != std::string::npos;) text.replace(at, folder.size(), "@");
  return text;
}

/// The first line that differs, of both; empty when none does.
std::string difference(const std::string& found, const std::string& expected) {
  const size_t at = static_cast<size_t>(
      std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first - found.begin());
  if (at == found.size() && at == expected.size()) return {};
  const auto around = [at](const std::string& text) { return text.substr(at > 200 ? at - 200 : 0, 300); };
  return fmt::format("found    …{}…\nexpected …{}…", around(found), around(expected));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Case c;
    c.options.strategy = static_cast<search::StrategyKind>(seed % 3);
    c.options.seed = seed;
    c.truth = seed + 1;  // worlds whose first kernels are right: the search goes on for a while
    // Ended by time, by evaluations, or by neither; some interrupted on the way.
    c.options.budget_seconds = seed % 2 ? 40 : 0;
    c.options.budget_evaluations = seed % 2 ? 0 : 16;
    c.interrupt_after = seed % 4 == 3 ? 5 : 0;
    c.earlier = seed % 2 == 0;
    all.push_back(c);
  }
  return all;
}

TEST_F(RunKillTest, ends_byte_for_byte_as_the_run_that_nobody_killed) {
  base::Rng random(20240229);
  int kills = 0, runs = 0, mismatches = 0, events = 0;
  int64_t at_writes = 0, torn = 0;
  for (const Case& c : cases()) {
    if (kills >= kKills) break;
    SCOPED_TRACE(fmt::format("{} seed {}", search::name_of(c.options.strategy), c.options.seed));
    *fuse = {};
    Bench untouched;
    set_up(untouched, c);
    for (int lives = 0; !finished(untouched); ++lives) {
      ASSERT_EQ(live(untouched, c), End::kDone);
      ASSERT_LE(lives, 1);
    }
    const Fuse calm = *fuse;
    ASSERT_GT(calm.passed, 100) << "the hooks do not hold";

    Bench bench;
    set_up(bench, c);
    fuse->passed = fuse->screens = fuse->promotes = 0;
    int killed = 0;
    while (!finished(bench)) {
      fuse->left = 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(calm.passed / 4)));
      fuse->tear = random.below(2) == 0;
      // A process that takes over has a clock of its own.
      bench.clock.advance_ns(static_cast<int64_t>(random.below(1'000'000'000)));
      const End end = live(bench, c);
      ASSERT_NE(end, End::kFailed);
      killed += end == End::kKilled ? 1 : 0;
      ASSERT_LT(killed, 1000) << "it does not get on";
      archive::Store store = bench.open();
      ASSERT_THAT(must(store.check()), ::testing::IsEmpty());
    }
    const std::string differs = difference(dump(bench), dump(untouched));
    mismatches += differs.empty() ? 0 : 1;
    EXPECT_EQ(differs, "");
    // Only what was in flight at a kill is done again; one evaluation is up to two screenings.
    EXPECT_LE(fuse->screens, calm.screens + 2 * killed);
    EXPECT_EQ(bench.events("recalled").size(), c.earlier ? 1u : 0u);
    EXPECT_LE(fuse->promotes, calm.promotes + killed);
    at_writes += fuse->at_writes;
    torn += fuse->torn;
    kills += killed;
    ++runs;
    events += static_cast<int>(bench.events().size());
  }
  fmt::print("{} kills over {} runs ({} in a write, {} of them torn), {} events, {} mismatches\n", kills, runs,
             at_writes, torn, events, mismatches);
  EXPECT_GE(kills, kKills);
}

TEST_F(RunKillTest, a_search_that_builds_ahead_goes_on_from_what_is_written) {
  // What is built first is looked at first: two runs differ. What one has written stays, and its end follows from it.
  base::Rng random(20261124);
  int kills = 0;
  for (uint64_t seed = 1; kills < kKills && seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Case c;
    c.options.strategy = static_cast<search::StrategyKind>(seed % 4);
    c.options.seed = seed;
    c.truth = 3;
    c.options.budget_seconds = 0;
    c.options.budget_evaluations = 16;
    c.interrupt_after = seed % 2 ? 5 : 0;
    c.ahead = true;
    *fuse = {};
    Bench bench;
    set_up(bench, c);
    std::vector<archive::Event> written;
    int killed = 0;
    while (!finished(bench)) {
      fuse->left = 1 + static_cast<int64_t>(random.below(60));
      fuse->tear = random.below(2) == 0;
      const End end = live(bench, c);
      ASSERT_NE(end, End::kFailed);
      killed += end == End::kKilled ? 1 : 0;
      ASSERT_LT(killed, 1000) << "it does not get on";
      if (!bench.open().run(bench.run_id)) continue;
      const std::vector<archive::Event> now = bench.events();
      ASSERT_GE(now.size(), written.size());
      for (size_t i = 0; i < written.size(); ++i) ASSERT_EQ(now[i].json, written[i].json);
      written = now;
    }
    kills += killed;
    EXPECT_EQ(bench.events("screened").size(), 16u);
    EXPECT_LE(fuse->screens, 2 * (16 + killed) + 6);
    fuse->left = 0;
    archive::Store store = bench.open();
    if (c.interrupt_after > 0) continue;  // replays end where the user ended
    EXPECT_EQ(must(replay_run(bench.info(), bench.task, bench.services(store))).champion, bench.info().champion);
  }
  fmt::print("{} kills\n", kills);
  EXPECT_GE(kills, kKills);
}

/// Kills a short run at point 1, 1 + step, 1 + 2 step, …, a run each.
void kill_at_points(int64_t step) {
  Case c;
  c.options.budget_seconds = 0;
  c.options.budget_evaluations = 4;
  c.interrupt_after = 2;
  c.truth = 2;
  Bench untouched;
  set_up(untouched, c);
  while (!finished(untouched)) ASSERT_EQ(live(untouched, c), End::kDone);
  const std::string expected = dump(untouched);
  const int64_t points = fuse->passed;
  int64_t kills = 0, tried = 0;
  for (int64_t point = 1; point <= points; point += step) {
    ++tried;
    SCOPED_TRACE(fmt::format("killed at point {} of {}", point, points));
    Bench bench;
    set_up(bench, c);
    fuse->left = point;
    fuse->tear = point % 2 == 0;
    for (int lives = 0; !finished(bench); ++lives) {
      const End end = live(bench, c);
      kills += end == End::kKilled ? 1 : 0;
      ASSERT_NE(end, End::kFailed);
      ASSERT_LT(lives, 5);
    }
    ASSERT_EQ(difference(dump(bench), expected), "");
  }
  fmt::print("{} kills at {} points\n", kills, points);
  EXPECT_EQ(kills, tried);
}

// Nothing is left to chance. An odd step: every other kill tears what is being written.
TEST_F(RunKillTest, ends_alike_when_killed_at_every_third_point_once) { kill_at_points(3); }

using LongRunKillTest = RunKillTest;
TEST_F(LongRunKillTest, ends_alike_when_killed_at_every_point_once) { kill_at_points(1); }

}  // namespace
}  // namespace hone::engine
