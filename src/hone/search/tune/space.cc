#include "hone/search/tune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hone::search::tune {
namespace {

/// A space is listed if that takes no more than this.
constexpr size_t kMostPoints = 200'000;
constexpr size_t kMostVisits = 2'000'000;
/// Blind draws before a point is built value by value.
constexpr int kBlindDraws = 64;
constexpr int kDescents = 8;
constexpr size_t kDescentVisits = 20'000;

}  // namespace

bool Parameter::numeric() const { return std::all_of(values.begin(), values.end(), is_number); }

bool Space::holds_at(size_t last, std::span<const Value* const> values) const {
  return std::all_of(due_[last].begin(), due_[last].end(), [&](size_t c) { return conditions_[c].holds(values); });
}

Result<Space> Space::make(std::vector<Parameter> parameters, std::vector<Condition> conditions, Allowed extra) {
  for (const Parameter& p : parameters)
    if (p.values.empty() || p.values.size() > 65535)
      return fail(ErrorCode::kInput, fmt::format("parameter {} has {} values", p.name, p.values.size()), "1 to 65535 are expected");
  if (parameters.empty()) return fail(ErrorCode::kInput, "a space without parameters");
  Space space;
  space.parameters_ = std::move(parameters);
  space.conditions_ = std::move(conditions);
  space.extra_ = std::move(extra);
  space.due_.resize(space.parameters_.size());
  for (size_t c = 0; c < space.conditions_.size(); ++c) {
    const auto& uses = space.conditions_[c].uses();
    space.due_[uses.empty() ? 0 : static_cast<size_t>(*uses.rbegin())].push_back(c);
  }
  space.enumerate();
  if (space.impossible_) return fail(ErrorCode::kInput, "no combination of values fulfils the conditions");
  return space;
}

Space Space::of_points(std::vector<Parameter> parameters, std::vector<Point> points) {
  HONE_CHECK(!points.empty(), "a space without points");
  Space space;
  space.parameters_ = std::move(parameters);
  space.members_ = PointSet(points.begin(), points.end());
  space.points_ = std::move(points);
  space.listed_ = true;
  return space;
}

void Space::enumerate() {
  const size_t count = parameters_.size();
  Point point(count, 0);
  std::vector<const Value*> values(count);
  std::vector<Point> found;
  size_t visits = 0, at = 0;
  // Depth first: point[at] is the value to try next.
  for (bool up = false;;) {
    if (point[at] == parameters_[at].values.size()) up = true;
    if (up) {
      if (at == 0) break;
      point[at--] = 0;
      ++point[at];
      up = false;
      continue;
    }
    if (++visits > kMostVisits || found.size() > kMostPoints) return;
    values[at] = &parameters_[at].values[point[at]];
    if (!holds_at(at, values)) {
      ++point[at];
    } else if (at + 1 < count) {
      ++at;
    } else {
      if (!extra_ || extra_(point)) found.push_back(point);
      ++point[at];
    }
  }
  points_ = std::move(found);
  impossible_ = points_.empty();
}

bool Space::allowed(const Point& point) const {
  if (listed_) return members_.contains(point);
  std::vector<const Value*> values(point.size());
  for (size_t p = 0; p < point.size(); ++p) values[p] = &value(point, p);
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& c) { return c.holds(values); }) &&
         (!extra_ || extra_(point));
}

std::optional<Point> Space::sample(base::Rng& rng) const {
  if (enumerated()) return points_[rng.below(points_.size())];
  Point point(parameters_.size());
  for (int draw = 0; draw < kBlindDraws; ++draw) {
    for (size_t p = 0; p < point.size(); ++p) point[p] = static_cast<uint16_t>(rng.below(parameters_[p].values.size()));
    if (allowed(point)) return point;
  }
  for (int attempt = 0; attempt < kDescents; ++attempt)
    if (auto found = descend(rng)) return found;
  return std::nullopt;
}

std::optional<Point> Space::descend(base::Rng& rng) const {
  const size_t count = parameters_.size();
  std::vector<std::vector<uint16_t>> order(count);
  std::vector<size_t> next(count, 0);
  std::vector<const Value*> values(count);
  const auto enter = [&](size_t p) {
    order[p].resize(parameters_[p].values.size());
    std::iota(order[p].begin(), order[p].end(), uint16_t{0});
    rng.shuffle(order[p]);
    next[p] = 0;
  };
  size_t at = 0;
  enter(0);
  for (size_t visits = 0; visits < kDescentVisits; ++visits) {
    if (next[at] == order[at].size()) {
      if (at-- == 0) return std::nullopt;
      continue;
    }
    values[at] = &parameters_[at].values[order[at][next[at]++]];
    if (!holds_at(at, values)) continue;
    if (at + 1 < count) {
      enter(++at);
      continue;
    }
    Point point(count);
    for (size_t p = 0; p < count; ++p) point[p] = order[p][next[p] - 1];
    if (!extra_ || extra_(point)) return point;
  }
  return std::nullopt;
}

std::vector<Point> Space::neighbours(const Point& point) const {
  std::vector<Point> found;
  Point other = point;
  for (size_t p = 0; p < point.size(); ++p) {
    for (uint16_t v = 0; v < parameters_[p].values.size(); ++v) {
      if (v == point[p]) continue;
      other[p] = v;
      if (allowed(other)) found.push_back(other);
    }
    other[p] = point[p];
  }
  return found;
}

double Space::combinations() const {
  double product = 1;
  for (const Parameter& p : parameters_) product *= static_cast<double>(p.values.size());
  return product;
}

std::string Space::key(const Point& point) const {
  std::string text;
  for (size_t p = 0; p < point.size(); ++p) {
    if (p > 0) text += ',';
    text += text_of(value(point, p));
  }
  return text;
}

}  // namespace hone::search::tune
