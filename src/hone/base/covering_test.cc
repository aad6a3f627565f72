#include "hone/base/testing/covering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::base::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(Covering, FewCasesShowEverything) {
  EXPECT_THAT(covering({{"a"}, {"a", "b", "c"}, {"c"}, {"c", "d"}, {}}), ElementsAre(false, true, false, true, false));
}

TEST(Covering, TheFirstOfEquals) { EXPECT_THAT(covering({{"a"}, {"b"}, {"b"}, {"a"}}), ElementsAre(true, true, false, false)); }

TEST(Covering, EveryCaseIsInOnePart) {
  const std::vector<std::string> cases{"ab", "a", "bc", "c", "b"};
  const auto letters = [](const std::string& c) {
    std::set<std::string> all;
    for (const char letter : c) all.insert(std::string(1, letter));
    return all;
  };
  EXPECT_THAT(part_of(cases, true, letters), ElementsAre("ab", "bc"));
  EXPECT_THAT(part_of(cases, false, letters), ElementsAre("a", "c", "b"));
  EXPECT_THAT(part_of(std::vector<std::string>{}, true, letters), IsEmpty());
}

class CoveringTurns : public ::testing::TestWithParam<int> {};

TEST_P(CoveringTurns, TestsTakeItemsInTurns) {
  EXPECT_EQ(turn(), static_cast<size_t>(GetParam()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(takes_item(static_cast<size_t>(i), 3), i == GetParam() % 3) << i;
}

INSTANTIATE_TEST_SUITE_P(All, CoveringTurns, ::testing::Range(0, 4));

TEST(LongCovering, TheLongPartTakesAllItems) {
  EXPECT_TRUE(takes_item(0, 3));
  EXPECT_TRUE(takes_item(2, 3));
}

TEST(Covering, NamesOfOperationsAndTypes) {
  EXPECT_THAT(names_applied("y = layer_norm(relu(x), w) * (a + b); x=f32[B,D]"), UnorderedElementsAre("layer_norm", "relu", "f32"));
  EXPECT_THAT(names_applied("x + y"), IsEmpty());
}

}  // namespace
}  // namespace hone::base::testing
