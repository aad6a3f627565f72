// Normalisations over trailing or named axes. Statistics are computed in f32 for f16 and bf16, and
// the variance in two passes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

using Axes = std::vector<int64_t>;

/// weight and bias have the normalised dimensions; without `axis`, as many trailing ones as they
/// have, and without them the last.
Result<TensorType> infer_layer_norm(Call& call) {
  if (call.rank(0) == 0)
    return wrong(fmt::format("{} of a scalar: it needs a dimension to normalise", call.op.name));
  if (!call.has("axis")) {
    const int trailing = call.operands.size() > 1 ? std::max(1, call.rank(1)) : 1;
    if (trailing > call.rank(0))
      return wrong(fmt::format("the weight {} has more dimensions than {}", call.type(1).to_string(),
                               call.type(0).to_string()));
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

/// (x - mean) / sqrt(var + eps) with statistics over `axes`.
Ref standardised(Ref x, const Axes& axes, double eps) {
  const Ref centred = x - mean(x, axes);
  return centred * rsqrt(sum(square(centred), axes) / count(x, axes) + eps);
}

Ref lower_layer_norm(const LowerCall& c) {
  const Axes axes = c.attr<Axes>("axis");
  return scale_and_shift(c, standardised(c.wide(), axes, c.attr<double>("eps")), axes);
}

Ref lower_rms_norm(const LowerCall& c) {
  const Axes axes = c.attr<Axes>("axis");
  const Ref x = c.wide();
  return scale_and_shift(c, x * rsqrt(mean(square(x), axes) + c.attr<double>("eps")), axes);
}

Status check_channel_vectors(const Call& call) {
  if (call.rank(0) < 2)
    return wrong(fmt::format("{} takes [N, C, ...], found {}", call.op.name, call.type(0).to_string()));
  for (size_t i = 1; i < call.operands.size(); ++i)
    if (!call.operands[i].weak && (call.rank(i) != 1 || !may_equal(call.dims(i)[0], call.dims(0)[1])))
      return wrong(fmt::format("{} of {} takes one number a channel, [{}], found {}", call.op.name,
                               dims_text(call.dims(0)), call.dims(0)[1].to_string(),
                               dims_text(call.dims(i))));
  return {};
}

Result<TensorType> infer_channel_norm(Call& call) {
  HONE_TRY_VOID(check_channel_vectors(call));
  if (call.find("mean").has_value() != call.find("var").has_value())
    return wrong("batch_norm takes both mean and var (inference) or neither (training)");
  if (call.op.name == "instance_norm" && call.rank(0) < 3)
    return wrong(fmt::format("instance_norm takes [N, C, ...] with a spatial dimension, found {}",
                             call.type(0).to_string()));
  return TensorType{float_dtype(call.operands[0]), call.dims(0)};
}

Ref channel_scale_and_shift(const LowerCall& c, Ref y) {
  if (const auto weight = c.find("weight")) y = y * per_channel(cast(*weight, y.dtype()), y);
  if (const auto bias = c.find("bias")) y = y + per_channel(cast(*bias, y.dtype()), y);
  return y;
}

Axes all_but(int rank, std::initializer_list<int64_t> kept) {
  Axes axes;
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) axes.push_back(i);
  return axes;
}

Ref lower_batch_norm(const LowerCall& c) {
  const Ref x = c.wide();
  const double eps = c.attr<double>("eps");
  Ref y;
  if (const auto given = c.find("mean")) {
    const Ref var = cast(*c.find("var"), x.dtype());
    y = (x - per_channel(cast(*given, x.dtype()), x)) * per_channel(rsqrt(var + eps), x);
  } else {
    y = standardised(x, all_but(x.rank(), {1}), eps);
  }
  return channel_scale_and_shift(c, y);
}

Ref lower_instance_norm(const LowerCall& c) {
  const Ref x = c.wide();
  return channel_scale_and_shift(c, standardised(x, all_but(x.rank(), {0, 1}), c.attr<double>("eps")));
}

IntExpr channels_per_group(const IntExpr& channels, const IntExpr& groups) {
  const auto exact = IntExpr::divide_exactly(channels, groups);
  return exact ? *exact : IntExpr::floor_div(channels, groups);
}

Result<TensorType> infer_group_norm(Call& call) {
  HONE_TRY_VOID(check_channel_vectors(call));
  const IntExpr& channels = call.dims(0)[1];
  const IntExpr& groups = call.attr<IntExpr>("groups");
  if (groups.is_constant() && groups.constant() < 1)
    return wrong(fmt::format("'groups' of group_norm is at least 1, found {}", groups.constant()));
  if (!may_equal(channels_per_group(channels, groups) * groups, channels))
    return wrong(fmt::format("group_norm: {} channels do not split into {} groups", channels.to_string(),
                             groups.to_string()));
  return TensorType{float_dtype(call.operands[0]), call.dims(0)};
}

Ref lower_group_norm(const LowerCall& c) {
  const Ref x = c.wide();
  const IntExpr& groups = c.attr<IntExpr>("groups");
  Dims split{x.dims()[0], groups, channels_per_group(x.dims()[1], groups)};
  split.insert(split.end(), x.dims().begin() + 2, x.dims().end());
  const Ref grouped = reshape(x, std::move(split));
  const Ref y = standardised(grouped, all_but(grouped.rank(), {0, 1}), c.attr<double>("eps"));
  return channel_scale_and_shift(c, reshape(y, x.dims()));
}

Result<TensorType> infer_norm(Call& call) {
  const Axes& axes = call.attr<Axes>("axis");
  return TensorType{float_dtype(call.operands[0]),
                    reduced_dims(call.dims(0), axes, call.attr<bool>("keepdims"))};
}

Ref lower_norm(const LowerCall& c) {
  return p_norm(c.wide(), c.has("p") ? c.attr<double>("p") : 2, c.attr<Axes>("axis"));
}

Ref lower_normalize(const LowerCall& c) {
  const Ref x = c.wide();
  const Ref n = p_norm(x, c.attr<double>("p"), {c.attr<int64_t>("axis")});
  return x / maximum(n, like(x, c.attr<double>("eps")));
}

const OpRow kNormOps[] = {
    {"layer_norm(x, weight = none, bias = none, axis: axes = none, eps: number = 1e-5)", "",
     "(x - mean) / sqrt(var + eps) * weight + bias over `axis`: by default the trailing dimensions that "
     "weight has, else the last.",
     infer_layer_norm, lower_layer_norm},
    {"rms_norm(x, weight = none, axis: axes = none, eps: number = 1e-6)", "",
     "x / sqrt(mean(x * x) + eps) * weight over `axis`, as layer_norm.", infer_layer_norm, lower_rms_norm},
    {"batch_norm(x, weight = none, bias = none, mean = none, var = none, eps: number = 1e-5)", "",
     "Normalises each channel (axis 1): with the batch's own statistics (training), or with mean and var if "
     "given (inference).",
     infer_channel_norm, lower_batch_norm},
    {"instance_norm(x, weight = none, bias = none, eps: number = 1e-5)", "",
     "Normalises each channel of each sample over the spatial dimensions.", infer_channel_norm,
     lower_instance_norm},
    {"group_norm(x, groups: dim, weight = none, bias = none, eps: number = 1e-5)", "",
     "Normalises groups of channels of each sample.", infer_group_norm, lower_group_norm},
    {"norm(x, p: number = 2.0, axis: axes = none, keepdims: bool = false)", "",
     "The p-norm, sum(|x|^p)^(1/p); p may be inf.", infer_norm, lower_norm},
    {"frobenius_norm(x, axis: axes = none, keepdims: bool = false)", "", "sqrt(sum(x * x)).", infer_norm,
     lower_norm},
    {"normalize(x, p: number = 2.0, axis: axis = 1, eps: number = 1e-12)", "",
     "x / max(norm(x, p), eps) along an axis.", infer_float_unary, lower_normalize},
};

}  // namespace

Family norm_family() { return {"Normalisation", kNormOps}; }

}  // namespace hone::task
