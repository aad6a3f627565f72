// What there is to choose from: parameters with their values, and which combinations make sense. A small space is
// enumerated, a huge one (10^12 points and more) is only ever sampled. Immutable once made; thread-safe.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hone/base/random.h"
#include "hone/base/result.h"
#include "hone/search/tune/condition.h"
#include "hone/search/tune/value.h"

namespace hone::search::tune {

struct Parameter {
  std::string name;
  std::vector<Value> values;  ///< distinct; numbers in ascending order mean that near values act alike
  /// All values are numbers.
  [[nodiscard]] bool numeric() const;
};

/// A configuration: for each parameter the index of its value.
using Point = std::vector<uint16_t>;

struct PointHash {
  [[nodiscard]] size_t operator()(const Point& point) const {
    uint64_t hash = 0x9E3779B97F4A7C15;
    for (const uint16_t index : point) hash = (hash ^ index) * 0x100000001B3, hash ^= hash >> 29;
    return static_cast<size_t>(hash);
  }
};
using PointSet = std::unordered_set<Point, PointHash>;
template <class T>
using PointMap = std::unordered_map<Point, T, PointHash>;

/// A condition that looks at some parameters of a point and at no others.
struct Rule {
  std::vector<size_t> uses;   ///< their numbers, in ascending order
  std::function<bool(const Point&)> holds;
};

class Space {
 public:
  /// All combinations that fulfil `conditions` and `rules`. Fails (kInput) on a parameter
  /// without values or with more than 65,535 of them, and where it is certain that no combination is left.
  [[nodiscard]] static Result<Space> make(std::vector<Parameter> parameters, std::vector<Condition> conditions = {}, std::vector<Rule> rules = {});
  /// Exactly these points.
  [[nodiscard]] static Space of_points(std::vector<Parameter> parameters, std::vector<Point> points);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  /// All points, where the space is small enough to list them; else empty.
  [[nodiscard]] std::span<const Point> points() const { return points_; }
  [[nodiscard]] bool enumerated() const { return !points_.empty(); }
  [[nodiscard]] bool allowed(const Point& point) const;
  /// An allowed point; uniform where the space is enumerated. Nothing where none was found in bounded time.
  [[nodiscard]] std::optional<Point> sample(base::Rng& rng) const;
  /// The allowed points that differ from `point` in one parameter, in order.
  [[nodiscard]] std::vector<Point> neighbours(const Point& point) const;
  /// The product of the numbers of values.
  [[nodiscard]] double combinations() const;

  /// "16,1,0.5": the key of a configuration in a tuning cache.
  [[nodiscard]] std::string key(const Point& point) const;
  [[nodiscard]] const Value& value(const Point& point, size_t parameter) const {
    return parameters_[parameter].values[point[parameter]];
  }

 private:
  /// A rule, asked once for each combination of its values where these are few.
  struct Check {
    Rule rule;
    std::vector<bool> table;   ///< the last parameter's values fastest; empty: it is asked each time
  };

  Space() = default;
  void add(Rule rule);
  [[nodiscard]] bool holds(const Check& check, const Point& point) const;
  /// Whether what can be judged once parameter `last` has its value, and no sooner, holds.
  [[nodiscard]] bool holds_at(size_t last, const Point& point) const;
  void divide();
  void enumerate();
  [[nodiscard]] bool sample(const std::vector<size_t>& group, Point& point, base::Rng& rng) const;
  [[nodiscard]] bool descend(const std::vector<size_t>& group, Point& point, base::Rng& rng) const;

  std::vector<Parameter> parameters_;
  std::vector<Condition> conditions_;
  std::vector<Check> checks_;
  std::vector<std::vector<size_t>> due_;     ///< parameter -> checks that can be made once it has its value
  std::vector<std::vector<size_t>> groups_;  ///< parameters that checks tie together: what one group is leaves the others free
  bool listed_ = false;                      ///< of_points()
  bool impossible_ = false;
  std::vector<Point> points_;
  PointSet members_;                         ///< points_, where membership is not a matter of conditions
};

}  // namespace hone::search::tune
