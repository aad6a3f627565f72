// The device header hone/cpu.h, against the C library in double precision. CMake builds this file
// once for each instruction set: as the project is built, with AVX2 and with AVX-512.
#include "hone/cpu.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace hone {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

/// Distance of `got` from `expected` in units of T's last place there. Infinity counts as the power of
/// two behind the largest number.
template <class T, class Wide>
double ulps(T got, Wide expected) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected) ? 0 : 1e30;
  const Wide limit = std::ldexp(Wide{1}, Limits::max_exponent);
  const Wide g = std::isinf(got) ? std::copysign(limit, static_cast<Wide>(got)) : static_cast<Wide>(got);
  const Wide e = std::fabs(expected) > limit ? std::copysign(limit, expected) : expected;
  if (g == e) return 0;
  const int smallest = Limits::min_exponent - Limits::digits, largest = Limits::max_exponent - Limits::digits;
  const int exponent = e == 0 ? smallest : std::clamp(std::ilogb(e) + 1 - Limits::digits, smallest, largest);
  return static_cast<double>(std::fabs(g - e) / std::ldexp(Wide{1}, exponent));
}

/// 2^20 random bit patterns, 2^20 numbers where functions bend, and the special ones.
const std::vector<float>& samples() {
  static const std::vector<float> kSamples = [] {
    std::vector<float> result = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 2.0f, kInf, -kInf, kNan, 88.72283f,
                                 88.72284f, -87.33654f, -103.97208f, -103.97209f, 0x1p-126f, 0x1p-149f,
                                 -0x1p-149f, 0x1.fffffep127f, -0x1.fffffep127f, 0x1.fffffep-127f,
                                 0x1.7ffffep0f, 0x1.8p0f, 0.9375f, 3.9375f, 0.75f, 0x1.7ffffep-1f};
    std::mt19937 random(1);
    for (int i = 0; i < 1 << 20; ++i) result.push_back(bit_cast<float>(static_cast<uint32_t>(random())));
    std::uniform_real_distribution<float> wide(-110, 110), middle(-5, 5), unit(0, 2), far(-7e4f, 7e4f);
    for (int i = 0; i < 1 << 18; ++i) {
      result.push_back(wide(random));
      result.push_back(middle(random));
      result.push_back(far(random));
      result.push_back(unit(random));
    }
    while (result.size() % lanes<float> != 0) result.push_back(0);
    return result;
  }();
  return kSamples;
}

/// Without fused multiply-add, polynomials round more often.
constexpr double kUnfused = detail::kHasFma ? 0 : 0.25;

struct Function {
  const char* name;
  f32v (*f)(f32v);
  double (*reference)(double);
  double limit;  ///< ulp, with FMA
};

