// Losses and distances. `reduction` is "mean", "sum" or "none"; all compute in f32 for f16 and bf16.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

using Axes = std::vector<int64_t>;

Result<TensorType> loss_type(const Call& call, DType dtype, Dims dims) {
  const std::string& how = call.attr<std::string>("reduction");
  if (how == "none") return TensorType{dtype, std::move(dims)};
  if (how == "mean" || how == "sum" || (how == "batchmean" && call.op.name == "kl_div"))
    return TensorType{dtype, {}};
  return wrong(fmt::format("{} has no reduction \"{}\"", call.op.name, how),
               call.op.name == "kl_div" ? "\"mean\", \"batchmean\", \"sum\" or \"none\""
                                        : "\"mean\", \"sum\" or \"none\"");
}

DType loss_dtype(const Call& call) {
  const DType dtype = common_dtype(
      std::span(call.operands).first(call.operands.size() > 2 ? 2 : call.operands.size()));
  return is_float(dtype) ? dtype : DType::kF32;
}

Ref reduce_loss(const LowerCall& c, Ref loss) {
  const std::string& how = c.attr<std::string>("reduction");
  if (how == "none") return loss;
  Axes axes(loss.dims().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (how == "mean") return mean(loss, axes);
  const Ref total = sum(loss, axes);
  return how == "batchmean" ? total / c.lower.symbol(loss.dims()[0], loss.dtype()) : total;
}

/// x and targets of one shape (or broadcasting).
Result<TensorType> infer_pair(Call& call) {
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), call.dims(1)));
  return loss_type(call, loss_dtype(call), std::move(dims));
}

Ref lower_mse(const LowerCall& c) { return reduce_loss(c, square(c.wide(0) - c.wide(1))); }
Ref lower_l1(const LowerCall& c) { return reduce_loss(c, abs(c.wide(0) - c.wide(1))); }

/// Quadratic below the threshold, linear above; the two differ by their scale.
Ref lower_huber(const LowerCall& c) {
  const bool smooth = c.op.name == "smooth_l1_loss";
  const double t = c.attr<double>(smooth ? "beta" : "delta");
  const Ref d = abs(c.wide(0) - c.wide(1));
  if (t == 0) return reduce_loss(c, d);
  const Ref loss = where(lt(d, like(d, t)), 0.5 * square(d), t * (d - 0.5 * t));
  return reduce_loss(c, smooth ? loss / t : loss);
}

Result<TensorType> infer_huber(Call& call) {
  const bool smooth = call.op.name == "smooth_l1_loss";
  const double t = call.attr<double>(smooth ? "beta" : "delta");
  if (t < 0 || (t == 0 && !smooth))
    return wrong(fmt::format("{} needs a threshold above 0, found {}", call.op.name, t));
  return infer_pair(call);
}

Ref lower_hinge(const LowerCall& c) {
  const Ref product = c.wide(0) * c.wide(1);
  return reduce_loss(c, maximum(1.0 - product, like(product, 0)));
}

/// PyTorch keeps both logarithms above -100.
Ref lower_bce(const LowerCall& c) {
  const Ref p = c.wide(0);
  const Ref t = c.wide(1);
  const Ref yes = maximum(log(p), like(p, -100));
  const Ref no = maximum(log1p(-p), like(p, -100));
  return reduce_loss(c, -(t * yes + (1.0 - t) * no));
}

Ref lower_bce_with_logits(const LowerCall& c) {
  const Ref x = c.wide(0);
  return reduce_loss(c, maximum(x, like(x, 0)) - x * c.wide(1) + log1p(exp(-abs(x))));
}

/// x is a logarithm; 0 * log(0) counts as 0.
Ref lower_kl_div(const LowerCall& c) {
  const Ref x = c.wide(0);
  const Ref t = c.wide(1);
  if (c.attr<bool>("log_target")) return reduce_loss(c, exp(t) * (t - x));
  const Ref zero = like(t, 0);
  const Ref none = eq(t, zero);
  return reduce_loss(c, where(none, zero, t * log(where(none, like(t, 1), t))) - t * x);
}

