// The archive among processes: kill -9, several writers, locks, a full disk, folders that cannot be
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>
#include <vector>

#include "hone/archive/store.h"
#include "hone/archive/test_support.h"
#include "hone/base/random.h"

namespace hone::archive {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::in_child;
using testing::make_run;
using testing::must;
using testing::status_of;

using CrashTest = testing::ArchiveTest;

std::string run_id(int i) {
  char text[13];
  std::snprintf(text, sizeof text, "%012x", static_cast<unsigned>(i));
  return text;
}

std::string event_json(int64_t seq) {
  return "{\"seq\":" + std::to_string(seq) + ",\"text\":\"" +
         std::string(static_cast<size_t>(seq * 37 % 3000), 'x') + "\"}";
}

struct Pipe {
  base::Fd read, write;
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    read = base::Fd(ends[0]);
    write = base::Fd(ends[1]);
  }
};

TEST_F(CrashTest, keeps_what_it_acknowledged_through_kill_9) {
  base::Rng random(7);
  int64_t all = 0;
  for (int round = 0; round < 50; ++round) {
    Pipe pipe;
    const pid_t writer = in_child([&] {
      Store store = open();
      must(store.create_run(make_run(run_id(round))));
      for (int64_t seq = 0;; ++seq) {
        // A blob, then the event that names it, as a run does.
        const std::string blob = must(store.put_blob(event_json(seq)));
        must(store.append_event(run_id(round), seq, "evaluated", event_json(seq)));
        if (::write(pipe.write.get(), &seq, sizeof seq) != sizeof seq) return 1;
      }
    });
    pipe.write = base::Fd();
    int64_t acknowledged = -1, seq = 0;
    // Let it start, then kill it at any point of its work.
    ASSERT_EQ(::read(pipe.read.get(), &acknowledged, sizeof acknowledged), ssize_t{sizeof seq});
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(8000)));
    ::kill(writer, SIGKILL);
    ASSERT_EQ(status_of(writer), 128 + SIGKILL);
    while (::read(pipe.read.get(), &seq, sizeof seq) == sizeof seq) acknowledged = seq;

    Store store = open();
    const auto events = must(store.events(run_id(round)));
    // One more may have been written and not been acknowledged.
    ASSERT_GE(static_cast<int64_t>(events.size()), acknowledged + 1);
    ASSERT_LE(static_cast<int64_t>(events.size()), acknowledged + 2);
    for (const Event& event : events) ASSERT_EQ(event.json, event_json(event.seq));
    all += acknowledged + 1;
    if (round % 10 == 9) {
      ASSERT_THAT(must(store.check()), ::testing::IsEmpty());
    }
  }
  EXPECT_EQ(must(open().runs(1000)).size(), 50u);
  EXPECT_GT(all, 500) << "the writers hardly wrote: the test tests little";
}

TEST_F(CrashTest, lets_processes_create_and_write_it_at_once) {
  constexpr int kWriters = 6, kEvents = 60;
  std::vector<pid_t> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.push_back(in_child([&] {
      Store store = open();
      must(store.create_run(make_run(run_id(w))));
      const auto lock = must(store.lock_run(run_id(w)));
      for (int i = 0; i < kEvents; ++i) {
        must(store.append_event(run_id(w), i, "evaluated", event_json(i)));
      }
      return 0;
    }));
  }
  for (const pid_t writer : writers) EXPECT_EQ(status_of(writer), 0);
  Store store = open();
  for (int w = 0; w < kWriters; ++w) {
    EXPECT_EQ(must(store.events(run_id(w))).size(), size_t{kEvents});
  }
  EXPECT_THAT(must(store.check()), ::testing::IsEmpty());
}