template <class T>
T sigmoid_reference(T x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

#define UNARY(name, reference, limit)                           \
  Function {                                                    \
    #name, [](f32v x) { return hone::name(x); },                \
        [](double x) -> double { return reference; }, limit     \
  }

const Function kFunctions[] = {
    UNARY(exp, std::exp(x), 1.5),
    UNARY(log, std::log(x), 1.5),
    UNARY(exp2, std::exp2(x), 1.5),
    UNARY(expm1, std::expm1(x), 1.5),
    UNARY(log2, std::log2(x), 1.5),
    UNARY(log10, std::log10(x), 1.5),
    UNARY(log1p, std::log1p(x), 1.5),
    UNARY(tanh, std::tanh(x), 1.5),
    UNARY(erf, std::erf(x), 1.5),
    UNARY(sigmoid, sigmoid_reference(x), 1.5),
    UNARY(sin, std::sin(x), 1.5),
    UNARY(cos, std::cos(x), 1.5),
    UNARY(tan, std::tan(x), 1.5),
    UNARY(asin, std::asin(x), 1.5),
    UNARY(acos, std::acos(x), 1.5),
    UNARY(atan, std::atan(x), 1.5),
    UNARY(sinh, std::sinh(x), 2.5),
    UNARY(cosh, std::cosh(x), 2.5),
    UNARY(sqrt, std::sqrt(x), 0.5),
    UNARY(rsqrt, 1 / std::sqrt(x), 1.5),
    UNARY(reciprocal, 1 / x, 0.5),
    UNARY(floor, std::floor(x), 0),
    UNARY(ceil, std::ceil(x), 0),
    UNARY(trunc, std::trunc(x), 0),
    UNARY(round, std::nearbyint(x), 0),
    UNARY(abs, std::fabs(x), 0),
    UNARY(sign, x > 0 ? 1.0 : x < 0 ? -1.0 : x, 0),
};
#undef UNARY

TEST(CpuHeader, FunctionsAreAccurateOverAllFloats) {
  for (const Function& function : kFunctions) {
    double worst = 0;
    float where = 0, got = 0;
    const std::vector<float>& x = samples();
    for (size_t i = 0; i < x.size(); i += lanes<float>) {
      const f32v y = function.f(load<f32v>(&x[i]));
      for (int k = 0; k < lanes<float>; ++k) {
        const double error = ulps<float, double>(y[k], function.reference(x[i + k]));
        if (error > worst) worst = error, where = x[i + k], got = y[k];
      }
    }
    std::printf("  %-10s %.3f ulp at most, at %a\n", function.name, worst, static_cast<double>(where));
    EXPECT_LE(worst, function.limit + kUnfused) << function.name << "(" << where << ") = " << got << ", not "
                                     << function.reference(where);
  }
}

TEST(CpuHeader, PowerIsAccurate) {
  const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f,  -2.0f,   3.0f,       0.5f,  -0.5f,  -3.0f,
                           kInf, -kInf, kNan, 2.5f,  -2.5f, 0x1p24f, -0x1p-149f, 1e30f, -1e30f, 0x1.fffffep23f};
  std::vector<float> x, y;
  for (const float a : special)
    for (const float b : special) x.push_back(a), y.push_back(b);
  std::mt19937 random(2);
  std::uniform_real_distribution<float> base(0, 4), exponent(-30, 30);
  for (int i = 0; i < 1 << 18; ++i) {
    x.push_back(base(random)), y.push_back(exponent(random));
    x.push_back(bit_cast<float>(static_cast<uint32_t>(random()))), y.push_back(exponent(random) / 8);
    x.push_back(-base(random)), y.push_back(std::trunc(exponent(random)));
  }
  while (x.size() % lanes<float> != 0) x.push_back(1), y.push_back(1);
  double worst = 0;
  for (size_t i = 0; i < x.size(); i += lanes<float>) {
    const f32v z = hone::pow(load<f32v>(&x[i]), load<f32v>(&y[i]));
    for (int k = 0; k < lanes<float>; ++k) {
      const double expected = std::pow(static_cast<double>(x[i + k]), static_cast<double>(y[i + k]));
      const double error = ulps<float, double>(z[k], expected);
      EXPECT_LE(error, 0.6) << x[i + k] << " to the power of " << y[i + k] << " gave " << z[k];
      if (expected == 0) {
        EXPECT_EQ(std::signbit(z[k]), std::signbit(expected)) << x[i + k] << " " << y[i + k];
      }
      worst = std::max(worst, error);
    }
  }
  std::printf("  %-10s %.3f ulp at most\n", "pow", worst);
  EXPECT_EQ(hone::pow(splat<f32v>(2), 3.0f)[0], 8.0f);
  EXPECT_EQ(hone::pow(2.0f, splat<f32v>(3))[0], 8.0f);
  EXPECT_EQ(hone::pow(splat<f64v>(2), 3.0)[0], 8.0);
  EXPECT_EQ(hone::atan2(splat<f32v>(1), -0.0f)[0], std::atan2(1.0f, -0.0f));
}

struct DoubleFunction {
  const char* name;
  f64v (*f)(f64v);
  long double (*reference)(long double);
  double limit;  ///< ulp, with FMA
};
#define UNARY(name, reference, limit)                                \
  DoubleFunction {                                                   \
    #name, [](f64v x) { return hone::name(x); },                     \
        [](long double x) -> long double { return reference; }, limit \
  }
