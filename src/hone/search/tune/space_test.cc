#include "hone/search/tune/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hone/search/tune/testing/spaces.h"

namespace hone::search::tune {
namespace {

using testing::numbers;
using testing::space_of;

TEST(SpaceTest, lists_exactly_what_conditions_allow) {
  const Space space = space_of({numbers("a", {1, 2, 3, 4}), numbers("b", {1, 2, 3}), numbers("c", {0, 1})}, {"a * b <= 6", "c == 0 or b != 2"});
  std::vector<std::string> keys;
  for (const Point& point : space.points()) keys.push_back(space.key(point));
  std::vector<std::string> expected;
  for (int a = 1; a <= 4; ++a)
    for (int b = 1; b <= 3; ++b)
      for (int c = 0; c <= 1; ++c)
        if (a * b <= 6 && (c == 0 || b != 2)) expected.push_back(std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(c));
  EXPECT_EQ(keys, expected);
  for (uint16_t a = 0; a < 4; ++a)
    for (uint16_t b = 0; b < 3; ++b)
      for (uint16_t c = 0; c < 2; ++c) {
        const Point point{a, b, c};
        EXPECT_EQ(space.allowed(point), std::count(keys.begin(), keys.end(), space.key(point)) == 1);
      }
}

TEST(SpaceTest, samples_what_it_listed_uniformly) {
  const Space space = space_of({numbers("a", {1, 2, 3, 4}), numbers("b", {1, 2, 3, 4})}, {"a != b"});
  base::Rng rng(1);
  std::map<Point, int> seen;
  for (int i = 0; i < 12000; ++i) ++seen[space.sample(rng).value()];
  EXPECT_EQ(seen.size(), 12u);
  for (const auto& [point, count] : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(SpaceTest, a_huge_space_is_sampled_and_never_listed) {
  // 10^12 points, of which the conditions leave one in 10^4 or so.
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}) parameters.push_back(numbers(name, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const Space space = space_of(parameters, {"a + b == 11", "c * d <= 12", "e == f", "g > h and h > i", "(a + c + e + j + k + l) % 7 == 0"});
  EXPECT_FALSE(space.enumerated());
  EXPECT_DOUBLE_EQ(space.combinations(), 1e12);
  base::Rng rng(7);
  PointSet seen;
  for (int i = 0; i < 300; ++i) {
    const auto point = space.sample(rng);
    ASSERT_TRUE(point);
    EXPECT_TRUE(space.allowed(*point));
    seen.insert(*point);
  }
  EXPECT_GT(seen.size(), 290u);
  for (const Point& other : space.neighbours(*seen.begin())) EXPECT_TRUE(space.allowed(other));
}

TEST(SpaceTest, neighbours_differ_in_one_parameter) {
  const Space space = space_of({numbers("a", {1, 2, 3}), numbers("b", {1, 2, 3})}, {"a + b != 5"});
  EXPECT_THAT(space.neighbours({0, 2}), ::testing::ElementsAre(Point{2, 2}, Point{0, 0}, Point{0, 1}));
}

TEST(SpaceTest, of_points_has_these_only) {
  const Space space = Space::of_points({numbers("a", {1, 2}), numbers("b", {1, 2})}, {{0, 1}, {1, 0}});
  EXPECT_TRUE(space.allowed({0, 1}));
  EXPECT_FALSE(space.allowed({0, 0}));
  EXPECT_TRUE(space.neighbours({0, 1}).empty());
}

TEST(SpaceTest, refuses_what_is_no_space) {
  EXPECT_THAT(Space::make({}).error().message, ::testing::HasSubstr("without parameters"));
  EXPECT_THAT(Space::make({Parameter{"a", {}}}).error().message, ::testing::HasSubstr("a has 0 values"));
  const std::vector<std::string> names{"a"};
  EXPECT_THAT(Space::make({numbers("a", {1, 2})}, {Condition::parse("a > 2", names).value()}).error().message, ::testing::HasSubstr("no combination"));
}

TEST(SpaceTest, asks_rules_too) {
  const Space space = Space::make({numbers("a", {1, 2, 3})}, {}, {{{0}, [](const Point& point) { return point[0] != 1; }}}).value();
  EXPECT_EQ(space.points().size(), 2u);
  EXPECT_FALSE(space.allowed({1}));
}

/// As kernels of many parts have them: each condition leaves little of its own part, and the first values of a part come before the last of others.
TEST(SpaceTest, what_conditions_do_not_tie_together_is_drawn_apart) {
  constexpr size_t kParts = 12;
  std::vector<Parameter> parameters;
  for (size_t i = 0; i < 3 * kParts; ++i) parameters.push_back(numbers(std::to_string(i), {1, 2, 3, 4, 5, 6, 7, 8}));
  std::vector<Rule> rules;
  int asked = 0;
  for (size_t part = 0; part < kParts; ++part)
    rules.push_back({{part, part + kParts, part + 2 * kParts}, [part, &asked](const Point& point) {
                       ++asked;
                       return (point[part] + point[part + kParts] + point[part + 2 * kParts]) % 16 == 5;
                     }});
  const Space space = Space::make(std::move(parameters), {}, std::move(rules)).value();
  const int made = asked;
  EXPECT_EQ(made, kParts * 512) << "each combination is asked for once";
  base::Rng rng(3);
  std::map<uint16_t, int> first;
  for (int i = 0; i < 2000; ++i) {
    const auto point = space.sample(rng);
    ASSERT_TRUE(point && space.allowed(*point));
    ++first[(*point)[0]];
  }
  EXPECT_EQ(asked, made);
  // Sums of 5: from 6 of the first value 0 down to 1 of 5; of 21: those of 7, 7, 7.
  for (uint16_t value = 0; value < 6; ++value) EXPECT_NEAR(first[value], 2000 * (6 - value) / 22, 60) << value;
}

}  // namespace
}  // namespace hone::search::tune