TEST_F(CrashTest, survives_being_killed_while_it_is_made) {
  base::Rng random(11);
  for (int round = 0; round < 20; ++round) {
    const fs::path file = scratch_.path() / std::to_string(round) / "archive.db";
    const pid_t maker = in_child([&] {
      must(must(Store::open(file)).create_run(make_run(run_id(1))));
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
    ::kill(maker, SIGKILL);
    static_cast<void>(status_of(maker));
    Store store = must(Store::open(file));
    must(store.create_run(make_run(run_id(2))));
    EXPECT_THAT(must(store.check()), ::testing::IsEmpty());
  }
}

TEST_F(CrashTest, frees_a_run_when_its_holder_is_killed) {
  must(open().create_run(make_run(run_id(1))));
  Pipe pipe;
  const pid_t holder = in_child([&] {
    Store store = open();
    const auto lock = must(store.lock_run(run_id(1)));
    if (::write(pipe.write.get(), "x", 1) != 1) return 1;
    ::pause();
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(pipe.read.get(), &byte, 1), 1);
  Store store = open();
  EXPECT_EQ(store.lock_run(run_id(1)).error().code, ErrorCode::kUnavailable);
  // A reader sees who is at work without being in the way.
  EXPECT_EQ(must(must(Store::open_read_only(file_)).run("last")).status, "running");
  ::kill(holder, SIGKILL);
  ASSERT_EQ(status_of(holder), 128 + SIGKILL);
  EXPECT_TRUE(store.lock_run(run_id(1)));
}

/// Appends until it fails; returns how many succeeded and the error.
std::pair<int64_t, Error> fill(Store& store) {
  for (int64_t seq = 0; seq < 100'000; ++seq) {
    if (auto status = store.append_event(run_id(1), seq, "x", event_json(seq)); !status) {
      return {seq, status.error()};
    }
  }
  return {-1, {}};
}

TEST_F(CrashTest, loses_nothing_at_the_file_size_limit) {
  const pid_t writer = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 400'000;
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    Store store = open();
    must(store.create_run(make_run(run_id(1))));
    const auto [count, error] = fill(store);
    if (count < 20) return 2;
    if (error.code != ErrorCode::kExhausted || error.hint.empty()) return 3;
    if (must(store.events(run_id(1))).size() != static_cast<size_t>(count)) return 4;
    // With room again, the same store goes on.
    limit.rlim_cur = before;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    must(store.append_event(run_id(1), count, "x", event_json(count)));
    return must(store.check()).empty() ? 0 : 5;
  });
  EXPECT_EQ(status_of(writer), 0);
}

TEST_F(CrashTest, loses_nothing_on_a_full_disk) {
  constexpr int kNoMount = 77;
  const fs::path disk = scratch_.path() / "disk";
  must(base::make_directories(disk));
  const pid_t writer = in_child([&] {
    // As root a mount namespace will do; an ordinary user needs a user namespace around it.
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNoMount;
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=600k") != 0) return kNoMount;
    int64_t count = 0;
    {
      Store store = must(Store::open(disk / "archive.db"));
      must(store.create_run(make_run(run_id(1))));
      Error error;
      std::tie(count, error) = fill(store);
      if (count < 20) return 2;
      if (error.code != ErrorCode::kExhausted) return 3;
      const auto blob = store.put_blob(std::string(100'000, 'b'));
      if (blob || blob.error().code != ErrorCode::kExhausted) return 4;
      if (must(store.events(run_id(1))).size() != static_cast<size_t>(count)) return 5;
    }
    Store again = must(Store::open(disk / "archive.db"));
    if (must(again.events(run_id(1))).size() != static_cast<size_t>(count)) return 6;
    return must(again.check()).empty() ? 0 : 7;
  });
  const int status = status_of(writer);
  if (status == kNoMount) GTEST_SKIP() << "no tmpfs can be mounted here";
  EXPECT_EQ(status, 0);
}

/// Runs `body` as somebody whom permissions bind, even where the tests run as root.
template <class Body>
int as_ordinary_user(const Body& body) {
  return status_of(in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 98;
    return body();
  }));
}

TEST_F(CrashTest, says_what_to_do_in_a_folder_it_cannot_write) {
  { must(open().create_run(make_run(run_id(1)))); }
  ::chmod(file_.c_str(), 0444);
  ::chmod((file_.string() + ".locks").c_str(), 0444);
  ::chmod(scratch_.path().c_str(), 0555);
  EXPECT_EQ(as_ordinary_user([&] {
              const fs::path places[] = {file_, scratch_.path() / "new.db",
                                         scratch_.path() / "folder" / "new.db"};
              for (int i = 0; i < 3; ++i) {
                const auto store = Store::open(places[i]);
                if (store) return 10 + i;
                if (store.error().code != ErrorCode::kUnavailable) return 20 + i;
                if (store.error().hint.empty()) return 30 + i;
              }
              // Looking works.
              Store store = must(Store::open_read_only(file_));
              if (must(store.run("last")).id != run_id(1)) return 40;
              if (!must(store.check()).empty()) return 41;
              const Status refused = store.append_event(run_id(1), 0, "x", "{}");
              if (refused || refused.error().code != ErrorCode::kUnavailable) return 42;
              return 0;
            }),
            0);
  ::chmod(scratch_.path().c_str(), 0755);
}

TEST_F(CrashTest, refuses_a_read_only_file_in_a_folder_it_can_write) {
  { must(open().create_run(make_run(run_id(1)))); }
  ::chmod(file_.c_str(), 0444);
  ::chmod(scratch_.path().c_str(), 0777);
  EXPECT_EQ(as_ordinary_user([&] {
              const auto store = Store::open(file_);
              return !store && store.error().code == ErrorCode::kUnavailable ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace hone::archive