const DoubleFunction kDoubleFunctions[] = {
    UNARY(exp, std::exp(x), 1.5),
    UNARY(log, std::log(x), 1.5),
    UNARY(tanh, std::tanh(x), 3),
    UNARY(sigmoid, sigmoid_reference(x), 3),
    UNARY(sqrt, std::sqrt(x), 0.501),
    UNARY(sin, std::sin(x), 1),
    UNARY(floor, std::floor(x), 0),
    UNARY(round, std::nearbyint(x), 0),
};
#undef UNARY

TEST(CpuHeader, DoubleFunctionsAreAccurate) {
  std::vector<double> x = {0.0,  -0.0, 1.0,  -1.0, 709.782712893384,   709.782712893385,   0x1p-1022,
                           kInf, -kInf, kNan, 0.75, -745.1332191019411, -745.1332191019412, 0x1p-1074,
                           1.5,  0x1.fffffffffffffp1023};
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> wide(-750, 750), unit(0, 2), middle(-20, 20);
  for (int i = 0; i < 1 << 16; ++i) {
    x.push_back(bit_cast<double>(static_cast<uint64_t>(random())));
    x.push_back(wide(random)), x.push_back(middle(random)), x.push_back(unit(random));
  }
  for (const DoubleFunction& function : kDoubleFunctions) {
    double worst = 0, where = 0, got = 0;
    for (size_t i = 0; i < x.size(); i += lanes<double>) {
      const f64v y = function.f(load<f64v>(&x[i]));
      for (int k = 0; k < lanes<double>; ++k) {
        const double error = ulps<double, long double>(y[k], function.reference(x[i + k]));
        if (error > worst) worst = error, where = x[i + k], got = y[k];
      }
    }
    std::printf("  %-10s %.3f ulp at most (double), at %a\n", function.name, worst, where);
    EXPECT_LE(worst, function.limit) << function.name << "(" << where << ") = " << got;
  }
}

TEST(CpuHeader, SignOfZeroSurvives) {
  for (const Function& function : kFunctions) {
    if (function.reference(-0.0) != 0) continue;
    const f32v y = function.f(splat<f32v>(-0.0f));
    EXPECT_EQ(std::signbit(y[0]), std::signbit(function.reference(-0.0))) << function.name;
  }
}

TEST(CpuHeader, ScalarsAndDoublesFollowTheSameText) {
  const double x = 0.625;
  EXPECT_EQ(hone::exp(x), std::exp(x));
  EXPECT_EQ(hone::log(0.625f), std::log(0.625f));
  EXPECT_EQ(hone::tanh(splat<f64v>(x))[1], std::tanh(x));
  EXPECT_EQ(hone::erf(splat<f64v>(x))[0], std::erf(x));
  EXPECT_EQ(hone::floor(splat<f64v>(-1.5))[1], -2);
  EXPECT_EQ(hone::select(x > 0, 1.0f, 2.0f), 1.0f);
  EXPECT_EQ(hone::select(splat<f32v>(1) > 0, splat<f32v>(3), 2.0f)[0], 3.0f);
  EXPECT_EQ(hone::max(int64_t{3}, 5), 5);
  EXPECT_EQ(hone::max(0.5f, 0.25), 0.5);
  EXPECT_EQ(hone::min(splat<i32v>(7), 5)[0], 5);
  EXPECT_EQ(hone::abs(splat<i64v>(-7))[1], 7);
  EXPECT_EQ(hone::copysign(2.0f, -1.0f), -2.0f);
  EXPECT_EQ(hone::fma(splat<f32v>(2), 3.0f, 1.0f)[0], 7.0f);
  EXPECT_EQ(hone::round(2.5f), 2.0f);
  EXPECT_EQ(hone::sum(2.5f), 2.5f);
  EXPECT_EQ(hone::sigmoid(0.0f), 0.5f);
  EXPECT_EQ(hone::pow(2.0, 3.0), 8.0);
  EXPECT_EQ(hone::clamp(5.0f, 0.0f, 1.0f), 1.0f);
  EXPECT_TRUE(std::isnan(hone::clamp(splat<f32v>(kNan), 0.0f, 1.0f)[0]));
  EXPECT_TRUE(hone::is_inf(kInf) && !hone::is_finite(kInf) && hone::is_nan(kNan));
  EXPECT_TRUE(hone::any(x > 0) && !hone::all(x > 1));
  EXPECT_EQ(load<float>(&kInf), kInf);
  EXPECT_EQ(iota<i32v>()[3], 3);
}

