#include "hone/evaluate/compare/sequence.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "hone/base/result.h"

namespace hone::evaluate {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

double log_coin_wealth(int heads, int n) {
  HONE_CHECK(0 <= heads && heads <= n);
  // 2^n B(heads + 1/2, n - heads + 1/2) / B(1/2, 1/2), where B(1/2, 1/2) = pi.
  int sign = 0;
  return n * std::numbers::ln2 + lgamma_r(heads + 0.5, &sign) + lgamma_r(n - heads + 0.5, &sign) -
         lgamma_r(n + 1.0, &sign) - std::log(std::numbers::pi);
}

Interval median_sequence(std::span<const double> sorted, double alpha) {
  const int n = static_cast<int>(sorted.size());
  const double needed = -std::log(alpha);
  if (n == 0 || log_coin_wealth(0, n) < needed) return {-kInfinity, kInfinity};
  // A median below sorted[rank] leaves at most `rank` values under it; the largest rank that is
  // still refuted gives the end. Wealth falls as the count nears n / 2.
  int rank = 0, never = n / 2 + 1;
  while (never - rank > 1) {
    const int middle = (rank + never) / 2;
    (log_coin_wealth(middle, n) >= needed && 2 * middle < n ? rank : never) = middle;
  }
  return {sorted[static_cast<size_t>(rank)], sorted[static_cast<size_t>(n - 1 - rank)]};
}

Interval mean_sequence(std::span<const double> values, double alpha, double scale) {
  const auto k = static_cast<double>(values.size());
  if (values.size() < 2) return {-kInfinity, kInfinity};
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / k;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double error = std::sqrt(squares / (k - 1) / k);
  // Evidence at t: g^(-1/2) [(1 + y) / (1 + y / g)]^(k/2), y = t^2 / (k - 1), g = 1 + k scale^2.
  // Set it to 1/alpha and solve for y; with too few values no t is enough.
  const double g = 1.0 + k * scale * scale;
  const double a = std::pow(std::sqrt(g) / alpha, 2.0 / k);
  if (a >= g) return {-kInfinity, kInfinity};
  const double t = std::sqrt((k - 1) * (a - 1) / (1 - a / g));
  return {mean - t * error, mean + t * error};
}

}  // namespace hone::evaluate
