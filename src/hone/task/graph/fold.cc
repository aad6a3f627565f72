#include "hone/task/graph/fold.h"

#include <cmath>

namespace hone::task {
namespace {

double python_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::optional<double> fold_real(Prim prim, double a, double b) {
  switch (prim) {
    case Prim::kAdd:
      return a + b;
    case Prim::kSub:
      return a - b;
    case Prim::kMul:
      return a * b;
    case Prim::kDiv:
      return a / b;
    case Prim::kPow:
      return std::pow(a, b);
    case Prim::kAtan2:
      return std::atan2(a, b);
    case Prim::kMod:
      return python_mod(a, b);
    case Prim::kFloorDiv:
      return std::floor(a / b);
    case Prim::kMaximum:
      return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
    case Prim::kMinimum:
      return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> fold_int(Prim prim, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflow = false;
  switch (prim) {
    case Prim::kAdd:
      overflow = __builtin_add_overflow(a, b, &r);
      break;
    case Prim::kSub:
      overflow = __builtin_sub_overflow(a, b, &r);
      break;
    case Prim::kMul:
      overflow = __builtin_mul_overflow(a, b, &r);
      break;
    case Prim::kMaximum:
      return std::max(a, b);
    case Prim::kMinimum:
      return std::min(a, b);
    default:
      return std::nullopt;
  }
  if (overflow) return std::nullopt;
  return r;
}

std::optional<bool> fold_compare(Prim prim, double a, double b) {
  switch (prim) {
    case Prim::kEq:
      return a == b;
    case Prim::kNe:
      return a != b;
    case Prim::kLt:
      return a < b;
    case Prim::kLe:
      return a <= b;
    case Prim::kGt:
      return a > b;
    case Prim::kGe:
      return a >= b;
    default:
      return std::nullopt;
  }
}

}  // namespace

Attr constant_of(double value, DType dtype) {
  if (dtype == DType::kBool) return value != 0;
  if (is_int(dtype)) return static_cast<int64_t>(value);
  return value;
}

double constant_value(const Attr& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

std::optional<double> fold_real(Prim prim, double x) {
  switch (prim) {
    case Prim::kNeg:
      return -x;
    case Prim::kAbs:
      return std::fabs(x);
    case Prim::kExp:
      return std::exp(x);
    case Prim::kExp2:
      return std::exp2(x);
    case Prim::kExpm1:
      return std::expm1(x);
    case Prim::kLog:
      return std::log(x);
    case Prim::kLog2:
      return std::log2(x);
    case Prim::kLog1p:
      return std::log1p(x);
    case Prim::kSqrt:
      return std::sqrt(x);
    case Prim::kRsqrt:
      return 1 / std::sqrt(x);
    case Prim::kReciprocal:
      return 1 / x;
    case Prim::kSin:
      return std::sin(x);
    case Prim::kCos:
      return std::cos(x);
    case Prim::kTan:
      return std::tan(x);
    case Prim::kTanh:
      return std::tanh(x);
    case Prim::kErf:
      return std::erf(x);
    case Prim::kFloor:
      return std::floor(x);
    case Prim::kCeil:
      return std::ceil(x);
    case Prim::kTrunc:
      return std::trunc(x);
    default:
      return std::nullopt;
  }
}

std::optional<Attr> fold_constant(Prim prim, std::span<const Attr> values, DType result) {
  const auto real = [](std::optional<double> v) { return v ? std::optional<Attr>(*v) : std::nullopt; };
  if (prim == Prim::kCast) {
    const Attr& value = values[0];
    if (std::holds_alternative<int64_t>(value) && is_int(result)) {
      // Only where it fits: narrowing integers wrap, which run time does.
      const int64_t v = std::get<int64_t>(value);
      const int bits = 8 * size_of(result);
      if (bits < 64 && (v >= int64_t{1} << (bits - 1) || v < -(int64_t{1} << (bits - 1))))
        return std::nullopt;
      return value;
    }
    const double v = constant_value(value);
    if (is_int(result) && !(std::fabs(v) < 0x1p31)) return std::nullopt;
    if (is_int(result) && 8 * size_of(result) < 32 && !(std::fabs(v) < 127)) return std::nullopt;
    return constant_of(v, result);
  }
  if (values.size() == 1 && is_float(result)) return real(fold_real(prim, constant_value(values[0])));
  if (values.size() == 1 && prim == Prim::kNeg && is_int(result)) {
    const auto v = fold_int(Prim::kSub, 0, std::get<int64_t>(values[0]));
    return v ? std::optional<Attr>(*v) : std::nullopt;
  }
  if (values.size() != 2) return std::nullopt;
  if (const auto truth = fold_compare(prim, constant_value(values[0]), constant_value(values[1])))
    return Attr(*truth);
  if (is_float(result)) return real(fold_real(prim, constant_value(values[0]), constant_value(values[1])));
  if (!is_int(result)) return std::nullopt;
  const auto v = fold_int(prim, std::get<int64_t>(values[0]), std::get<int64_t>(values[1]));
  return v ? std::optional<Attr>(*v) : std::nullopt;
}

}  // namespace hone::task
