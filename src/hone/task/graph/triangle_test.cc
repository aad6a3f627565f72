#include "hone/task/graph/triangle.h"

#include <gtest/gtest.h>

#include <functional>

#include "hone/task/task.h"

namespace hone::task {
namespace {

TEST(Triangle, CountsPositions) {
  for (const bool upper : {false, true})
    for (int64_t offset = -4; offset <= 7; ++offset) {
      const Triangle t{upper, offset};
      double expected = 0;
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 7; ++j) expected += t.holds(i, j) ? 1 : 0;
      EXPECT_EQ(triangle_count(t, 5, 7), expected) << upper << " " << offset;
      EXPECT_EQ(triangle_count(t.transposed(), 7, 5), expected) << upper << " " << offset;
    }
}

/// The triangle of the node named `name`.
std::optional<Triangle> triangle_of(const std::string& compute, const std::string& name) {
  const auto task = task_from_expressions(compute, {"x=f32[6,8]", "w=f32[8,8]"}, {});
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  const auto concrete = instantiate(task->primitive, {});
  const auto triangles = find_triangles(*concrete);
  for (size_t id = 0; id < triangles.size(); ++id)
    if (concrete->graph.nodes[id].name == name) return triangles[id];
  ADD_FAILURE() << name;
  return std::nullopt;
}

TEST(Triangle, FoundThroughArithmetic) {
  EXPECT_EQ(triangle_of("a = tril(x); y = a @ w", "a"), (Triangle{false, 0}));
  EXPECT_EQ(triangle_of("a = triu(x, 2); y = a @ w", "a"), (Triangle{true, 2}));
  EXPECT_EQ(triangle_of("a = 2 * tril(x, -1) * x; y = a @ w", "a"), (Triangle{false, -1}));
  EXPECT_EQ(triangle_of("a = tril(x).T; y = w @ a", "y"), std::nullopt);
  EXPECT_EQ(triangle_of("a = tril(x) + 1; y = a @ w", "a"), std::nullopt);
  EXPECT_EQ(triangle_of("a = exp(tril(x)); y = a @ w", "a"), std::nullopt);
  EXPECT_EQ(triangle_of("a = tril(x) + triu(x); y = a @ w", "a"), std::nullopt);
  EXPECT_EQ(triangle_of("m = arange(6)[:, None] >= arange(8)[None, :]; a = where(m, x, 0); y = a @ w", "a"),
            (Triangle{false, 0}));
  EXPECT_EQ(triangle_of("m = arange(6)[:, None] > arange(8); a = where(m, 0, x); y = a @ w", "a"),
            (Triangle{true, 0}));
}

TEST(Triangle, FoundWhereOnlyAMaskLooks) {
  EXPECT_EQ(triangle_of("a = x @ w; s = tril(a * 2); y = sum(s)", "a"), (Triangle{false, 0}));
  EXPECT_EQ(triangle_of("a = x @ w; y = tril(a); z = sum(a)", "a"), std::nullopt);
  EXPECT_EQ(triangle_of("a = x @ w; y = tril(a); z = triu(a)", "a"), std::nullopt);
  EXPECT_EQ(triangle_of("a = softmax(where(tril(ones([6, 8])) > 0, x @ w, -inf)); y = a @ w", "a"),
            std::nullopt);
}

double brute(const std::function<bool(int64_t, int64_t, int64_t)>& holds, int64_t m, int64_t k, int64_t n) {
  double total = 0;
  for (int64_t a = 0; a < m; ++a)
    for (int64_t b = 0; b < k; ++b)
      for (int64_t c = 0; c < n; ++c) total += holds(a, b, c) ? 1 : 0;
  return total;
}

double products(const std::string& compute) {
  const auto task = task_from_expressions(compute, {"x=f32[6,8]", "w=f32[8,7]"}, {});
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  const auto concrete = instantiate(task->primitive, {});
  const auto triangles = find_triangles(*concrete);
  for (size_t id = 0; id < triangles.size(); ++id)
    if (concrete->graph.nodes[id].prim == Prim::kDot)
      return dot_products(*concrete, static_cast<int>(id), triangles);
  return 0;
}

TEST(Triangle, ProductsOfTriangles) {
  EXPECT_EQ(products("y = x @ w"), 6 * 8 * 7);
  EXPECT_EQ(products("y = tril(x) @ w"), brute([](auto i, auto k, auto) { return k <= i; }, 6, 8, 7));
  EXPECT_EQ(products("y = x @ triu(w, 1)"), brute([](auto, auto k, auto j) { return j >= k + 1; }, 6, 8, 7));
  EXPECT_EQ(products("y = triu(x) @ triu(w)"),
            brute([](auto i, auto k, auto j) { return k >= i && j >= k; }, 6, 8, 7));
  EXPECT_EQ(products("y = tril(x @ w)"), brute([](auto i, auto, auto j) { return j <= i; }, 6, 8, 7));
  EXPECT_EQ(products("y = tril(triu(x) @ w, 2)"),
            brute([](auto i, auto k, auto j) { return k >= i && j <= i + 2; }, 6, 8, 7));
  EXPECT_EQ(products("y = tril(triu(x, -1) @ tril(w), 1)"),
            brute([](auto i, auto k, auto j) { return k >= i - 1 && j <= k && j <= i + 1; }, 6, 8, 7));
}

}  // namespace
}  // namespace hone::task
