// Whole lines of one kind: which inputs have them, what they hold, how often.
#include "hone/evaluate/verify/lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/verify/integer_bounds.h"

namespace hone::evaluate {
namespace {

using task::DType;
using Kind = FilledLines::Kind;

std::vector<FilledLines> of_task(const std::string& inputs, const std::string& compute, const std::string& workload = "B = 16, D = 64", bool denormals = true) {
  const task::Task task = task::parse_task("name = \"t\"\ninputs = { " + inputs + " }\ncompute = \"" + compute + "\"\nworkloads = [ { " + workload + " } ]\n", "t.toml").value();
  const task::ConcreteGraph graph = task::instantiate(task.primitive, task.workloads.front().bindings).value();
  return lines_of(task, graph, draw_bounds(task, graph), denormals);
}

std::vector<double> filled(DType type, const task::Shape& shape, const FilledLines& lines, bool whole, uint64_t seed, double before, bool plain = false) {
  const auto count = static_cast<size_t>(task::element_count(shape));
  std::vector<std::byte> data(count * static_cast<size_t>(task::size_of(type)));
  std::vector<double> values(count, before);
  store_doubles(type, values.data(), static_cast<int64_t>(count), data.data(), 0);
  base::Rng rng(seed);
  fill_lines(data, shape, type, lines, whole, plain, rng);
  load_doubles(type, data.data(), 0, static_cast<int64_t>(count), values.data());
  return values;
}

TEST(Lines, NumbersReachTheEndsOnlyWhereNothingOverflows) {
  const double most = task::largest(DType::kF32);
  const auto end = [&](const std::string& compute) { return of_task("x = \"f32[B, D]\"", compute)[0]; };
  for (const char* compute : {"y = max(x, axis=1)", "y = argmax(x, axis=1)", "y = x[:, 1:]", "y = where(x > 1.0, x, 0.5)", "y = sort(x, axis=1)", "y = relu(x)"}) {
    EXPECT_EQ(end(compute).kind, Kind::kEnds) << compute;
    EXPECT_EQ(end(compute).most, most) << compute;
    EXPECT_EQ(end(compute).denormal, task::smallest_normal(DType::kF32)) << compute;
  }
  for (const char* compute : {"y = sum(x, axis=1)", "y = mean(x, axis=1)", "y = x + x", "y = x * 2", "y = cumsum(x, axis=1)"}) {
    EXPECT_EQ(end(compute).kind, Kind::kEnds) << compute;
    EXPECT_LE(end(compute).most, most / 2) << compute;
    EXPECT_GT(end(compute).most, most * 0x1p-20) << compute;
    EXPECT_EQ(end(compute).denormal, 0) << compute;
  }
  EXPECT_LE(end("y = sum(x, axis=1)").most * 64, most);
  for (const char* compute : {"y = x * x", "y = softmax(x, axis=1)", "y = exp(x)", "y = f16(x)", "y = i32(x)", "y = sum(x * x, axis=1)", "y = 1 / x"})
    EXPECT_EQ(end(compute).kind, Kind::kNone) << compute;
  EXPECT_EQ(of_task("x = \"f32[B, D]\"", "y = max(x, axis=1)", "B = 4, D = 8", false)[0].denormal, 0) << "not kept";
}

TEST(Lines, NumbersAreSmallWhereSomethingKnowsHowLargeTheyAre) {
  const auto kind = [&](const std::string& compute) { return of_task("x = \"f32[B, D]\"", compute)[0].kind; };
  for (const char* compute : {"y = layer_norm(x, eps=1e-5)", "y = x / maximum(sqrt(sum(x * x, axis=1, keepdims=true)), 1e-8)", "y = sum(x * x, axis=1) > 1e-3"})
    EXPECT_EQ(kind(compute), Kind::kSmall) << compute;
  for (const char* compute : {"y = softmax(x, axis=1)", "y = x / sum(x * x, axis=1, keepdims=true)", "y = x * x + 1e-5"}) EXPECT_EQ(kind(compute), Kind::kNone) << compute;
  EXPECT_EQ(of_task("x = \"f16[B, D]\"", "y = layer_norm(x, eps=1e-5)")[0].most, 14);
  // Three lines in four, each by a power of two of its own.
  std::set<double> seen;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (const double value : filled(DType::kF32, {40, 30}, {.kind = Kind::kSmall, .most = 40}, false, seed, 3)) seen.insert(value);
  EXPECT_GT(seen.size(), 30U);
  for (const double value : seen) {
    EXPECT_TRUE(value <= 3 && value >= 3 * 0x1p-40) << value;
    EXPECT_EQ(std::log2(value / 3), std::round(std::log2(value / 3))) << value;
  }
}

TEST(Lines, MasksIndicesSharesAndIntegersHaveThemWhateverIsComputed) {
  const auto lines = of_task(
      "x = \"f32[B, D]\", m = \"bool[B, D]\", i = { type = \"i64[B]\", domain = \"index(D)\" }, a = { type = \"f32[B, D]\", domain = \"unit\" }, k = \"i32[B]\"",
      "y = exp(where(m, x, a))[:, 0] + take_along_axis(x, i[:, None], axis=1)[:, 0] + f32(k)");
  EXPECT_EQ(lines[0].kind, Kind::kNone);
  EXPECT_EQ(lines[1].kind, Kind::kTruth);
  EXPECT_EQ(lines[2].kind, Kind::kIndex);
  EXPECT_EQ(lines[2].bound, 64);
  EXPECT_EQ(lines[3].kind, Kind::kUnit);
  EXPECT_EQ(lines[4].kind, Kind::kEnds);
  EXPECT_EQ(lines[4].most, 0x1p24 - 1) << "what an f32 holds";
}

TEST(Lines, ThePlainestOfAllIsATrueMaskAndTheFirstIndex) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(filled(DType::kBool, {20, 30}, {.kind = Kind::kTruth}, true, seed, 0, true), std::vector<double>(600, 1.0));
    EXPECT_EQ(filled(DType::kI64, {50}, {.kind = Kind::kIndex, .bound = 7}, true, seed, 5, true), std::vector<double>(50, 0.0));
  }
}

