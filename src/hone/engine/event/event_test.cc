#include "hone/engine/event/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "hone/base/json.h"
#include "hone/engine/testing/old_archive.h"

namespace hone::engine {
namespace {

using nlohmann::json;
using testing::must;
using ::testing::HasSubstr;

/// Every kind, with nothing in it.
template <size_t... I>
std::vector<Event> empty_events(std::index_sequence<I...>) {
  return {std::variant_alternative_t<I, Event>()...};
}
std::vector<Event> empty_events() { return empty_events(std::make_index_sequence<std::variant_size_v<Event> - 1>()); }

std::string line_of(const archive::Event& row) { return row.kind + " " + row.json.substr(0, 200); }

TEST(EventTest, every_kind_reads_back_as_it_was_written) {
  for (const Event& event : empty_events()) {
    const archive::Event row{7, std::string(kind_of(event)), to_json(event, 1.5)};
    const LoggedEvent back = read_event(row);
    EXPECT_EQ(back.problem, "") << line_of(row);
    EXPECT_EQ(back.event.index(), event.index()) << line_of(row);
    EXPECT_EQ(back.seq, 7);
    EXPECT_EQ(back.at, 1.5);
    EXPECT_EQ(to_json(back.event, back.at), row.json);
  }
}

TEST(EventTest, what_an_older_program_wrote_is_read_whole_and_written_alike) {
  const auto scratch = must(base::ScratchDirectory::create("event-test"));
  archive::Store store = must(archive::Store::open(testing::unpack_old_archive(scratch.path())));
  std::vector<archive::Event> rows;
  for (const archive::RunInfo& run : must(store.runs()))
    for (archive::Event& row : must(store.events(run.id))) rows.push_back(std::move(row));
  ASSERT_EQ(rows.size(), 159u);
  for (const archive::Event& row : rows) {
    const LoggedEvent logged = read_event(row);
    EXPECT_EQ(to_json(logged.event, logged.at), row.json);
  }
  // And runs that asked models on a server, with tools.
  for (const auto& file : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/test/agent/exchanges")) {
    std::istringstream lines(must(base::read_file(file.path())));
    for (std::string text; std::getline(lines, text);)
      if (const json line = json::parse(text); line.contains("event")) rows.push_back({0, line.at("event"), base::canonical_json(line.at("body"))});
  }
  EXPECT_GT(rows.size(), 800u);
  for (const archive::Event& row : rows) {
    const LoggedEvent logged = read_event(row);
    EXPECT_EQ(logged.problem, "") << line_of(row);
    ASSERT_FALSE(logged.is<event::Unknown>()) << line_of(row);
    // Members that are always written now may have been absent; nothing is lost or changed.
    const std::string again = to_json(logged.event, logged.at);
    if (again == row.json) continue;
    for (const json& change : json::diff(json::parse(row.json), json::parse(again)))
      EXPECT_EQ(change.at("op"), "add") << line_of(row) << "\n" << change;
  }
}

TEST(EventTest, what_is_missing_or_odd_is_said_and_the_rest_is_read) {
  const auto problem = [](const std::string& kind, const std::string& text) { return read_event({0, kind, text}).problem; };
  EXPECT_EQ(problem("stopped", R"({"at":1,"reason":"budget"})"), "");
  EXPECT_EQ(problem("yardstick", R"({"at":1,"score":2})"), "kernel is missing");
  EXPECT_EQ(problem("yardstick", R"({"kernel":5,"score":2})"), "kernel is no text");
  EXPECT_EQ(problem("waited", R"({"open":1e300})"), "open is no whole number in its range");
  EXPECT_EQ(problem("waited", R"({"open":99999999999})"), "open is no whole number in its range");
  EXPECT_EQ(problem("raced", R"({"kernel":"k","screening":{"verdict":{"verdict":"accepted"}}})"), "screening.verdict.reason is missing");
  EXPECT_EQ(problem("raced", R"({"kernel":"k","screening":7})"), "screening is no object");
  EXPECT_EQ(problem("started", R"([])"), "it is no JSON object");
  EXPECT_EQ(problem("started", R"({)"), "it is no JSON object");
  const LoggedEvent odd = read_event({0, "yardstick", R"({"kernel":5,"score":2,"at":"late"})"});
  EXPECT_EQ(odd.as<event::Yardstick>()->score, 2);
}

TEST(EventTest, what_a_later_version_writes_is_kept_apart_or_passed_over) {
  const LoggedEvent unheard = read_event({3, "imagined", R"({"at":2.5,"of":"a later version"})"});
  ASSERT_TRUE(unheard.is<event::Unknown>());
  EXPECT_EQ(kind_of(unheard.event), "imagined");
  EXPECT_EQ(unheard.at, 2.5);
  const LoggedEvent more = read_event({3, "waited", R"({"open":2,"for":"Godot"})"});
  EXPECT_EQ(more.problem, "");
  EXPECT_EQ(more.as<event::Waited>()->open, 2);
}

TEST(EventTest, a_verdict_that_nobody_knows_is_no_acceptance) {
  const char* const body = R"({"kernel":"k","screening":{"verdict":{"verdict":"too clever","reason":"new","detail":"","accuracy":null}}})";
  const LoggedEvent logged = read_event({0, "screened", body});
  const evaluate::Verdict& verdict = logged.as<event::Screened>()->screening.verdict;
  EXPECT_FALSE(verdict.accepted());
  EXPECT_EQ(verdict.reason, "too clever: new");
  EXPECT_FALSE(read_event({0, "screened", "{}"}).as<event::Screened>()->screening.verdict.accepted());
  EXPECT_FALSE(read_event({0, "promoted", "{}"}).as<event::Promoted>()->promotion.verdict.accepted());
}

TEST(EventsPage, the_committed_page_is_the_programs_own) {
  const std::string committed = must(base::read_file(HONE_SOURCE_DIR "/docs/events.md")), page = events_page();
  const auto same = std::mismatch(page.begin(), page.end(), committed.begin(), committed.end()).first - page.begin();
  EXPECT_TRUE(committed == page) << "run `make docs`; the page differs from the program at: " << page.substr(static_cast<size_t>(same), 200);
}

TEST(EventsPage, has_every_kind_and_something_to_say_of_each_member) {
  const std::string page = events_page();
  for (const Event& event : empty_events()) EXPECT_THAT(page, HasSubstr(fmt::format("## {}\n", kind_of(event))));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("|  |")));
}

}  // namespace
}  // namespace hone::engine
