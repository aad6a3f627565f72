#include "hone/face/report/headline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hone::face::report {
namespace {

using evaluate::Comparison;
using evaluate::OpponentResult;

OpponentResult against(const std::string& name, double ratio, Comparison comparison) {
  return {name, comparison, {ratio, ratio * 0.9, ratio * 1.1}, ratio, 1, 40, 5};
}

/// A log of one promoted champion, by way of JSON as the engine writes it.
RunLog log_of(const std::vector<std::vector<OpponentResult>>& workloads, double weight_of_second = 1) {
  evaluate::Promotion p;
  nlohmann::json declared = nlohmann::json::array();
  for (size_t w = 0; w < workloads.size(); ++w) {
    evaluate::WorkloadResult r;
    r.workload = "w" + std::to_string(w);
    r.sol_fraction = 0.5;
    r.opponents = workloads[w];
    p.workloads.push_back(r);
    declared.push_back({{"name", r.workload}, {"weight", w == 1 ? weight_of_second : 1.0}});
  }
  return read_log(
      {}, {{0, "started", nlohmann::json{{"workloads", declared}}.dump()},
           {1, "promoted", nlohmann::json{{"kernel", "k"}, {"promotion", evaluate::to_json(p)}}.dump()},
           {2, "champion", R"({"kernel":"k","score":3.5})"}});
}

TEST(Headline, TheStrongestOpponentLeads) {
  const RunLog log = log_of(
      {{against("naive", 6, Comparison::kFaster), against("eager", 2, Comparison::kFaster)}});
  const Headline head = headline_of(log);
  ASSERT_EQ(head.opponents.size(), 2U);
  EXPECT_EQ(head.opponents[0].name, "eager");
  EXPECT_EQ(comparison_words(head.opponents[0]), "2.00× faster than");
  EXPECT_DOUBLE_EQ(head.gain, 3.5);
  EXPECT_DOUBLE_EQ(head.sol_fraction, 0.5);
}

TEST(Headline, AnOpponentOfOneWorkloadDoesNotLead) {
  const RunLog log = log_of(
      {{against("naive", 6, Comparison::kFaster), against("partial", 1.1, Comparison::kFaster)},
       {against("naive", 5, Comparison::kFaster)}});
  EXPECT_EQ(headline_of(log).opponents[0].name, "naive");
}

TEST(Headline, WeightsCount) {
  const RunLog log = log_of(
      {{against("a", 8, Comparison::kFaster)}, {against("a", 1, Comparison::kInconclusive)}}, 2);
  const OpponentSummary o = headline_of(log).opponents[0];
  EXPECT_NEAR(o.ratio.median, 2, 1e-12);
  EXPECT_NEAR(o.ratio.low, 1.8, 1e-12);
  EXPECT_EQ(o.faster, 1);
  EXPECT_EQ(o.inconclusive, 1);
  EXPECT_EQ(comparison_words(o), "2.00× as fast as") << "no call for all where workloads differ";
}

TEST(Headline, SlowerAndUndecidedAreSaid) {
  EXPECT_EQ(comparison_words(headline_of(log_of({{against("a", 0.5, Comparison::kSlower)}})).opponents[0]),
            "2.00× slower than");
  EXPECT_EQ(
      comparison_words(headline_of(log_of({{against("a", 1, Comparison::kInconclusive)}})).opponents[0]),
      "1.000× as fast as");
}

TEST(RunLog, ResumingTakesTheEndBack) {
  const RunLog log = read_log(
      {}, {{0, "finished", R"({"reason":"interrupted"})"}, {1, "screened", R"({"n":1})"}});
  EXPECT_EQ(log.finished, "");
  EXPECT_EQ(log.evaluations.size(), 1U);
}

TEST(RunLog, ConsideredCountsBothWays) {
  const RunLog log = read_log(
      {}, {{0, "considered", R"({"at":1,"duplicate":1,"predicted_slower":5,"constraint":0})"},
           {1, "considered", R"({"at":9.5,"duplicate":4,"predicted_slower":-3,"constraint":0})"}});
  const std::map<std::string, int> expected{{"duplicate", 5}, {"predicted slower", 2}};
  EXPECT_EQ(log.considered, expected);
}

TEST(RunLog, DamagedEventsAreCounted) {
  EXPECT_EQ(read_log({}, {{0, "started", "{"}, {1, "started", "[]"}}).unread, 2);
}

}  // namespace
}  // namespace hone::face::report
