#include "hone/face/bench/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "hone/face/bench/testing/fake_bench.h"
#include "hone/face/report/testing/html_check.h"

namespace hone::face::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using evaluate::Comparison;
using face::testing::HtmlCheck;
using testing::accepted_row;
using testing::refused_row;

/// A faster, a slower, an inconclusive and a failed row, and one task that is not done yet.
State mixed() {
  State state;
  state.id = "b00000000001";
  state.created_unix_ms = state.updated_unix_ms = 1'763'769'600'000;
  state.command = "hone bench tasks/level1";
  state.asked.suite = {"/somewhere/tasks/level1"};
  state.conditions.place = {"cpu", "a fake machine, 2 threads", "g++ 12"};
  state.conditions.machine_json = "{}";
  state.conditions.hone = "0.1";
  const auto add = [&](Row row) {
    Entry& entry = state.entries.emplace_back();
    entry.name = row.task;
    entry.row = std::move(row);
  };
  add(accepted_row("quick", {{"pytorch eager", 4}, {"pytorch compiled", 2}}));
  add(accepted_row("behind", {{"pytorch eager", 0.5}}, Comparison::kSlower));
  add(accepted_row("level", {{"pytorch eager", 1.01}}, Comparison::kInconclusive));
  add(refused_row("odd<b>|_name_", "none", "no candidate was accepted; the first is refused: wrong: y[3] & more", true));
  Speedup& eager = state.entries[0].row->speedups[0];
  eager.dispatch_ns = 2500;
  eager.less_dispatch = {3, 2.7, 3.3};
  state.entries[1].row->absent = {"pytorch compiled: no torch.compile here"};
  state.entries.emplace_back().name = "not_yet";
  return state;
}

void keep_page(const std::string& page) {
  const char* folder = std::getenv("HONE_REPORT_PAGES");
  if (!folder) return;
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  ASSERT_TRUE(base::write_file_atomic(std::filesystem::path(folder) / (name + ".html"), page));
}

TEST(BenchPageTest, html_is_sound_and_shows_every_row) {
  const std::string page = html_page(mixed());
  keep_page(page);
  const HtmlCheck check(page);
  ASSERT_EQ(check.problem(), "");
  for (const char* id : {"ratios", "rows", "losses", "failures", "absent", "conditions"}) EXPECT_TRUE(check.has_id(id)) << id;
  for (const char* text : {"level1", "3 of 4", "1 are faster", "quick", "behind", "level", "odd<b>|_name_", "y[3] & more", "g++ 12",
                           "a fake machine, 2 threads", "hone bench tasks/level1", "2025-11-22", "no torch.compile here", "4 of 5 tasks are done", "takes 2.50\u00A0\u00B5s (pytorch eager)",
                           "3.00\u00D7 without dispatch"})
    EXPECT_THAT(check.text(), HasSubstr(text));
  EXPECT_THAT(page, Not(HasSubstr("odd<b>")));
  EXPECT_EQ(check.count("circle"), 6) << "three in the chart, three in the table";
}

TEST(BenchPageTest, html_of_a_bench_that_has_just_begun_is_sound) {
  State state = mixed();
  for (Entry& entry : state.entries) entry.row.reset();
  const HtmlCheck check(html_page(state));
  EXPECT_EQ(check.problem(), "");
  EXPECT_FALSE(check.has_id("rows"));
}

TEST(BenchPageTest, html_of_a_hundred_rows_without_opponents_is_sound) {
  State state = mixed();
  state.entries.clear();
  for (int i = 0; i < 100; ++i) state.entries.emplace_back().row = accepted_row(fmt::format("task {}", i), {}, Comparison::kInconclusive);
  const HtmlCheck check(html_page(state));
  EXPECT_EQ(check.problem(), "");
  EXPECT_FALSE(check.has_id("ratios"));
  EXPECT_THAT(markdown_page(state), HasSubstr("No opponent took part."));
}

TEST(BenchPageTest, markdown_says_the_same) {
  const std::string page = markdown_page(mixed());
  for (const char* text :
       {"# Bench b00000000001: level1", "3 of 4 accepted", "1 faster, 1 slower, 1 inconclusive", "| quick | FASTER | 2.00 \\[1.80, 2.20] | 4.00 \\[3.60, 4.40]; 3.00\u00D7 without dispatch | 0.50 |",
        "| odd\\<b>\\|\\_name\\_ | none | \u2013 | \u2013 |", "- behind: 0.50\u00D7", "(SLOWER)", "- command: hone bench tasks/level1",
        "- odd\\<b>\\|\\_name\\_: none: no candidate", "Not finished: 4 of 5"})
    EXPECT_THAT(page, HasSubstr(text));
  EXPECT_THAT(page, Not(HasSubstr("- level: ")));
}

}  // namespace
}  // namespace hone::face::bench
