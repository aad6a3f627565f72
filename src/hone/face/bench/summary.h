// A bench in one object: counts, and what its ratios come to. A failure counts as 1: whoever has no kernel from us
// keeps what he had. Means are geometric, never arithmetic. Pure.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "hone/face/bench/row.h"

namespace hone::face::bench {

/// The ratios against one opponent.
struct Ratios {
  double geomean = 1;
  double median = 1;      ///< of an even number the geometric mean of the middle two
  int rows = 0;           ///< it took part in, and failures
};

/// Accepted rows by what was said of the champion against the row's strongest opponent.
struct Calls {
  int faster = 0, slower = 0, inconclusive = 0;
};

/// What every table calls the least ratio of a row, over all opponents that took part in it.
inline constexpr const char* kBest = "best";

struct Summary {
  int total = 0, accepted = 0;
  double compiled_fraction = 0;   ///< of all; 0 where there are none
  std::map<std::string, Ratios> ratios;  ///< by opponent, and kBest
  Calls calls;
  /// The same with the opponents' dispatch taken off their times. The strongest of a row may then be another; a call is
  /// that of the row where the interval without dispatch bears it out.
  std::map<std::string, Ratios> ratios_without_dispatch;
  Calls calls_without_dispatch;
  std::map<std::string, double> dispatch_ns;  ///< an empty call of those opponents that have one, median over rows
  double seconds = 0;             ///< of all rows together
  /// Of the rows' least times together (modelled), what plain loops hold: in champions, in parts of champions, and where there is none.
  double plain_share = 0;
};

[[nodiscard]] Summary summary_of(const std::vector<Row>& rows);

/// Least ratio of an accepted row; nothing when no opponent took part.
[[nodiscard]] const Speedup* strongest(const Row& row);
[[nodiscard]] const Speedup* strongest_without_dispatch(const Row& row);

/// {"rows": [...], "summary": {...}}: docs/json.md, `bench`.
[[nodiscard]] nlohmann::json result_json(const std::vector<Row>& rows);

}  // namespace hone::face::bench
