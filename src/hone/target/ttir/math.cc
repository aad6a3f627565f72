#include "hone/target/ttir/math.h"

#include <cmath>

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
    {"fast_tanh", [](double x) { return std::tanh(x); }}, {"fast_sin", [](double x) { return std::sin(x); }}, {"fast_cos", [](double x) { return std::cos(x); }},
};

constexpr Two kOfTwo[] = {
    {"pow", [](double a, double b) { return std::pow(a, b); }},       {"fast_pow", [](double a, double b) { return std::pow(a, b); }},
    {"atan2", [](double a, double b) { return std::atan2(a, b); }},   {"fmod", [](double a, double b) { return std::fmod(a, b); }},
    {"hypot", [](double a, double b) { return std::hypot(a, b); }},   {"copysign", [](double a, double b) { return std::copysign(a, b); }},
    {"fdiv_rn", [](double a, double b) { return a / b; }},            {"ddiv_rn", [](double a, double b) { return a / b; }},
    {"fast_fdivide", [](double a, double b) { return a / b; }},       {"fdim", [](double a, double b) { return std::fdim(a, b); }},
    {"remainder", [](double a, double b) { return std::remainder(a, b); }}, {"fadd_rn", [](double a, double b) { return a + b; }},
    {"fsub_rn", [](double a, double b) { return a - b; }},            {"fmul_rn", [](double a, double b) { return a * b; }},
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

}  // namespace hone::target::ttir
