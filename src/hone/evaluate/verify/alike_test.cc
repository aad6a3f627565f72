// Inputs that look like something else: how often a guess from a few places is wrong on them.
#include "hone/evaluate/verify/alike.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace hone::evaluate {
namespace {

std::vector<int> alike(const task::Shape& shape, uint64_t seed, bool zeros = true) {
  std::vector<int> values(static_cast<size_t>(task::element_count(shape)));
  std::iota(values.begin(), values.end(), 1);
  base::Rng rng(seed);
  make_alike(std::as_writable_bytes(std::span(values)), shape, task::DType::kI32, zeros, rng);
  return values;
}

TEST(Alike, RowsRepeatOrAreLevelButForOneElement) {
  int nearly_before = 0, nearly_level = 0, nearly_zero = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto v = alike({20, 30}, seed);
    for (size_t row = 1; row < 20; ++row) {
      int same = 0, zeros = 0;
      std::multiset<int> values(v.begin() + static_cast<std::ptrdiff_t>(row * 30), v.begin() + static_cast<std::ptrdiff_t>(row * 30 + 30));
      for (size_t j = 0; j < 30; ++j) same += v[row * 30 + j] == v[row * 30 + j - 30], zeros += v[row * 30 + j] == 0;
      int most = 0;
      for (const int value : values) most = std::max(most, static_cast<int>(values.count(value)));
      nearly_before += same == 29, nearly_level += most == 29, nearly_zero += zeros == 29;
    }
  }
  EXPECT_GT(nearly_before, 60);
  EXPECT_GT(nearly_level, 60);
  EXPECT_GT(nearly_zero, 30);
}

TEST(Alike, SquaresAreSymmetricButForOneElement) {
  int nearly = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto v = alike({9, 9}, seed);
    int differ = 0;
    for (size_t i = 0; i < 9; ++i)
      for (size_t j = 0; j < i; ++j) differ += v[i * 9 + j] != v[j * 9 + i];
    nearly += differ == 1;
  }
  EXPECT_GT(nearly, 5);
}

TEST(Alike, LinesAscendOrDescendButForOneElement) {
  int rises = 0, falls = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    // Rows of a shuffled tensor, so that what is sorted was not so before.
    std::vector<int> values(20 * 30);
    std::iota(values.begin(), values.end(), 1);
    base::Rng rng(seed);
    rng.shuffle(values);
    sort_but_one(std::as_writable_bytes(std::span(values)), {20, 30}, task::DType::kI32, rng);
    for (auto row = values.begin(); row != values.end(); row += 30) {
      const auto steps = std::inner_product(row + 1, row + 30, row, 0, std::plus<>(), std::greater<>());
      const bool whole = steps == 29 || steps == 0;
      rises += steps >= 27 && !whole, falls += steps <= 2 && !whole;
    }
  }
  EXPECT_GT(rises, 40);
  EXPECT_GT(falls, 40);
}

TEST(Alike, AnotherInputIsCopiedOrTransposedButForOneElement) {
  std::vector<int> from(12), to(12, -1);
  std::iota(from.begin(), from.end(), 1);
  base::Rng rng(7);
  const auto copy = [&](const task::Shape& to_shape, const task::Shape& from_shape) {
    return copy_but_one(std::as_writable_bytes(std::span(to)), to_shape, std::as_bytes(std::span(from).first(static_cast<size_t>(task::element_count(from_shape)))), from_shape, task::DType::kI32, rng);
  };
  // Of all elements, or of each row.
  std::set<int64_t> spared;
  for (int i = 0; i < 20; ++i) {
    std::ranges::fill(to, -1);
    ASSERT_TRUE(copy({3, 4}, {3, 4}));
    const int64_t left = std::ranges::count(to, -1);
    spared.insert(left);
    EXPECT_EQ(std::inner_product(to.begin(), to.end(), from.begin(), 0, std::plus<>(), std::equal_to<>()), 12 - left);
    if (left == 3)
      for (long row = 0; row < 3; ++row) EXPECT_EQ(std::count(to.begin() + 4 * row, to.begin() + 4 * row + 4, -1), 1);
  }
  EXPECT_EQ(spared, (std::set<int64_t>{1, 3}));
  std::ranges::fill(to, -1);
  ASSERT_TRUE(copy({4, 3}, {3, 4}));
  int same = 0;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 3; ++j) same += to[i * 3 + j] == from[j * 4 + i];
  EXPECT_EQ(same, 11);
  EXPECT_FALSE(copy({12}, {3, 4}));
  // Three rows of four, each the four that come first but for one.
  std::ranges::fill(to, -1);
  ASSERT_TRUE(copy({3, 4}, {4}));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(std::count(to.begin() + static_cast<long>(4 * i), to.begin() + static_cast<long>(4 * i + 4), -1), 1);
}

TEST(Alike, ExceptionsAreLastAndNearItAndAnywhere) {
  base::Rng rng(3);
  std::vector<int> met(100);
  for (int i = 0; i < 4000; ++i) ++met.at(static_cast<size_t>(exception_of(100, rng)));
  EXPECT_GT(met[99], 900);
  EXPECT_GT(std::accumulate(met.begin() + 92, met.end() - 1, 0), 700);
  EXPECT_GT(std::accumulate(met.begin(), met.begin() + 50, 0), 700);
  EXPECT_EQ(exception_of(1, rng), 0);
}

TEST(Alike, SomeElementsAreDisplaced) {
  std::vector<int> values(640), before(640);
  std::iota(before.begin(), before.end(), 0);
  values = before;
  base::Rng rng(11);
  displace_some(std::as_writable_bytes(std::span(values)), task::DType::kI32, rng);
  const int same = std::inner_product(values.begin(), values.end(), before.begin(), 0, std::plus<>(), std::equal_to<>());
  EXPECT_LT(same, 640);
  EXPECT_GE(same, 640 - 21);
}

TEST(Alike, ValuesAreThoseThatWereThere) {
  for (uint64_t seed = 0; seed < 40; ++seed)
    for (const int value : alike({3, 1, 7}, seed, false)) EXPECT_TRUE(value >= 1 && value <= 21) << value;
  EXPECT_EQ(alike({1}, 3, false), std::vector<int>{1});
  EXPECT_TRUE(alike({0, 4}, 3).empty());
}

TEST(Alike, WholeNumbersAreHalvedAndNoIntegers) {
  float numbers[] = {3, -1, 0, 2};
  halve(std::as_writable_bytes(std::span(numbers)), task::DType::kF32);
  EXPECT_EQ(std::vector<float>(std::begin(numbers), std::end(numbers)), (std::vector<float>{1.5, -0.5, 0, 1}));
  int32_t whole[] = {3, -1};
  halve(std::as_writable_bytes(std::span(whole)), task::DType::kI32);
  EXPECT_EQ(whole[0], 3);
}

}  // namespace
}  // namespace hone::evaluate
