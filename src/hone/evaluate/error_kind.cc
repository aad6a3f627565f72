#include "hone/evaluate/error_kind.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::evaluate {
namespace {

constexpr size_t kElementsShown = 6;
/// Values as far apart as this are no accident of rounding.
constexpr double kAlike = 1e-3;

bool alike(double a, double b) { return a == b || std::abs(a - b) <= kAlike * std::max(std::abs(a), std::abs(b)); }

std::vector<int64_t> place_of(int64_t flat, const task::Shape& shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) place[axis] = flat % shape[axis], flat /= shape[axis];
  return place;
}

/// All wrong elements hold what `other(flat)` says, and that is not what is expected there.
template <class Other>
bool all_hold(const WrongOutput& o, const std::vector<int64_t>& wrong, Other other) {
  size_t told = 0;
  for (const int64_t at : wrong) {
    const double v = other(at);
    if (!alike(o.found[static_cast<size_t>(at)], v)) return false;
    told += alike(v, o.expected[static_cast<size_t>(at)]) ? 0 : 1;
  }
  return told > 0;
}

std::optional<std::string> swapped(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  if (o.shape.size() < 2) return std::nullopt;
  const int64_t columns = o.shape.back(), rows = o.shape[o.shape.size() - 2], plane = rows * columns;
  // Written as if the last two axes were stored the other way round.
  if (rows > 1 && columns > 1 && all_hold(o, wrong, [&](int64_t at) {
        const int64_t in = at % plane;
        return o.expected[static_cast<size_t>(at - in + (in % rows) * columns + in / rows)];
      }))
    return "they hold what belongs to the element with the last two axes swapped";
  return std::nullopt;
}

std::optional<std::string> tail(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  if (o.shape.empty()) return std::nullopt;
  const int64_t columns = o.shape.back();
  int64_t first = columns;
  for (const int64_t at : wrong) first = std::min(first, at % columns);
  for (int64_t width = 1024; width >= 2; width /= 2)
    if (columns % width != 0 && first >= columns / width * width && columns >= width)
      return fmt::format("only among the last {} along the last axis ({} long): what is left over behind multiples of {}, a tail", columns % width, columns, width);
  return std::nullopt;
}

std::optional<std::string> one_index(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  for (size_t axis = 0; axis < o.shape.size(); ++axis) {
    if (o.shape[axis] < 2) continue;
    const int64_t index = place_of(wrong.front(), o.shape)[axis];
    if (std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return place_of(at, o.shape)[axis] == index; }))
      return fmt::format("only at index {} of axis {} ({} long)", index, axis, o.shape[axis]);
  }
  return std::nullopt;
}

std::optional<std::string> share(const std::vector<int64_t>& wrong) {
  for (int64_t every = 1024; wrong.size() > 2 && every >= 2; every /= 2)
    if (wrong.back() - wrong.front() >= 2 * every && std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return at % every == wrong.front() % every; }))
      return fmt::format("all {} behind a multiple of {} in memory: one lane's or thread's share", wrong.front() % every, every);
  return std::nullopt;
}

std::optional<std::string> factor(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  if (wrong.size() < 4) return std::nullopt;
  const auto ratio = [&](int64_t at) { return o.found[static_cast<size_t>(at)] / o.expected[static_cast<size_t>(at)]; };
  const double first = ratio(wrong.front());
  if (!std::isfinite(first) || first == 0 || !std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return alike(ratio(at), first); })) return std::nullopt;
  return fmt::format("each is {:.4g} times what it should be", first);
}

std::string shape_of_error(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  const auto found = [&](double v) { return std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return o.found[static_cast<size_t>(at)] == v; }); };
  if (std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return std::isnan(o.found[static_cast<size_t>(at)]); }))
    return "they are NaN: never written, or computed of something that was not";
  if (auto text = swapped(o, wrong)) return *text;
  if (!o.before.empty() && all_hold(o, wrong, [&](int64_t at) { return o.before[static_cast<size_t>(at)]; })) return "they hold the answer of an earlier call: stale";
  if (auto text = factor(o, wrong)) return *text;
  if (found(0)) return "they are 0";
  if (wrong.size() == o.expected.size()) return "all of them, in no simple relation to what is expected";
  if (auto text = tail(o, wrong)) return *text;
  if (auto text = one_index(o, wrong)) return *text;
  if (auto text = share(wrong)) return *text;
  if (wrong.size() > 1 && wrong.back() - wrong.front() + 1 == static_cast<int64_t>(wrong.size()))
    return fmt::format("one segment, elements {} to {} in memory: one block's share, or what crosses a boundary", wrong.front(), wrong.back());
  return "scattered";
}

}  // namespace

std::string kind_of_error(const WrongOutput& o) {
  std::vector<int64_t> wrong;
  for (size_t i = 0; i < o.wrong.size(); ++i)
    if (o.wrong[i]) wrong.push_back(static_cast<int64_t>(i));
  if (wrong.empty()) return "no element by itself is off: their errors together are";
  std::string text = fmt::format("{} of {} elements are wrong: {}", wrong.size(), o.expected.size(), shape_of_error(o, wrong));
  // Where it first shows is often where it comes from, but a few of everywhere say more than a run.
  const size_t step = std::max<size_t>(1, wrong.size() / kElementsShown);
  for (size_t i = 0, shown = 0; i < wrong.size() && shown < kElementsShown; i += step, ++shown) {
    const auto at = static_cast<size_t>(wrong[i]);
    text += fmt::format("\n  [{}]: expected {:.7g}, found {:.7g}", fmt::join(place_of(wrong[i], o.shape), ", "), o.expected[at], o.found[at]);
  }
  return text;
}

}  // namespace hone::evaluate
