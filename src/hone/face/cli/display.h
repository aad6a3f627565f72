// Live progress of a run on standard error: one line that renews itself on a terminal, a plain line
// now and then elsewhere.
#pragma once
#include "hone/engine/run.h"

namespace hone::face {

class Display {
 public:
  Display();
  ~Display();
  void update(const engine::Progress& progress);

 private:
  void end_line();
  bool terminal_;
  bool open_ = false;        ///< a renewing line stands without a newline
  double last_plain_ = -10;  ///< elapsed seconds at the last plain line
};

}  // namespace hone::face
