// hone/cpu/sort.h against the standard library's stable sort. CMake builds this file once for each instruction set, as cpu_header_test.cc.
#include "hone/cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace hone {
namespace {

template <class V>
class CpuSort : public testing::Test {};
using Vectors = testing::Types<f32v, f64v, i32v, i64v>;
TYPED_TEST_SUITE(CpuSort, Vectors);

enum class Kind { kRandom, kFew, kRising, kFalling, kZeros, kSpecial };
constexpr Kind kKinds[] = {Kind::kRandom, Kind::kFew, Kind::kRising, Kind::kFalling, Kind::kZeros, Kind::kSpecial};

template <class T>
std::vector<T> row_of(Kind kind, int64_t length, std::mt19937& random) {
  std::vector<T> row;
  for (int64_t i = 0; i < length; ++i) {
    const double x = std::normal_distribution<double>(0, FloatScalar<T> ? 1 : 1e6)(random);
    double key = x;
    if (kind == Kind::kFew) key = static_cast<int>(random() % 5) - 2;
    if (kind == Kind::kRising) key = static_cast<double>(i);
    if (kind == Kind::kFalling) key = static_cast<double>(-i);
    if (kind == Kind::kZeros && random() % 3 > 0) key = random() % 2 ? 0.0 : -0.0;
    if (kind == Kind::kSpecial && FloatScalar<T>) {
      constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
      const double special[] = {kInf, -kInf, kNan, -kNan, x};
      key = special[random() % 5];
    }
    row.push_back(static_cast<T>(key));
  }
  return row;
}

template <bool DESCENDING, class V>
void expect_sorted(const std::vector<Lane<V>>& row) {
  using T = Lane<V>;
  const auto length = static_cast<int64_t>(row.size());
  std::vector<int64_t> expected(row.size());
  std::iota(expected.begin(), expected.end(), 0);
  const auto below = [](T a, T b) { return b != b ? a == a : a < b; };   // NaN is the largest
  std::stable_sort(expected.begin(), expected.end(), [&](int64_t i, int64_t j) {
    const T a = row[static_cast<size_t>(i)], b = row[static_cast<size_t>(j)];
    return DESCENDING ? below(b, a) : below(a, b);
  });
  const auto places = [](const Entry<T>* entries, int64_t count) {
    std::vector<int64_t> all;
    for (int64_t k = 0; k < count; ++k) all.push_back(place_of(entries[k]));
    return all;
  };
  std::vector<Entry<T>> a(row.size()), b(row.size());
  EXPECT_EQ(places(sorted_row<DESCENDING, 8, V>(row.data(), length, a.data(), b.data()), length), expected);
  EXPECT_EQ(places(sorted_row<DESCENDING, 11, V>(row.data(), length, a.data(), b.data()), length), expected);
  for (const int64_t kept : {1, 2, 7, 16, 70, 300}) {
    if (kept > length) continue;
    const std::vector<int64_t> first(expected.begin(), expected.begin() + kept);
    std::vector<Entry<T>> c(static_cast<size_t>(kept + 64 + width<V>)), d(c.size());
    EXPECT_EQ(places(first_of_row<DESCENDING, 1, 4, V>(row.data(), length, kept, c.data(), d.data()), kept), first) << kept;
    EXPECT_EQ(places(first_of_row<DESCENDING, 64, 2, V>(row.data(), length, kept, c.data(), d.data()), kept), first) << kept;
  }
}

TYPED_TEST(CpuSort, RowsAndTheirFirstComeInTheOrderOfAStableSort) {
  std::mt19937 random(5);
  for (const int64_t length : {1, 2, 15, 16, 17, 40, 41, 300, 1000, 2503})
    for (const Kind kind : kKinds) {
      SCOPED_TRACE(testing::Message() << "length " << length << ", kind " << static_cast<int>(kind));
      const auto row = row_of<Lane<TypeParam>>(kind, length, random);
      expect_sorted<true, TypeParam>(row);
      expect_sorted<false, TypeParam>(row);
      if (this->HasFailure()) return;
    }
}

}  // namespace
}  // namespace hone
