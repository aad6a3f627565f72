#include "hone/base/process/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "hone/base/clock.h"
#include "hone/base/process/testing/behaviour.h"

namespace hone::base {
namespace {
using namespace std::chrono_literals;
using testing::Arguments;
using testing::behave;

SpawnOptions shell(const std::string& script) {
  SpawnOptions options;
  options.argv = {"sh", "-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  return options;
}

Exit run_shell(const std::string& script) { return run(shell(script), 20s).value(); }

/// Running or sleeping: a zombie only waits for its parent.
bool alive(int pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  return stat && stat->find(") Z ") == std::string::npos;
}

bool eventually(const auto& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(Process, ReportsTheExitStatus) {
  const Exit good = run_shell("exit 0");
  EXPECT_TRUE(good.ok());
  EXPECT_GT(good.wall_ns, 0);
  EXPECT_GT(good.max_rss_bytes, 0);
  const Exit bad = run_shell("exit 3");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.describe(), "exited with status 3");
}

TEST(Process, NamesSignals) {
  EXPECT_EQ(run_shell("kill -SEGV $$").describe(), "killed by SIGSEGV (invalid memory access)");
  EXPECT_EQ(run_shell("kill -ABRT $$").describe(), "killed by SIGABRT (it aborted itself)");
  EXPECT_EQ(run_shell("kill -HUP $$").describe(), "killed by SIGHUP (Hangup)");
}

TEST(Process, FailsWhenTheProgramCannotBeFound) {
  SpawnOptions options;
  options.argv = {"no-such-program-anywhere"};
  auto result = Child::spawn(options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("no-such-program-anywhere"));
  options.argv = {"/no/such/program"};
  EXPECT_FALSE(Child::spawn(options));
}

TEST(Process, WaitsForAProgramThatAnotherProcessHasOpenForWriting) {
  auto scratch = ScratchDirectory::create("test").value();
  const auto path = scratch.path() / "program";
  std::filesystem::copy_file("/bin/true", path);
  Fd writer(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(writer);
  // As a process that another thread has cloned and that has not become its program yet.
  const pid_t other = fork();
  if (other == 0) {
    usleep(50'000);
    _exit(0);
  }
  writer = Fd();
  SpawnOptions options;
  options.argv = {path.string()};
  const auto result = Child::spawn(options);
  EXPECT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
}

TEST(Process, FailsWhenTheProgramCannotBeExecuted) {
  auto scratch = ScratchDirectory::create("test").value();
  const auto path = scratch.path() / "program";
  ASSERT_TRUE(write_file_atomic(path, "#!/no/such/interpreter\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  SpawnOptions options;
  options.argv = {path.string()};
  auto result = Child::spawn(options);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("cannot execute it"));
}

TEST(Process, FailsWhenTheFolderDoesNotExist) {
  SpawnOptions options = shell("true");
  options.directory = "/no/such/folder";
  auto result = Child::spawn(options);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("cannot enter its folder"));
}

TEST(Process, CapturesBothStreams) {
  const Exit exit = run_shell("echo to out; echo to err >&2");
  EXPECT_EQ(exit.out, "to out\n");
  EXPECT_EQ(exit.err, "to err\n");
  EXPECT_FALSE(exit.truncated);
}

TEST(Process, CutsOutputAtItsLimit) {
  SpawnOptions options = shell("head -c 3000000 /dev/zero; echo done >&2");
  options.output_limit = 1000;
  const Exit exit = run(options, 20s).value();
  EXPECT_TRUE(exit.ok());
  EXPECT_EQ(exit.out.size(), 1000u);
  EXPECT_EQ(exit.err, "done\n");
  EXPECT_TRUE(exit.truncated);
}

TEST(Process, KeepsNothingWhenNotCapturing) {
  SpawnOptions options = shell("echo lost");
  options.capture_output = false;
  const Exit exit = run(options, 20s).value();
  EXPECT_TRUE(exit.ok());
  EXPECT_EQ(exit.out, "");
}

TEST(Process, FeedsStandardInput) {
  SpawnOptions options = shell("cat");
  options.input = std::string(300'000, 'x') + "end";
  EXPECT_EQ(run(options, 20s).value().out, options.input);
  EXPECT_EQ(run_shell("cat; echo nothing").out, "nothing\n");
}

TEST(Process, ExistsInExactlyTheGivenEnvironment) {
  ::setenv("HONE_TEST_LEAK", "1", 1);
  SpawnOptions options;
  options.argv = {"env"};
  options.environment = {{"ONE", "1"}, {"TWO", "with space"}};
  EXPECT_EQ(run(options, 20s).value().out, "ONE=1\nTWO=with space\n");
}

TEST(Process, WorksInTheGivenFolder) {
  SpawnOptions options = shell("pwd");
  options.directory = "/usr";
  EXPECT_EQ(run(options, 20s).value().out, "/usr\n");
}

Fd file_with(const std::string& text) {
  Fd fd(::memfd_create("text", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(fd.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return fd;
}

/// Prints what each descriptor named on the command line holds.
int show(const Arguments& descriptors) {
  for (const std::string& fd : descriptors) {
    char text[100];
    const ssize_t n = ::pread(std::stoi(fd), text, sizeof text, 0);
    std::printf("%s: %.*s\n", fd.c_str(), static_cast<int>(n), text);
  }
  return 0;
}

TEST(Process, MapsDescriptorsWhoseNumbersOverlap) {
  const Fd a = file_with("a"), b = file_with("b"), c = file_with("c");
  const std::string at_a = std::to_string(a.get()), at_b = std::to_string(b.get());
  SpawnOptions options = behave("show", {at_a, at_b, "40"});
  options.descriptors = {{a.get(), b.get()}, {b.get(), a.get()}, {40, c.get()}};
  EXPECT_EQ(run(options, 20s).value().out, at_a + ": b\n" + at_b + ": a\n40: c\n");
}

TEST(Process, ClosesEveryOtherDescriptor) {
  const Fd kept = file_with("kept"), open(::open("/dev/null", O_RDONLY));
  SpawnOptions options = shell("ls /proc/self/fd");
  options.descriptors = {{7, kept.get()}};
  // ls itself opens the folder, as the lowest free number.
  EXPECT_EQ(run(options, 20s).value().out, "0\n1\n2\n3\n7\n");
}

TEST(Process, ResetsSignalsThatWeIgnoreOrBlock) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handler = std::signal(SIGTERM, SIG_IGN);
  EXPECT_EQ(run_shell("kill -TERM $$; echo survived").describe(), "killed by SIGTERM (Terminated)");
  std::signal(SIGTERM, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Process, PinsToACpu) {
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &ours)) last = cpu;
  SpawnOptions options = shell("grep Cpus_allowed_list /proc/self/status");
  options.cpu_affinity = last;
  EXPECT_EQ(run(options, 20s).value().out, "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
}

TEST(Process, DeadlineKillsTheWholeTree) {
  auto scratch = ScratchDirectory::create("test").value();
  SpawnOptions options = shell(
      "trap '' TERM; (trap '' TERM; echo $$ > one; sleep 100) & "
      "(trap '' TERM; sh -c 'echo $$ > two; sleep 100') & wait");
  options.directory = scratch.path();
  Child child = Child::spawn(options).value();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(scratch.path() / "two"); }));
  const Exit exit = child.wait(300ms);
  EXPECT_EQ(exit.how, Exit::How::kDeadline);
  EXPECT_EQ(exit.describe(), "stopped at its deadline of 300 ms");
  EXPECT_LT(exit.wall_ns, 10'000'000'000);
  const int grandchild = std::stoi(read_file(scratch.path() / "two").value());
  EXPECT_TRUE(eventually([&] { return !alive(grandchild); }));
}

TEST(Process, DeadlineHoldsAgainstAFloodOfOutput) {
  SpawnOptions options;
  options.argv = {"yes"};
  EXPECT_EQ(run(options, 200ms).value().how, Exit::How::kDeadline);
}

TEST(Process, DoesNotWaitForGrandchildrenThatHoldThePipes) {
  const Exit exit = run_shell("sleep 50 & echo out");
  EXPECT_EQ(exit.out, "out\n");
  EXPECT_LT(exit.wall_ns, 10'000'000'000);
}

TEST(Process, KillEndsItAndWaitRemembers) {
  Child child = Child::spawn(shell("sleep 100")).value();
  child.kill();
  EXPECT_EQ(child.wait(20s).describe(), "killed by SIGKILL (killed from outside, or out of memory)");
  EXPECT_EQ(child.wait(0s).how, Exit::How::kSignalled);
}

TEST(Process, SaysHowLongItWaitedForAProcessor) {
  SpawnOptions spins = shell("while :; do :; done");
  spins.cpu_affinity = sched_getcpu();
  Child one = Child::spawn(spins).value(), other = Child::spawn(spins).value(), sleeps = Child::spawn(shell("sleep 100")).value();
  std::this_thread::sleep_for(1s);
  if (one.queued_ns() == 0 && !std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "the kernel does not count it";
  // The one has what the other has not.
  EXPECT_GT(one.queued_ns() + other.queued_ns(), 500'000'000);
  EXPECT_LT(sleeps.queued_ns(), one.queued_ns());
}

TEST(Process, ALongDeadlineDoesNotCountWaitingForAProcessor) {
  SpawnOptions spins = shell("while :; do :; done");
  spins.cpu_affinity = sched_getcpu();
  Child hog = Child::spawn(spins).value(), watched = Child::spawn(spins).value();
  const Exit exit = watched.wait(1s);
  if (watched.queued_ns() == 0 && !std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "the kernel does not count it";
  EXPECT_EQ(exit.how, Exit::How::kDeadline);
  EXPECT_GT(exit.wall_ns, 1'400'000'000);
  EXPECT_EQ(Child::spawn(shell("sleep 100")).value().wait(1s).how, Exit::How::kDeadline);
}

TEST(Process, ALongDeadlineDoesNotCountWhatAProgramThatItStartedWaits) {
  SpawnOptions spins = shell("while :; do :; done"), starts = shell("(while :; do :; done) & wait");
  spins.cpu_affinity = starts.cpu_affinity = sched_getcpu();
  Child hog = Child::spawn(spins).value(), watched = Child::spawn(starts).value();
  const Exit exit = watched.wait(1s);
  if (hog.queued_ns() == 0 && !std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "the kernel does not count it";
  EXPECT_EQ(exit.how, Exit::How::kDeadline);
  EXPECT_GT(exit.wall_ns, 1'400'000'000);
}

TEST(Process, DiesWithItsOwner) {
  int pid = 0;
  {
    Child child = Child::spawn(shell("sleep 100")).value();
    pid = child.pid();
    EXPECT_TRUE(alive(pid));
  }
  EXPECT_FALSE(alive(pid));
}

TEST(Process, SurvivesTheThreadThatSpawnedIt) {
  std::optional<Child> child;
  std::thread([&] { child = Child::spawn(shell("sleep 0.2; exit 5")).value(); }).join();
  EXPECT_EQ(child->wait(20s).describe(), "exited with status 5");
}

/// Starts a child, writes its number to descriptor 5 and waits to be killed.
int own_a_child(const Arguments&) {
  const Child child = Child::spawn(shell("sleep 100")).value();
  const int pid = child.pid();
  if (::write(5, &pid, sizeof pid) != sizeof pid) return 1;
  ::pause();
  return 0;
}

TEST(Process, DiesWhenItsOwnerIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reading(ends[0]), writing(ends[1]);
  SpawnOptions options = behave("own_a_child");
  options.descriptors = {{5, writing.get()}};
  Child owner = Child::spawn(options).value();
  int grandchild = 0;
  ASSERT_EQ(::read(reading.get(), &grandchild, sizeof grandchild), ssize_t{sizeof grandchild});
  EXPECT_TRUE(alive(grandchild));
  owner.kill();
  EXPECT_TRUE(eventually([&] { return !alive(grandchild); }));
}

/// Four threads each count in a shared page.
int count(const Arguments&) {
  auto* counters = static_cast<std::atomic<uint64_t>*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([counters, i] {
      for (;;) counters[i].fetch_add(1, std::memory_order_relaxed);
    });
  ::pause();
  return 0;
}

TEST(Process, FreezeStopsAllThreadsAndThawLetsThemGo) {
  const Fd shared(::memfd_create("counters", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(shared.get(), 4096), 0);
  const auto* counters = static_cast<std::atomic<uint64_t>*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared.get(), 0));
  const auto snapshot = [&] {
    return std::array<uint64_t, 4>{counters[0], counters[1], counters[2], counters[3]};
  };
  SpawnOptions options = behave("count");
  options.descriptors = {{5, shared.get()}};
  Child child = Child::spawn(options).value();
  ASSERT_TRUE(eventually([&] {
    return counters[0] > 0 && counters[1] > 0 && counters[2] > 0 && counters[3] > 0;
  }));
  std::vector<int64_t> costs;
  for (int i = 0; i < 20; ++i) {
    const int64_t begin = system_clock().now_ns();
    ASSERT_TRUE(child.freeze());
    costs.push_back(system_clock().now_ns() - begin);
    const auto before = snapshot();
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(snapshot(), before);
    ASSERT_TRUE(child.thaw());
    ASSERT_TRUE(eventually([&] { return snapshot() != before; }));
  }
  std::nth_element(costs.begin(), costs.begin() + 10, costs.end());
  RecordProperty("median_freeze_ns", std::to_string(costs[10]));
  child.kill();
  EXPECT_EQ(child.wait(20s).status, SIGKILL);
  EXPECT_FALSE(child.freeze());
}

TEST(Process, ThawNoticesThatItMoved) {
  Child child = Child::spawn(shell("sleep 100")).value();
  ASSERT_TRUE(child.freeze());
  ::kill(child.pid(), SIGCONT);
  EXPECT_FALSE(child.thaw());
}

TEST(Process, ThawWithoutFreezeIsHarmless) {
  Child child = Child::spawn(shell("sleep 100")).value();
  EXPECT_FALSE(child.thaw());
  EXPECT_TRUE(child.freeze());
  EXPECT_TRUE(child.thaw());
}

/// A parent waits uninterruptibly for the child that borrowed its memory.
int wait_for_vfork(const Arguments&) {
  if (::vfork() == 0) {
    (void)!::write(5, "x", 1);
    for (;;) ::pause();
  }
  return 0;
}

TEST(Process, WhatWillNotStopIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reading(ends[0]), writing(ends[1]);
  SpawnOptions options = behave("wait_for_vfork");
  options.descriptors = {{5, writing.get()}};
  Child child = Child::spawn(options).value();
  char byte;
  ASSERT_EQ(::read(reading.get(), &byte, 1), 1);
  EXPECT_FALSE(child.freeze());
  EXPECT_EQ(child.wait(20s).status, SIGKILL);
}

const testing::Behaviours kBehaviours = {
    {"own_a_child", own_a_child}, {"count", count}, {"show", show},
    {"wait_for_vfork", wait_for_vfork}};

}  // namespace
}  // namespace hone::base

HONE_TEST_MAIN(hone::base::kBehaviours)
