// The formulas' vocabulary: arithmetic, shape changes and reductions on Ref.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/task/graph/fold.h"
#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"
#include "hone/task/graph/prim_info.h"

namespace hone::task {
namespace {

bool is_constant(Ref x, double value) {
  const Node& node = x.lower().node(x.id());
  return node.prim == Prim::kConstant && constant_value(node.attrs.find("value")->second) == value;
}

/// Leading dimensions of extent 1 up to `rank`; scalars stay as they are.
Ref with_rank(Ref x, int rank) {
  if (x.rank() == 0 || x.rank() == rank) return x;
  Dims dims(static_cast<size_t>(rank - x.rank()), IntExpr(1));
  dims.insert(dims.end(), x.dims().begin(), x.dims().end());
  return reshape(x, std::move(dims));
}

/// The shape two operands make; inference has shown that they do.
Dims joint_dims(const Dims& a, const Dims& b) {
  auto dims = broadcast_dims(a, b);
  HONE_CHECK(dims.has_value(), "operands broadcast");
  return std::move(*dims);
}

}  // namespace

Ref unary(Prim prim, Ref x) {
  const bool truth = info_of(prim).kind == PrimInfo::kTruth;
  return x.lower().add(prim, std::vector{x}, {}, {truth ? DType::kBool : x.dtype(), x.dims()});
}

Ref binary(Prim prim, Ref a, Ref b) {
  HONE_CHECK(a.dtype() == b.dtype(), name_of(prim));
  if (prim == Prim::kMul && is_constant(b, 1)) return a.rank() >= b.rank() ? a : b;
  if (prim == Prim::kMul && is_constant(a, 1)) return b;
  if (prim == Prim::kDiv && is_constant(b, 1)) return a;
  const int rank = std::max(a.rank(), b.rank());
  a = with_rank(a, rank);
  b = with_rank(b, rank);
  const bool truth = info_of(prim).kind == PrimInfo::kTruth;
  return a.lower().add(prim, std::vector{a, b}, {},
                       {truth ? DType::kBool : a.dtype(), joint_dims(a.dims(), b.dims())});
}

Ref where(Ref condition, Ref a, Ref b) {
  HONE_CHECK(condition.dtype() == DType::kBool && a.dtype() == b.dtype(), "where");
  const int rank = std::max({condition.rank(), a.rank(), b.rank()});
  condition = with_rank(condition, rank);
  a = with_rank(a, rank);
  b = with_rank(b, rank);
  Dims dims = joint_dims(joint_dims(condition.dims(), a.dims()), b.dims());
  return a.lower().add(Prim::kWhere, std::vector{condition, a, b}, {}, {a.dtype(), std::move(dims)});
}

Ref cast(Ref x, DType dtype, bool rounds) {
  if (x.dtype() == dtype) return x;
  Attrs attrs;
  // To a float of one byte it saturates, and computed values may not keep what that cuts.
  if (rounds || is_f8(dtype)) attrs.emplace("rounds", true);
  return x.lower().add(Prim::kCast, std::vector{x}, std::move(attrs), {dtype, x.dims()});
}

Ref like(Ref x, double value) { return x.lower().constant(value, x.dtype()); }

Ref operator+(Ref a, Ref b) { return binary(Prim::kAdd, a, b); }
Ref operator-(Ref a, Ref b) { return binary(Prim::kSub, a, b); }
Ref operator*(Ref a, Ref b) { return binary(Prim::kMul, a, b); }
Ref operator/(Ref a, Ref b) { return binary(Prim::kDiv, a, b); }
Ref operator-(Ref x) { return unary(Prim::kNeg, x); }
Ref operator+(Ref a, double b) { return a + like(a, b); }
Ref operator+(double a, Ref b) { return like(b, a) + b; }
Ref operator-(Ref a, double b) { return a - like(a, b); }
Ref operator-(double a, Ref b) { return like(b, a) - b; }
Ref operator*(Ref a, double b) { return a * like(a, b); }
Ref operator*(double a, Ref b) { return like(b, a) * b; }
Ref operator/(Ref a, double b) { return a / like(a, b); }
Ref operator/(double a, Ref b) { return like(b, a) / b; }
Ref exp(Ref x) { return unary(Prim::kExp, x); }
Ref log(Ref x) { return unary(Prim::kLog, x); }
Ref log1p(Ref x) { return unary(Prim::kLog1p, x); }
Ref expm1(Ref x) { return unary(Prim::kExpm1, x); }
Ref sqrt(Ref x) { return unary(Prim::kSqrt, x); }
Ref rsqrt(Ref x) { return unary(Prim::kRsqrt, x); }
Ref abs(Ref x) { return unary(Prim::kAbs, x); }
Ref tanh(Ref x) { return unary(Prim::kTanh, x); }
Ref erf(Ref x) { return unary(Prim::kErf, x); }
Ref maximum(Ref a, Ref b) { return binary(Prim::kMaximum, a, b); }
Ref minimum(Ref a, Ref b) { return binary(Prim::kMinimum, a, b); }
Ref square(Ref x) { return x * x; }
Ref lt(Ref a, Ref b) { return binary(Prim::kLt, a, b); }
Ref ge(Ref a, Ref b) { return binary(Prim::kGe, a, b); }
Ref gt(Ref a, Ref b) { return binary(Prim::kGt, a, b); }
Ref eq(Ref a, Ref b) { return binary(Prim::kEq, a, b); }
Ref ne(Ref a, Ref b) { return binary(Prim::kNe, a, b); }

Ref reshape(Ref x, Dims dims) {
  if (x.dims() == dims) return x;
  const Node& node = x.lower().node(x.id());
  if (node.prim == Prim::kReshape) return reshape(Ref(&x.lower(), node.operands[0]), std::move(dims));
  const DType dtype = x.dtype();
  return x.lower().add(Prim::kReshape, std::vector{x}, {}, {dtype, std::move(dims)});
}

Ref broadcast_to(Ref x, const Dims& dims) {
  if (x.rank() != static_cast<int>(dims.size())) {
    Dims ones(dims.size() - x.dims().size(), IntExpr(1));
    ones.insert(ones.end(), x.dims().begin(), x.dims().end());
    x = reshape(x, std::move(ones));
  }
  if (x.dims() == dims) return x;
  return x.lower().add(Prim::kBroadcast, std::vector{x}, {}, {x.dtype(), dims});
}

Ref transpose(Ref x, std::vector<int64_t> perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  const Node& node = x.lower().node(x.id());
  if (node.prim == Prim::kTranspose) {
    const auto inner = node.attr<std::vector<int64_t>>("perm");
    for (int64_t& axis : perm) axis = inner[static_cast<size_t>(axis)];
    return transpose(Ref(&x.lower(), node.operands[0]), std::move(perm));
  }
  Dims dims;
  for (const int64_t axis : perm) dims.push_back(x.dims()[static_cast<size_t>(axis)]);
  const DType dtype = x.dtype();
  return x.lower().add(Prim::kTranspose, std::vector{x}, {{"perm", std::move(perm)}},
                       {dtype, std::move(dims)});
}

Ref slice(Ref x, Dims start, Dims extent, std::vector<int64_t> step) {
  if (extent == x.dims()) return x;
  TensorType type{x.dtype(), std::move(extent)};
  return x.lower().add(Prim::kSlice, std::vector{x}, {{"start", std::move(start)}, {"step", std::move(step)}},
                       std::move(type));
}

Ref slice_axis(Ref x, int64_t axis, const IntExpr& start, const IntExpr& extent) {
  Dims starts(x.dims().size(), IntExpr(0));
  Dims extents = x.dims();
  starts[static_cast<size_t>(axis)] = start;
  extents[static_cast<size_t>(axis)] = extent;
  return slice(x, std::move(starts), std::move(extents), std::vector<int64_t>(x.dims().size(), 1));
}

Ref concat(const std::vector<Ref>& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  TensorType type = parts[0].type();
  IntExpr& extent = type.dims[static_cast<size_t>(axis)];
  for (size_t i = 1; i < parts.size(); ++i) extent = extent + parts[i].dims()[static_cast<size_t>(axis)];
  return parts[0].lower().add(Prim::kConcat, parts, {{"axis", axis}}, std::move(type));
}

Ref flip(Ref x, std::vector<int64_t> axes) {
  return x.lower().add(Prim::kFlip, std::vector{x}, {{"axes", std::move(axes)}}, x.type());
}

Ref pad(Ref x, Dims low, Dims high, double value) {
  TensorType type = x.type();
  for (size_t i = 0; i < type.dims.size(); ++i) type.dims[i] = type.dims[i] + low[i] + high[i];
  if (type.dims == x.dims()) return x;
  const Attr fill = constant_of(value, x.dtype());
  return x.lower().add(Prim::kPad, std::vector{x},
                       {{"low", std::move(low)}, {"high", std::move(high)}, {"value", fill}},
                       std::move(type));
}

Ref iota(Lower& lower, const Dims& dims, int64_t axis) {
  return lower.add(Prim::kIota, {}, {{"axis", axis}}, {DType::kI64, dims});
}

Ref gather(Ref x, Ref indices, int64_t axis) {
  TensorType type{x.dtype(), {}};
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i == axis)
      type.dims.insert(type.dims.end(), indices.dims().begin(), indices.dims().end());
    else
      type.dims.push_back(x.dims()[static_cast<size_t>(i)]);
  }
  return x.lower().add(Prim::kGather, std::vector{x, indices}, {{"axis", axis}}, std::move(type));
}

