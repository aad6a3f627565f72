// Which shapes a kernel is tried on without being told: long ones of each symbol among the first, and pairs of extents of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "hone/evaluate/shape_search.h"
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
  EXPECT_EQ(seen(rows, 8, [](const Bindings& s) { return s.at("D") > 16384; }), 40);
  EXPECT_EQ(seen(rows, 8, [](const Bindings& s) { return s.at("B") > 16384; }), 40);
  EXPECT_EQ(seen(rows, 3, [](const Bindings& s) { return s.at("B") > 4096 || s.at("D") > 4096; }), 40);
  EXPECT_GT(seen(rows, 8, [](const Bindings& s) { return s.at("B") > 65536 || s.at("D") > 65536; }), 10);
  const task::Task product = task::task_from_expressions("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=64,K=64,N=64"}).value();
  EXPECT_EQ(seen(product, 8, [](const Bindings& s) { return s.at("K") > 2048; }), 40);
  const task::Task causal = task::task_from_expressions("y = attention(q, k, v, causal=true)", {"q=f32[H,S,E]", "k=f32[H,S,E]", "v=f32[H,S,E]"}, {"H=2,S=64,E=16"}).value();
  EXPECT_GT(seen(causal, 8, [](const Bindings& s) { return s.at("S") > 512; }), 20);
  EXPECT_GT(seen(causal, 8, [](const Bindings& s) { return s.at("S") > 1024; }), 10);
}

TEST(HiddenShapes, PairsOfExtentsAreEqualEvenAndEitherWayLarger) {
  const task::Task product = task::task_from_expressions("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=64,K=64,N=64"}).value();
  EXPECT_GT(seen(product, 8, [](const Bindings& s) { return s.at("M") == s.at("K") && s.at("M") > 2; }), 20);
  EXPECT_GT(seen(product, 8, [](const Bindings& s) { return s.at("M") % 2 == 0 && s.at("N") % 2 == 0 && s.at("M") > s.at("N"); }), 36);
  EXPECT_GT(seen(product, 8, [](const Bindings& s) { return s.at("M") % 2 == 1 && s.at("N") % 2 == 1 && s.at("M") < s.at("N"); }), 15);
}

/// Of 60 draws, in how many one of a promotion's shapes is so: eight of any kind, and the edges.
template <class Is>
int promoted(const task::Task& task, Is is) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    auto shapes = hidden_shapes(task, seed);
    shapes.resize(std::min<size_t>(shapes.size(), 8));
    const auto more = edges(task, [&](const Bindings& s) { return is_small(task, s, kMostHiddenElements, 0x1p24); }, seed);
    EXPECT_LE(more.size(), 5U);
    shapes.insert(shapes.end(), more.begin(), more.end());
    found += std::any_of(shapes.begin(), shapes.end(), is);
  }
  return found;
}

/// What a tile's tail does wrong shows beside whole tiles only.
TEST(HiddenShapes, ExtentsLieBesideWholeTiles) {
  const auto at = [](const char* symbol, int64_t tile, int64_t tail) { return [=](const Bindings& s) { return s.at(symbol) > tile && s.at(symbol) % tile == tail; }; };
  const task::Task product = task::task_from_expressions("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=48,K=64,N=80"}).value();
  EXPECT_EQ(promoted(product, at("K", 16, 15)), 60);
  EXPECT_GT(promoted(product, at("M", 64, 1)), 45);
  EXPECT_GT(promoted(product, at("N", 128, 127)), 10);
  EXPECT_GT(promoted(product, [](const Bindings& s) { return s.at("M") > 16 * s.at("N") && s.at("M") % 16 == 1; }), 5);
  const task::Task images = task::task_from_expressions("y = conv1d(x, w, padding=2)", {"x=f32[N,C,L]", "w=f32[O,C,5]"}, {"N=2,C=6,L=65,O=7"}).value();
  EXPECT_GT(promoted(images, at("C", 32, 31)), 25);
  const task::Task pool = task::task_from_expressions("y = max_pool2d(x[:, None, :, :], 3, stride=2, padding=1)[:, 0, :, :]", {"x=f32[N,H,W]"}, {"N=4,H=30,W=41"}).value();
  EXPECT_GT(promoted(pool, [](const Bindings& s) { return s.at("W") > 2 && s.at("W") % 64 == 2; }), 1);
}

