// Which shapes a kernel is tried on without being told: long ones of each symbol among the first, and pairs of extents of every kind.
#include <gtest/gtest.h>

#include <algorithm>

#include "hone/evaluate/stage.h"

namespace hone::evaluate {
namespace {

using task::Bindings;

/// Of 40 draws, in how many one of the first `most` shapes is so.
template <class Is>
int seen(const task::Task& task, size_t most, Is is) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    auto shapes = hidden_shapes(task, seed);
    shapes.resize(std::min(shapes.size(), most));
    found += std::any_of(shapes.begin(), shapes.end(), is);
  }
  return found;
}

TEST(HiddenShapes, EachSymbolIsLongOnce) {
  const task::Task rows = task::task_from_expressions("s = sum(x, axis=-1)", {"x=f32[B,D]"}, {"B=64,D=512"}).value();
  EXPECT_EQ(seen(rows, 8, [](const Bindings& s) { return s.at("D") > 8192; }), 40);
  EXPECT_EQ(seen(rows, 8, [](const Bindings& s) { return s.at("B") > 8192; }), 40);
  EXPECT_EQ(seen(rows, 3, [](const Bindings& s) { return s.at("B") > 4096 || s.at("D") > 4096; }), 40);
  EXPECT_GT(seen(rows, 8, [](const Bindings& s) { return s.at("B") > 65536 || s.at("D") > 65536; }), 10);
  const task::Task product = task::task_from_expressions("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=64,K=64,N=64"}).value();
  EXPECT_EQ(seen(product, 8, [](const Bindings& s) { return s.at("K") > 2048; }), 40);
}

TEST(HiddenShapes, PairsOfExtentsAreEqualEvenAndEitherWayLarger) {
  const task::Task product = task::task_from_expressions("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=64,K=64,N=64"}).value();
  EXPECT_GT(seen(product, 8, [](const Bindings& s) { return s.at("M") == s.at("K") && s.at("M") > 2; }), 20);
  EXPECT_GT(seen(product, 8, [](const Bindings& s) { return s.at("M") % 2 == 0 && s.at("N") % 2 == 0 && s.at("M") > s.at("N"); }), 36);
  EXPECT_GT(seen(product, 8, [](const Bindings& s) { return s.at("M") % 2 == 1 && s.at("N") % 2 == 1 && s.at("M") < s.at("N"); }), 15);
}

}  // namespace
}  // namespace hone::evaluate