Ref take_along_axis(Ref x, Ref indices, int64_t axis) {
  return x.lower().add(Prim::kTakeAlongAxis, std::vector{x, indices}, {{"axis", axis}},
                       {x.dtype(), indices.dims()});
}

Ref scatter(Prim prim, Ref x, Ref indices, Ref source, int64_t axis) {
  HONE_CHECK(x.dtype() == source.dtype(), std::string(name_of(prim)));
  return x.lower().add(prim, std::vector{x, indices, source}, {{"axis", axis}}, x.type());
}

Ref sort(Prim prim, Ref x, int64_t axis, bool descending) {
  const DType dtype = prim == Prim::kArgSort ? DType::kI64 : x.dtype();
  return x.lower().add(prim, std::vector{x}, {{"axis", axis}, {"descending", descending}}, {dtype, x.dims()});
}

Ref scan(Prim prim, Ref x, int64_t axis, bool reverse, bool exclusive) {
  return x.lower().add(prim, std::vector{x}, {{"axis", axis}, {"reverse", reverse}, {"exclusive", exclusive}},
                       x.type());
}

Ref linear_scan(Ref a, Ref b, int64_t axis, bool reverse) {
  HONE_CHECK(a.type() == b.type(), "linear_scan");
  return a.lower().add(Prim::kLinearScan, std::vector{a, b}, {{"axis", axis}, {"reverse", reverse}, {"exclusive", false}}, a.type());
}