/// Targets: class indices [N, ...] for x [N, C, ...] (or [] for [C]), or probabilities shaped as x.
Result<TensorType> infer_classes(Call& call) {
  if (call.rank(0) < 1)
    return wrong(fmt::format("{} takes [N, C, ...], found {}", call.op.name, call.type(0).to_string()));
  const size_t axis = call.rank(0) == 1 ? 0 : 1;
  Dims dims = call.dims(0);
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const bool indices = !is_float(call.type(1).dtype);
  const Dims& expected = indices ? dims : call.dims(0);
  bool fits = expected.size() == call.dims(1).size();
  for (size_t i = 0; fits && i < expected.size(); ++i) fits = may_equal(expected[i], call.dims(1)[i]);
  if (!fits)
    return wrong(fmt::format("{} of {} takes targets {}, found {}", call.op.name, dims_text(call.dims(0)),
                             dims_text(expected), call.type(1).to_string()),
                 "class indices are integers without the class dimension; probabilities have the shape of x");
  if (!indices && call.op.name == "nll_loss")
    return wrong("nll_loss takes class indices, found " + call.type(1).to_string());
  return loss_type(call, float_dtype(call.operands[0]), std::move(dims));
}

/// One class dimension is inserted into the indices, so that they select from x.
Ref picked(Ref x, Ref indices, int64_t axis) {
  Dims dims = indices.dims();
  dims.insert(dims.begin() + axis, IntExpr(1));
  return take_along_axis(x, reshape(indices, std::move(dims)), axis);
}

Ref without_axis(Ref x, int64_t axis) {
  Dims dims = x.dims();
  dims.erase(dims.begin() + axis);
  return reshape(x, std::move(dims));
}

Ref lower_nll(const LowerCall& c) {
  const Ref x = c.wide(0);
  const int64_t axis = x.rank() == 1 ? 0 : 1;
  return reduce_loss(c, without_axis(-picked(x, c.in[1], axis), axis));
}

/// log(sum(exp(x - m))) - (x[target] - m): nothing but the picked elements is read twice.
Ref lower_cross_entropy(const LowerCall& c) {
  const Ref x = c.wide(0);
  const int64_t axis = x.rank() == 1 ? 0 : 1;
  const double smoothing = c.attr<double>("label_smoothing");
  const Ref m = amax(x, {axis});
  const Ref log_total = log(sum(exp(x - m), {axis}));
  const auto smoothed = [&](Ref loss) {
    if (smoothing == 0) return loss;
    const Ref uniform = log_total - mean(x - m, {axis});
    return (1 - smoothing) * loss + smoothing * uniform;
  };
  if (!is_float(c.in[1].dtype()))
    return reduce_loss(c, without_axis(smoothed(log_total - (picked(x, c.in[1], axis) - m)), axis));
  const Ref t = cast(c.in[1], x.dtype());
  return reduce_loss(c, without_axis(smoothed(sum(t * (log_total - (x - m)), {axis})), axis));
}

Result<TensorType> infer_distance(Call& call) {
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), call.dims(1)));
  const auto axis = normal_axis(call.attr<int64_t>("axis"), static_cast<int>(dims.size()));
  if (!axis) return tl::unexpected(axis.error());
  call.attrs["axis"] = *axis;
  if (!call.has("keepdims") || !call.attr<bool>("keepdims"))
    dims.erase(dims.begin() + *axis);
  else
    dims[static_cast<size_t>(*axis)] = 1;
  return TensorType{loss_dtype(call), std::move(dims)};
}

/// The operands in the shape that they have together: axes and norms are those of that shape.
std::vector<Ref> joined_operands(const LowerCall& c) {
  Dims dims;
  for (const Ref& x : c.in) {
    const auto joint = broadcast_dims(dims, x.dims());
    HONE_CHECK(joint.has_value(), "operands were inferred to broadcast");
    dims = *joint;
  }
  std::vector<Ref> all;
  for (size_t i = 0; i < c.in.size(); ++i) all.push_back(broadcast_to(c.wide(i), dims));
  return all;
}

Ref lower_cosine(const LowerCall& c) {
  const std::vector<Ref> in = joined_operands(c);
  const Ref x = in[0];
  const Ref y = in[1];
  const Axes axes{c.attr<int64_t>("axis")};
  const Ref eps = like(x, c.attr<double>("eps"));
  return sum(x * y, axes) /
         (maximum(sqrt(sum(square(x), axes)), eps) * maximum(sqrt(sum(square(y), axes)), eps));
}

