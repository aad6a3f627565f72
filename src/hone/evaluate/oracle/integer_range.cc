#include "hone/evaluate/oracle/integer_range.h"

#include <algorithm>
#include <cmath>

namespace hone::evaluate {
namespace {

using task::DType;
using task::Prim;

/// Its results may lie outside the range of its operands' type.
bool may_leave(Prim op) {
  switch (op) {
    case Prim::kAdd: case Prim::kSub: case Prim::kMul: case Prim::kFloorDiv: case Prim::kPow:
    case Prim::kNeg: case Prim::kAbs: case Prim::kSum: case Prim::kProd: case Prim::kCumSum:
    case Prim::kCumProd: case Prim::kDot: case Prim::kConv: case Prim::kConvTranspose:
      return true;
    default: return false;
  }
}

}  // namespace

double wrapped(DType type, double value) {
  if (!task::is_int(type) || type == DType::kI64 || !std::isfinite(value)) return value;
  const double half = std::ldexp(1.0, 8 * task::size_of(type) - 1);
  if (value >= -half && value < half) return value;
  return value - std::floor((value + half) / (2 * half)) * 2 * half;
}

double wrapped(DType type, uint64_t bits) {
  switch (type) {
    case DType::kI8: return static_cast<int8_t>(bits);
    case DType::kI16: return static_cast<int16_t>(bits);
    case DType::kI32: return static_cast<int32_t>(bits);
    default: return static_cast<double>(static_cast<int64_t>(bits));
  }
}

Tensor in_range(const Step& step, const Tensor& result) {
  const DType type = step.node().type.dtype;
  if (!task::is_int(type) || type == DType::kI64 || !may_leave(step.node().prim)) return result;
  const Tensor dense = densify(result, step.pool);
  const int64_t count = result.box.count();
  if (std::all_of(dense.value, dense.value + count, [&](double v) { return wrapped(type, v) == v; }))
    return result;
  Fresh out = make_dense(result.box, result.scale != nullptr, step.pool);
  std::transform(dense.value, dense.value + count, out.value, [&](double v) { return wrapped(type, v); });
  if (out.scale) std::copy_n(dense.scale, count, out.scale);
  return out.tensor;
}

}  // namespace hone::evaluate
