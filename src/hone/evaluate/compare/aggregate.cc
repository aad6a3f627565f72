#include "hone/evaluate/compare/aggregate.h"

#include <vector>

namespace hone::evaluate {

SuiteSummary summarise(std::span<const SuiteRow> rows) {
  SuiteSummary summary;
  if (rows.empty()) return summary;
  std::vector<double> speedups, weights;
  for (const SuiteRow& row : rows) {
    speedups.push_back(row.failed ? 1.0 : row.speedup);
    weights.push_back(row.weight);
    if (row.failed) {
      ++summary.failed;
    } else if (row.comparison == Comparison::kFaster) {
      ++summary.faster;
    } else if (row.comparison == Comparison::kSlower) {
      ++summary.slower;
    } else {
      ++summary.inconclusive;
    }
  }
  summary.geometric_mean = geometric_mean(speedups, weights);
  summary.median = median(speedups);
  return summary;
}

}  // namespace hone::evaluate
