// Live progress of a bench on standard error: a line a task, and on a terminal what the task at hand is at.
#pragma once
#include <string>

#include "hone/face/bench/bench.h"
#include "hone/face/cli/live_line.h"

namespace hone::face {

/// "softmax: FASTER 1.25x [1.20, 1.31] pytorch eager, 0.92 of light, rows, 18 s"
[[nodiscard]] std::string row_text(const bench::Row& row);
/// "45 s", "12 min", "1 h 05 min".
[[nodiscard]] std::string duration_text(double seconds);

class BenchDisplay {
 public:
  /// `cards`: that work side by side, a process each; several of them leave each other's lines alone.
  explicit BenchDisplay(size_t cards) : cards_(cards) {}
  void update(const bench::Progress& progress);

 private:
  LiveLine line_;
  size_t cards_;
};

}  // namespace hone::face
