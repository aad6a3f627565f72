// A candidate against its opponents on one workload: who is timed when, and who has had enough. Owns the
// rounds, the shares of time and the comparisons; knows neither clocks nor processes but through an
// Arena, so tests play whole contests in no time. Rules: docs/comparisons.md, "Rounds and shares".
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "hone/base/clock.h"
#include "hone/base/random.h"
#include "hone/base/result.h"
#include "hone/evaluate/compare/compare.h"

namespace hone::evaluate {

/// Numbers of those who are timed; opponents follow in order.
inline constexpr int kCandidate = 0;
inline constexpr int kCompanion = 1;       ///< timed beside the candidate, without a comparison
inline constexpr int kFirstOpponent = 2;

/// One player's part of a round.
struct Lap {
  double ns = 0;    ///< a call
  double mhz = 0;   ///< frequency that the card's multiprocessors had meanwhile; 0: nobody read it
};

/// What a contest happens in. An Error ends it and is passed on.
class Arena {
 public:
  virtual ~Arena() = default;
  [[nodiscard]] virtual int64_t now_ns() = 0;
  /// Fresh inputs and their right answers, where these take long: before anybody's time begins.
  [[nodiscard]] virtual Status open() = 0;
  /// Whatever an opponent needs once (an import, a compilation). False: it is out for good.
  [[nodiscard]] virtual Result<bool> prepare(int who) = 0;
  /// A fresh process in place of the one before. False: it has none and is out for good.
  [[nodiscard]] virtual Result<bool> start(int who) = 0;
  /// Ends its process; it has had enough.
  virtual void stop(int who) = 0;
  /// Fresh inputs for the next pairs.
  [[nodiscard]] virtual Status deal() = 0;
  /// Nothing: it has failed and is out for good.
  [[nodiscard]] virtual Result<std::optional<Lap>> time(int who) = 0;
};

struct ContestOptions {
  CompareOptions compare;
  /// Everybody's time from the first process on; preparing is not counted. Each opponent gets a first look
  /// (one process, one pair) whatever it costs.
  double seconds = 20;
  /// Pairs that the companion takes part in; the candidate meets it even without opponents.
  int companion_pairs = 12;
};

struct Standing {
  std::optional<Comparer> comparer;  ///< none where there is no pair
  std::vector<double> times_ns;
  /// cycles(opponent) / cycles(candidate), pair by pair, where both frequencies are known.
  std::vector<double> cycle_ratio;
  bool out = false;                  ///< did not start, or failed
  bool time_was_up = false;          ///< undecided when the contest ended
  double seconds = 0;                ///< what it has cost, with its part of what all share
};

struct ContestResult {
  bool candidate_failed = false;
  double seconds = 0;                   ///< taken, of what was given
  std::vector<double> candidate_ns, candidate_mhz, companion_ns;
  std::vector<double> companion_ratio;  ///< time(companion) / time(candidate), pair by pair
  std::vector<Standing> opponents;
};

/// The comparison in time, unless its samples say the opposite when they are counted in cycles: then the frequency made it.
[[nodiscard]] Comparison decision_of(const Standing& standing);

/// `rng` orders the players of each round.
[[nodiscard]] Result<ContestResult> contest(Arena& arena, int opponents, const ContestOptions& options, base::Rng& rng);

}  // namespace hone::evaluate
