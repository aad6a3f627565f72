#include "hone/evaluate/error_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace hone::evaluate {
namespace {

using ::testing::HasSubstr;

/// Expected: 1, 2, 3, … ; found: what `spoil` makes of it at (row, column).
WrongOutput spoilt(task::Shape shape, const std::function<double(int64_t row, int64_t column, double right)>& spoil) {
  WrongOutput o;
  o.shape = std::move(shape);
  const int64_t columns = o.shape.back(), count = task::element_count(o.shape);
  for (int64_t i = 0; i < count; ++i) {
    o.expected.push_back(static_cast<double>(i + 1));
    o.found.push_back(spoil(i / columns, i % columns, o.expected.back()));
    o.wrong.push_back(!(o.found.back() == o.expected.back()));
  }
  return o;
}

TEST(ErrorKind, is_named) {
  struct Case {
    const char* says;
    task::Shape shape;
    std::function<double(int64_t, int64_t, double)> spoil;
  };
  const Case cases[] = {
      {"left over behind multiples of 32, a tail", {5, 37}, [](int64_t, int64_t c, double v) { return c >= 33 ? -1000 * v * v : v; }},
      {"only at index 2 of axis 0", {5, 37}, [](int64_t r, int64_t, double v) { return r == 2 ? -v * v : v; }},
      {"3 behind a multiple of 32 in memory", {4, 64}, [](int64_t, int64_t c, double v) { return c % 32 == 3 ? -v * v : v; }},
      {"last two axes swapped", {6, 6}, [](int64_t r, int64_t c, double) { return static_cast<double>(c * 6 + r + 1); }},
      {"each is 0.5 times", {3, 8}, [](int64_t, int64_t, double v) { return v / 2; }},
      {"they are NaN", {3, 8}, [](int64_t, int64_t c, double v) { return c == 7 ? std::numeric_limits<double>::quiet_NaN() : v; }},
      {"they are 0", {3, 8}, [](int64_t r, int64_t, double v) { return r == 1 ? 0 : v; }},
      {"one segment, elements 6 to 12", {4, 8}, [](int64_t r, int64_t c, double v) { return r * 8 + c >= 6 && r * 8 + c <= 12 ? v + (r + 1) * v * v : v; }},
      {"no simple relation", {3, 7}, [](int64_t r, int64_t c, double v) { return v + static_cast<double>((r * 5 + c * 3) % 4 + 1); }},
  };
  for (const Case& c : cases) EXPECT_THAT(kind_of_error(spoilt(c.shape, c.spoil)), HasSubstr(c.says));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(kind_of_error(spoilt({3, 7}, [&](int64_t, int64_t c, double v) { return c > 5 ? infinity : v; })), ::testing::AllOf(HasSubstr("an overflow on the way"), HasSubstr("a tail")));
  WrongOutput bounded = spoilt({3, 8}, [](int64_t, int64_t c, double v) { return c > 5 ? 7 : v; });
  for (size_t i = 0; i < bounded.wrong.size(); ++i)
    if (bounded.wrong[i]) bounded.expected[i] = infinity;
  EXPECT_THAT(kind_of_error(bounded), HasSubstr("finite numbers where infinity or NaN belongs"));
  // A little off is no factor.
  EXPECT_THAT(kind_of_error(spoilt({3, 8}, [](int64_t, int64_t, double v) { return v * (1 + 1e-6); })), HasSubstr("no simple relation"));
  WrongOutput stale = spoilt({2, 8}, [](int64_t, int64_t, double v) { return 100 - v * v; });
  stale.before = {stale.expected, stale.found};
  EXPECT_THAT(kind_of_error(stale), HasSubstr("stale"));
  const std::string text = kind_of_error(spoilt({2, 3}, [](int64_t r, int64_t c, double v) { return r == 1 && c == 2 ? 70 : v; }));
  EXPECT_THAT(text, HasSubstr("1 of 6 elements are wrong"));
  EXPECT_THAT(text, HasSubstr("[1, 2]: expected 6, found 70"));
}

TEST(ErrorKind, is_named_without_a_number_of_the_draw) {
  struct Case {
    const char* says;
    std::function<double(int64_t, int64_t, double)> spoil;
  };
  // Extents and values of 479 and more: no number of the words may be one of them, nor a remainder or a place.
  const Case cases[] = {
      {"a tail", [](int64_t, int64_t c, double v) { return c >= 479 ? -1000 * v * v : v; }},
      {"only at one index of axis 0", [](int64_t r, int64_t, double v) { return r == 9 ? -v * v : v; }},
      {"at equal steps", [](int64_t r, int64_t c, double v) { return (r * 481 + c) % 32 == 9 ? -v * v : v; }},
      {"the same number of times", [](int64_t, int64_t, double v) { return v * 7; }},
      {"one segment", [](int64_t r, int64_t c, double v) { return r * 481 + c >= 600 && r * 481 + c <= 1100 ? v + (r + 1) * v * v : v; }},
      {"scattered", [](int64_t r, int64_t c, double v) { return (r * 481 + c) * 7919 % 31 == 5 ? v + c * v + 1 : v; }},
  };
  for (const Case& c : cases) {
    const std::string text = looks_like(spoilt({19, 481}, c.spoil));
    EXPECT_THAT(text, HasSubstr(c.says));
    EXPECT_EQ(text.find_first_of("23456789"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hone::evaluate
