#include "hone/evaluate/measure/pace.h"

#include <algorithm>
#include <cmath>

#include "hone/base/result.h"

namespace hone::evaluate {
namespace {

constexpr int kProbeRounds = 8;
constexpr double kTargetNs = 1.25 * static_cast<double>(kShortestBatchNs);

}  // namespace

Pace::Pace(int most) : most_(most) { HONE_CHECK(most >= 1); }

int Pace::calls() const {
  if (!known()) return std::min(kProbeRounds, most_);
  return static_cast<int>(std::clamp(std::ceil(kTargetNs / call_ns_), 1.0, static_cast<double>(most_)));
}

void Pace::took(int calls, double net_ns) {
  HONE_CHECK(calls >= 1);
  const double each = std::max(net_ns, 1.0) / calls;
  call_ns_ = known() ? std::min(call_ns_, each) : each;
}

}  // namespace hone::evaluate
