#include "hone/target/ttir/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace hone::target::ttir {
namespace {

struct One {
  std::string_view name;
  OfOne function;
};
struct Two {
  std::string_view name;
  OfTwo function;
};

double rsqrt(double x) { return 1 / std::sqrt(x); }
double round_away(double x) { return std::round(x); }
double round_even(double x) { return std::nearbyint(x); }
double normcdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// Newton's method on the logarithm of erfc, which is concave: from 0 it goes beyond the root once and then comes down to it.
double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? std::numeric_limits<double>::infinity() : y == 2 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (y > 1) return -erfcinv(2 - y);
  double x = 0;
  for (int i = 0; i < 100; ++i) {
    const double here = std::erfc(x), slope = -2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
    const double step = (std::log(here) - std::log(y)) * here / slope;
    x = std::min(x - step, 26.0);
    if (std::fabs(step) <= 1e-16 * std::fabs(x)) break;
  }
  return x;
}
double erfinv(double x) {
  if (std::fabs(x) >= 0.5 || std::isnan(x)) return x < 0 ? -erfcinv(1 + x) : erfcinv(1 - x);
  double y = x * std::sqrt(std::numbers::pi) / 2;
  for (int i = 0; i < 20; ++i) y -= (std::erf(y) - x) / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
  return y;
}
double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double r = 1 / (2 * x * x);
  return std::numbers::inv_sqrtpi / x * (1 - r * (1 - 3 * r * (1 - 5 * r)));
}
/// Of x half turns; exact where x is a multiple of 1/2.
double cospi(double x) {
  const double y = std::fabs(std::remainder(x, 2.0));
  return y == 0.5 ? 0 : std::cos(y * std::numbers::pi);
}
double sinpi(double x) {
  const double y = std::remainder(x, 2.0);
  return y == 1 || y == -1 ? std::copysign(0.0, x) : std::sin(y * std::numbers::pi);
}

// libdevice's names are without "__nv_" and the f of single precision.
constexpr One kOfOne[] = {
    {"exp", [](double x) { return std::exp(x); }},       {"exp2", [](double x) { return std::exp2(x); }},     {"exp10", [](double x) { return std::pow(10.0, x); }},
    {"expm1", [](double x) { return std::expm1(x); }},   {"log", [](double x) { return std::log(x); }},       {"log2", [](double x) { return std::log2(x); }},
    {"log10", [](double x) { return std::log10(x); }},   {"log1p", [](double x) { return std::log1p(x); }},   {"sqrt", [](double x) { return std::sqrt(x); }},
    {"sqrt_rn", [](double x) { return std::sqrt(x); }},  {"fsqrt_rn", [](double x) { return std::sqrt(x); }}, {"dsqrt_rn", [](double x) { return std::sqrt(x); }},
    {"rsqrt", rsqrt},                                    {"cbrt", [](double x) { return std::cbrt(x); }},     {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},       {"tan", [](double x) { return std::tan(x); }},       {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},     {"atan", [](double x) { return std::atan(x); }},     {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},     {"tanh", [](double x) { return std::tanh(x); }},     {"asinh", [](double x) { return std::asinh(x); }},
    {"acosh", [](double x) { return std::acosh(x); }},   {"atanh", [](double x) { return std::atanh(x); }},   {"erf", [](double x) { return std::erf(x); }},
    {"erfc", [](double x) { return std::erfc(x); }},     {"lgamma", [](double x) { return std::lgamma(x); }}, {"tgamma", [](double x) { return std::tgamma(x); }},
    {"floor", [](double x) { return std::floor(x); }},   {"ceil", [](double x) { return std::ceil(x); }},     {"trunc", [](double x) { return std::trunc(x); }},
    {"round", round_away},                               {"rint", round_even},                                {"nearbyint", round_even},
    {"roundeven", round_even},                           {"fabs", [](double x) { return std::fabs(x); }},     {"absf", [](double x) { return std::fabs(x); }},
    {"frcp_rn", [](double x) { return 1 / x; }},         {"fast_exp", [](double x) { return std::exp(x); }},  {"fast_log", [](double x) { return std::log(x); }},
    {"erfinv", erfinv},                                  {"erfcinv", erfcinv},                                {"erfcx", erfcx},
    {"normcdf", normcdf},                                {"normcdfinv", [](double x) { return -std::numbers::sqrt2 * erfcinv(2 * x); }}, {"sinpi", sinpi}, {"cospi", cospi},
    {"rcbrt", [](double x) { return 1 / std::cbrt(x); }}, {"saturate", [](double x) { return x > 0 ? std::min(x, 1.0) : 0.0; }}, {"logb", [](double x) { return std::logb(x); }},
    {"j0", [](double x) { return ::j0(x); }},            {"j1", [](double x) { return ::j1(x); }},            {"y0", [](double x) { return ::y0(x); }},
    {"y1", [](double x) { return ::y1(x); }},            {"frsqrt_rn", rsqrt},                                {"drcp_rn", [](double x) { return 1 / x; }},
    {"fast_exp10", [](double x) { return std::pow(10.0, x); }}, {"fast_log2", [](double x) { return std::log2(x); }}, {"fast_log10", [](double x) { return std::log10(x); }},
    {"fast_tanh", [](double x) { return std::tanh(x); }}, {"fast_sin", [](double x) { return std::sin(x); }}, {"fast_cos", [](double x) { return std::cos(x); }},
};

