// A search over a space of which everything is known: what it would have measured, in order. The searcher sees a value
// only by asking for it. One thread.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "hone/search/tune/race.h"
#include "hone/search/tune/score.h"
#include "hone/search/tune/searcher.h"
#include "hone/search/tune/space_files.h"

namespace hone::search::tune {

/// Gives a point's cost; called once for each point evaluated, nothing else is ever looked up.
using Oracle = std::function<std::optional<double>(const Point&)>;

struct Replay {
  std::vector<Point> points;     ///< in the order evaluated
  Trace costs;
  double search_seconds = 0;     ///< CPU time of the searcher
};

/// Up to `evaluations` points, `batch` at a time.
[[nodiscard]] Replay replay(Searcher& searcher, const Oracle& oracle, int evaluations, int batch = 1);

/// What a replay with racing came to.
struct RacedReplay {
  double loss = 0;           ///< cost of the race's winner over the least cost of all evaluated, minus 1
  double device_share = 0;   ///< time of the repetitions run over time of all repetitions of all evaluated
};

/// Searches by the mean of each point's first repetitions, then races. Timings come in the order of the file.
[[nodiscard]] RacedReplay raced_replay(Searcher& searcher, const TuningCache& cache, int evaluations, RaceOptions options = {});

}  // namespace hone::search::tune
