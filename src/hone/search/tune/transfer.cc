#include "hone/search/tune/transfer.h"

#include <algorithm>
#include <cmath>

namespace hone::search::tune {
namespace {

/// Opinions are cut off at this many spreads: how bad is bad does not carry over.
constexpr double kMost = 2.5;
/// What a model of a source learns from.
constexpr size_t kMostTransferRows = 1500;

uint16_t index_of(const std::vector<Value>& values, const Value& wanted) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const Value& v) { return same_value(v, wanted); });
  return static_cast<uint16_t>(found - values.begin());
}

}  // namespace

std::optional<Source> Source::make(const Space& target, const Experience& experience, uint64_t seed) {
  std::vector<Parameter> shared;
  std::vector<size_t> of_target, of_source;
  bool varies = false;
  for (size_t t = 0; t < target.parameters().size(); ++t)
    for (size_t s = 0; s < experience.parameters.size(); ++s) {
      const Parameter& ours = target.parameters()[t];
      const Parameter& theirs = experience.parameters[s];
      if (ours.name != theirs.name) continue;
      Parameter both{ours.name, ours.values};
      for (const Value& value : theirs.values)
        if (index_of(both.values, value) == both.values.size()) both.values.push_back(value);
      varies |= ours.values.size() > 1 && theirs.values.size() > 1;
      shared.push_back(std::move(both));
      of_target.push_back(t);
      of_source.push_back(s);
    }
  std::vector<double> logs;
  for (const auto& cost : experience.costs)
    if (cost) logs.push_back(std::log(*cost));
  if (!varies || logs.size() < 3) return std::nullopt;
  std::sort(logs.begin(), logs.end());
  const double median = logs[logs.size() / 2];
  // From the best to the median is what matters of the spread.
  const double spread = std::max(1e-3, median - logs.front());

  Source made(Space::of_points(shared, {Point(shared.size(), 0)}));
  made.target_parameter_ = of_target;
  for (size_t i = 0; i < shared.size(); ++i) {
    auto& map = made.map_.emplace_back();
    for (const Value& value : target.parameters()[of_target[i]].values) map.push_back(index_of(shared[i].values, value));
  }
  // Points that agree in all shared parameters are one; its cost is their mean.
  PointMap<std::pair<double, int>> sums;
  for (size_t n = 0; n < experience.points.size(); ++n) {
    Point point(shared.size());
    for (size_t i = 0; i < shared.size(); ++i)
      point[i] = index_of(shared[i].values, experience.parameters[of_source[i]].values[experience.points[n][of_source[i]]]);
    const auto& cost = experience.costs[n];
    auto& sum = sums[point];
    sum.first += cost ? std::min(kMost, (std::log(*cost) - median) / spread) : kMost;
    ++sum.second;
  }
  std::vector<Point> points;
  for (const auto& [point, sum] : sums) {
    made.known_[point] = sum.first / sum.second;
    points.push_back(point);
  }
  std::sort(points.begin(), points.end());  // the map's order is nobody's business
  const size_t rows = std::min(points.size(), kMostTransferRows);
  std::vector<float> encoded(rows * made.features_.size()), values(rows);
  for (size_t r = 0; r < rows; ++r) {
    const Point& point = points[r * points.size() / rows];
    made.features_.encode(point, encoded.data() + r * made.features_.size());
    values[r] = static_cast<float>(made.known_.at(point));
  }
  base::Rng rng(seed, 0x736f75);
  made.forest_.fit(encoded, values, rng);
  return made;
}

std::vector<double> Source::opinions(std::span<const Point> points) const {
  std::vector<double> result(points.size());
  std::vector<float> unknown;
  std::vector<size_t> where;
  Point mapped(map_.size());
  for (size_t n = 0; n < points.size(); ++n) {
    for (size_t i = 0; i < map_.size(); ++i) mapped[i] = map_[i][points[n][target_parameter_[i]]];
    const auto known = known_.find(mapped);
    if (known != known_.end()) {
      result[n] = known->second;
      continue;
    }
    where.push_back(n);
    unknown.resize(where.size() * features_.size());
    features_.encode(mapped, unknown.data() + (where.size() - 1) * features_.size());
  }
  const auto beliefs = forest_.predict(unknown);
  for (size_t i = 0; i < where.size(); ++i) result[where[i]] = beliefs[i].mean;
  return result;
}

}  // namespace hone::search::tune
