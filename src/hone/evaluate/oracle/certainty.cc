#include "hone/evaluate/oracle/certainty.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using task::Prim;
using task::PrimInfo;

constexpr double kUnsure = std::numeric_limits<double>::infinity();
/// Of what came of an overflow on the way: as good as 0 for numbers that are made of it.
constexpr double kOverflowed = 0x1p-1000;

/// What is applied to moved operands.
double applied(Prim op, bool binary, double x, double y) {
  if (op == Prim::kCast) return x;
  double result;
  if (binary) kernels().binary(op, 1, &x, &y, &result);
  else kernels().unary(op, 1, &x, &result);
  return result;
}

/// How far an operand may move: not at all where it is exact or no number.
double move_of(double x, const double* scale, int64_t i) {
  return scale && std::isfinite(x) ? kAmbiguous * scale[i] : 0.0;
}

bool is_unsure(const double* scale, int64_t i) { return scale && !(scale[i] < kUnsure); }

bool is_overflowed(double scale) { return scale > 0 && scale <= kOverflowed; }

/// An infinity made of numbers that is no pole of the operation: the true value is a large number.
bool overflows_here(Prim op, double x, const double* y, int64_t i, double value) {
  if (!std::isinf(value) || !std::isfinite(x) || (y && !std::isfinite(y[i]))) return false;
  if (task::info_of(op).is(PrimInfo::kNeverOverflows)) return false;
  if (task::info_of(op).is(PrimInfo::kPoleAtZero)) return x != 0;
  return op != Prim::kDiv || y[i] != 0;
}

/// A zero that may stand for a number too small even for the oracle.
bool may_underflow(Prim op, double x, double y) {
  switch (op) {
    case Prim::kMul: return x != 0 && y != 0;
    case Prim::kDiv: return x != 0 && std::isfinite(y);
    default: return task::info_of(op).is(PrimInfo::kUnderflows) && std::isfinite(x);
  }
}

/// A zero that is exact makes one of any number, however unsure that is.
bool is_zero_times(Prim op, double x, double dx, double y, double dy) {
  return op == Prim::kMul && ((x == 0 && dx == 0 && std::isfinite(y)) || (y == 0 && dy == 0 && std::isfinite(x)));
}

bool rounds_or_compares(Prim op) {
  constexpr Prim kAll[] = {Prim::kRound, Prim::kFloor, Prim::kCeil, Prim::kTrunc, Prim::kSign, Prim::kCast, Prim::kEq, Prim::kNe, Prim::kLt, Prim::kLe, Prim::kGt, Prim::kGe};
  return std::ranges::find(kAll, op) != std::end(kAll);
}

bool is_output(const Step& step) {
  const auto& outputs = step.graph.graph.outputs;
  return std::find(outputs.begin(), outputs.end(), step.id) != outputs.end();
}

/// The least sure of a tensor's elements: 0, kOverflowed or kUnsure.
double least_sure(const Tensor& t) {
  if (!t.value || !t.scale) return 0;
  const Walk walk(t);
  std::vector<double> scales(static_cast<size_t>(t.box.count()));
  walk.read(t.scale, 0, t.box.count(), scales.data());
  double least = 0;
  for (const double s : scales)
    if (!(s < kUnsure)) return kUnsure;
    else if (is_overflowed(s)) least = kOverflowed;
  return least;
}

Tensor with_scale_of_non_finite(const Step& step, const Tensor& result, double scale) {
  const Tensor dense = densify(result, step.pool);
  const int64_t count = result.box.count();
  Fresh out = make_dense(result.box, true, step.pool);
  std::copy_n(dense.value, count, out.value);
  for (int64_t i = 0; i < count; ++i) out.scale[i] = std::isfinite(dense.value[i]) ? dense.scale[i] : scale;
  return out.tensor;
}

bool all_are_finite(const Tensor& result, Pool& pool) {
  const Tensor dense = densify(result, pool);
  return std::all_of(dense.value, dense.value + result.box.count(), [](double v) { return std::isfinite(v); });
}

}  // namespace

bool same_class(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

void settle_elementwise(const Step& step, int64_t count, const double* x, const double* sx, const double* y, const double* sy,
                        const double* value, double* scale) {
  const Prim op = step.node().prim;
  const task::DType type = step.node().type.dtype;
  const bool output = is_output(step);
  for (int64_t i = 0; i < count; ++i) {
    if (std::isfinite(value[i]) && value[i] != 0) continue;
    bool sure = !is_unsure(sx, i) && !is_unsure(sy, i);
    const double dx = move_of(x[i], sx, i), dy = y ? move_of(y[i], sy, i) : 0.0;
    const bool from_overflow = (sx && is_overflowed(sx[i])) || (sy && is_overflowed(sy[i]));
    if (value[i] == 0) {
      // What two numbers leave by cancelling keeps its scale: (x - m) * w may be computed as x * w - m * w.
      const bool cancelled = (op == Prim::kAdd || op == Prim::kSub) && x[i] != 0;
      const bool moved = (dx != 0 || dy != 0) && !(y && is_zero_times(op, x[i], dx, y[i], dy));
      if (!cancelled && sure && !moved && !from_overflow && !may_underflow(op, x[i], y ? y[i] : 1)) scale[i] = 0;
      continue;
    }
    for (int corner = 0; corner < 4 && sure && (dx > 0 || dy > 0); ++corner)
      sure = same_class(round_to(type, applied(op, y != nullptr, (corner & 1) != 0 ? x[i] + dx : x[i] - dx,
                                               y ? ((corner & 2) != 0 ? y[i] + dy : y[i] - dy) : 0.0)),
                        value[i]);
    const bool overflowed = from_overflow || (!output && overflows_here(op, x[i], y, i, value[i]));
    scale[i] = !sure ? kUnsure : overflowed ? kOverflowed : 0.0;
  }
}

bool is_once_computed(const Step& step, size_t k) {
  const Prim op = step.node().prim;
  const task::Node& from = step.graph.graph.node(step.node().operands[k]);
  const bool decides = rounds_or_compares(op) && (op != Prim::kCast || !task::is_float(step.node().type.dtype));
  const bool once = from.prim == Prim::kMul || from.prim == Prim::kAdd || from.prim == Prim::kSub;
  return decides && once && task::is_float(from.type.dtype) && from.type.dtype != task::DType::kF64 &&
         std::ranges::all_of(from.operands, [&](int id) { return step.facts[static_cast<size_t>(id)].exact; });
}

bool is_whole_before(const Step& step, size_t k) {
  const Prim op = step.node().prim;
  const bool decides = rounds_or_compares(op) ? op != Prim::kCast || !task::is_float(step.node().type.dtype) : op == Prim::kMod || op == Prim::kFloorDiv;
  return decides && step.operand_fact(k).whole && task::is_float(step.graph.graph.node(step.node().operands[k]).type.dtype);
}

bool stays_whole(double scale) { return scale * kUnit < 0.5; }

bool is_held(task::DType type, double value) { return round_to(type, value) == value && std::abs(value) >= task::smallest_normal(type); }

Tensor settled(const Step& step, const Tensor& result, std::span<const Tensor> operands) {
  if (!result.scale || all_are_finite(result, step.pool)) return result;
  double least = 0;
  for (const Tensor& t : operands) least = std::max(least, least_sure(t));
  return with_scale_of_non_finite(step, result, least);
}

Tensor unsettled(const Step& step, const Tensor& result) {
  if (!result.scale || all_are_finite(result, step.pool)) return result;
  return with_scale_of_non_finite(step, result, kUnsure);
}

}  // namespace hone::evaluate
