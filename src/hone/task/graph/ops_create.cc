// Rows that make tensors of nothing but shapes and numbers.
#include <fmt/format.h>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

DType declared(const Call& call) { return *dtype_from(call.attr<std::string>("dtype")); }

Result<TensorType> infer_full(Call& call) { return TensorType{declared(call), call.attr<Dims>("shape")}; }

double fill_value(const LowerCall& c) {
  if (c.has("value")) return c.attr<double>("value");
  return c.op.name.rfind("ones", 0) == 0 ? 1 : 0;
}

Ref lower_full(const LowerCall& c) {
  return broadcast_to(c.lower.constant(fill_value(c), c.node.type.dtype), c.node.type.dims);
}

Result<TensorType> infer_like(Call& call) {
  return TensorType{call.has("dtype") ? declared(call) : call.type(0).dtype, call.dims(0)};
}

Result<TensorType> infer_arange(Call& call) {
  IntExpr start = call.attr<IntExpr>("start");
  IntExpr stop = start;
  if (call.has("stop"))
    stop = call.attr<IntExpr>("stop");
  else
    start = 0;
  const int64_t step = call.attr<int64_t>("step");
  if (step < 1)
    return wrong(fmt::format("arange steps by 1 or more, found {}", step), "flip(arange(n), 0) counts down");
  call.attrs["start"] = start;
  call.attrs["stop"] = stop;
  return TensorType{declared(call), {IntExpr::ceil_div(stop - start, step)}};
}

Ref lower_arange(const LowerCall& c) {
  Ref x = iota(c.lower, c.node.type.dims, 0);
  const int64_t step = c.attr<int64_t>("step");
  const IntExpr& start = c.attr<IntExpr>("start");
  if (step != 1) x = x * c.lower.integer(step);
  return start == IntExpr(0) ? x : x + c.lower.symbol(start, DType::kI64);
}

Result<TensorType> infer_iota(Call& call) {
  const Dims& dims = call.attr<Dims>("shape");
  const auto axis = normal_axis(call.attr<int64_t>("axis"), static_cast<int>(dims.size()));
  if (!axis) return tl::unexpected(axis.error());
  call.attrs["axis"] = *axis;
  return TensorType{DType::kI64, dims};
}

Ref lower_iota(const LowerCall& c) { return iota(c.lower, c.node.type.dims, c.attr<int64_t>("axis")); }

Result<TensorType> infer_eye(Call& call) {
  const IntExpr rows = call.attr<IntExpr>("n");
  return TensorType{declared(call), {rows, call.has("m") ? call.attr<IntExpr>("m") : rows}};
}

Ref lower_eye(const LowerCall& c) {
  return eq(iota(c.lower, c.node.type.dims, 0), iota(c.lower, c.node.type.dims, 1));
}

const OpRow kCreateOps[] = {
    {"zeros(shape: dims, dtype: dtype = f32)", "", "Zeros: zeros([B, D]).", infer_full, lower_full},
    {"ones(shape: dims, dtype: dtype = f32)", "", "Ones.", infer_full, lower_full},
    {"full(shape: dims, value: number, dtype: dtype = f32)", "", "One number everywhere.", infer_full,
     lower_full},
    {"zeros_like(x, dtype: dtype = none)", "", "Zeros in the shape and type of x.", infer_like, lower_full},
    {"ones_like(x, dtype: dtype = none)", "", "Ones in the shape and type of x.", infer_like, lower_full},
    {"full_like(x, value: number, dtype: dtype = none)", "", "One number in the shape and type of x.",
     infer_like, lower_full},
    {"arange(start: dim, stop: dim = none, step: int = 1, dtype: dtype = i64)", "",
     "start, start + step, ... below stop; with one argument from 0.", infer_arange, lower_arange},
    {"iota(shape: dims, axis: int)", "", "The index along an axis.", infer_iota, lower_iota},
    {"eye(n: dim, m: dim = none, dtype: dtype = f32)", "", "Ones on the diagonal.", infer_eye, lower_eye},
};

}  // namespace

Family create_family() { return {"Creation", kCreateOps}; }

}  // namespace hone::task