template <class V>
void expect_nan_propagates() {
  using T = Lane<V>;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T values[] = {nan, -1, 0, 2, std::numeric_limits<T>::infinity()};
  for (const T a : values)
    for (const T b : values) {
      const T high = hone::max(widen<V>(a), widen<V>(b))[0], low = hone::min(widen<V>(a), widen<V>(b))[0];
      EXPECT_EQ(std::isnan(hone::max(a, b)), std::isnan(a) || std::isnan(b));
      if (std::isnan(a) || std::isnan(b)) {
        EXPECT_TRUE(std::isnan(high) && std::isnan(low)) << a << " " << b;
      } else {
        EXPECT_EQ(high, std::max(a, b));
        EXPECT_EQ(low, std::min(a, b));
        EXPECT_EQ(max_num(widen<V>(a), widen<V>(b))[0], std::max(a, b));
        EXPECT_EQ(min_num(widen<V>(a), widen<V>(b))[0], std::min(a, b));
      }
    }
  for (int lane = 0; lane < width<V>; ++lane) {
    V v = iota<V>();
    v[lane] = nan;
    EXPECT_TRUE(std::isnan(max_of(v)) && std::isnan(min_of(v)) && std::isnan(sum(v))) << lane;
    EXPECT_TRUE(any(is_nan(v)));
    EXPECT_FALSE(all(is_nan(v)));
    EXPECT_EQ(mask_bits(is_nan(v)), 1u << lane);
  }
}

TEST(CpuHeader, MaxAndMinPropagateNan) {
  expect_nan_propagates<f32v>();
  expect_nan_propagates<f64v>();
}

template <class V>
void expect_reductions() {
  const V v = iota<V>() + 1;
  const int n = width<V>;
  double product = 1;
  for (int i = 1; i <= n; ++i) product *= i;
  EXPECT_EQ(sum(v), static_cast<Lane<V>>(n * (n + 1) / 2));
  EXPECT_EQ(max_of(v), static_cast<Lane<V>>(n));
  EXPECT_EQ(min_of(v), static_cast<Lane<V>>(1));
  if (product < 0x1p24) { EXPECT_EQ(prod(v), static_cast<Lane<V>>(product)); }
  EXPECT_TRUE(all(v > 0));
  EXPECT_FALSE(any(v > static_cast<Lane<V>>(n)));
}

TEST(CpuHeader, Reductions) {
  expect_reductions<f32v>();
  expect_reductions<f64v>();
  expect_reductions<i32v>();
  expect_reductions<i64v>();
}

