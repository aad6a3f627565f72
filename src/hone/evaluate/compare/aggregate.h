// Summary of a suite: what the last line of every results table says. Owns: how rows become one
// figure. Pure. A failed row (refused, crashed, not attempted) counts as 1x and never drops out,
// so a summary can't be improved by failing; an arithmetic mean is not offered.
#pragma once
#include <span>

#include "hone/evaluate/compare/compare.h"

namespace hone::evaluate {

struct SuiteRow {
  double speedup = 1;  ///< median ratio; ignored where failed
  Comparison comparison = Comparison::kInconclusive;
  bool failed = false;
  double weight = 1;   ///< in the geometric mean only
};

struct SuiteSummary {
  double geometric_mean = 1;
  double median = 1;
  int faster = 0, slower = 0, inconclusive = 0, failed = 0;  ///< each row counted once
  [[nodiscard]] int rows() const { return faster + slower + inconclusive + failed; }
};

/// No rows give the summary of nothing: 1x and zero counts.
[[nodiscard]] SuiteSummary summarise(std::span<const SuiteRow> rows);

}  // namespace hone::evaluate