Ref distance(Ref x, Ref y, double p, double eps, int64_t axis) { return p_norm(x - y + eps, p, {axis}); }

Ref lower_pairwise_distance(const LowerCall& c) {
  return distance(c.wide(0), c.wide(1), c.attr<double>("p"), c.attr<double>("eps"), c.attr<int64_t>("axis"));
}

Result<TensorType> infer_triplet(Call& call) {
  HONE_TRY(Dims dims, broadcast_dims(call.dims(0), call.dims(1)));
  HONE_TRY(dims, broadcast_dims(dims, call.dims(2)));
  if (dims.empty()) return wrong("triplet_margin_loss takes [..., D], found scalars");
  dims.pop_back();
  return loss_type(call, loss_dtype(call), std::move(dims));
}

Ref lower_triplet(const LowerCall& c) {
  const std::vector<Ref> in = joined_operands(c);
  const int64_t axis = in[0].last();
  const double p = c.attr<double>("p");
  const double eps = c.attr<double>("eps");
  const Ref near = distance(in[0], in[1], p, eps, axis);
  const Ref far = distance(in[0], in[2], p, eps, axis);
  const Ref loss = near - far + c.attr<double>("margin");
  return reduce_loss(c, without_axis(maximum(loss, like(loss, 0)), axis));
}

#define HONE_REDUCTION "reduction: text = mean)"

const OpRow kLossOps[] = {
    {"mse_loss(x, targets, " HONE_REDUCTION, "", "(x - targets)^2.", infer_pair, lower_mse},
    {"l1_loss(x, targets, " HONE_REDUCTION, "", "|x - targets|.", infer_pair, lower_l1},
    {"smooth_l1_loss(x, targets, beta: number = 1.0, " HONE_REDUCTION, "",
     "huber_loss with delta = beta, divided by beta.", infer_huber, lower_huber},
    {"huber_loss(x, targets, delta: number = 1.0, " HONE_REDUCTION, "",
     "d^2 / 2 for d = |x - targets| below delta, else delta * (d - delta / 2).", infer_huber, lower_huber},
    {"hinge_loss(x, targets, " HONE_REDUCTION, "", "max(0, 1 - x * targets) for targets of -1 and 1.",
     infer_pair, lower_hinge},
    {"bce_loss(x, targets, " HONE_REDUCTION, "binary_cross_entropy",
     "Binary cross entropy of probabilities; logarithms are kept above -100.", infer_pair, lower_bce},
    {"bce_with_logits(x, targets, " HONE_REDUCTION, "binary_cross_entropy_with_logits",
     "Binary cross entropy of sigmoid(x).", infer_pair, lower_bce_with_logits},
    {"kl_div(x, targets, log_target: bool = false, reduction: text = mean)", "",
     "targets * (log(targets) - x), x a logarithm; \"batchmean\" divides the sum by the first dimension.",
     infer_pair, lower_kl_div},
    {"cross_entropy(x, targets, label_smoothing: number = 0, " HONE_REDUCTION, "",
     "-log_softmax(x) at the targets along axis 1 (axis 0 of a vector): class indices or probabilities.",
     infer_classes, lower_cross_entropy},
    {"nll_loss(x, targets, " HONE_REDUCTION, "", "-x at the target classes along axis 1.", infer_classes,
     lower_nll},
    {"cosine_similarity(x, y, axis: int = 1, eps: number = 1e-8)", "", "x . y / (|x| |y|) along an axis.",
     infer_distance, lower_cosine},
    {"pairwise_distance(x, y, p: number = 2.0, eps: number = 1e-6, keepdims: bool = false, axis: int = -1)",
     "", "The p-norm of x - y + eps.", infer_distance, lower_pairwise_distance},
    {"triplet_margin_loss(anchor, positive, negative, margin: number = 1.0, p: number = 2.0, eps: number = "
     "1e-6, " HONE_REDUCTION,
     "", "max(0, d(anchor, positive) - d(anchor, negative) + margin).", infer_triplet, lower_triplet},
};

}  // namespace

Family loss_family() { return {"Losses and distances", kLossOps}; }

}  // namespace hone::task
