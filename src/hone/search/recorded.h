// The decisions of a search as they were written down, handed out once more: for replays where neither the
// patterns nor the strategy of that day are at hand. One thread.
#pragma once
#include <memory>
#include <vector>

#include "hone/search/strategy.h"

namespace hone::search {

/// Of what one call of Strategy::next() and take_skipped() gave.
struct RecordedStep {
  std::optional<Proposal> proposal;   ///< absent: nothing left to look at just then
  Skipped skipped;
  bool apart = true;                  ///< something happened between the step before and this one, so one call did not give both
};

/// Gives the steps out in order, as many a call as were looked at in one go, whatever it is told; nothing when they are used up. A proposal whose
/// author begins with "model:" is given out only where its source was added before: else the answers do not say what
/// they said, and next() has nothing, which a run's log contradicts.
[[nodiscard]] std::unique_ptr<Strategy> recorded_strategy(std::vector<RecordedStep> steps);

}  // namespace hone::search