/// Two pages; the second one cannot be touched.
class GuardedPage {
 public:
  GuardedPage() : bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* p = mmap(nullptr, 2 * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<char*>(p);
    mprotect(base_ + bytes_, bytes_, PROT_NONE);
  }
  ~GuardedPage() { munmap(base_, 2 * bytes_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  /// The last n elements before the guard.
  template <class T>
  T* last(int n) { return reinterpret_cast<T*>(base_ + bytes_) - n; }

 private:
  size_t bytes_;
  char* base_;
};

template <class V, class T>
void expect_memory_round_trip() {
  GuardedPage page;
  const int n = width<V>;
  const auto value = [](int i) {
    if (std::is_same_v<T, bool>) return static_cast<Lane<V>>(i % 3 != 0);
    return static_cast<Lane<V>>(i % 2 == 0 && !std::is_unsigned_v<T> ? -i : i + 1);
  };
  for (int count = 0; count <= n; ++count) {
    T* p = page.last<T>(count);
    *(p - 1) = static_cast<T>(static_cast<Lane<V>>(1));
    V v{};
    for (int i = 0; i < n; ++i) v[i] = value(i);
    store_n(p, v, count);
    EXPECT_EQ(static_cast<Lane<V>>(*(p - 1)), 1) << "store_n wrote before its first element";
    const V zero = load_n<V>(p, count), filled = load_n<V>(p, count, 9);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(zero[i], i < count ? value(i) : 0) << i << " of " << count;
      EXPECT_EQ(filled[i], i < count ? value(i) : 9) << i << " of " << count;
    }
  }
  T* p = page.last<T>(n);
  std::memset(static_cast<void*>(p), 0, n * sizeof(T));
  V v{};
  for (int i = 0; i < n; ++i) v[i] = value(i);
  store(p, v);
  EXPECT_TRUE(all(load<V>(p) == v));
  EXPECT_TRUE(all(load_n<V>(p, All{}) == v) && all(load_n<V>(p, All{}, 9) == v)) << "loop bodies hand on whichever n they get";
  store_n(p, v + v, n / 2);
  if (!std::is_same_v<T, bool>) {
    EXPECT_EQ(static_cast<Lane<V>>(p[n - 1]), value(n - 1)) << "store_n wrote past n";
  }
  std::memset(static_cast<void*>(p), 0, n * sizeof(T));
  stream(p, v);  // a vector's bytes before the end of a page: aligned
  stream_fence();
  EXPECT_TRUE(all(load<V>(p) == v));
}

TEST(CpuHeader, LoadsAndStoresOfEveryStorageTypeStayInside) {
  expect_memory_round_trip<f32v, float>();
  expect_memory_round_trip<f32v, bf16>();
  expect_memory_round_trip<f32v, f16>();
  expect_memory_round_trip<f32v, f8e4m3>();
  expect_memory_round_trip<f32v, f8e5m2>();
  expect_memory_round_trip<f32v, int8_t>();
  expect_memory_round_trip<f32v, uint8_t>();
  expect_memory_round_trip<f32v, int16_t>();
  expect_memory_round_trip<f32v, int32_t>();
  expect_memory_round_trip<f32v, int64_t>();
  expect_memory_round_trip<f32v, double>();
  expect_memory_round_trip<f32v, bool>();
  expect_memory_round_trip<f64v, double>();
  expect_memory_round_trip<f64v, float>();
  expect_memory_round_trip<f64v, int8_t>();
  expect_memory_round_trip<f64v, int64_t>();
  expect_memory_round_trip<f64v, bool>();
  expect_memory_round_trip<i32v, int32_t>();
  expect_memory_round_trip<i32v, int8_t>();
  expect_memory_round_trip<i32v, uint8_t>();
  expect_memory_round_trip<i32v, int16_t>();
  expect_memory_round_trip<i32v, bool>();
  expect_memory_round_trip<i32v, bf16>();
  expect_memory_round_trip<i32v, f16>();
  expect_memory_round_trip<i64v, int64_t>();
  expect_memory_round_trip<i64v, int32_t>();
  expect_memory_round_trip<i64v, int8_t>();
  expect_memory_round_trip<i64v, bool>();
}

TEST(CpuHeader, MasksStoreAsBool) {
  bool out[lanes<float>];
  store(out, iota<f32v>() > 1);
  for (int i = 0; i < lanes<float>; ++i) EXPECT_EQ(out[i], i > 1);
}

/// The nearest value of a 16-bit format, found among all finite ones; infinity from `overflow` on.
template <class H>
class Nearest {
 public:
  Nearest() {
    for (uint32_t b = 0; b < 0x8000; ++b) {
      H h;
      h.bits = static_cast<uint16_t>(b);
      if (std::isinf(static_cast<float>(h))) break;
      values_.push_back(static_cast<float>(h));
    }
  }
  uint16_t operator()(float x) const {
    const double a = std::fabs(static_cast<double>(x));
    const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    auto above = std::upper_bound(values_.begin(), values_.end(), a);
    const size_t i = static_cast<size_t>(above - values_.begin()) - 1;
    const double next = i + 1 < values_.size() ? values_[i + 1] : 2 * values_[i] - values_[i - 1];
    const double middle = (values_[i] + next) / 2;
    const bool up = a > middle || (a == middle && i % 2 == 1);
    return static_cast<uint16_t>(sign | (i + up));
  }