TEST(Lines, MasksHaveRowsWithNoneWithAllWithOneWithAllButOneAndWithTheFirstFew) {
  int none = 0, all = 0, one = 0, but_one = 0, prefix = 0, rows = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto v = filled(DType::kBool, {20, 30}, {.kind = Kind::kTruth}, false, seed, 1);
    for (size_t r = 0; r < 20; ++r, ++rows) {
      const auto row = v.begin() + static_cast<std::ptrdiff_t>(30 * r);
      const auto n = std::count(row, row + 30, 1.0);
      none += n == 0, all += n == 30, one += n == 1, but_one += n == 29;
      prefix += n > 1 && n < 29 && std::count(row, row + n, 1.0) == n;
    }
  }
  for (const int found : {none, one, but_one, prefix}) EXPECT_GT(found, rows / 40);
  EXPECT_GT(all, rows / 20);
}

TEST(Lines, AWholeMaskHasAllOrNone) {
  int all = 0, none = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto v = filled(DType::kBool, {7, 9}, {.kind = Kind::kTruth}, true, seed, seed % 2 == 0 ? 1 : 0);
    const auto n = std::count(v.begin(), v.end(), 1.0);
    all += n == 63, none += n == 0;
  }
  EXPECT_EQ(all + none, 40);
  EXPECT_GT(all, 10);
  EXPECT_GT(none, 10);
}

TEST(Lines, IndicesAreTheSameAlongALineAndMostlyAtAnEnd) {
  int zero = 0, last = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto v = filled(DType::kI64, {50}, {.kind = Kind::kIndex, .bound = 1000}, true, seed, 5);
    EXPECT_EQ(std::count(v.begin(), v.end(), v[0]), 50);
    EXPECT_TRUE(v[0] >= 0 && v[0] < 1000);
    zero += v[0] == 0, last += v[0] == 999;
  }
  EXPECT_GT(zero, 15);
  EXPECT_GT(last, 6);
}

TEST(Lines, NumbersAreWhollyNearOneEndOrDenormal) {
  const double most = task::largest(DType::kF32), normal = task::smallest_normal(DType::kF32);
  int high = 0, low = 0, denormal = 0, left = 0, rows = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto v = filled(DType::kF32, {20, 30}, {.kind = Kind::kEnds, .most = most, .denormal = normal}, false, seed, 1);
    for (size_t r = 0; r < 20; ++r, ++rows) {
      const auto row = v.begin() + static_cast<std::ptrdiff_t>(30 * r);
      high += std::all_of(row, row + 30, [&](double x) { return x >= most / 2 && std::isfinite(x); });
      low += std::all_of(row, row + 30, [&](double x) { return x <= -most / 2 && std::isfinite(x); });
      denormal += std::all_of(row, row + 30, [&](double x) { return x != 0 && std::abs(x) < normal; });
      left += std::all_of(row, row + 30, [&](double x) { return x == 1; });
    }
  }
  for (const int found : {high, denormal, left}) EXPECT_GT(found, rows / 24);
  EXPECT_GT(low, rows / 10);
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (const double x : filled(DType::kF32, {5, 8}, {.kind = Kind::kEnds, .most = most, .denormal = normal, .positive = true}, seed % 2 == 0, seed, 1)) EXPECT_GT(x, 0);
}

TEST(Lines, FactorsStayNearOneAlongALine) {
  int rows = 0, near_one = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto v = filled(DType::kF32, {300, 4}, {.kind = Kind::kUnit}, false, seed, 0.5);
    for (size_t c = 0; c < 4; ++c, ++rows) {
      double product = 1;
      for (size_t t = 0; t < 300; ++t) product *= v[4 * t + c];
      near_one += product > 0.5;
      for (size_t t = 0; t < 300; ++t) EXPECT_TRUE(v[4 * t + c] >= 0 && v[4 * t + c] <= 1);
    }
  }
  EXPECT_GT(near_one, rows / 20);
}

}  // namespace
}  // namespace hone::evaluate
