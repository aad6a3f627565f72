#include "hone/engine/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "hone/engine/testing/fake_run.h"

namespace hone::engine {
namespace {

using nlohmann::json;
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
  Result<json> take(EventLog& log, const std::string& kind, int64_t ns, const json& body = json::object()) {
    return log.step(kind, [&]() -> Result<json> {
      clock_.advance_ns(ns);
      return body;
    });
  }

  base::ScratchDirectory scratch_ = must(base::ScratchDirectory::create("event-log-test"));
  archive::Store store_ = must(archive::Store::open(scratch_.path() / "archive.db"));
  base::FakeClock clock_;
};

TEST_F(EventLogTest, records_what_is_performed_and_replays_it) {
  {
    EventLog first = log(clock_);
    EXPECT_FALSE(first.replaying());
    EXPECT_EQ(must(take(first, "started", 1'000'000, {{"n", 1}})).at("n"), 1);
    must(take(first, "screened", 2'000'000, {{"n", 2}}));
  }
  EventLog second = log(clock_);
  EXPECT_EQ(second.next_kind(), "started");
  const auto never = []() -> Result<json> { return fail(ErrorCode::kInternal, "performed again"); };
  EXPECT_EQ(must(second.step("started", never)).at("n"), 1);
  EXPECT_EQ(must(second.step("screened", never)).at("n"), 2);
  EXPECT_FALSE(second.replaying());
  EXPECT_EQ(second.next_kind(), "");
  must(take(second, "finished", 0));
  EXPECT_EQ(must(store_.events(kRun)).size(), 3u);
}

TEST_F(EventLogTest, what_fails_is_not_recorded) {
  EventLog first = log(clock_);
  EXPECT_FALSE(first.step("started", []() -> Result<json> { return fail(ErrorCode::kUnavailable, "no"); }));
  EXPECT_TRUE(must(store_.events(kRun)).empty());
  must(take(first, "started", 0));
}

TEST_F(EventLogTest, counts_active_time_only) {
  {
    EventLog first = log(clock_);
    must(take(first, "a", 1'500'000'000));
    EXPECT_DOUBLE_EQ(first.elapsed(), 1.5);
    clock_.advance_ns(700'000'000);  // in flight when the process dies
    EXPECT_DOUBLE_EQ(first.now(), 2.2);
    EXPECT_DOUBLE_EQ(first.elapsed(), 1.5);
  }
  clock_.advance_ns(3'600'000'000'000);
  EventLog second = log(clock_);
  EXPECT_DOUBLE_EQ(second.now(), 1.5);
  EXPECT_DOUBLE_EQ(second.elapsed(), 0) << "nothing is replayed yet";
  must(take(second, "a", 0));
  must(take(second, "b", 250'000'000));
  EXPECT_DOUBLE_EQ(second.elapsed(), 1.75);
}

TEST_F(EventLogTest, the_same_work_gives_the_same_times_however_often_it_is_taken_over) {
  // Nanoseconds that do not add up to round microseconds.
  constexpr int64_t kStep = 1'234'567'891;
  std::vector<double> whole, pieces;
  {
    EventLog one = log(clock_);
    for (int i = 0; i < 20; ++i) whole.push_back(must(take(one, "step", kStep)).at("at"));
  }
  archive::RunInfo other;
  other.id = "ba9876543210";
  must(store_.create_run(other));
  for (int i = 0; i < 20; ++i) {
    clock_.advance_ns(123'456'789);
    EventLog next(store_, other.id, must(store_.events(other.id)), clock_);
    for (int j = 0; j <= i; ++j) {
      const double at = must(take(next, "step", kStep)).at("at");
      if (j == i) pieces.push_back(at);
    }
  }
  EXPECT_EQ(whole, pieces);
}

TEST_F(EventLogTest, leaves_out_what_is_no_progress) {
  EventLog first = log(clock_);
  must(take(first, "a", 1'000'000'000));
  const int64_t before = clock_.now_ns();
  clock_.advance_ns(5'000'000'000);
  first.leave_out_since(before);
  EXPECT_DOUBLE_EQ(must(take(first, "b", 1'000'000'000)).at("at"), 2);
}

TEST_F(EventLogTest, nobody_sees_live_what_a_replay_would_not) {
  EventLog first = log(clock_);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(must(take(first, "a", 0, {{"x", infinity}})).at("x").is_null());
}

TEST_F(EventLogTest, another_kind_than_follows_is_corrupt) {
  {
    EventLog first = log(clock_);
    must(take(first, "started", 0));
  }
  EventLog second = log(clock_);
  const auto result = take(second, "calibrated", 0);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("event 0 of run 0123456789ab is \"started\""));
  EXPECT_THAT(result.error().hint, ::testing::HasSubstr("start a new run"));
}

TEST_F(EventLogTest, a_second_writer_is_noticed) {
  EventLog first = log(clock_);
  EventLog second = log(clock_);
  must(take(first, "started", 0));
  const auto result = take(second, "started", 0);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInternal);
}

}  // namespace
}  // namespace hone::engine