constexpr Two kOfTwo[] = {
    {"pow", [](double a, double b) { return std::pow(a, b); }},       {"fast_pow", [](double a, double b) { return std::pow(a, b); }},
    {"atan2", [](double a, double b) { return std::atan2(a, b); }},   {"fmod", [](double a, double b) { return std::fmod(a, b); }},
    {"hypot", [](double a, double b) { return std::hypot(a, b); }},   {"copysign", [](double a, double b) { return std::copysign(a, b); }},
    {"fdiv_rn", [](double a, double b) { return a / b; }},            {"ddiv_rn", [](double a, double b) { return a / b; }},
    {"fast_fdivide", [](double a, double b) { return a / b; }},       {"fdim", [](double a, double b) { return std::fdim(a, b); }},
    {"remainder", [](double a, double b) { return std::remainder(a, b); }}, {"fadd_rn", [](double a, double b) { return a + b; }},
    {"dadd_rn", [](double a, double b) { return a + b; }},            {"dsub_rn", [](double a, double b) { return a - b; }},
    {"dmul_rn", [](double a, double b) { return a * b; }},            {"rhypot", [](double a, double b) { return 1 / std::hypot(a, b); }},
    {"fsub_rn", [](double a, double b) { return a - b; }},            {"fmul_rn", [](double a, double b) { return a * b; }},
};

