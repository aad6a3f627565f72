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

/// What they look like: with numbers of this draw, and without.
struct Look {
  std::string here, anywhere;
  explicit Look(std::string text) : here(text), anywhere(std::move(text)) {}
  Look(std::string with, std::string without) : here(std::move(with)), anywhere(std::move(without)) {}
};

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

std::optional<Look> swapped(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  if (o.shape.size() < 2) return std::nullopt;
  const int64_t columns = o.shape.back(), rows = o.shape[o.shape.size() - 2], plane = rows * columns;
  // Written as if the last two axes were stored the other way round.
  if (rows > 1 && columns > 1 && all_hold(o, wrong, [&](int64_t at) {
        const int64_t in = at % plane;
        return o.expected[static_cast<size_t>(at - in + (in % rows) * columns + in / rows)];
      }))
    return Look("they hold what belongs to the element with the last two axes swapped");
  return std::nullopt;
}

std::optional<Look> tail(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  if (o.shape.empty()) return std::nullopt;
  const int64_t columns = o.shape.back();
  int64_t first = columns;
  for (const int64_t at : wrong) first = std::min(first, at % columns);
  for (int64_t width = 1024; width >= 2; width /= 2)
    if (columns % width != 0 && first >= columns / width * width && columns >= width)
      return Look(fmt::format("only among the last {} along the last axis ({} long): what is left over behind multiples of {}, a tail", columns % width, columns, width),
                  "only among what is left over at the end of the last axis, where it is no whole number of vectors or tiles: a tail");
  return std::nullopt;
}

std::optional<Look> one_index(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  for (size_t axis = 0; axis < o.shape.size(); ++axis) {
    if (o.shape[axis] < 2) continue;
    const int64_t index = place_of(wrong.front(), o.shape)[axis];
    if (std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return place_of(at, o.shape)[axis] == index; }))
      return Look(fmt::format("only at index {} of axis {} ({} long)", index, axis, o.shape[axis]), fmt::format("only at one index of axis {}", axis));
  }
  return std::nullopt;
}

std::optional<Look> share(const std::vector<int64_t>& wrong) {
  for (int64_t every = 1024; wrong.size() > 2 && every >= 2; every /= 2)
    if (wrong.back() - wrong.front() >= 2 * every && std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return at % every == wrong.front() % every; }))
      return Look(fmt::format("all {} behind a multiple of {} in memory: one lane's or thread's share", wrong.front() % every, every),
                  "at equal steps in memory: one lane's or thread's share");
  return std::nullopt;
}

std::optional<Look> factor(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  if (wrong.size() < 4) return std::nullopt;
  const auto ratio = [&](int64_t at) { return o.found[static_cast<size_t>(at)] / o.expected[static_cast<size_t>(at)]; };
  const double first = ratio(wrong.front());
  if (!std::isfinite(first) || first == 0 || alike(first, 1) || !std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return alike(ratio(at), first); })) return std::nullopt;
  return Look(fmt::format("each is {:.4g} times what it should be", first), "each is the same number of times what it should be");
}

/// Where they lie; nothing where that is no one place.
std::optional<Look> place_of_error(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  if (wrong.size() == o.expected.size()) return std::nullopt;
  if (auto look = tail(o, wrong)) return look;
  if (auto look = one_index(o, wrong)) return look;
  if (auto look = share(wrong)) return look;
  if (wrong.size() > 1 && wrong.back() - wrong.front() + 1 == static_cast<int64_t>(wrong.size()))
    return Look(fmt::format("one segment, elements {} to {} in memory: one block's share, or what crosses a boundary", wrong.front(), wrong.back()),
                "one segment in memory: one block's share, or what crosses a boundary");
  return std::nullopt;
}

/// What they hold; nothing where that is in no simple relation to what is expected.
std::optional<Look> value_of_error(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  const auto all = [&](auto holds) { return std::all_of(wrong.begin(), wrong.end(), [&](int64_t at) { return holds(o.found[static_cast<size_t>(at)], o.expected[static_cast<size_t>(at)]); }); };
  if (all([](double found, double) { return std::isnan(found); })) return Look("they are NaN: never written, or computed of something that was not");
  if (all([](double found, double expected) { return std::isfinite(found) && !std::isfinite(expected); })) return Look("finite numbers where infinity or NaN belongs");
  if (all([](double found, double expected) { return !std::isfinite(found) && std::isfinite(expected); }))
    return Look("infinite or NaN where a finite number belongs: an overflow on the way, or what keeps from one leaves elements out");
  if (auto look = swapped(o, wrong)) return look;
  for (const std::vector<double>& before : o.before)
    if (all_hold(o, wrong, [&](int64_t at) { return before[static_cast<size_t>(at)]; })) return Look("they hold the answer of another call: stale");
  if (auto look = factor(o, wrong)) return look;
  if (all([](double found, double) { return found == 0; })) return Look("they are 0");
  return std::nullopt;
}

Look shape_of_error(const WrongOutput& o, const std::vector<int64_t>& wrong) {
  const auto value = o.instead ? std::optional(Look(o.instead->here, o.instead->anywhere)) : value_of_error(o, wrong), place = place_of_error(o, wrong);
  if (value && place) return {value->here + "; " + place->here, value->anywhere + "; " + place->anywhere};
  if (value) return *value;
  if (place) return *place;
  return Look(wrong.size() == o.expected.size() ? "all of them, in no simple relation to what is expected" : "scattered");
}

std::vector<int64_t> wrong_places(const WrongOutput& o) {
  std::vector<int64_t> wrong;
  for (size_t i = 0; i < o.wrong.size(); ++i)
    if (o.wrong[i]) wrong.push_back(static_cast<int64_t>(i));
  return wrong;
}

constexpr const char* kNoneAlone = "no element by itself is off: their errors together are";

}  // namespace

std::string looks_like(const WrongOutput& o) {
  const std::vector<int64_t> wrong = wrong_places(o);
  return wrong.empty() ? kNoneAlone : shape_of_error(o, wrong).anywhere;
}

std::string kind_of_error(const WrongOutput& o) {
  const std::vector<int64_t> wrong = wrong_places(o);
  if (wrong.empty()) return kNoneAlone;
  std::string text = fmt::format("{} of {} elements are wrong: {}", wrong.size(), o.expected.size(), shape_of_error(o, wrong).here);
  // Where it first shows is often where it comes from, but a few of everywhere say more than a run.
  const size_t step = std::max<size_t>(1, wrong.size() / kElementsShown);
  for (size_t i = 0, shown = 0; i < wrong.size() && shown < kElementsShown; i += step, ++shown) {
    const auto at = static_cast<size_t>(wrong[i]);
    text += fmt::format("\n  [{}]: expected {:.7g}, found {:.7g}", fmt::join(place_of(wrong[i], o.shape), ", "), o.expected[at], o.found[at]);
  }
  return text;
}

}  // namespace hone::evaluate
