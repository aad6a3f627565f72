#include "hone/face/bench/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "hone/face/bench/testing/fake_bench.h"

namespace hone::face::bench {
namespace {

using evaluate::Comparison;
using nlohmann::json;
using testing::accepted_row;
using testing::refused_row;

/// Worked by hand: against eager 4, 1 (failed), 2, 0.5; against compiled 2, 1 (failed), 8, and once it was absent.
std::vector<Row> four_rows() {
  return {accepted_row("a", {{"eager", 4}, {"compiled", 2}}), refused_row("b", "none", "nothing fits", false),
          accepted_row("c", {{"eager", 2}, {"compiled", 8}}, Comparison::kInconclusive),
          accepted_row("d", {{"eager", 0.5}}, Comparison::kSlower)};
}

TEST(BenchSummaryTest, is_as_worked_by_hand) {
  const Summary s = summary_of(four_rows());
  EXPECT_EQ(s.total, 4);
  EXPECT_EQ(s.accepted, 3);
  EXPECT_DOUBLE_EQ(s.compiled_fraction, 0.75);
  EXPECT_EQ(s.calls.faster, 1);
  EXPECT_EQ(s.calls.slower, 1);
  EXPECT_EQ(s.calls.inconclusive, 1);
  EXPECT_DOUBLE_EQ(s.seconds, 35);
  // 4 * 1 * 2 * 0.5 = 4; sorted 0.5, 1, 2, 4.
  EXPECT_NEAR(s.ratios.at("eager").geomean, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(s.ratios.at("eager").median, std::sqrt(2.0), 1e-12);
  EXPECT_EQ(s.ratios.at("eager").rows, 4);
  // 2 * 1 * 8 = 16 of three; sorted 1, 2, 8.
  EXPECT_NEAR(s.ratios.at("compiled").geomean, std::cbrt(16.0), 1e-12);
  EXPECT_DOUBLE_EQ(s.ratios.at("compiled").median, 2);
  EXPECT_EQ(s.ratios.at("compiled").rows, 3);
  // The least of each: 2, 1, 2, 0.5: product 2; sorted 0.5, 1, 2, 2.
  EXPECT_NEAR(s.ratios.at(kBest).geomean, std::pow(2.0, 0.25), 1e-12);
  EXPECT_NEAR(s.ratios.at(kBest).median, std::sqrt(2.0), 1e-12);
}

TEST(BenchSummaryTest, a_failure_counts_as_one_even_where_it_was_measured) {
  Row refused = accepted_row("b", {{"eager", 100}});
  refused.verdict = "less accurate";
  const Summary s = summary_of({accepted_row("a", {{"eager", 4}}), refused});
  EXPECT_EQ(s.accepted, 1);
  EXPECT_DOUBLE_EQ(s.ratios.at("eager").geomean, 2);
  EXPECT_EQ(s.calls.faster + s.calls.slower + s.calls.inconclusive, 1);
}

/// `row` with an empty call of `name` taking half of its time.
Row with_dispatch(Row row, const std::string& name) {
  for (Speedup& s : row.speedups)
    if (s.opponent == name) {
      s.dispatch_ns = 3000;
      s.less_dispatch = {0.5 * s.ratio.median, 0.5 * s.ratio.low, 0.5 * s.ratio.high};
    }
  return row;
}

TEST(BenchSummaryTest, dispatch_is_taken_off_beside_the_whole_ratio) {
  std::vector<Row> rows = four_rows();
  for (Row& row : rows) row = with_dispatch(std::move(row), "eager");
  const Summary s = summary_of(rows);
  // What is measured stays what it was.
  EXPECT_NEAR(s.ratios.at("eager").geomean, std::sqrt(2.0), 1e-12);
  EXPECT_EQ(s.calls.faster, 1);
  // Eager is 2, 1 (failed), 1, 0.25: product 0.5; sorted 0.25, 1, 1, 2. Compiled has no dispatch.
  EXPECT_NEAR(s.ratios_without_dispatch.at("eager").geomean, std::pow(0.5, 0.25), 1e-12);
  EXPECT_DOUBLE_EQ(s.ratios_without_dispatch.at("eager").median, 1);
  EXPECT_NEAR(s.ratios_without_dispatch.at("compiled").geomean, std::cbrt(16.0), 1e-12);
  EXPECT_NEAR(s.ratios_without_dispatch.at(kBest).geomean, std::pow(0.5, 0.25), 1e-12);
  EXPECT_EQ(s.ratios_without_dispatch.at("eager").rows, 4);
  // "a" stays faster at 2 [1.8, 2.2], "c" was never called, "d" is slower still.
  EXPECT_EQ(s.calls_without_dispatch.faster, 1);
  EXPECT_EQ(s.calls_without_dispatch.inconclusive, 1);
  EXPECT_EQ(s.calls_without_dispatch.slower, 1);
  ASSERT_EQ(s.dispatch_ns.size(), 1u);
  EXPECT_DOUBLE_EQ(s.dispatch_ns.at("eager"), 3000);
  const json summary = result_json(rows)["summary"];
  EXPECT_NEAR(summary["geomean_without_dispatch"][kBest].get<double>(), std::pow(0.5, 0.25), 1e-12);
  EXPECT_EQ(summary["faster_without_dispatch"], 1);
  EXPECT_EQ(summary["slower_without_dispatch"], 1);
  EXPECT_EQ(summary["dispatch_ns"], (json{{"eager", 3000.0}}));
  EXPECT_NEAR(summary["geomean"]["eager"].get<double>(), std::sqrt(2.0), 1e-12);
}

TEST(BenchSummaryTest, a_win_that_is_only_dispatch_is_none) {
  const auto said = [](double ratio, Comparison call) {
    const Row row = with_dispatch(accepted_row("a", {{"eager", ratio}}, call), "eager");
    const Calls calls = summary_of({row}).calls_without_dispatch;
    return calls.faster ? Comparison::kFaster : calls.slower ? Comparison::kSlower : Comparison::kInconclusive;
  };
  EXPECT_EQ(said(2.5, Comparison::kFaster), Comparison::kFaster);
  EXPECT_EQ(said(2.0, Comparison::kFaster), Comparison::kInconclusive) << "1 [0.9, 1.1]";
  EXPECT_EQ(said(1.5, Comparison::kFaster), Comparison::kSlower) << "0.75 [0.675, 0.825]";
  EXPECT_EQ(said(2.5, Comparison::kInconclusive), Comparison::kInconclusive) << "never called";
  EXPECT_EQ(said(1.0, Comparison::kInconclusive), Comparison::kSlower);
  EXPECT_EQ(said(0.5, Comparison::kSlower), Comparison::kSlower);
}

TEST(BenchSummaryTest, the_strongest_without_dispatch_may_be_another) {
  const Row row = with_dispatch(accepted_row("a", {{"eager", 3}, {"compiled", 2}}), "eager");
  EXPECT_EQ(strongest(row)->opponent, "compiled");
  EXPECT_EQ(strongest_without_dispatch(row)->opponent, "eager");
}

TEST(BenchSummaryTest, of_nothing_is_empty) {
  const Summary none = summary_of({});
  EXPECT_EQ(none.total, 0);
  EXPECT_DOUBLE_EQ(none.compiled_fraction, 0);
  EXPECT_TRUE(none.ratios.empty());
  const Summary alone = summary_of({accepted_row("a", {}, Comparison::kInconclusive)});
  EXPECT_TRUE(alone.ratios.empty()) << "nobody to compare with";
  EXPECT_EQ(alone.calls.inconclusive, 1);
}

TEST(BenchSummaryTest, the_line_has_the_shape_that_is_promised) {
  Row open = accepted_row("open", {{"eager", 3}});
  open.speedups.front().ratio.high = std::numeric_limits<double>::infinity();
  const json line = result_json({accepted_row("a", {{"eager", 4}, {"compiled", 2}}), open, refused_row("b", "wrong", "why", true)});
  ASSERT_EQ(line.size(), 2u);
  const json& row = line["rows"][0];
  for (const char* key : {"task", "verdict", "comparison", "speedups", "sol_fraction", "seconds"}) EXPECT_TRUE(row.contains(key)) << key;
  EXPECT_EQ(row["comparison"], "FASTER");
  EXPECT_DOUBLE_EQ(row["speedups"]["eager"]["median"], 4);
  EXPECT_DOUBLE_EQ(row["speedups"]["eager"]["low"], 3.6);
  EXPECT_DOUBLE_EQ(row["speedups"]["compiled"]["high"], 2.2);
  EXPECT_TRUE(line["rows"][1]["speedups"]["eager"]["high"].is_null());
  EXPECT_TRUE(line["rows"][2]["sol_fraction"].is_null());
  EXPECT_EQ(line["rows"][2]["verdict"], "wrong");
  EXPECT_EQ(line["rows"][2]["speedups"], json::object());
  const json& summary = line["summary"];
  for (const char* key : {"total", "accepted", "compiled_fraction", "geomean", "median", "faster", "slower", "inconclusive"})
    EXPECT_TRUE(summary.contains(key)) << key;
  EXPECT_EQ(summary["total"], 3);
  EXPECT_NEAR(summary["geomean"]["eager"].get<double>(), std::cbrt(12.0), 1e-12);
  EXPECT_DOUBLE_EQ(summary["median"][kBest], 2);
}

TEST(BenchSummaryTest, rows_travel_through_json) {
  Row row = accepted_row("a", {{"eager", 4}, {"compiled", 2}});
  row.absent = {"naive: it crashed"};
  row.recalled = true;
  row.speedups[1].ratio.high = std::numeric_limits<double>::infinity();
  row.speedups[0].dispatch_ns = 1500;
  row.speedups[0].less_dispatch = {2, 1.5, 2.5};
  const Row again = engine::testing::must(row_from(to_json(row)));
  EXPECT_EQ(to_json(again), to_json(row));
  EXPECT_DOUBLE_EQ(again.speedups[1].dispatch_ns + again.speedups[0].dispatch_ns, 1500);
  json old = to_json(row);  // as rows were before dispatch was measured
  for (json& speedup : old["speedups"]) speedup.erase("dispatch_ns"), speedup.erase("without_dispatch");
  EXPECT_DOUBLE_EQ(engine::testing::must(row_from(old)).against("eager")->without_dispatch().median, 4);
  const Row none = refused_row("b", "none", "nothing fits", false);
  EXPECT_EQ(to_json(engine::testing::must(row_from(to_json(none)))), to_json(none));
  const auto wrong = row_from(json{{"task", 3}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace hone::face::bench
