#include "hone/search/tune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hone::search::tune {
namespace {

/// A space is listed if that takes no more than this.
constexpr size_t kMostPoints = 200'000;
constexpr size_t kMostVisits = 2'000'000;
/// Blind draws of a point, and then of each group, before it is built value by value.
constexpr int kBlindDraws = 64;
constexpr int kDescents = 8;
constexpr size_t kDescentVisits = 20'000;
/// A rule over so many combinations is asked beforehand.
constexpr size_t kTabulated = 4096;

}  // namespace

bool Parameter::numeric() const { return std::all_of(values.begin(), values.end(), is_number); }

void Space::add(Rule rule) {
  Check check{std::move(rule), {}};
  const std::vector<size_t>& uses = check.rule.uses;
  size_t combinations = 1;
  for (const size_t p : uses) combinations = std::min(combinations * parameters_[p].values.size(), kTabulated + 1);
  if (combinations <= kTabulated) {
    Point point(parameters_.size(), 0);
    for (size_t c = 0; c < combinations; ++c) {
      size_t rest = c;
      for (size_t u = uses.size(); u-- > 0; rest /= parameters_[uses[u]].values.size())
        point[uses[u]] = static_cast<uint16_t>(rest % parameters_[uses[u]].values.size());
      check.table.push_back(check.rule.holds(point));
    }
  }
  due_[uses.empty() ? 0 : uses.back()].push_back(checks_.size());
  checks_.push_back(std::move(check));
}

bool Space::holds(const Check& check, const Point& point) const {
  if (check.table.empty()) return check.rule.holds(point);
  size_t at = 0;
  for (const size_t p : check.rule.uses) at = at * parameters_[p].values.size() + point[p];
  return check.table[at];
}

bool Space::holds_at(size_t last, const Point& point) const {
  return std::all_of(due_[last].begin(), due_[last].end(), [&](size_t c) { return holds(checks_[c], point); });
}

Result<Space> Space::make(std::vector<Parameter> parameters, std::vector<Condition> conditions, std::vector<Rule> rules) {
  for (const Parameter& p : parameters)
    if (p.values.empty() || p.values.size() > 65535)
      return fail(ErrorCode::kInput, fmt::format("parameter {} has {} values", p.name, p.values.size()), "1 to 65535 are expected");
  if (parameters.empty()) return fail(ErrorCode::kInput, "a space without parameters");
  Space space;
  space.parameters_ = std::move(parameters);
  space.conditions_ = std::move(conditions);
  space.due_.resize(space.parameters_.size());
  for (const Condition& condition : space.conditions_) {
    // A space may be moved: what it asks has its own copy of the values.
    std::vector<size_t> uses(condition.uses().begin(), condition.uses().end());
    std::vector<std::vector<Value>> values(space.parameters_.size());
    for (const size_t p : uses) values[p] = space.parameters_[p].values;
    auto holds = [condition, uses, values = std::move(values)](const Point& point) {
      std::vector<const Value*> chosen(values.size());
      for (const size_t p : uses) chosen[p] = &values[p][point[p]];
      return condition.holds(chosen);
    };
    space.add({std::move(uses), std::move(holds)});
  }
  for (Rule& rule : rules) space.add(std::move(rule));
  space.divide();
  space.enumerate();
  if (space.impossible_) return fail(ErrorCode::kInput, "no combination of values fulfils the conditions");
  return space;
}

void Space::divide() {
  std::vector<size_t> group(parameters_.size());
  std::iota(group.begin(), group.end(), size_t{0});
  for (const Check& check : checks_)
    for (const size_t p : check.rule.uses) {
      const size_t from = group[p], to = group[check.rule.uses.front()];
      std::replace(group.begin(), group.end(), from, to);
    }
  std::vector<std::vector<size_t>> all(parameters_.size());
  for (size_t p = 0; p < group.size(); ++p) all[group[p]].push_back(p);
  std::erase_if(all, [](const auto& one) { return one.empty(); });
  groups_ = std::move(all);
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
    if (!holds_at(at, point)) {
      ++point[at];
    } else if (at + 1 < count) {
      ++at;
    } else {
      found.push_back(point);
      ++point[at];
    }
  }
  points_ = std::move(found);
  impossible_ = points_.empty();
}

bool Space::allowed(const Point& point) const {
  if (listed_) return members_.contains(point);
  return std::all_of(checks_.begin(), checks_.end(), [&](const Check& check) { return holds(check, point); });
}

std::optional<Point> Space::sample(base::Rng& rng) const {
  if (enumerated()) return points_[rng.below(points_.size())];
  Point point(parameters_.size());
  for (int draw = 0; draw < kBlindDraws; ++draw) {
    for (size_t p = 0; p < point.size(); ++p) point[p] = static_cast<uint16_t>(rng.below(parameters_[p].values.size()));
    if (allowed(point)) return point;
  }
  // Of many conditions that each leave half, all leave next to nothing; of those of one group, enough.
  for (const std::vector<size_t>& group : groups_)
    if (!sample(group, point, rng)) return std::nullopt;
  return point;
}

bool Space::sample(const std::vector<size_t>& group, Point& point, base::Rng& rng) const {
  for (int draw = 0; draw < kBlindDraws; ++draw) {
    for (const size_t p : group) point[p] = static_cast<uint16_t>(rng.below(parameters_[p].values.size()));
    if (std::all_of(group.begin(), group.end(), [&](size_t p) { return holds_at(p, point); })) return true;
  }
  for (int attempt = 0; attempt < kDescents; ++attempt)
    if (descend(group, point, rng)) return true;
  return false;
}

bool Space::descend(const std::vector<size_t>& group, Point& point, base::Rng& rng) const {
  std::vector<std::vector<uint16_t>> order(group.size());
  std::vector<size_t> next(group.size(), 0);
  const auto enter = [&](size_t i) {
    order[i].resize(parameters_[group[i]].values.size());
    std::iota(order[i].begin(), order[i].end(), uint16_t{0});
    rng.shuffle(order[i]);
    next[i] = 0;
  };
  size_t at = 0;
  enter(0);
  for (size_t visits = 0; visits < kDescentVisits; ++visits) {
    if (next[at] == order[at].size()) {
      if (at-- == 0) return false;
      continue;
    }
    point[group[at]] = order[at][next[at]++];
    if (!holds_at(group[at], point)) continue;
    if (at + 1 == group.size()) return true;
    enter(++at);
  }
  return false;
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
