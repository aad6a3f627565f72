// What TileLang's patterns take of test/cases/pattern. Texts alone: whether they are right is judged in tilelang_suites_long_test.cc.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/families_testing.h"
#include "hone/pattern/library.h"
#include "hone/pattern/tilelang_patterns.h"

namespace hone::pattern {
namespace {

using families_testing::Case;

std::vector<Case> named_cases() {
  std::vector<Case> all = families_testing::cases();
  std::erase_if(all, [](const Case& c) { return c.tilelang.empty(); });
  return all;
}

class TileLangOffers : public testing::TestWithParam<Case> {};

TEST_P(TileLangOffers, AreByThePatternsThatTheCaseNames) {
  const auto task = families_testing::task_of(GetParam(), {{"77", "5", "3", "41"}});
  ASSERT_TRUE(task) << task.error().to_string();
  std::vector<std::string> why_not;
  const std::vector<Offer> offers = offers_tilelang(*task, why_not);
  for (const std::string& pattern : GetParam().tilelang)
    EXPECT_TRUE(std::ranges::any_of(offers, [&](const Offer& offer) { return offer.pattern == pattern; }))
        << pattern << "; not: " << fmt::format("{}", fmt::join(why_not, "; "));
}

INSTANTIATE_TEST_SUITE_P(Cases, TileLangOffers, testing::ValuesIn(named_cases()),
                         [](const auto& parameter) { return families_testing::test_name(parameter.param); });

std::string source_of(const char* compute, const std::vector<std::string>& inputs) {
  const auto task = task::task_from_expressions(compute, inputs, {});
  std::vector<std::string> why_not;
  const std::vector<Offer> offers = task ? offers_tilelang(*task, why_not) : std::vector<Offer>{};
  return offers.empty() ? fmt::format("none: {}", fmt::join(why_not, "; ")) : offers.front().kernel.source;
}

// Threads side by side read what lies side by side: places of a row, or columns.
TEST(TileLangScans, GoAsMemoryLies) {
  EXPECT_NE(source_of("y = cumprod(x, axis=1)", {"x=f32[40,300]"}).find("i, j in T.Parallel(ROWS, BLOCK)"), std::string::npos);
  EXPECT_NE(source_of("y = cumprod(x, axis=0)", {"x=f32[300,40]"}).find("j, i in T.Parallel(BLOCK, ROWS)"), std::string::npos);
}

// A place goes with its key in one word where there is room.
TEST(TileLangSort, KeepsPlacesApartOfWideKeysAlone) {
  EXPECT_EQ(source_of("y = sort(x)", {"x=f32[4,30]"}).find("places = "), std::string::npos);
  EXPECT_NE(source_of("y = sort(x)", {"x=f64[4,30]"}).find("places = "), std::string::npos);
}

// Of a long row a few are kept: a tile is no longer than that takes.
TEST(TileLangSort, TakesLongRowsInSteps) {
  EXPECT_NE(source_of("v, i = topk(x, 8)", {"x=f32[4,50000]"}).find("TILE = [1024"), std::string::npos);
  EXPECT_NE(source_of("y = sort(x)", {"x=f32[4,50000]"}).find("none"), std::string::npos);
}

}  // namespace
}  // namespace hone::pattern
