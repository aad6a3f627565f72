#include "hone/evaluate/verify/near_bound.h"

#include <algorithm>
#include <cmath>

#include "hone/evaluate/compare/sequence.h"
#include "hone/evaluate/verify/bounds.h"

namespace hone::evaluate {
namespace {

/// Below the first nobody would be surprised by the next draw's verdict; beyond the second one draw is enough.
constexpr double kFrom = Bounds::kFarWithin, kTo = 2;
constexpr double kMissing = 1e-3;
/// Spreads of one draw by which a kernel in question typically lies beside its bound.
constexpr double kEffect = 1;
constexpr int kLeast = 6, kMost = 30;

}  // namespace

double share_of_bound(const Accuracy& accuracy) {
  const auto share = [](double error, double bound) { return bound > 0 ? error / bound : error > 0 ? HUGE_VAL : 0.0; };
  return std::max(share(accuracy.candidate, accuracy.bound), share(accuracy.candidate_rms, accuracy.bound_rms));
}

bool is_near_bound(const Verdict& verdict) {
  if (!verdict.accuracy || (!verdict.accepted() && verdict.kind != VerdictKind::kLessAccurate)) return false;
  const double share = share_of_bound(*verdict.accuracy);
  return share >= kFrom && share <= kTo;
}

Verdict unless_near_bound(Verdict verdict) {
  if (!verdict.accepted() && is_near_bound(verdict)) return {VerdictKind::kAccepted, {}, {}, std::move(verdict.accuracy)};
  return verdict;
}

void NearBound::add(double share) { logarithms_.push_back(std::log(std::max(share, 1e-3))); }

NearBound::Says NearBound::says() const {
  if (draws() < kLeast) return Says::kMore;
  const Interval mean = mean_sequence(logarithms_, kMissing, kEffect);
  if (mean.low > 0) return Says::kBeyond;
  if (mean.high < 0) return Says::kWithin;
  return draws() < kMost ? Says::kMore : Says::kOpen;
}

}  // namespace hone::evaluate
