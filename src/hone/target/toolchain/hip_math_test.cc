// The mathematics that HIP kernels are linked with, compiled for the CPU and compared with the C library.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#define HONE_MATH inline
#include "hone/target/toolchain/include/hone/hip/math_float.h"

namespace hone::target {
namespace {

namespace own = hone::device_math;

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

/// |a - b| in units of b's last place; 0 where both are NaN or equal, signs of zero included.
template <class T>
double ulps(T a, long double b) {
  const T rounded = static_cast<T>(b);
  if (std::isnan(a) || std::isnan(rounded)) return std::isnan(a) && std::isnan(rounded) ? 0 : 1e9;
  if (a == rounded) return std::signbit(a) == std::signbit(rounded) ? 0 : 1e9;
  if (std::isinf(a) || std::isinf(rounded)) return 1e9;
  const T unit = std::max(std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity()) - std::abs(rounded), std::numeric_limits<T>::denorm_min());
  return static_cast<double>(std::abs(static_cast<long double>(a) - b) / unit);
}

template <class T, class Own, class Trusted>
void compare(const char* name, T low, T high, double bound, Own ours, Trusted trusted) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> linear(low, high), unit(0, 1);
  double worst = 0;
  T where = 0;
  const auto look = [&](T x) {
    const double found = ulps<T>(ours(x), trusted(static_cast<long double>(x)));
    if (found > worst) worst = found, where = x;
  };
  for (int i = 0; i < 100000; ++i) look(static_cast<T>(linear(random)));
  // Down to the smallest numbers, on both sides where there are two.
  for (int i = 0; i < 100000; ++i) {
    const T x = static_cast<T>(std::exp(std::log(std::max(std::abs(double{low}), std::abs(double{high}))) * unit(random) - 90 * unit(random)));
    if (x >= low && x <= high) look(x);
    if (-x >= low && -x <= high) look(-x);
  }
  std::printf("  %-8s %.2f at %a\n", name, worst, static_cast<double>(where));
  EXPECT_LE(worst, bound) << name << " at " << where;
}

