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
  EXPECT_EQ(s.faster, 1);
  EXPECT_EQ(s.slower, 1);
  EXPECT_EQ(s.inconclusive, 1);
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
  EXPECT_EQ(s.faster + s.slower + s.inconclusive, 1);
}

TEST(BenchSummaryTest, of_nothing_is_empty) {
  const Summary none = summary_of({});
  EXPECT_EQ(none.total, 0);
  EXPECT_DOUBLE_EQ(none.compiled_fraction, 0);
  EXPECT_TRUE(none.ratios.empty());
  const Summary alone = summary_of({accepted_row("a", {}, Comparison::kInconclusive)});
  EXPECT_TRUE(alone.ratios.empty()) << "nobody to compare with";
  EXPECT_EQ(alone.inconclusive, 1);
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
  EXPECT_EQ(to_json(engine::testing::must(row_from(to_json(row)))), to_json(row));
  const Row none = refused_row("b", "none", "nothing fits", false);
  EXPECT_EQ(to_json(engine::testing::must(row_from(to_json(none)))), to_json(none));
  const auto wrong = row_from(json{{"task", 3}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace hone::face::bench
