// What the rows of task/graph/elementwise.h claim, held against the oracle's functions.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using task::Prim;
using task::PrimInfo;

std::vector<Prim> rows_of(int operands) {
  std::vector<Prim> rows;
  for (int op = static_cast<int>(Prim::kIota) + 1; op < static_cast<int>(Prim::kBroadcast); ++op)
    if (const auto prim = static_cast<Prim>(op); prim != Prim::kCast && task::info_of(prim).operands == operands) rows.push_back(prim);
  return rows;
}

double of(Prim op, double x) {
  double y;
  kernels().unary(op, 1, &x, &y);
  return y;
}

/// Of both signs and most sizes, whole numbers among them.
const std::vector<double> kPoints = [] {
  std::vector<double> all;
  for (double x = 0x1p-40; x < 0x1p40; x *= 1.75) all.insert(all.end(), {x, -x});
  for (int k = 1; k < 20; ++k) all.insert(all.end(), {k * 1.0, -k * 1.0, k - 0.5, 0.25 - k, 800.0 * k, -800.0 * k});
  return all;
}();

TEST(PrimInfo, folds_constants_to_what_the_oracle_computes) {
  const auto same = [](double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 0x1p-48 * std::abs(b); };
  for (const Prim op : rows_of(1))
    for (const double x : kPoints)
      if (const auto value = task::info_of(op).value) EXPECT_TRUE(same(value(x, 0), of(op, x))) << task::name_of(op) << " " << x;
  std::vector<double> middle;  // a quotient that is rounded to a whole number is floor_div's own affair
  std::ranges::copy_if(kPoints, std::back_inserter(middle), [](double x) { return std::abs(x) > 0x1p-10 && std::abs(x) < 0x1p10; });
  for (const Prim op : rows_of(2))
    for (const double a : middle)
      for (const double b : middle) {
        double y;
        kernels().binary(op, 1, &a, &b, &y);
        if (const auto value = task::info_of(op).value) EXPECT_TRUE(same(value(a, b), y)) << task::name_of(op) << " " << a << " " << b;
      }
}

TEST(PrimInfo, claims_what_is_so) {
  constexpr double kMost = std::numeric_limits<double>::max(), kLeast = std::numeric_limits<double>::denorm_min();
  for (const Prim op : rows_of(1)) {
    const PrimInfo& info = task::info_of(op);
    SCOPED_TRACE(info.name);
    EXPECT_EQ(info.name, task::name_of(op));
    if (info.kind == PrimInfo::kTruth) continue;
    EXPECT_EQ(info.is(PrimInfo::kKeepsZero), of(op, 0) == 0);
    if (std::isinf(of(op, 0))) EXPECT_TRUE(info.is(PrimInfo::kPoleAtZero) || info.is(PrimInfo::kNeverOverflows));
    if (info.is(PrimInfo::kPoleAtZero)) EXPECT_TRUE(std::isinf(of(op, 0)));
    if (info.is(PrimInfo::kNeverOverflows)) EXPECT_TRUE(std::isfinite(of(op, kMost)) && std::isfinite(of(op, kLeast)));
    bool vanishes = false, whole = true;
    for (const double x : kPoints) {
      const double y = of(op, x);
      if (info.is(PrimInfo::kWithinOne)) EXPECT_LE(std::abs(y), 1) << x;
      if (info.roundings == 0) EXPECT_EQ(static_cast<double>(static_cast<float>(of(op, static_cast<float>(x)))), of(op, static_cast<float>(x))) << x;
      vanishes |= y == 0 && std::abs(x) > 700;
      whole &= y == std::nearbyint(y) && std::abs(y - x) <= 1;
    }
    EXPECT_EQ(info.is(PrimInfo::kUnderflows), vanishes);
    EXPECT_EQ(info.is(PrimInfo::kToWhole), whole);
  }
}

}  // namespace
}  // namespace hone::evaluate
