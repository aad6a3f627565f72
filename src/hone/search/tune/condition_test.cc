#include "hone/search/tune/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::search::tune {
namespace {

const std::vector<std::string> kNames = {"x", "y", "mode"};

bool holds(const std::string& text, int64_t x = 6, int64_t y = 4, const std::string& mode = "fast") {
  const auto condition = Condition::parse(text, kNames);
  EXPECT_TRUE(condition) << text << ": " << (condition ? "" : condition.error().message);
  if (!condition) return false;
  const Value values[] = {x, y, mode};
  const Value* const pointers[] = {&values[0], &values[1], &values[2]};
  return condition->holds(pointers);
}

TEST(ConditionTest, means_what_python_means) {
  // Each line was tried in Python 3.11 with x = 6, y = 4, mode = "fast".
  for (const char* text : {
           "x == 6 and y == 4", "x > y", "not x < y", "x * y + 2 == 26", "x // y == 1", "-x // y == -2", "-x % y == 2",
           "x % -y == -2", "x / y == 1.5", "2 ** 3 ** 2 == 512", "-2 ** 2 == -4", "4 <= y < x <= 6", "x in (5, 6)",
           "y not in [5, 6]", "mode == 'fast'", "mode != \"slow\"", "mode in ['fast', 'slow']", "min(x, y) == 4 and max(x, y, 9) == 9",
           "abs(y - x) == 2", "(x if y > 5 else y) == 4", "x == 7 or y", "not (x == 7 or y == 5)", "True", "not False",
           "int(x / y) == 1", "round(2.5) == 2", "math.ceil(x / y) == 2", "floor(1.9) == 1", "1e3 == 1000", "x == 6.0", ".5 + .5 == 1",
           "not x == 5 and y == 4", "x - y - 1 == 1", "x\n== 6", "mode == 6 or x", "9223372036854775807 * 4 > 9223372036854775806",
       })
    EXPECT_TRUE(holds(text)) << text;
  for (const char* text : {"x == 5", "x < y", "4 < y < x", "x == 7 or y == 7", "y in (5, 6)", "mode == 'slow'", "0", "''", "not x", "mode == 6"})
    EXPECT_FALSE(holds(text)) << text;
}

TEST(ConditionTest, what_cannot_be_computed_does_not_hold) {
  for (const char* text : {"x / 0 == 0", "x % 0 == 0", "x // (y - 4) == 1", "mode < 5", "mode + 1 == 2", "-mode == 1", "not (x / 0)", "x in y"})
    EXPECT_FALSE(holds(text)) << text;
  // Only what is needed is computed.
  EXPECT_TRUE(holds("y == 4 or x / 0 == 1"));
  EXPECT_FALSE(holds("y == 5 and x / 0 == 1"));
}

TEST(ConditionTest, says_where_a_mistake_is) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"x ==", "the text ends"}, {"z == 1", "\"z\" is no tunable"}, {"x = 5", "column 3"}, {"(x", "closing"}, {"x == 'a", "quotation"},
      {"foo(x)", "\"foo\" is no tunable of this space and no function"}, {"x if y", "else"}, {"", "value was expected"}, {"abs(x, y)", "abs() with 2"},
      {"x y", "an operator or the end"},
  };
  for (const auto& [text, expected] : kWrong) {
    const auto condition = Condition::parse(text, kNames);
    ASSERT_FALSE(condition) << text;
    EXPECT_THAT(condition.error().message, ::testing::HasSubstr(expected)) << text;
  }
}

TEST(ConditionTest, is_bounded) {
  EXPECT_FALSE(Condition::parse(std::string(5000, '(') + "x", kNames));
  EXPECT_FALSE(Condition::parse(std::string(5000, '-') + "x", kNames));
  std::string nots;
  for (int i = 0; i < 2000; ++i) nots += "not ";
  EXPECT_FALSE(Condition::parse(nots + "x", kNames));
  EXPECT_FALSE(Condition::parse("x == " + std::string(20000, '1'), kNames));
  std::string long_sum = "x";
  while (long_sum.size() < 9990) long_sum += "+x";
  EXPECT_TRUE(holds(long_sum));
}

TEST(ConditionTest, knows_what_it_speaks_of) {
  EXPECT_THAT(Condition::parse("y * 2 > 3 or mode == 'a'", kNames)->uses(), ::testing::ElementsAre(1, 2));
}

TEST(ValueTest, prints_as_python_does) {
  EXPECT_EQ(text_of(int64_t{16}), "16");
  EXPECT_EQ(text_of(0.5), "0.5");
  EXPECT_EQ(text_of(16.0), "16.0");
  EXPECT_EQ(text_of(std::string("a b")), "a b");
}

}  // namespace
}  // namespace hone::search::tune
