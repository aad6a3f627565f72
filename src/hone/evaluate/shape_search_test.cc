#include "hone/evaluate/shape_search.h"

#include <gtest/gtest.h>

#include <set>

namespace hone::evaluate {
namespace {

class UntriedSides : public ::testing::Test {
 protected:
  /// Shapes for a kernel over rows with this header and source, in ten searches.
  static std::vector<task::Bindings> searched(const std::string& header, const std::string& source = "", size_t least = 0) {
    const task::Task task = task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, {"B=64,D=256"}).value();
    const auto kernel = kernel::parse_kernel("/* hone\nlanguage = \"c++\"\n" + header + "*/\n" + source, "k.cc");
    EXPECT_TRUE(kernel) << kernel.error().to_string();
    const task::Bindings tried[] = {{{"B", 4}, {"D", 16}}};
    std::vector<task::Bindings> all;
    for (uint64_t seed = 0; seed < 10; ++seed) {
      ShapeSearch search;
      search.most = std::max<size_t>(12, least), search.least = least;
      const auto found = untried_sides(*kernel, task, {}, tried, seed, search);
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }
  static size_t count(const std::vector<task::Bindings>& shapes, bool (*is)(int64_t b, int64_t d)) {
    return static_cast<size_t>(std::count_if(shapes.begin(), shapes.end(), [&](const task::Bindings& s) { return is(s.at("B"), s.at("D")); }));
  }
};

TEST_F(UntriedSides, OfAConditionAreBothTried) {
  const auto shapes = searched("[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nwhen = \"D < 611 or D > 640\"\nargs = [\"x\", \"y\"]\n");
  EXPECT_GE(count(shapes, [](int64_t, int64_t d) { return d >= 611 && d <= 640; }), 10U);
  EXPECT_GE(count(shapes, [](int64_t, int64_t d) { return d > 640; }), 5U);
}

TEST_F(UntriedSides, OneLengthOfAllIsFound) {
  const auto shapes = searched("[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nwhen = \"D != 777\"\nargs = [\"x\", \"y\"]\n");
  EXPECT_GE(count(shapes, [](int64_t, int64_t d) { return d == 777; }), 9U);
}

TEST_F(UntriedSides, ProductsOfExtentsAreFound) {
  const auto shapes = searched("[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nwhen = \"B * D > 5000\"\nargs = [\"x\", \"y\"]\n");
  EXPECT_GE(count(shapes, [](int64_t b, int64_t d) { return b * d > 5000; }), 10U);
  EXPECT_GE(count(shapes, [](int64_t b, int64_t d) { return b * d == 5000 || b * d == 5001; }), 5U);
}

TEST_F(UntriedSides, LieWithinTheRequirements) {
  const auto shapes = searched("requires = [\"D % 4 == 0\", \"D <= 1024\"]\n[[launch]]\nkernel = \"f\"\ngrid = [\"ceil_div(B, 8)\"]\nargs = [\"x\", \"y\"]\n");
  EXPECT_GE(shapes.size(), 20U);
  EXPECT_EQ(count(shapes, [](int64_t, int64_t d) { return d % 4 != 0 || d > 1024; }), 0U);
  EXPECT_GE(count(shapes, [](int64_t b, int64_t) { return b % 8 == 0; }), 5U);
}

/// Where a grid ends that is the least of a quotient and a number: no number of the plan is near it.
TEST_F(UntriedSides, ExtentsAtWhichAPlanTurnsAreFound) {
  const auto shapes = searched("[[launch]]\nkernel = \"f\"\ngrid = [\"min(ceil_div(B, 256), 128)\"]\nargs = [\"x\", \"y\"]\n");
  EXPECT_GE(count(shapes, [](int64_t b, int64_t) { return b > 32768; }), 10U);
}

/// A residue that is no tile's edge is one of sixteen.
TEST_F(UntriedSides, EachRestOfSixteenIsMet) {
  const auto shapes = searched("[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nargs = [\"x\", \"y\"]\n", "", 24);
  for (int64_t rest = 0; rest < 16; ++rest) {
    const auto with = std::ranges::count_if(shapes, [&](const task::Bindings& s) { return s.at("D") > 16 && s.at("D") % 16 == rest; });
    EXPECT_GE(with, 3) << rest;
  }
}

TEST_F(UntriedSides, EachNumberOfTheSourceIsPassedAndEachRatioMet) {
  const auto shapes = searched("[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nargs = [\"x\", \"y\"]\n", "if (n & 0x7fff || k > 512) {}", 6);
  EXPECT_GE(count(shapes, [](int64_t b, int64_t d) { return d > 32768 || b > 32768; }), 12U);
  EXPECT_GE(count(shapes, [](int64_t, int64_t d) { return d > 512 && (d & (d - 1)) == 0; }), 4U);
  EXPECT_GE(count(shapes, [](int64_t b, int64_t d) { return b == 2 * d; }), 4U);
  EXPECT_GE(count(shapes, [](int64_t b, int64_t d) { return d == 2 * b; }), 4U);
}

/// Conditions on two symbols at once, which the plan says nothing of.
TEST(WholeTiles, LieOnEverySide) {
  const task::Task task = task::task_from_expressions("y = x.T", {"x=f32[M,N]"}, {"M=64,N=192"}).value();
  const auto kernel = kernel::parse_kernel("/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"f\"\ngrid = [\"ceil_div(M, 32)\"]\nargs = [\"x\", \"y\"]\n*/\n"
                                           "if (N % 160 == 0 && M % 32 == 0 && r % 32 == 31) {}\n", "k.cc").value();
  int found = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ShapeSearch search;
    search.most = 0, search.whole = 2;
    const auto shapes = untried_sides(kernel, task, {}, {}, seed, search);
    EXPECT_EQ(shapes.size(), 2U);
    found += std::ranges::any_of(shapes, [](const task::Bindings& s) { return s.at("M") % 32 == 0 && s.at("N") % 160 == 0; }) ? 1 : 0;
  }
  EXPECT_GE(found, 20);
}

TEST(RandomExtents, AreOfEverySize) {
  base::Rng rng(7);
  std::set<int64_t> any, aligned;
  for (int i = 0; i < 3000; ++i) any.insert(random_extent(rng, 2048, false)), aligned.insert(random_extent(rng, 2048, true));
  EXPECT_GT(any.size(), 400U);
  EXPECT_GT(aligned.size(), 100U);
  EXPECT_EQ(*any.begin(), 1);
  for (const int64_t n : aligned) EXPECT_EQ(n % 4, 0) << n;
  for (const int64_t n : any) EXPECT_LE(n, 2048);
}

/// An eighth of all numbers are so; of 3000 draws that do not look for them 225.
TEST(RandomExtents, AreOftenThoseThatTheirReciprocalsMiss) {
  base::Rng rng(7);
  int missed = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto n = static_cast<float>(random_extent(rng, 512, false));
    missed += n * (1.0F / n) < 1 ? 1 : 0;
  }
  EXPECT_GT(missed, 290);
}

}  // namespace
}  // namespace hone::evaluate