/// A kernel's conditions are kept: of what has to be whole, the rest is beside its tiles.
TEST(HiddenShapes, WhatHasToBeWholeIsBesideNoTile) {
  const task::Task product = task::task_from_expressions("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=48,K=64,N=80"}).value();
  int tails = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed)
    for (const Bindings& s : edges(product, [&](const Bindings& b) { return b.at("K") % 16 == 0 && is_small(product, b, kMostHiddenElements, 0x1p24); }, seed)) {
      EXPECT_EQ(s.at("K") % 16, 0);
      tails += s.at("M") % 16 == 1 || s.at("M") % 16 == 15;
    }
  EXPECT_GT(tails, 60);
}

TEST(HiddenShapes, OneLiesBesideAWorkload) {
  const task::Task middle = task::task_from_expressions("y = sum(x, axis=1)", {"x=f32[A,B,C]"}, {"A=8,B=50,C=30", "A=2,B=300,C=8"}).value();
  EXPECT_EQ(promoted(middle, [&](const Bindings& s) {
    return std::ranges::any_of(middle.workloads, [&](const task::Workload& w) {
      int64_t away = 0;
      for (const auto& [symbol, extent] : w.bindings) away += std::abs(extent - s.at(symbol));
      return away == 1;
    });
  }), 60);
}

TEST(HiddenShapes, ExtentsOfAnOutputAreEqualWhereTheInputsAreNot) {
  const task::Task padded = task::task_from_expressions("y = pad(x, [0, 1], [1, 2]).T", {"x=f32[B,D]"}, {"B=40,D=70"}).value();
  EXPECT_EQ(promoted(padded, [](const Bindings& s) { return s.at("B") + 1 == s.at("D") + 3; }), 60);
  const task::Task strided = task::task_from_expressions("y = conv1d(x, w, stride=2, padding=1)", {"x=f32[N,C,L]", "w=f32[O,C,3]"}, {"N=2,C=6,L=65,O=7"}).value();
  EXPECT_EQ(promoted(strided, [](const Bindings& s) { return (s.at("L") - 1) / 2 + 1 == s.at("O") || (s.at("L") - 1) / 2 + 1 == s.at("N"); }), 60);
}

TEST(HiddenShapes, EachSymbolHasEachOfFewExtents) {
  const task::Task product = task::task_from_expressions("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, {"M=64,K=64,N=64"}).value();
  const auto shapes = few_of_each(product, [](const Bindings&) { return true; }, 7);
  for (const char* symbol : {"M", "K", "N"})
    for (int64_t extent = 1; extent <= 8; ++extent)
      EXPECT_EQ(std::ranges::count_if(shapes, [&](const Bindings& s) { return s.at(symbol) == extent; }), 1) << symbol << " " << extent;
  EXPECT_TRUE(few_of_each(product, [](const Bindings& s) { return s.at("M") % 2 == 0; }, 7).size() == 4);
}

TEST(HiddenShapes, LongAloneIsLong) {
  const task::Task rows = task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B,D]"}, {"B=32,D=300"}).value();
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    base::Rng rng(seed);
    const auto shape = long_in(rows, "D", {.most = 1 << 15, .alone = true}, [&](const Bindings& s) { return is_small(rows, s, 1 << 15, 0x1p20); }, rng);
    ASSERT_TRUE(shape);
    EXPECT_EQ(shape->at("B"), 1);
    EXPECT_GE(shape->at("D"), 1 << 14);
  }
}

}  // namespace
}  // namespace hone::evaluate
