#include "hone/task/graph/fold.h"

#include <cmath>

#include "hone/task/graph/prim_info.h"

namespace hone::task {
namespace {

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
    case Prim::kBitAnd:
      return a & b;
    case Prim::kBitOr:
      return a | b;
    case Prim::kBitXor:
      return a ^ b;
    default:
      return std::nullopt;
  }
  if (overflow) return std::nullopt;
  return r;
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
  const PrimInfo& info = info_of(prim);
  return info.value && info.operands == 1 ? std::optional(info.value(x, 0)) : std::nullopt;
}

std::optional<Attr> fold_constant(Prim prim, std::span<const Attr> values, DType result) {
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
  const PrimInfo& info = info_of(prim);
  if (is_int(result) && info.kind != PrimInfo::kTruth) {
    std::optional<int64_t> v;
    if (prim == Prim::kNeg) v = fold_int(Prim::kSub, 0, std::get<int64_t>(values[0]));
    else if (values.size() == 2) v = fold_int(prim, std::get<int64_t>(values[0]), std::get<int64_t>(values[1]));
    return v ? std::optional<Attr>(*v) : std::nullopt;
  }
  if (!info.value || (!is_float(result) && info.kind != PrimInfo::kTruth)) return std::nullopt;
  const double v = info.value(constant_value(values[0]), info.operands == 2 ? constant_value(values[1]) : 0);
  return info.kind == PrimInfo::kTruth ? Attr(v != 0) : Attr(v);
}

}  // namespace hone::task
