// How many calls a timed batch should hold, so that it lasts long enough for the hand-off between
// processes to vanish and not much longer. Learns from the batches of one kernel on one workload. A
// plain value.
#pragma once
#include <cstdint>

namespace hone::evaluate {

/// A batch shorter than this drowns in the hand-off (requirement 18 of the evaluation: 2 ms).
inline constexpr int64_t kShortestBatchNs = 2'000'000;

class Pace {
 public:
  /// `most` >= 1: calls that have buffers of their own.
  explicit Pace(int most = 1);

  /// Something has been timed.
  [[nodiscard]] bool known() const { return call_ns_ > 0; }
  /// Calls of the next batch: a probe of 8 until something is known, then what lasts a quarter longer
  /// than the shortest batch at the quickest pace seen. In [1, most].
  [[nodiscard]] int calls() const;
  /// Takes a batch's time, less hand-off. `calls` >= 1.
  void took(int calls, double net_ns);

 private:
  int most_;
  double call_ns_ = 0;  ///< quickest so far
};

}  // namespace hone::evaluate
