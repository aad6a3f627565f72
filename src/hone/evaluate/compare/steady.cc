#include "hone/evaluate/compare/steady.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "hone/base/result.h"
#include "hone/evaluate/compare/statistics.h"

namespace hone::evaluate {

Steady::Steady(const SteadyOptions& options) : options_(options) {
  HONE_CHECK(options.floor >= 1 && options.cap >= options.floor);
}

void Steady::add(double ns) {
  HONE_CHECK(std::isfinite(ns) && ns > 0);
  times_.push_back(ns);
}

double Steady::median() const { return evaluate::median(times_); }

double Steady::relative_error() const {
  if (times_.size() < 2) return std::numeric_limits<double>::infinity();
  // The middle of three or four values is often quiet by chance; their range is not. Expected
  // ranges of 2, 3, 4 standard normal values.
  constexpr double kExpectedRange[] = {1.128, 1.693, 2.059};
  double deviation = 0;
  if (times_.size() < 5) {
    const auto [low, high] = std::minmax_element(times_.begin(), times_.end());
    deviation = (*high - *low) / kExpectedRange[times_.size() - 2];
  } else {
    deviation = robust_deviation(times_);
  }
  return 1.2533 * deviation / std::sqrt(static_cast<double>(times_.size())) / median();
}

double Steady::relative_shift() const {
  if (times_.size() < 2) return std::numeric_limits<double>::infinity();
  const std::span<const double> all(times_);
  const size_t half = all.size() / 2;
  const double older = evaluate::median(all.first(half));
  const double newer = evaluate::median(all.last(half));
  return std::abs(newer - older) / median();
}

bool Steady::done() const {
  if (count() >= options_.cap) return true;
  return count() >= options_.floor && relative_error() <= options_.relative_error &&
         relative_shift() <= options_.relative_shift;
}

}  // namespace hone::evaluate
