#include "hone/engine/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "hone/engine/testing/fake_run.h"

namespace hone::engine {
namespace {

using testing::must;

constexpr const char* kRun = "0123456789ab";

class EventLogTest : public ::testing::Test {
 protected:
  EventLogTest() {
    archive::RunInfo info;
    info.id = kRun;
    info.status = "running";
    must(store_.create_run(info));
  }

  EventLog log(base::Clock& clock) { return EventLog(store_, kRun, must(store_.events(kRun)), clock); }

  /// A step that takes `ns`.
  template <class E>
  Result<E> take(EventLog& log, int64_t ns, const E& event) {
    return log.step<E>([&]() -> Result<E> {
      clock_.advance_ns(ns);
      return event;
    });
  }
  Result<event::Waited> take(EventLog& log, int64_t ns) { return take(log, ns, event::Waited{}); }

  base::ScratchDirectory scratch_ = must(base::ScratchDirectory::create("event-log-test"));
  archive::Store store_ = must(archive::Store::open(scratch_.path() / "archive.db"));
  base::FakeClock clock_;
};

TEST_F(EventLogTest, records_what_is_performed_and_replays_it) {
  {
    EventLog first = log(clock_);
    EXPECT_FALSE(first.replaying());
    EXPECT_EQ(must(take(first, 1'000'000, event::Waited{1})).open, 1);
    EXPECT_EQ(must(take(first, 2'000'000, event::Yardstick{"k", 2})).score, 2);
  }
  EventLog second = log(clock_);
  EXPECT_TRUE(second.next_is<event::Waited>());
  EXPECT_FALSE(second.next_is<event::Stalled>());
  EXPECT_EQ(second.next_kernel(), "");
  EXPECT_EQ(must(second.step<event::Waited>([]() -> Result<event::Waited> { return fail(ErrorCode::kInternal, "performed again"); })).open, 1);
  EXPECT_EQ(second.next_kernel(), "k");
  EXPECT_EQ(must(second.step<event::Yardstick>([]() -> Result<event::Yardstick> { return fail(ErrorCode::kInternal, "performed again"); })).score, 2);
  EXPECT_FALSE(second.replaying());
  EXPECT_FALSE(second.next_is<event::Waited>());
  EXPECT_EQ(second.next_kernel(), "");
  must(take(second, 0));
  EXPECT_EQ(must(store_.events(kRun)).size(), 3u);
}

TEST_F(EventLogTest, what_fails_is_not_recorded) {
  EventLog first = log(clock_);
  EXPECT_FALSE(first.step<event::Waited>([]() -> Result<event::Waited> { return fail(ErrorCode::kUnavailable, "no"); }));
  EXPECT_TRUE(must(store_.events(kRun)).empty());
  must(take(first, 0));
}

TEST_F(EventLogTest, counts_active_time_only) {
  {
    EventLog first = log(clock_);
    must(take(first, 1'500'000'000));
    EXPECT_DOUBLE_EQ(first.elapsed(), 1.5);
    clock_.advance_ns(700'000'000);  // in flight when the process dies
    EXPECT_DOUBLE_EQ(first.now(), 2.2);
    EXPECT_DOUBLE_EQ(first.elapsed(), 1.5);
  }
  clock_.advance_ns(3'600'000'000'000);
  EventLog second = log(clock_);
  EXPECT_DOUBLE_EQ(second.now(), 1.5);
  EXPECT_DOUBLE_EQ(second.elapsed(), 0) << "nothing is replayed yet";
  must(take(second, 0));
  must(take(second, 250'000'000));
  EXPECT_DOUBLE_EQ(second.elapsed(), 1.75);
}

TEST_F(EventLogTest, the_same_work_gives_the_same_times_however_often_it_is_taken_over) {
  // Nanoseconds that do not add up to round microseconds.
  constexpr int64_t kStep = 1'234'567'891;
  std::vector<double> whole, pieces;
  {
    EventLog one = log(clock_);
    for (int i = 0; i < 20; ++i) must(take(one, kStep)), whole.push_back(one.elapsed());
  }
  archive::RunInfo other;
  other.id = "ba9876543210";
  must(store_.create_run(other));
  for (int i = 0; i < 20; ++i) {
    clock_.advance_ns(123'456'789);
    EventLog next(store_, other.id, must(store_.events(other.id)), clock_);
    for (int j = 0; j <= i; ++j) {
      must(take(next, kStep));
      if (j == i) pieces.push_back(next.elapsed());
    }
  }
  EXPECT_EQ(whole, pieces);
}

TEST_F(EventLogTest, leaves_out_what_is_no_progress) {
  EventLog first = log(clock_);
  must(take(first, 1'000'000'000));
  const int64_t before = clock_.now_ns();
  clock_.advance_ns(5'000'000'000);
  first.leave_out_since(before);
  must(take(first, 1'000'000'000));
  EXPECT_DOUBLE_EQ(first.elapsed(), 2);
}

TEST_F(EventLogTest, nobody_sees_live_what_a_replay_would_not) {
  EventLog first = log(clock_);
  event::ToolUsed said;
  said.text = "\xFF";  // no UTF-8
  EXPECT_EQ(must(take(first, 0, said)).text, "\uFFFD");
  const auto infinite = take(first, 0, event::Yardstick{"k", std::numeric_limits<double>::infinity()});
  ASSERT_FALSE(infinite) << "JSON has no infinity";
  EXPECT_EQ(infinite.error().code, ErrorCode::kCorrupt);
}

TEST_F(EventLogTest, another_kind_than_follows_is_corrupt) {
  must(store_.append_event(kRun, 0, "imagined", R"({"of":"a later version"})"));
  EventLog second = log(clock_);
  const auto result = take(second, 0, event::Calibrated{});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("event 0 of run 0123456789ab is \"imagined\" where \"calibrated\""));
  EXPECT_THAT(result.error().hint, ::testing::HasSubstr("start a new run"));
}

TEST_F(EventLogTest, an_event_that_lacks_what_it_must_have_is_corrupt) {
  must(store_.append_event(kRun, 0, "yardstick", R"({"at":1,"kernel":"k"})"));
  EventLog second = log(clock_);
  const auto result = take(second, 0, event::Yardstick{});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("score is missing"));
}

TEST_F(EventLogTest, a_second_writer_is_noticed) {
  EventLog first = log(clock_);
  EventLog second = log(clock_);
  must(take(first, 0));
  const auto result = take(second, 0);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace hone::engine
