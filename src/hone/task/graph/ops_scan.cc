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
};

}  // namespace

Family scan_family() { return {"Scans", kScanOps}; }

}  // namespace hone::task
