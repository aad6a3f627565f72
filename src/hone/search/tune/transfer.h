// What was learnt elsewhere (another device, shape or task), said of the points of this space. Sources need not have
// the same parameters, values or points: what they share by name counts, and a model of the source answers for
// points that it lacks. Immutable once made; thread-safe.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hone/search/tune/forest.h"
#include "hone/search/tune/features.h"

namespace hone::search::tune {

/// Measurements of another space, of any subset of it.
struct Experience {
  std::vector<Parameter> parameters;
  std::vector<Point> points;
  std::vector<std::optional<double>> costs;  ///< nothing: failed
};

/// One source's opinion of the target's points.
class Source {
 public:
  /// Nothing where the two share no parameter that varies, or the source holds fewer than three costs.
  [[nodiscard]] static std::optional<Source> make(const Space& target, const Experience& experience, uint64_t seed);
  /// Log cost of each point in units of the source's own spread, 0 at its median. What failed there is bad.
  [[nodiscard]] std::vector<double> opinions(std::span<const Point> points) const;

 private:
  explicit Source(Space shared) : shared_(std::move(shared)), features_(shared_), forest_(features_.size()) {}

  Space shared_;                            ///< parameters of both, values of either
  Features features_;
  Forest forest_;
  std::vector<size_t> target_parameter_;    ///< shared parameter -> the target's
  std::vector<std::vector<uint16_t>> map_;  ///< shared parameter, the target's value -> shared value
  PointMap<double> known_;
};

}  // namespace hone::search::tune
