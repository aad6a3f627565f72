#include "hone/face/report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hone/evaluate/compare/aggregate.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

OpponentSummary summarise_opponent(const std::string& name, const RunLog& log,
                                   const evaluate::Promotion& promotion) {
  std::vector<evaluate::SuiteRow> rows;
  std::vector<double> low, high, weights;
  for (const evaluate::WorkloadResult& w : promotion.workloads) {
    for (const evaluate::OpponentResult& o : w.opponents) {
      if (o.opponent != name || !(o.ratio.median > 0)) continue;  // what somebody else wrote may be no ratio
      const double weight = log.weight_of(w.workload);
      rows.push_back({o.ratio.median, o.comparison, false, weight});
      low.push_back(o.ratio.low);
      high.push_back(o.ratio.high);
      weights.push_back(weight);
    }
  }
  const evaluate::SuiteSummary suite = evaluate::summarise(rows);
  return {name,
          {suite.geometric_mean, evaluate::weighted_geometric_mean(low, weights),
           evaluate::weighted_geometric_mean(high, weights)},
          suite.median,
          suite.faster,
          suite.slower,
          suite.inconclusive,
          suite.rows()};
}

}  // namespace

Headline headline_of(const RunLog& log) {
  Headline head;
  if (const Evaluation* e = log.find(log.champion)) {
    head.gain = e->score;
    head.accuracy = e->verdict().accuracy;
  }
  for (const Mark& mark : log.champions)
    if (mark.kernel == log.champion && mark.score > 0) head.gain = mark.score;
  head.promotion = log.champion_promotion();
  if (!head.promotion) return head;

  if (head.promotion->promotion.verdict.accuracy) head.accuracy = head.promotion->promotion.verdict.accuracy;
  const evaluate::Promotion& promotion = head.promotion->promotion;
  std::vector<double> fractions, weights;
  for (const evaluate::WorkloadResult& w : promotion.workloads) {
    if (w.sol_fraction > 0) fractions.push_back(w.sol_fraction), weights.push_back(log.weight_of(w.workload));
    for (const evaluate::OpponentResult& o : w.opponents) {
      const auto same = [&](const OpponentSummary& s) { return s.name == o.opponent; };
      if (std::none_of(head.opponents.begin(), head.opponents.end(), same))
        head.opponents.push_back(summarise_opponent(o.opponent, log, promotion));
    }
  }
  head.sol_fraction = evaluate::weighted_geometric_mean(fractions, weights);
  std::stable_sort(head.opponents.begin(), head.opponents.end(), [](const auto& a, const auto& b) {
    return a.rows != b.rows ? a.rows > b.rows : a.ratio.median < b.ratio.median;
  });
  return head;
}

std::string comparison_words(const OpponentSummary& o) {
  if (o.faster == o.rows) return fmt::format("{}× faster than", ratio_text(o.ratio).median);
  if (o.slower == o.rows) {
    const evaluate::Ratio inverse{1 / o.ratio.median, 0, 0};
    return fmt::format("{}× slower than", ratio_text(inverse).median);
  }
  return fmt::format("{}× as fast as", ratio_text(o.ratio).median);
}

}  // namespace hone::face::report