Ref per_channel(Ref weight, Ref x) {
  if (weight.rank() == 0) return weight;
  Dims dims(x.dims().size(), IntExpr(1));
  dims[1] = weight.dims()[0];
  return reshape(weight, std::move(dims));
}

Ref reduce(Prim prim, Ref x, std::vector<int64_t> axes) {
  const bool arg = prim == Prim::kArgMax || prim == Prim::kArgMin;
  if (axes.empty() && !arg) return x;
  TensorType type{arg ? DType::kI64 : x.dtype(), reduced_dims(x.dims(), axes, true)};
  return x.lower().add(prim, std::vector{x}, {{"axes", std::move(axes)}}, std::move(type));
}

Ref sum(Ref x, const std::vector<int64_t>& axes) { return reduce(Prim::kSum, x, axes); }
Ref amax(Ref x, const std::vector<int64_t>& axes) { return reduce(Prim::kMax, x, axes); }
Ref mean(Ref x, const std::vector<int64_t>& axes) { return sum(x, axes) / count(x, axes); }

Ref count(Ref x, std::span<const int64_t> axes) {
  IntExpr n = 1;
  for (const int64_t axis : axes) n = n * x.dims()[static_cast<size_t>(axis)];
  return x.lower().symbol(n, x.dtype());
}

Ref variance(Ref x, const std::vector<int64_t>& axes, double correction) {
  const Ref n = count(x, axes);
  return sum(square(x - mean(x, axes)), axes) / (correction == 0 ? n : n - correction);
}

Ref p_norm(Ref x, double p, const std::vector<int64_t>& axes) {
  if (p == 1) return sum(abs(x), axes);
  if (p == 2) return sqrt(sum(square(x), axes));
  if (std::isinf(p)) return reduce(p > 0 ? Prim::kMax : Prim::kMin, abs(x), axes);
  if (p == 0) return sum(cast(ne(x, like(x, 0)), x.dtype()), axes);
  return binary(Prim::kPow, sum(binary(Prim::kPow, abs(x), like(x, p)), axes), like(x, 1 / p));
}

}  // namespace hone::task
