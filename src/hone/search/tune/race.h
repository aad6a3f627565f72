// Racing: a few repetitions for everyone, many only for those that may yet win. Decides how often to measure whom; owns
// no clock. Deterministic; one thread.
#pragma once
#include <cstddef>
#include <vector>

namespace hone::search::tune {

struct RaceOptions {
  int first = 3;            ///< repetitions of everyone
  double margin = 0.10;     ///< finalists are within this share of the best
  int finalists = 20;       ///< at most
  int repetitions = 32;     ///< of a finalist that stays to the end, first ones included
};

/// Runs in rounds: round() names who is measured once more, in that order, so that finalists take turns and a drift
/// of the machine meets all alike.
class Race {
 public:
  Race(size_t entrants, RaceOptions options = {});
  /// Entrants to measure now, once each; empty when the race is over.
  [[nodiscard]] std::vector<size_t> round() const;
  void tell(size_t entrant, double time);
  /// The one with the least mean of the final's times. Times of the first look count only if there was no final: early
  /// ones mislead (clocks, caches).
  [[nodiscard]] size_t winner() const;

 private:
  [[nodiscard]] double standing(size_t entrant) const;
  [[nodiscard]] std::vector<size_t> finalists() const;

  RaceOptions options_;
  std::vector<std::vector<double>> times_;
};

}  // namespace hone::search::tune
