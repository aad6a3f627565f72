// When to stop timing one kernel on its own. Owns: the stopping rule for the cheap first looks
// (one to three repetitions, a few dozen at most), where no opponent is timed. Plain value, one
// thread. Times of a single kernel rank candidates roughly; no call is ever made from them.
#pragma once
#include <vector>

namespace hone::evaluate {

struct SteadyOptions {
  double relative_error = 0.01;  ///< standard error of the median over the median
  double relative_shift = 0.02;  ///< most the median may differ between older and newer half
  int floor = 3;
  int cap = 50;
};

/// Collects times until their median is known well enough and has stopped moving.
class Steady {
 public:
  explicit Steady(const SteadyOptions& options = {});

  void add(double ns);  ///< finite and positive
  /// At the cap; or past the floor with both criteria met.
  [[nodiscard]] bool done() const;

  [[nodiscard]] int count() const { return static_cast<int>(times_.size()); }
  [[nodiscard]] double median() const;  ///< at least one time
  /// 1.2533 s / (sqrt(n) median), the large-sample error of a median with deviation s: from
  /// the range below five times, robust after. Infinite below two times.
  [[nodiscard]] double relative_error() const;
  /// |median of the newer half - median of the older half| / median: warm-up and drift that the
  /// standard error does not see. Infinite below two times.
  [[nodiscard]] double relative_shift() const;

 private:
  SteadyOptions options_;
  std::vector<double> times_;  ///< in order
};

}  // namespace hone::evaluate
