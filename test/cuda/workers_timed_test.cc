// Worker processes that end when nobody expects it, and what hundreds of sessions leave behind.
#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "bench.h"
#include "hone/base/file.h"
#include "hone/target/gpu/cuda_api.h"

namespace hone::pretend {
namespace {

using How = target::BatchOutcome::How;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CudaWorkers : public Bench {
 protected:
  static void kill_all() {
    for (const int pid : children()) kill(pid, SIGKILL);
  }
};

TEST_F(CudaWorkers, KilledWhileTheyWait) {
  expect_right("nothing");
  kill_all();
  expect_right("the end of all that waited");
  // Perhaps one is not yet seen to be dead.
  for (int i = 0; i < 20; ++i) {
    for (const int pid : children()) {
      kill(pid, SIGKILL);
      break;
    }
    expect_right("the end of one that waited");
  }
}

TEST_F(CudaWorkers, KilledBetweenCommands) {
  auto held = session("pretend_negate");
  kill_all();
  const std::vector<target::Call> calls(2, call());
  const auto outcome = held->run(calls, 20s);
  EXPECT_EQ(outcome.how, How::kDied);
  EXPECT_EQ(outcome.why, "the card's worker has ended, killed by SIGKILL (killed from outside, or out of memory)");
  EXPECT_EQ(held->run(calls, 20s).why, "the session is over");
  held.reset();
  expect_right("a worker killed before it ran");
  held = session("pretend_negate");
  ASSERT_EQ(held->run(calls, 20s).how, How::kDone);
  kill_all();
  held.reset();
  expect_right("a worker killed before it was to forget");
}

TEST_F(CudaWorkers, KilledWhileItRuns) {
  const auto held = session("pretend_hang");
  std::thread killer([] {
    std::this_thread::sleep_for(300ms);
    kill_all();
  });
  const std::vector<target::Call> calls(1, call());
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = held->run(calls, 60s);
  killer.join();
  EXPECT_EQ(outcome.how, How::kDied);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  expect_right("a worker killed while it ran");
}

TEST_F(CudaWorkers, TheDriverCrashesAtEachStep) {
  EXPECT_THAT(run("pretend_lost").refused, HasSubstr("while loading: the card's worker has ended, killed by SIGKILL"));
  expect_right("a crash while loading");
  const Ran ran = run("pretend_dies");
  EXPECT_EQ(ran.outcome.how, How::kDied);
  expect_right("a crash while running");
  // Its module is unloaded and loaded anew before each batch, so that no call finds what an earlier one left.
  EXPECT_EQ(run("pretend_last").outcome.how, How::kDied);
  expect_right("a crash while unloading");
}

TEST_F(CudaWorkers, OutliveTheThreadThatStartedThem) {
  std::unique_ptr<target::Session> held;
  std::thread([&] {
    expect_right("nothing");
    held = session("pretend_negate");
  }).join();
  const auto before = children();
  std::this_thread::sleep_for(100ms);
  const std::vector<target::Call> calls(2, call());
  const auto outcome = held->run(calls, 20s);
  EXPECT_EQ(outcome.how, How::kDone) << outcome.why;
  held.reset();
  expect_right("the end of a thread");
  for (const int pid : before) EXPECT_EQ(kill(pid, 0), 0);
  EXPECT_GE(before.size(), 3);
}

TEST_F(CudaWorkers, HundredsOfSessionsLeaveNothingBehind) {
  for (int i = 0; i < 5; ++i) expect_right("nothing");
  const auto maps = [] {
    std::ifstream file("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  const size_t descriptors = entries("/proc/self/fd");
  const auto mappings = maps();
  const auto workers = children();
  std::map<int, size_t> theirs;
  for (const int pid : workers) theirs[pid] = entries(("/proc/" + std::to_string(pid) + "/fd").c_str());
  for (int i = 0; i < 200; ++i) {
    auto region = target::Region::create_on(*card_, 4096, target::Region::Access::kOutput);
    ASSERT_TRUE(region) << region.error().to_string();
    expect_right("a good one");
    (void)run("pretend_outside");
  }
  EXPECT_EQ(children(), workers);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_LE(maps(), mappings + 8);
  for (const int pid : workers) EXPECT_EQ(entries(("/proc/" + std::to_string(pid) + "/fd").c_str()), theirs[pid]);
  for (int i = 0; i < 50; ++i) (void)run(i % 2 ? "pretend_far" : "pretend_dies");
  expect_right("fifty faults");
  EXPECT_LE(children().size(), 3) << "each was reaped";
  EXPECT_LE(entries("/proc/self/fd"), descriptors);
  EXPECT_LE(maps(), mappings + 8);
}

TEST_F(CudaWorkers, TheCardTakesThemAlong) {
  expect_right("nothing");
  const size_t descriptors = entries("/proc/self/fd");
  EXPECT_FALSE(children().empty());
  input_.reset(), output_.reset(), card_.reset();
  EXPECT_THAT(children(), IsEmpty());
  for (int i = 0; i < 3; ++i) {
    SetUp();
    expect_right("opening it again");
    EXPECT_EQ(entries("/proc/self/fd"), descriptors);
    input_.reset(), output_.reset(), card_.reset();
  }
}

TEST_F(CudaWorkers, TwoThreadsUseOneCard) {
  const auto work = [&](uint64_t pattern) {
    for (int i = 0; i < 40; ++i) {
      const auto memory = card_->allocate(1 << 20);
      ASSERT_TRUE(memory) << memory.error().to_string();
      (*memory)->fill(0, 1 << 20, pattern, 8);
      EXPECT_EQ((*memory)->count(0, 1 << 17, 8, pattern, 0), 1 << 17);
      const target::Region* const regions[] = {&*input_, &*output_};
      auto started = card_->start(build_, plan("pretend_negate"), 2, regions);
      ASSERT_TRUE(started && started->index() == 0);
      const std::vector<target::Call> calls(3, call());
      EXPECT_EQ(std::get<0>(*started)->run(calls, 20s).how, How::kDone);
    }
  };
  std::thread other(work, 0x1122334455667788);
  work(0x99AABBCCDDEEFF00);
  other.join();
}

TEST_F(CudaWorkers, ADriverThatTheyCannotUseIsNamedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  setenv("HONE_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
  EXPECT_THAT(run("pretend_negate").refused,
              HasSubstr("card 0 cannot be used: the driver named by HONE_CUDA_DRIVER does not load: /nonexistent/libcuda.so"));
  setenv("HONE_CUDA_DRIVER", HONE_DEADLY_CUDA, 1);
  EXPECT_THAT(run("pretend_negate").refused, HasSubstr("card 0 cannot be used: the card's worker has ended, killed by SIGKILL"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_THAT(children(), IsEmpty());
  // As we were told, from the folder that we are in.
  setenv("HONE_CUDA_DRIVER", ("." / std::filesystem::relative(HONE_PRETEND_CUDA)).c_str(), 1);
  expect_right("drivers that do not work");
  setenv("HONE_CUDA_DRIVER", HONE_PRETEND_CUDA, 1);
}

}  // namespace
}  // namespace hone::pretend
