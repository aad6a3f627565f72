// Normalisations over trailing or named axes. Statistics are computed in f32 for f16 and bf16, and
// the variance in two passes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

using Axes = std::vector<int64_t>;

/// weight and bias have the normalised dimensions; without `axis`, as many trailing ones as they
/// have, and without them the last.
Result<TensorType> infer_layer_norm(Call& call) {
  if (call.rank(0) == 0) return wrong(fmt::format("{} of a scalar", call.op.name));
  if (!call.has("axis")) {
    const int trailing = call.operands.size() > 1 ? std::max(1, call.rank(1)) : 1;
    if (trailing > call.rank(0))
      return wrong(fmt::format("the weight {} has more dimensions than {}", call.type(1).to_string(), call.type(0).to_string()));
    Axes axes(static_cast<size_t>(trailing));
    std::iota(axes.begin(), axes.end(), call.rank(0) - trailing);
    call.attrs["axis"] = axes;
  }
  const Axes& axes = call.attr<Axes>("axis");
  for (size_t i = 1; i < call.operands.size(); ++i) {
    if (call.operands[i].weak) continue;
    bool fits = call.dims(i).size() == axes.size();
    for (size_t k = 0; fits && k < axes.size(); ++k)
      fits = may_equal(call.dims(i)[k], call.dims(0)[static_cast<size_t>(axes[k])]);
    if (!fits) {
      Dims expected;
      for (const int64_t axis : axes) expected.push_back(call.dims(0)[static_cast<size_t>(axis)]);
      return wrong(fmt::format("{} normalises {}, but its weight or bias is {}", call.op.name,
                               dims_text(expected), dims_text(call.dims(i))),
                   "weight and bias have the normalised dimensions; name those by axis=");
    }
  }
  return TensorType{float_dtype(call.operands[0]), call.dims(0)};
}

/// A weight of the normalised dimensions, with 1 for the others.
Ref spread(Ref weight, Ref x, const Axes& axes) {
  if (weight.rank() == 0) return weight;
  Dims dims(x.dims().size(), IntExpr(1));
  for (size_t k = 0; k < axes.size(); ++k) dims[static_cast<size_t>(axes[k])] = weight.dims()[k];
  return reshape(weight, std::move(dims));
}

Ref scale_and_shift(const LowerCall& c, Ref y, const Axes& axes) {
  const DType dtype = y.dtype();
  if (const auto weight = c.find("weight")) y = y * spread(cast(*weight, dtype), y, axes);
  if (const auto bias = c.find("bias")) y = y + spread(cast(*bias, dtype), y, axes);
  return y;
}

Ref lower_layer_norm(const LowerCall& c) {
  const Axes axes = c.attr<Axes>("axis");
  const Ref x = c.wide();
  const Ref centred = x - mean(x, axes);
  const Ref v = sum(square(centred), axes) / count(x, axes);
  return scale_and_shift(c, centred * rsqrt(v + c.attr<double>("eps")), axes);
}

Ref lower_rms_norm(const LowerCall& c) {
  const Axes axes = c.attr<Axes>("axis");
  const Ref x = c.wide();
  return scale_and_shift(c, x * rsqrt(mean(square(x), axes) + c.attr<double>("eps")), axes);
}

const OpRow kRows[] = {
    {"layer_norm(x, weight = none, bias = none, axis: axes = none, eps: number = 1e-5)", "", "(x - mean) / sqrt(var + eps) * weight + bias over `axis`: by default the trailing dimensions that weight has, else the last.", infer_layer_norm, lower_layer_norm},
    {"rms_norm(x, weight = none, axis: axes = none, eps: number = 1e-6)", "", "x / sqrt(mean(x * x) + eps) * weight over `axis`, as layer_norm.", infer_layer_norm, lower_rms_norm},
};

}  // namespace

Family norm_family() { return {"Normalisation", kRows}; }

}  // namespace hone::task
