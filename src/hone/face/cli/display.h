// Live progress of a run on standard error: one line that renews itself on a terminal, a plain line
// now and then elsewhere.
#pragma once
#include <string>

#include "hone/engine/run.h"
#include "hone/face/cli/live_line.h"

namespace hone::face {

/// What a run is at: "best 2.31x the first, 71 % of light | 12 considered, 8 evaluated | ROWS 4 -> 8".
[[nodiscard]] std::string progress_text(const engine::Progress& progress);

class Display {
 public:
  void update(const engine::Progress& progress);

 private:
  LiveLine line_;
  double last_plain_ = -10;  ///< elapsed seconds at the last plain line
};

}  // namespace hone::face
