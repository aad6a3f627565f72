// Running sums, products and extremes along an axis. A masked scan is a scan of x * mask.
#include <fmt/format.h>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

Result<TensorType> infer_scan(Call& call) {
  const DType dtype = call.type(0).dtype;
  return TensorType{is_float(dtype) ? dtype : DType::kI64, call.dims(0)};
}

Result<TensorType> infer_running_extreme(Call& call) {
  if (call.type(0).dtype == DType::kBool) return wrong(fmt::format("{} does not take bool", call.op.name));
  return call.type(0);
}

Ref lower_scan(const LowerCall& c) {
  const bool exclusive = c.has("exclusive") && c.attr<bool>("exclusive");
  return scan(c.op.prim, c.wide(), c.attr<int64_t>("axis"), c.attr<bool>("reverse"), exclusive);
}

/// a and b broadcast against each other; the axis is one of the result's.
Result<TensorType> infer_linear_scan(Call& call) {
  HONE_TRY(TensorType type, infer_float_binary(call));
  HONE_TRY(const int64_t axis, normal_axis(call.attr<int64_t>("axis"), static_cast<int>(type.dims.size())));
  call.attrs["axis"] = axis;
  return type;
}

Ref lower_linear_scan(const LowerCall& c) {
  const Dims& dims = c.node.type.dims;
  return linear_scan(broadcast_to(c.wide(0), dims), broadcast_to(c.wide(1), dims), c.attr<int64_t>("axis"), c.attr<bool>("reverse"));
}

const OpRow kScanOps[] = {
    {"cumsum(x, axis: axis, reverse: bool = false, exclusive: bool = false)", "",
     "Running sum; from the end with reverse, leaving out the element itself with exclusive. Integers in "
     "i64.",
     infer_scan, lower_scan, Prim::kCumSum},
    {"cumprod(x, axis: axis, reverse: bool = false, exclusive: bool = false)", "", "Running product.",
     infer_scan, lower_scan, Prim::kCumProd},
    {"cummax(x, axis: axis, reverse: bool = false)", "", "Running maximum (values only).", infer_running_extreme,
     lower_scan, Prim::kCumMax},
    {"cummin(x, axis: axis, reverse: bool = false)", "", "Running minimum (values only).", infer_running_extreme,
     lower_scan, Prim::kCumMin},
    {"logcumsumexp(x, axis: axis, reverse: bool = false)", "", "log(cumsum(exp(x))) without overflow.",
     infer_float_unary, lower_scan, Prim::kCumLogSumExp},
    {"linear_scan(a, b, axis: int, reverse: bool = false)", "",
     "The linear recurrence h[t] = a[t] * h[t - 1] + b[t] along an axis, h[0] = b[0]; from the end with reverse.",
     infer_linear_scan, lower_linear_scan, Prim::kLinearScan},
};

}  // namespace

Family scan_family() { return {"Scans", kScanOps}; }

}  // namespace hone::task
