// Nsight Compute's answers: which counters are asked for, and what its CSV says of them. Pure.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::diagnose {

/// Counters of one launch, in base units (nanoseconds, bytes, percent), by name; what was not measured is not there.
struct LaunchCounters {
  int id = 0;          ///< order of the launches, from 0
  std::string kernel;
  std::map<std::string, double, std::less<>> values;
  [[nodiscard]] double get(std::string_view name) const;  ///< NaN where it is not known
};

/// `ncu --csv`, both forms: a column a counter under a row of units (--page raw), or a row a counter (the default page).
/// Lines before the table are passed over. kUnavailable where counters may not be read (its message says so) and where
/// there is no table, with the tool's own words.
[[nodiscard]] Result<std::vector<LaunchCounters>> read_ncu_csv(std::string_view text);

/// The options that make ncu measure what the table of metrics (card_metrics.h) is made of.
[[nodiscard]] std::vector<std::string> ncu_options();

}  // namespace hone::diagnose
