// Every instruction set's loops against the C library in long double.
#include "hone/evaluate/oracle/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "hone/base/random.h"

namespace hone::evaluate {

extern const Kernels kKernels_base;
#if defined(__x86_64__)
extern const Kernels kKernels_avx2;
extern const Kernels kKernels_avx512;
#endif

namespace {

using task::Prim;
using Wide = long double;

std::vector<const Kernels*> runnable() {
  std::vector<const Kernels*> tables{&kKernels_base};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables.push_back(&kKernels_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    tables.push_back(&kKernels_avx512);
#endif
  return tables;
}

/// Points of all magnitudes in [-limit, limit], with zeros.
std::vector<double> points(double low, double high) {
  base::Rng rng(7);
  std::vector<double> x{0.0, -0.0, low, high};
  for (int i = 0; i < 4000; ++i) x.push_back(low + (high - low) * rng.uniform());
  for (int i = 0; i < 4000; ++i) {
    const double v = std::ldexp(1 + rng.uniform(), -static_cast<int>(rng.below(70)) + 4);
    for (const double s : {v, -v})
      if (s >= low && s <= high) x.push_back(s);
  }
  return x;
}

struct Function {
  Prim op;
  double low, high;
  std::function<Wide(Wide)> truth;
};

TEST(Kernels, elementary_functions_are_accurate_to_a_few_units_of_a_double) {
  const std::vector<Function> functions{
      {Prim::kExp, -745, 709.7, [](Wide x) { return std::exp(x); }},
      {Prim::kExp2, -1074, 1023.9, [](Wide x) { return std::exp2(x); }},
      {Prim::kExpm1, -60, 709, [](Wide x) { return std::expm1(x); }},
      {Prim::kLog, 0, 1e300, [](Wide x) { return std::log(x); }},
      {Prim::kLog, 0, 4, [](Wide x) { return std::log(x); }},
      {Prim::kLog2, 0, 4, [](Wide x) { return std::log2(x); }},
      {Prim::kLog10, 0, 1e300, [](Wide x) { return std::log10(x); }},
      {Prim::kLog10, 0, 4, [](Wide x) { return std::log10(x); }},
      {Prim::kLog1p, -0.9999, 100, [](Wide x) { return std::log1p(x); }},
      {Prim::kTanh, -30, 30, [](Wide x) { return std::tanh(x); }},
      {Prim::kErf, -7, 7, [](Wide x) { return std::erf(x); }},
      {Prim::kSin, -100, 100, [](Wide x) { return std::sin(x); }},
      {Prim::kCos, -100, 100, [](Wide x) { return std::cos(x); }},
      {Prim::kRsqrt, 0, 100, [](Wide x) { return 1 / std::sqrt(x); }},
  };
  for (const Kernels* k : runnable())
    for (const Function& f : functions) {
      const std::vector<double> x = points(f.low, f.high);
      std::vector<double> y(x.size());
      k->unary(f.op, static_cast<int64_t>(x.size()), x.data(), y.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const Wide truth = f.truth(x[i]);
        if (std::isinf(truth)) {
          EXPECT_EQ(y[i], static_cast<double>(truth)) << task::name_of(f.op) << " " << x[i];
          continue;
        }
        const Wide unit = std::max(std::fabs(truth) * 0x1p-52L, static_cast<Wide>(0x1p-1074));
        EXPECT_LE(std::fabs(y[i] - truth), 4 * unit) << task::name_of(f.op) << " " << x[i];
      }
    }
}

TEST(Kernels, edges) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::nan("");
  const std::vector<std::tuple<Prim, double, double>> cases{
      {Prim::kExp, kInf, kInf},     {Prim::kExp, -kInf, 0},      {Prim::kExp, 800, kInf},
      {Prim::kExp, kNan, kNan},     {Prim::kLog, -1, kNan},      {Prim::kLog, kInf, kInf},
      {Prim::kLog, 0, -kInf},       {Prim::kLog, kNan, kNan},    {Prim::kLog1p, -1, -kInf},
      {Prim::kLog1p, kInf, kInf},   {Prim::kLog1p, -2, kNan},    {Prim::kTanh, kInf, 1},
      {Prim::kTanh, -kInf, -1},     {Prim::kTanh, kNan, kNan},   {Prim::kExpm1, -kInf, -1},
      {Prim::kExpm1, kInf, kInf},   {Prim::kRound, 2.5, 2},      {Prim::kRound, -1.5, -2},
      {Prim::kSign, -3, -1},        {Prim::kSign, 0, 0},         {Prim::kFloor, -0.5, -1},
  };
  for (const Kernels* k : runnable())
    for (const auto& [op, x, want] : cases) {
      double y;
      k->unary(op, 1, &x, &y);
      if (std::isnan(want)) EXPECT_TRUE(std::isnan(y)) << task::name_of(op) << " " << x;
      else EXPECT_EQ(y, want) << task::name_of(op) << " " << x;
    }
}

TEST(Kernels, integer_division_follows_python) {
  const std::vector<std::array<double, 4>> cases{// a, b, a // b, a % b
                                                 {7, 2, 3, 1},    {-7, 2, -4, 1}, {7, -2, -4, -1},
                                                 {-7, -2, 3, -1}, {6, 3, 2, 0},   {-6, 3, -2, 0},
                                                 {9007199254740991, 2, 4503599627370495, 1}};
  for (const Kernels* k : runnable())
    for (const auto& [a, b, quotient, rest] : cases) {
      double y;
      k->binary(Prim::kFloorDiv, 1, &a, &b, &y);
      EXPECT_EQ(y, quotient) << a << " // " << b;
      k->binary(Prim::kMod, 1, &a, &b, &y);
      EXPECT_EQ(y, rest) << a << " % " << b;
    }
}

TEST(Kernels, sums_lose_little) {
  // 2^24 + 1 + 1 + …: in fp32 one running sum never leaves 2^24; of many, one loses its 512 terms.
  std::vector<double> x(1 << 16, 1.0);
  x[0] = 0x1p24;
  for (const Kernels* k : runnable()) {
    EXPECT_NEAR(k->sum(1 << 16, x.data(), true), 0x1p24 + 65535, 600);
    EXPECT_EQ(k->sum(1 << 16, x.data(), false), 0x1p24 + 65535);
    EXPECT_EQ(k->sum_magnitudes(1 << 16, x.data()), 0x1p24 + 65535);
  }
}

TEST(Kernels, sums_in_fp32_keep_a_running_sum_for_128_terms) {
  std::vector<double> x(4096, 1.0);
  x[0] = 0x1p24;  // its running sum loses all that follows
  for (const Kernels* k : runnable()) {
    EXPECT_EQ(k->sum(256, x.data(), true), 0x1p24);
    EXPECT_EQ(k->sum(512, x.data(), true), 0x1p24 + 384);
    EXPECT_EQ(k->sum(4096, x.data(), true), 0x1p24 + 4096 - 128);
  }
}

TEST(Kernels, extremes_propagate_nan) {
  std::vector<double> x(100, 1.0);
  x[37] = 5;
  x[38] = -5;
  for (const Kernels* k : runnable()) {
    EXPECT_EQ(k->max(100, x.data()), 5);
    EXPECT_EQ(k->min(100, x.data()), -5);
    x[60] = std::nan("");
    EXPECT_TRUE(std::isnan(k->max(100, x.data())));
    EXPECT_TRUE(std::isnan(k->min(100, x.data())));
    x[60] = 1;
  }
}

}  // namespace
}  // namespace hone::evaluate
