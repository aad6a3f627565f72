#include "hone/evaluate/verify/segments.h"

#include <gtest/gtest.h>

#include "hone/base/random.h"

namespace hone::evaluate {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

Pairs pairs(const std::vector<Segment>& segments) {
  Pairs all;
  for (const Segment& s : segments) all.emplace_back(s.begin, s.end);
  return all;
}

TEST(Segments, AreMergedWhereTheyMeet) {
  std::vector<Segment> some = {{50, 60}, {0, 10}, {10, 12}, {5, 7}, {55, 58}, {63, 70}};
  merge(some);
  EXPECT_EQ(pairs(some), (Pairs{{0, 12}, {50, 60}, {63, 70}}));
  merge(some, 3);
  EXPECT_EQ(pairs(some), (Pairs{{0, 12}, {50, 70}}));
}

TEST(Segments, WithoutOthers) {
  EXPECT_EQ(pairs(without({{0, 100}}, {{10, 20}, {30, 40}})), (Pairs{{0, 10}, {20, 30}, {40, 100}}));
  EXPECT_EQ(pairs(without({{0, 10}, {20, 30}}, {{5, 25}})), (Pairs{{0, 5}, {25, 30}}));
  EXPECT_EQ(pairs(without({{5, 6}}, {{0, 100}})), Pairs{});
  EXPECT_EQ(pairs(without({{5, 6}, {7, 9}}, {})), (Pairs{{5, 6}, {7, 9}}));
  EXPECT_EQ(pairs(without({{0, 0}}, {})), Pairs{});
}

TEST(Segments, AsSetsOfElements) {
  base::Rng rng(1);
  const auto random = [&] {
    std::vector<Segment> some;
    for (uint64_t n = rng.below(6); n > 0; --n) {
      const auto begin = static_cast<int64_t>(rng.below(60));
      some.push_back({begin, begin + static_cast<int64_t>(rng.below(12))});
    }
    std::erase_if(some, [](const Segment& s) { return s.begin == s.end; });
    merge(some);
    return some;
  };
  const auto elements = [](const std::vector<Segment>& some) {
    std::vector<bool> in(80, false);
    for (const Segment& s : some)
      for (int64_t i = s.begin; i < s.end; ++i) in[static_cast<size_t>(i)] = true;
    return in;
  };
  for (int trial = 0; trial < 2000; ++trial) {
    const auto a = random(), b = random();
    const auto in_a = elements(a), in_b = elements(b), left = elements(without(a, b));
    for (size_t i = 0; i < left.size(); ++i) ASSERT_EQ(left[i], in_a[i] && !in_b[i]) << trial;
  }
}

}  // namespace
}  // namespace hone::evaluate
