// Reductions over one, several or all axes. Sums of f16 and bf16 are computed in f32.
#include <fmt/format.h>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

using Axes = std::vector<int64_t>;

Result<TensorType> reduced(const Call& call, DType dtype) {
  return TensorType{dtype, reduced_dims(call.dims(0), call.attr<Axes>("axis"), call.attr<bool>("keepdims"))};
}

/// Integers and bools are summed in i64.
Result<TensorType> infer_sum(Call& call) {
  const DType dtype = call.type(0).dtype;
  return reduced(call, is_float(dtype) ? dtype : DType::kI64);
}
Result<TensorType> infer_extreme(Call& call) {
  if (call.type(0).dtype == DType::kBool)
    return wrong(fmt::format("{} does not take bool", call.op.name), "any(x) or all(x)");
  return reduced(call, call.type(0).dtype);
}
Result<TensorType> infer_mean(Call& call) { return reduced(call, float_dtype(call.operands[0])); }
Result<TensorType> infer_truth(Call& call) { return reduced(call, DType::kBool); }

Ref lower_sum(const LowerCall& c) { return reduce(c.op.prim, c.wide(), c.attr<Axes>("axis")); }
Ref lower_extreme(const LowerCall& c) { return reduce(c.op.prim, c.in[0], c.attr<Axes>("axis")); }
Ref lower_truth(const LowerCall& c) {
  return reduce(c.op.prim, cast(c.in[0], DType::kBool), c.attr<Axes>("axis"));
}
Ref lower_mean(const LowerCall& c) { return mean(c.wide(), c.attr<Axes>("axis")); }

Ref lower_variance(const LowerCall& c) {
  const Ref v = variance(c.wide(), c.attr<Axes>("axis"), c.attr<double>("correction"));
  return c.op.name == "std" ? sqrt(v) : v;
}

/// The largest element is taken out, so that nothing overflows; an infinite one is left in.
Ref lower_logsumexp(const LowerCall& c) {
  const Axes axes = c.attr<Axes>("axis");
  const Ref x = c.wide();
  Ref m = amax(x, axes);
  m = where(unary(Prim::kIsInf, m), like(m, 0), m);
  return m + log(sum(exp(x - m), axes));
}

/// Without an axis, the index into the flattened tensor.
Result<TensorType> infer_arg(Call& call) {
  if (call.type(0).dtype == DType::kBool)
    return wrong(fmt::format("{} does not take bool", call.op.name), "cast first: i32(x)");
  const bool keepdims = call.attr<bool>("keepdims");
  if (call.has("axis"))
    return TensorType{DType::kI64,
                      reduced_dims(call.dims(0), std::vector{call.attr<int64_t>("axis")}, keepdims)};
  return TensorType{DType::kI64, keepdims ? Dims(call.dims(0).size(), IntExpr(1)) : Dims{}};
}

Ref lower_arg(const LowerCall& c) {
  if (c.has("axis")) return reduce(c.op.prim, c.in[0], {c.attr<int64_t>("axis")});
  return reduce(c.op.prim, reshape(c.in[0], {product(c.in[0].dims())}), {0});
}

Ref lower_count_nonzero(const LowerCall& c) {
  return reduce(Prim::kSum, cast(ne(c.in[0], like(c.in[0], 0)), DType::kI64), c.attr<Axes>("axis"));
}
Result<TensorType> infer_count(Call& call) { return reduced(call, DType::kI64); }

const OpRow kReductionOps[] = {
    {"sum(x, axis: axes = none, keepdims: bool = false)", "", "Sum; integers and bools in i64.", infer_sum,
     lower_sum, Prim::kSum},
    {"prod(x, axis: axes = none, keepdims: bool = false)", "", "Product; integers and bools in i64.",
     infer_sum, lower_sum, Prim::kProd},
    {"mean(x, axis: axes = none, keepdims: bool = false)", "", "Mean; integers give f32.", infer_mean,
     lower_mean},
    {"var(x, axis: axes = none, keepdims: bool = false, correction: number = 0)", "",
     "Variance, divided by n - correction: 0 as in NumPy; PyTorch's own default is correction=1.", infer_mean,
     lower_variance},
    {"std(x, axis: axes = none, keepdims: bool = false, correction: number = 0)", "", "Square root of var.",
     infer_mean, lower_variance},
    {"max(x, axis: axes = none, keepdims: bool = false)", "amax",
     "Largest element; NaN if any is. Of two tensors: maximum.", infer_extreme, lower_extreme, Prim::kMax},
    {"min(x, axis: axes = none, keepdims: bool = false)", "amin",
     "Smallest element; NaN if any is. Of two tensors: minimum.", infer_extreme, lower_extreme, Prim::kMin},
    {"any(x, axis: axes = none, keepdims: bool = false)", "", "True if any element is (non-zero).",
     infer_truth, lower_truth, Prim::kAny},
    {"all(x, axis: axes = none, keepdims: bool = false)", "", "True if every element is (non-zero).",
     infer_truth, lower_truth, Prim::kAll},
    {"argmax(x, axis: axis = none, keepdims: bool = false)", "", "Index of the first largest element, i64; as an output any of equal ones is right.",
     infer_arg, lower_arg, Prim::kArgMax},
    {"argmin(x, axis: axis = none, keepdims: bool = false)", "", "Index of the first smallest element, i64; as an output any of equal ones is right.",
     infer_arg, lower_arg, Prim::kArgMin},
    {"count_nonzero(x, axis: axes = none, keepdims: bool = false)", "", "How many elements are not 0, i64.",
     infer_count, lower_count_nonzero},
    {"logsumexp(x, axis: axes = none, keepdims: bool = false)", "", "log(sum(exp(x))) without overflow.",
     infer_mean, lower_logsumexp},
};

}  // namespace

Family reduction_family() { return {"Reductions", kReductionOps}; }

}  // namespace hone::task
