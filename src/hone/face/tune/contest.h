// Replays of tuning spaces by several methods, and their scores. Owns no files: text in, figures out. One thread.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/result.h"
#include "hone/search/tune/replay.h"
#include "hone/search/tune/tuner.h"

namespace hone::face::tuning {

/// Who searches: "random", "genetic", "tuner", or "warm", the tuner with the measurements of other spaces; "forest" and
/// "mixed", the tuner with trees for its model or beside it. Parts left out follow after minus signs: "tuner-local".
struct Method {
  enum class Kind : uint8_t { kRandom, kGenetic, kTuner } kind = Kind::kTuner;
  std::string name;
  bool warm = false;
  search::tune::TunerOptions options;
};
/// kUsage for a name that is none; the message lists those there are.
[[nodiscard]] Result<Method> method_from(std::string_view name);

struct Contest {
  int evaluations = 200, repeats = 10, batch = 1;
  uint64_t seed = 1;
};

/// Deterministic for `contest.seed` and `repeat`. `space` outlives the searcher.
[[nodiscard]] std::unique_ptr<search::tune::Searcher> searcher_of(const Method& method, const search::tune::Space& space,
                                                                 std::span<const search::tune::Experience> warm,
                                                                 const Contest& contest, int repeat);
/// One replay; whatever the searcher knows of costs it has from here.
[[nodiscard]] search::tune::Replay replay_of(const Method& method, const search::tune::TuningCache& cache,
                                             std::span<const search::tune::Experience> warm, const Contest& contest, int repeat);

/// One method on one space.
struct Score {
  std::string space, method;
  search::tune::Interval p, expected;              ///< score P; evaluations to within 5 %
  std::vector<std::pair<int, search::tune::Interval>> fractions;  ///< of the optimum, after so many evaluations
  double search_ms = 0;                            ///< CPU time of the search for one evaluation
  std::vector<double> curve;                       ///< mean fraction of the optimum after 1, 2, …
};
[[nodiscard]] Score score_of(std::string_view space, const Method& method, const search::tune::TuningCache& cache,
                             std::span<const search::tune::Replay> replays, const Contest& contest);

/// Racing on one space: means and the largest over the repeats.
struct RaceScore {
  std::string space;
  double mean_loss = 0, largest_loss = 0, mean_share = 0, largest_share = 0;
};
[[nodiscard]] RaceScore race_of(std::string_view space, const Method& method, const search::tune::TuningCache& cache, const Contest& contest);

/// For people, for programs, and as a page with a chart for each space.
[[nodiscard]] std::string table_of(std::span<const Score> scores, std::span<const RaceScore> races);
[[nodiscard]] base::Json json_of(std::span<const Score> scores, std::span<const RaceScore> races, const Contest& contest);
[[nodiscard]] std::string page_of(std::span<const Score> scores, std::span<const RaceScore> races, const Contest& contest);

}  // namespace hone::face::tuning