#define HONE_COMPARE(T, NAME, LOW, HIGH, BOUND) \
  compare<T>(#NAME, LOW, HIGH, BOUND, [](T x) { return own::NAME(x); }, [](long double x) { return std::NAME(x); })

TEST(HipMath, DoublesAreCloseToTheCLibrary) {
  HONE_COMPARE(double, exp, -745.0, 709.7, 1.5);
  HONE_COMPARE(double, exp2, -1074.0, 1023.9, 1.5);
  HONE_COMPARE(double, expm1, -50.0, 709.7, 2.5);
  HONE_COMPARE(double, log, 0.0, 1e300, 2);
  HONE_COMPARE(double, log2, 0.0, 1e300, 2.5);
  HONE_COMPARE(double, log10, 0.0, 1e300, 2.5);
  HONE_COMPARE(double, log1p, -0.9999999, 1e300, 2.5);
  HONE_COMPARE(double, cbrt, -1e300, 1e300, 1.5);
  HONE_COMPARE(double, sin, -1e5, 1e5, 1.5);
  HONE_COMPARE(double, cos, -1e5, 1e5, 1.5);
  HONE_COMPARE(double, tan, -1e5, 1e5, 2.5);
  HONE_COMPARE(double, sin, -1e300, 1e300, 1.5);
  HONE_COMPARE(double, cos, -1e22, 1e22, 1.5);
  HONE_COMPARE(double, atan, -1e10, 1e10, 2);
  HONE_COMPARE(double, asin, -1.0, 1.0, 3);
  HONE_COMPARE(double, acos, -1.0, 1.0, 3);
  HONE_COMPARE(double, sinh, -710.0, 710.0, 4);
  HONE_COMPARE(double, cosh, -710.0, 710.0, 4);
  HONE_COMPARE(double, tanh, -25.0, 25.0, 3.5);
  HONE_COMPARE(double, asinh, -1e10, 1e10, 4);
  HONE_COMPARE(double, acosh, 1.0, 1e10, 4);
  HONE_COMPARE(double, atanh, -0.999999, 0.999999, 4);
  HONE_COMPARE(double, erf, -6.0, 6.0, 2.5);
  HONE_COMPARE(double, erfc, -6.0, 25.0, 8);
}

TEST(HipMath, FloatsAreCloseToTheCLibrary) {
  HONE_COMPARE(float, sin, -1e5f, 1e5f, 1.5);
  HONE_COMPARE(float, cos, -1e5f, 1e5f, 1.5);
  HONE_COMPARE(float, sin, -1e30f, 1e30f, 1.5);
  HONE_COMPARE(float, cos, -1e30f, 1e30f, 1.5);
  HONE_COMPARE(float, tan, -1e5f, 1e5f, 1);
  HONE_COMPARE(float, tanh, -12.0f, 12.0f, 2);
  HONE_COMPARE(float, erf, -5.0f, 5.0f, 2);
}

TEST(HipMath, PowersFollowC) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> base(-20, 20), exponent(-40, 40);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = std::exp(base(random)), y = exponent(random);
    if (const long double right = std::pow(static_cast<long double>(x), static_cast<long double>(y)); right < 1e300L && right > 1e-300L)
      worst = std::max(worst, ulps(own::pow(x, y), right));
  }
  std::printf("  pow      %.2f\n", worst);
  EXPECT_LE(worst, 4);
  for (const double x : {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, kInf, -kInf, kNan})
    for (const double y : {0.0, -0.0, 1.0, 2.0, 3.0, -1.0, -2.0, -3.0, 0.5, -0.5, 1e300, -1e300, kInf, -kInf, kNan}) {
      EXPECT_LE(ulps(own::pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y)) > 1e308L ? static_cast<long double>(kInf) : static_cast<long double>(std::pow(x, y))), 1) << x << " ^ " << y;
      EXPECT_LE(ulps(own::atan2(x, y), std::atan2(x, y)), 2) << "atan2(" << x << ", " << y << ")";
      EXPECT_LE(ulps(own::hypot(x, y), std::isnan(std::hypot(x, y)) ? kNan : std::hypot(x, y)), 2) << "hypot(" << x << ", " << y << ")";
    }
}

TEST(HipMath, SpecialValues) {
  for (const double x : {0.0, -0.0, kInf, -kInf, kNan, 1.0, -1.0, 2.0, -2.0, 5e-324, 1.7e308, -1.7e308}) {
#define HONE_SAME(NAME, BOUND) EXPECT_LE(ulps(own::NAME(x), std::NAME(static_cast<long double>(x))), BOUND) << #NAME << " of " << x
    HONE_SAME(exp, 1); HONE_SAME(exp2, 1); HONE_SAME(expm1, 2); HONE_SAME(log, 1); HONE_SAME(log2, 1); HONE_SAME(log1p, 2);
    HONE_SAME(sin, 1); HONE_SAME(cos, 1); HONE_SAME(tan, 2); HONE_SAME(asin, 2); HONE_SAME(acos, 2); HONE_SAME(atan, 1);
    HONE_SAME(sinh, 2); HONE_SAME(cosh, 2); HONE_SAME(tanh, 2); HONE_SAME(asinh, 2); HONE_SAME(acosh, 2); HONE_SAME(atanh, 2);
    HONE_SAME(erf, 1); HONE_SAME(erfc, 2); HONE_SAME(cbrt, 1);
#undef HONE_SAME
    const float y = static_cast<float>(x);
    EXPECT_LE(ulps(own::sin(y), std::sin(static_cast<long double>(y))), 1) << y;
    EXPECT_LE(ulps(own::tanh(y), std::tanh(static_cast<long double>(y))), 1) << y;
    EXPECT_LE(ulps(own::erf(y), std::erf(static_cast<long double>(y))), 1) << y;
  }
}

}  // namespace
}  // namespace hone::target