using U32 = uint32_t;
using U64 = uint64_t;
int64_t high_of(__int128 product, int bits) { return static_cast<int64_t>(product >> bits); }
int64_t mean_of(int64_t a, int64_t b, bool up) { return (a >> 1) + (b >> 1) + (up ? (a | b) & 1 : a & b & 1); }
int64_t reversed(U64 x, int bits) {
  U64 out = 0;
  for (int i = 0; i < bits; ++i) out |= (x >> i & 1) << (bits - 1 - i);
  return static_cast<int64_t>(out);
}
int64_t bytes_of(int64_t a, int64_t b, int64_t select) {
  const U64 all = static_cast<U64>(static_cast<U32>(b)) << 32 | static_cast<U32>(a);
  U64 out = 0;
  for (int i = 0; i < 4; ++i) {
    const auto nibble = static_cast<U64>(select) >> (4 * i) & 15;
    const U64 byte = all >> (8 * (nibble & 7)) & 255;
    out |= (nibble & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
  }
  return static_cast<int64_t>(out);
}
constexpr int64_t low24(int64_t x) { return static_cast<int64_t>(static_cast<U64>(x) << 40) >> 40; }

struct Whole {
  std::string_view name;
  OfIntegers function;
};
// Of integers, each in a lane with its sign extended; what comes out is wrapped to the result's type.
constexpr Whole kOfIntegers[] = {
    {"clz", [](int64_t a, int64_t, int64_t) -> int64_t { return std::countl_zero(static_cast<U32>(a)); }}, {"clzll", [](int64_t a, int64_t, int64_t) -> int64_t { return std::countl_zero(static_cast<U64>(a)); }},
    {"popc", [](int64_t a, int64_t, int64_t) -> int64_t { return std::popcount(static_cast<U32>(a)); }},   {"popcll", [](int64_t a, int64_t, int64_t) -> int64_t { return std::popcount(static_cast<U64>(a)); }},
    {"ffs", [](int64_t a, int64_t, int64_t) -> int64_t { return __builtin_ffs(static_cast<int>(a)); }},    {"ffsll", [](int64_t a, int64_t, int64_t) -> int64_t { return __builtin_ffsll(a); }},
    {"brev", [](int64_t a, int64_t, int64_t) { return reversed(static_cast<U64>(a), 32); }},               {"brevll", [](int64_t a, int64_t, int64_t) { return reversed(static_cast<U64>(a), 64); }},
    {"abs", [](int64_t a, int64_t, int64_t) { return a < 0 ? static_cast<int64_t>(-static_cast<U64>(a)) : a; }},
    {"llabs", [](int64_t a, int64_t, int64_t) { return a < 0 ? static_cast<int64_t>(-static_cast<U64>(a)) : a; }},
    {"mulhi", [](int64_t a, int64_t b, int64_t) { return (a * b) >> 32; }},                                {"umulhi", [](int64_t a, int64_t b, int64_t) { return static_cast<int64_t>(U64{static_cast<U32>(a)} * static_cast<U32>(b) >> 32); }},
    {"mul64hi", [](int64_t a, int64_t b, int64_t) { return high_of(static_cast<__int128>(a) * b, 64); }},
    {"umul64hi", [](int64_t a, int64_t b, int64_t) { return static_cast<int64_t>(static_cast<unsigned __int128>(static_cast<U64>(a)) * static_cast<U64>(b) >> 64); }},
    {"mul24", [](int64_t a, int64_t b, int64_t) { return low24(a) * low24(b); }},                          {"umul24", [](int64_t a, int64_t b, int64_t) { return (a & 0xffffff) * (b & 0xffffff); }},
    {"hadd", [](int64_t a, int64_t b, int64_t) { return mean_of(a, b, false); }},                          {"rhadd", [](int64_t a, int64_t b, int64_t) { return mean_of(a, b, true); }},
    {"uhadd", [](int64_t a, int64_t b, int64_t) { return mean_of(a & 0xffffffff, b & 0xffffffff, false); }}, {"urhadd", [](int64_t a, int64_t b, int64_t) { return mean_of(a & 0xffffffff, b & 0xffffffff, true); }},
    {"sad", [](int64_t a, int64_t b, int64_t c) { return (a < b ? b - a : a - b) + c; }},
    {"usad", [](int64_t a, int64_t b, int64_t c) { return std::max(a & 0xffffffff, b & 0xffffffff) - std::min(a & 0xffffffff, b & 0xffffffff) + c; }},
    {"byte_perm", bytes_of},
};

struct Mixed {
  std::string_view name;
  OfMixed function;
};
constexpr Mixed kOfMixed[] = {
    {"ldexp", [](double a, int64_t n) { return std::ldexp(a, static_cast<int>(n)); }}, {"scalbn", [](double a, int64_t n) { return std::scalbn(a, static_cast<int>(n)); }},
    {"powi", [](double a, int64_t n) { return std::pow(a, static_cast<double>(n)); }}, {"jn", [](double a, int64_t n) { return ::jn(static_cast<int>(n), a); }},
    {"yn", [](double a, int64_t n) { return ::yn(static_cast<int>(n), a); }},
};

struct Counted {
  std::string_view name;
  ToInteger function;
};
int64_t whole(double x, bool to_unsigned, int bits) {
  if (std::isnan(x)) return 0;
  const double least = to_unsigned ? 0 : -std::ldexp(1.0, bits - 1), most = std::ldexp(1.0, to_unsigned ? bits : bits - 1);
  if (x <= least) return to_unsigned ? 0 : bits == 64 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(least);
  if (x >= most) return to_unsigned ? -1 : bits == 64 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(most) - 1;
  return to_unsigned ? static_cast<int64_t>(static_cast<U64>(x)) : static_cast<int64_t>(x);
}
constexpr Counted kToInteger[] = {
    {"llrint", [](double x) { return whole(round_even(x), false, 64); }}, {"llround", [](double x) { return whole(std::round(x), false, 64); }},
    {"ilogb", [](double x) -> int64_t { return x == 0 || std::isnan(x) ? std::numeric_limits<int32_t>::min() : std::isinf(x) ? std::numeric_limits<int32_t>::max() : std::ilogb(x); }},
    {"signbit", [](double x) -> int64_t { return std::signbit(x); }},       {"signbitd", [](double x) -> int64_t { return std::signbit(x); }},
    {"isnan", [](double x) -> int64_t { return std::isnan(x); }},           {"isnand", [](double x) -> int64_t { return std::isnan(x); }},
    {"isinf", [](double x) -> int64_t { return std::isinf(x); }},           {"isinfd", [](double x) -> int64_t { return std::isinf(x); }},
    {"finite", [](double x) -> int64_t { return std::isfinite(x); }},       {"isfinited", [](double x) -> int64_t { return std::isfinite(x); }},
};

// Behind "__nv_float2" and "__nv_double2": to what, and how it is rounded.
constexpr Counted kRounded[] = {
    {"int_rn", [](double x) { return whole(round_even(x), false, 32); }},   {"int_rz", [](double x) { return whole(std::trunc(x), false, 32); }},
    {"int_rd", [](double x) { return whole(std::floor(x), false, 32); }},    {"int_ru", [](double x) { return whole(std::ceil(x), false, 32); }},
    {"uint_rn", [](double x) { return whole(round_even(x), true, 32); }},    {"uint_rz", [](double x) { return whole(std::trunc(x), true, 32); }},
    {"uint_rd", [](double x) { return whole(std::floor(x), true, 32); }},    {"uint_ru", [](double x) { return whole(std::ceil(x), true, 32); }},
    {"ll_rn", [](double x) { return whole(round_even(x), false, 64); }},     {"ll_rz", [](double x) { return whole(std::trunc(x), false, 64); }},
    {"ll_rd", [](double x) { return whole(std::floor(x), false, 64); }},     {"ll_ru", [](double x) { return whole(std::ceil(x), false, 64); }},
    {"ull_rn", [](double x) { return whole(round_even(x), true, 64); }},     {"ull_rz", [](double x) { return whole(std::trunc(x), true, 64); }},
    {"ull_rd", [](double x) { return whole(std::floor(x), true, 64); }},     {"ull_ru", [](double x) { return whole(std::ceil(x), true, 64); }},
};

template <typename Row, size_t N>
auto found(const Row (&rows)[N], std::string_view name) -> decltype(rows[0].function) {
  for (const Row& row : rows)
    if (row.name == name) return row.function;
  return nullptr;
}

template <typename Row, size_t N>
auto of(const Row (&rows)[N], std::string_view name) -> decltype(rows[0].function) {
  if (name.starts_with("math.")) return found(rows, name.substr(5));
  if (!name.starts_with("__nv_")) return nullptr;
  name.remove_prefix(5);
  if (const auto exact = found(rows, name)) return exact;
  return name.ends_with('f') ? found(rows, name.substr(0, name.size() - 1)) : nullptr;
}

}  // namespace

OfOne function_of_one(std::string_view name) { return of(kOfOne, name); }
OfTwo function_of_two(std::string_view name) { return of(kOfTwo, name); }
OfIntegers function_of_integers(std::string_view name) { return name.starts_with("__nv_") ? of(kOfIntegers, name) : nullptr; }
OfMixed function_of_mixed(std::string_view name) { return of(kOfMixed, name); }
ToInteger function_to_integer(std::string_view name) {
  if (const auto known = of(kToInteger, name)) return known;
  for (const std::string_view from : {"__nv_float2", "__nv_double2"})
    if (name.starts_with(from)) {
      const std::string_view rest = name.substr(from.size());
      for (const Counted& row : kRounded)
        if (row.name == rest) return row.function;
    }
  return nullptr;
}

}  // namespace hone::target::ttir