 private:
  std::vector<double> values_;
};

template <class H>
void expect_half_conversions() {
  for (uint32_t b = 0; b < 0x10000; b += lanes<float>) {
    H in[lanes<float>], out[lanes<float>];
    for (int i = 0; i < lanes<float>; ++i) in[i].bits = static_cast<uint16_t>(b + i);
    const f32v x = load<f32v>(in);
    store(out, x);
    for (int i = 0; i < lanes<float>; ++i) {
      const float scalar = in[i];
      EXPECT_EQ(std::isnan(scalar), std::isnan(x[i]));
      if (std::isnan(scalar)) {
        EXPECT_TRUE(std::isnan(static_cast<float>(out[i]))) << in[i].bits;
        EXPECT_TRUE(std::isnan(static_cast<float>(H(scalar)))) << in[i].bits;
      } else {
        EXPECT_EQ(bit_cast<uint32_t>(scalar), bit_cast<uint32_t>(static_cast<float>(x[i]))) << in[i].bits;
        EXPECT_EQ(out[i].bits, in[i].bits);
        EXPECT_EQ(H(scalar).bits, in[i].bits);
      }
    }
  }
  const Nearest<H> nearest;
  const std::vector<float>& x = samples();
  const size_t stride = lanes<float> * 5;
  for (size_t i = 0; i + lanes<float> <= x.size(); i += stride) {
    // Beside the samples as they are, the same ones moved into f16's range and onto its midpoints.
    for (const float factor : {1.0f, 0x1p-4f}) {
      f32v v = load<f32v>(&x[i]) * factor;
      if (factor != 1) v = bit_cast<f32v>(bit_cast<i32v>(v) & ~0xfff);
      H out[lanes<float>];
      store(out, v);
      for (int k = 0; k < lanes<float>; ++k) {
        const float value = v[k];
        if (std::isnan(value)) continue;
        ASSERT_EQ(out[k].bits, nearest(value)) << std::hexfloat << value;
        ASSERT_EQ(H(value).bits, nearest(value)) << std::hexfloat << value;
      }
    }
  }
}

TEST(CpuHeader, Bfloat16) {
  expect_half_conversions<bf16>();
  bf16 one;
  one.bits = 0x3f80;
  EXPECT_EQ(static_cast<float>(one), 1.0f);
}
TEST(CpuHeader, Float16) {
  expect_half_conversions<f16>();
  f16 third(1.0f / 3);
  EXPECT_EQ(third.bits, 0x3555);
  EXPECT_EQ(f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(f16(65519.0f).bits, 0x7bff);
}

/// Against the definition: of all numbers of the type the nearest, the even one of two; beyond them the largest.
template <class T>
void expect_byte_conversions() {
  constexpr int kMantissa = T::Format::kMantissa, kBias = T::Format::kBias, kNotFinite = T::Format::kNotFinite;
  std::vector<double> values;
  for (int b = 0; b < kNotFinite; ++b)
    values.push_back(b >> kMantissa ? std::ldexp((1 << kMantissa) + b % (1 << kMantissa), (b >> kMantissa) - kBias - kMantissa)
                                    : std::ldexp(b, 1 - kBias - kMantissa));
  for (int b = 0; b < 256; ++b) {
    T x;
    x.bits = static_cast<uint8_t>(b);
    const int magnitude = b & 0x7f;
    const float value = x;
    if (magnitude < kNotFinite) {
      ASSERT_EQ(value, (b & 0x80 ? -1 : 1) * values[magnitude]) << b;
      ASSERT_EQ(T(value).bits, b);
    } else {
      ASSERT_EQ(std::isinf(value), kMantissa == 2 && magnitude == 0x7c);
      ASSERT_EQ(T(value).bits & 0x7f, std::isinf(value) ? 0x7b : 0x7f);
    }
  }
  const auto nearest = [&](float x) {
    const double magnitude = std::fabs(static_cast<double>(x));
    size_t above = std::lower_bound(values.begin(), values.end(), magnitude) - values.begin();
    if (above == values.size()) --above;
    else if (above > 0) {
      const double middle = (values[above] + values[above - 1]) / 2;
      above -= magnitude < middle || (magnitude == middle && above % 2 == 1);
    }
    return static_cast<uint8_t>(above | (std::signbit(x) ? 0x80 : 0));
  };
  const std::vector<float>& x = samples();
  for (size_t i = 0; i + lanes<float> <= x.size(); i += lanes<float> * 3)
    for (const float factor : {1.0f, 0x1p-4f, 0x1p3f}) {
      f32v v = load<f32v>(&x[i]) * factor;
      if (factor != 1) v = bit_cast<f32v>(bit_cast<i32v>(v) & ~0x7ffff);   // onto midpoints
      T out[lanes<float>];
      store(out, v);
      for (int k = 0; k < lanes<float>; ++k) {
        if (std::isnan(v[k])) continue;
        ASSERT_EQ(out[k].bits, nearest(v[k])) << std::hexfloat << v[k];
        ASSERT_EQ(T(static_cast<float>(v[k])).bits, nearest(v[k])) << std::hexfloat << v[k];
      }
    }
}

TEST(CpuHeader, FloatsOfOneByte) {
  expect_byte_conversions<f8e4m3>();
  expect_byte_conversions<f8e5m2>();
}

TEST(CpuHeader, IndexArithmetic) {
  for (int64_t a = -20; a <= 20; ++a)
    for (int64_t b = 1; b <= 7; ++b) {
      const double quotient = static_cast<double>(a) / static_cast<double>(b);
      EXPECT_EQ(floor_div(a, b), static_cast<int64_t>(std::floor(quotient)));
      EXPECT_EQ(ceil_div(a, b), static_cast<int64_t>(std::ceil(quotient)));
      EXPECT_EQ(floor_mod(a, b), a - b * floor_div(a, b));
      EXPECT_EQ(align(a, b), ceil_div(a, b) * b);
    }
  EXPECT_EQ(align(1, 64), 64);
}

TEST(CpuHeader, dividing_by_one_number_is_as_good_as_dividing) {
  std::vector<double> divisors = {1, 3, -7, 1.0 / 3, 4096, 0x1p100, 0x1.8p-100, -0x1.5p99, 0x1p-149, 1e-40, 3e38, 0, -0.0,
                                  kInf, -kInf, kNan, 0.1, 1e300};
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i)
    divisors.push_back(std::ldexp(std::uniform_real_distribution<double>(1, 2)(random), static_cast<int>(random() % 190) - 95));
  const auto& all = samples();
  double worst = 0;
  for (const double d : divisors) {
    const Divisor<f32v> divisor(d);
    const double exact = std::abs(d) >= 0x1p-99 && std::abs(d) <= 0x1p99 ? d : static_cast<double>(static_cast<float>(d));
    for (size_t i = 0; i + lanes<float> <= all.size() && i < (1 << 16); i += lanes<float>) {
      const f32v got = load<f32v>(&all[i]) / divisor;
      for (int lane = 0; lane < lanes<float>; ++lane) {
        const double a = all[i + static_cast<size_t>(lane)];
        const double off = ulps(got[lane], a / exact);
        worst = std::max(worst, off);
        // Where the quotient is next to denormal, a * low is too small to count.
        const double limit = std::abs(a / exact) < 0x1p-100 ? 1.5 : 0.51 + 2 * kUnfused;
        ASSERT_LE(off, limit) << a << " / " << d << " gave " << got[lane];
        ASSERT_TRUE(a != 0 || d == 0 || std::signbit(got[lane]) == std::signbit(a / exact)) << a << " / " << d;
      }
    }
  }
  std::printf("  worst %.4f ulp\n", worst);
}

}  // namespace
}  // namespace hone
