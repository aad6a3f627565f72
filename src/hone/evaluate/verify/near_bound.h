// Accuracy near its bound. One draw of inputs says little there: the largest error of a draw and the anchor's own vary from
// draw to draw, and a kernel's verdict must not. So further draws are taken until a sequential test decides, and what
// it leaves open is accepted and marked. The policy and the test, pure; settle.h runs it.
#pragma once
#include <vector>

#include "hone/evaluate/verdict.h"

namespace hone::evaluate {

/// Error over bound, the larger of maximum's and root mean square's.
[[nodiscard]] double share_of_bound(const Accuracy& accuracy);

/// Whether one look is not enough: accepted or less accurate, and from 0.8 to 2 times the bound.
[[nodiscard]] bool is_near_bound(const Verdict& verdict);

/// What is taken of a verdict that decides nothing by itself, on a call whose kernel has been settled before or will be: near the bound
/// it is accepted.
[[nodiscard]] Verdict unless_near_bound(Verdict verdict);

class NearBound {
 public:
  /// Of one more draw. Draws that raised the question do not count: they were chosen for what they show.
  void add(double share);
  enum class Says : uint8_t { kMore, kWithin, kBeyond, kOpen };
  /// kBeyond: the mean of its logarithm is above 0, with a chance of 1 in 1000 to be wrong whenever one looks.
  [[nodiscard]] Says says() const;
  [[nodiscard]] int draws() const { return static_cast<int>(logarithms_.size()); }

 private:
  std::vector<double> logarithms_;
};

}  // namespace hone::evaluate
