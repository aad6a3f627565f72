#include "hone/evaluate/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "hone/base/result.h"

namespace hone::evaluate {
namespace {

/// P(|T| <= t) for a whole number of degrees of freedom: a finite sum (Abramowitz and Stegun,
/// 26.7.3 and 26.7.4).
double student_central(double t, int degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine2 = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(theta) : 1.0;
  double sum = degrees == 1 ? 0.0 : term;
  for (int i = odd ? 3 : 2; i <= degrees - 2; i += 2) {
    term *= cosine2 * (i - 1.0) / i;
    sum += term;
  }
  if (odd) return 2.0 / std::numbers::pi * (theta + std::sin(theta) * sum);
  return std::sin(theta) * sum;
}

/// Solves increasing(x) = target for x >= 0.
template <class F>
double solve_increasing(F increasing, double target) {
  double high = 1.0;
  while (increasing(high) < target && high < 1e12) high *= 2.0;
  double low = 0.0;
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (increasing(middle) < target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double median_of_sorted(std::span<const double> sorted) {
  HONE_CHECK(!sorted.empty());
  const size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return median_of_sorted(sorted);
}

double robust_deviation(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> distance;
  distance.reserve(values.size());
  for (const double v : values) distance.push_back(std::abs(v - centre));
  return 1.4826 * median(distance);
}

double geometric_mean(std::span<const double> values, std::span<const double> weights) {
  HONE_CHECK(!values.empty());
  HONE_CHECK(weights.empty() || weights.size() == values.size());
  double sum = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    HONE_CHECK(values[i] > 0);
    const double weight = weights.empty() ? 1.0 : weights[i];
    sum += weight * std::log(values[i]);
    total += weight;
  }
  HONE_CHECK(total > 0);
  return std::exp(sum / total);
}

double quantile_of_sorted(std::span<const double> sorted, double q) {
  HONE_CHECK(!sorted.empty() && q >= 0 && q <= 1);
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

Interval median_interval(std::span<const double> sorted, double confidence) {
  const auto n = static_cast<double>(sorted.size());
  const double rank = std::floor(0.5 * (n - normal_z(confidence) * std::sqrt(n)));  // from 1
  if (rank < 1) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {-infinity, infinity};
  }
  const auto from_end = static_cast<size_t>(rank) - 1;
  return {sorted[from_end], sorted[sorted.size() - 1 - from_end]};
}

double student_t(double confidence, int degrees) {
  HONE_CHECK(confidence > 0 && confidence < 1 && degrees >= 1);
  return solve_increasing([&](double t) { return student_central(t, degrees); }, confidence);
}

double normal_z(double confidence) {
  HONE_CHECK(confidence > 0 && confidence < 1);
  return solve_increasing([](double z) { return std::erf(z / std::numbers::sqrt2); }, confidence);
}

}  // namespace hone::evaluate
