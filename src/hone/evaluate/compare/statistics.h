// Small robust statistics that comparing and reporting share: medians, spread, means of ratios,
// intervals, Student's t. Pure functions over values; no state, safe from any thread.
// Empty input, or a ratio that is not positive, is our own bug and stops with HONE_CHECK.
#pragma once
#include <span>

namespace hone::evaluate {

struct Interval {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool contains(double x) const { return low <= x && x <= high; }
};

/// Middle value; of an even number, the mean of the middle two.
[[nodiscard]] double median(std::span<const double> values);
/// The same for values already in ascending order, without a copy.
[[nodiscard]] double median_of_sorted(std::span<const double> sorted);

/// Median absolute deviation times 1.4826, so that it estimates the standard deviation of normal
/// data while up to half of the values may be outliers.
[[nodiscard]] double robust_deviation(std::span<const double> values);

/// Weighted geometric mean. Empty weights mean equal ones; otherwise one weight a value, their
/// sum positive.
[[nodiscard]] double geometric_mean(std::span<const double> values,
                                    std::span<const double> weights = {});

/// Value below which a share `q` in [0, 1] of the sorted values lies, interpolated linearly.
[[nodiscard]] double quantile_of_sorted(std::span<const double> sorted, double q);

/// Interval for the median of independent values: a pair of order statistics, by the normal limit
/// of the binomial (what bootstrapping the median tends to). The whole line for too few values.
[[nodiscard]] Interval median_interval(std::span<const double> sorted, double confidence);

/// t with P(|T| <= t) = confidence for Student's T with `degrees` >= 1 degrees of freedom.
[[nodiscard]] double student_t(double confidence, int degrees);

/// z with P(|Z| <= z) = confidence for a standard normal Z.
[[nodiscard]] double normal_z(double confidence);

}  // namespace hone::evaluate
