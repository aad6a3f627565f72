#include "hone/search/tune/prior.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hone::search::tune {
namespace {

/// Before anything is measured a source is taken to agree this well, as firmly as so many measurements would say it.
constexpr double kAgreement = 0.7;
constexpr double kFirmness = 10;
/// Below the first correlation a source has no say, from the second on a full one.
constexpr double kUseless = 0.1, kGood = 0.5;

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) rank[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return rank;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 3) return 0;
  const auto ra = ranks(a), rb = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (ra[i] - mean) * (rb[i] - mean);
    aa += (ra[i] - mean) * (ra[i] - mean);
    bb += (rb[i] - mean) * (rb[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

std::vector<double> source_weights(std::span<const std::vector<double>> opinions, std::span<const double> values, bool guard) {
  std::vector<double> weights(opinions.size(), 1.0);
  if (!guard) return weights;
  const auto count = static_cast<double>(values.size());
  for (size_t s = 0; s < opinions.size(); ++s) {
    const double agreement = (count * rank_correlation(opinions[s], values) + kFirmness * kAgreement) / (count + kFirmness);
    weights[s] = std::clamp((agreement - kUseless) / (kGood - kUseless), 0.0, 1.0);
  }
  return weights;
}

}  // namespace hone::search::tune
