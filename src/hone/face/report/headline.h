// What the report says first: the champion against each opponent over all workloads, and how the
// sentence about it reads. Owns the rule for the strongest opponent. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/face/report/run_log.h"

namespace hone::face::report {

/// One opponent over the workloads that it took part in.
struct OpponentSummary {
  std::string name;
  /// Weighted geometric means of the workloads' medians, lower and upper ends: true whether or not
  /// the workloads' errors are independent.
  evaluate::Ratio ratio;
  double median = 1;  ///< of the workloads' ratios
  int faster = 0, slower = 0, inconclusive = 0;
  int rows = 0;
};

struct Headline {
  const PromotionEvent* promotion = nullptr;   ///< the champion's; null: nothing is confirmed
  std::vector<OpponentSummary> opponents;      ///< strongest first; those with every workload before others
  double sol_fraction = 0;                     ///< weighted geometric mean; 0: none
  std::optional<evaluate::Accuracy> accuracy;  ///< closest to its bound
  double gain = 0;                             ///< over the first correct kernel; 0: not known
};

[[nodiscard]] Headline headline_of(const RunLog& log);

/// "2.31× faster than" or "1.20× slower than" where that is the call on every workload, else "1.01× as
/// fast as".
[[nodiscard]] std::string comparison_words(const OpponentSummary& opponent);

}  // namespace hone::face::report
