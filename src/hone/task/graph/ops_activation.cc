// Activation functions. Each computes in f32 for f16 and bf16, and none overflows on the way to a
// finite result.
#include <fmt/format.h>

#include <cmath>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

/// exp(-|x|) is never above 1.
Ref sigmoid(Ref x) {
  const Ref e = exp(-abs(x));
  return where(ge(x, like(x, 0)), 1.0 / (1.0 + e), e / (1.0 + e));
}

/// log(1 + exp(x))
Ref softplus(Ref x) { return maximum(x, like(x, 0)) + log1p(exp(-abs(x))); }

/// expm1 of the non-positive part, so that large x does not overflow in the branch not taken.
Ref elu(Ref x, double alpha) { return where(gt(x, like(x, 0)), x, alpha * expm1(minimum(x, like(x, 0)))); }

Ref clamp(Ref x, double low, double high) { return minimum(maximum(x, like(x, low)), like(x, high)); }

Ref lower_relu(const LowerCall& c) { return maximum(c.in[0], like(c.in[0], 0)); }
Ref lower_relu6(const LowerCall& c) { return clamp(cast(c.in[0], c.node.type.dtype), 0, 6); }
Ref lower_sigmoid(const LowerCall& c) { return sigmoid(c.wide()); }
Ref lower_silu(const LowerCall& c) { return c.wide() * sigmoid(c.wide()); }

Ref lower_log_sigmoid(const LowerCall& c) {
  const Ref x = c.wide();
  return minimum(x, like(x, 0)) - log1p(exp(-abs(x)));
}

Result<TensorType> infer_gelu(Call& call) {
  if (call.has("approximate")) {
    const std::string how = call.attr<std::string>("approximate");
    if (how != "tanh" && how != "none")
      return wrong(fmt::format("gelu has no approximation \"{}\"", how), "\"none\" (by erf) or \"tanh\"");
    if (how == "none") call.attrs.erase("approximate");
  }
  return infer_float_unary(call);
}

Ref lower_gelu(const LowerCall& c) {
  const Ref x = c.wide();
  if (!c.has("approximate")) return 0.5 * x * (1.0 + erf(x * kSqrtHalf));
  return 0.5 * x * (1.0 + tanh(kSqrtTwoOverPi * (x + 0.044715 * (x * x * x))));
}

Result<TensorType> infer_softplus(Call& call) {
  if (call.attr<double>("beta") <= 0) return wrong("softplus needs beta above 0");
  return infer_float_unary(call);
}

/// PyTorch returns x itself above the threshold: a shortcut that from 20 on shows in f64 only.
Ref lower_softplus(const LowerCall& c) {
  const double beta = c.attr<double>("beta");
  const double threshold = c.attr<double>("threshold");
  const Ref x = c.wide();
  const Ref scaled = x * beta;
  const Ref y = softplus(scaled) / beta;
  const bool shows = threshold < 20 || x.dtype() == DType::kF64;
  return shows ? where(gt(scaled, like(x, threshold)), x, y) : y;
}

Ref lower_leaky_relu(const LowerCall& c) {
  const Ref x = c.wide();
  return where(gt(x, like(x, 0)), x, x * c.attr<double>("negative_slope"));
}

Result<TensorType> infer_prelu(Call& call) {
  const Dims& weight = call.dims(1);
  if (weight.size() > 1 || (weight.size() == 1 && call.rank(0) < 2))
    return wrong(
        fmt::format("prelu takes a scalar or one weight a channel, found {}", call.type(1).to_string()));
  if (weight.size() == 1 && weight[0] != IntExpr(1) && !may_equal(weight[0], call.dims(0)[1]))
    return wrong(fmt::format("prelu has {} weights for {} channels", weight[0].to_string(),
                             call.dims(0)[1].to_string()));
  return TensorType{float_dtype(call.operands[0]), call.dims(0)};
}

Ref lower_prelu(const LowerCall& c) {
  const Ref x = c.wide(0);
  Ref weight = c.wide(1);
  if (weight.rank() == 1) {
    Dims dims(static_cast<size_t>(x.rank()), IntExpr(1));
    dims[1] = weight.dims()[0];
    weight = reshape(weight, std::move(dims));
  }
  return where(gt(x, like(x, 0)), x, x * weight);
}

Ref lower_elu(const LowerCall& c) { return elu(c.wide(), c.attr<double>("alpha")); }
Ref lower_selu(const LowerCall& c) { return kSeluScale * elu(c.wide(), kSeluAlpha); }

Ref lower_celu(const LowerCall& c) {
  const double alpha = c.attr<double>("alpha");
  const Ref x = c.wide();
  const Ref zero = like(x, 0);
  return maximum(x, zero) + alpha * expm1(minimum(x, zero) / alpha);
}

Ref lower_hardtanh(const LowerCall& c) {
  return clamp(cast(c.in[0], c.node.type.dtype), c.attr<double>("min_val"), c.attr<double>("max_val"));
}

Ref lower_hardsigmoid(const LowerCall& c) { return clamp(c.wide() + 3.0, 0, 6) / 6.0; }
Ref lower_hardswish(const LowerCall& c) { return c.wide() * clamp(c.wide() + 3.0, 0, 6) / 6.0; }
Ref lower_mish(const LowerCall& c) { return c.wide() * tanh(softplus(c.wide())); }
Ref lower_softsign(const LowerCall& c) { return c.wide() / (1.0 + abs(c.wide())); }
Ref lower_tanhshrink(const LowerCall& c) { return c.wide() - tanh(c.wide()); }

Ref lower_softshrink(const LowerCall& c) {
  const double lambda = c.attr<double>("lambd");
  const Ref x = c.wide();
  return x - clamp(x, -lambda, lambda);
}

/// The comparison is the one that is false for NaN, so that NaN stays.
Ref lower_hardshrink(const LowerCall& c) {
  const Ref x = c.wide();
  return where(ge(like(x, c.attr<double>("lambd")), abs(x)), like(x, 0), x);
}

/// As above.
Ref lower_threshold(const LowerCall& c) {
  const Ref x = c.wide();
  return where(ge(like(x, c.attr<double>("threshold")), x), like(x, c.attr<double>("value")), x);
}

Result<TensorType> infer_glu(Call& call) {
  const auto axis = static_cast<size_t>(call.attr<int64_t>("axis"));
  TensorType type{float_dtype(call.operands[0]), call.dims(0)};
  const auto half = IntExpr::divide_exactly(type.dims[axis], 2);
  type.dims[axis] = half ? *half : IntExpr::floor_div(type.dims[axis], 2);
  if (type.dims[axis] * 2 != call.dims(0)[axis] && call.dims(0)[axis].is_constant())
    return wrong(
        fmt::format("glu halves axis {}, whose extent {} is odd", axis, call.dims(0)[axis].to_string()));
  return type;
}

Ref lower_glu(const LowerCall& c) {
  const auto axis = static_cast<size_t>(c.attr<int64_t>("axis"));
  const Ref x = c.wide();
  const IntExpr half = c.node.type.dims[axis];
  Dims low(x.dims().size(), IntExpr(0));
  Dims high = low;
  high[axis] = half;
  const std::vector<int64_t> step(x.dims().size(), 1);
  const TensorType type{x.dtype(), c.node.type.dims};
  const Ref a = c.lower.add(Prim::kSlice, std::vector{x}, {{"start", low}, {"step", step}}, type);
  const Ref b = c.lower.add(Prim::kSlice, std::vector{x}, {{"start", high}, {"step", step}}, type);
  return a * sigmoid(b);
}

const OpRow kActivationOps[] = {
    {"relu(x)", "", "max(x, 0).", infer_same_unary, lower_relu},
    {"relu6(x)", "", "x kept between 0 and 6.", infer_same_unary, lower_relu6},
    {"leaky_relu(x, negative_slope: number = 0.01)", "", "x, or negative_slope * x below 0.",
     infer_float_unary, lower_leaky_relu},
    {"prelu(x, weight)", "", "x, or weight * x below 0; one weight, or one a channel (axis 1).", infer_prelu,
     lower_prelu},
    {"elu(x, alpha: number = 1.0)", "", "x, or alpha * (exp(x) - 1) below 0.", infer_float_unary, lower_elu},
    {"selu(x)", "", "ELU scaled so that activations keep mean 0 and variance 1.", infer_float_unary,
     lower_selu},
    {"celu(x, alpha: number = 1.0)", "", "ELU with a continuous derivative.", infer_float_unary, lower_celu},
    {"gelu(x, approximate: text = none)", "",
     "x times the normal distribution function of x, by erf; approximate=\"tanh\" for the older formula.",
     infer_gelu, lower_gelu},
    {"sigmoid(x)", "", "1 / (1 + exp(-x)).", infer_float_unary, lower_sigmoid},
    {"log_sigmoid(x)", "logsigmoid", "log(sigmoid(x)).", infer_float_unary, lower_log_sigmoid},
    {"silu(x)", "swish", "x * sigmoid(x).", infer_float_unary, lower_silu},
    {"softplus(x, beta: number = 1.0, threshold: number = 20.0)", "", "log(1 + exp(beta * x)) / beta.",
     infer_softplus, lower_softplus},
    {"mish(x)", "", "x * tanh(softplus(x)).", infer_float_unary, lower_mish},
    {"softsign(x)", "", "x / (1 + |x|).", infer_float_unary, lower_softsign},
    {"hardtanh(x, min_val: number = -1.0, max_val: number = 1.0)", "", "x kept between two numbers.",
     infer_same_unary, lower_hardtanh},
    {"hardsigmoid(x)", "", "clamp(x + 3, 0, 6) / 6.", infer_float_unary, lower_hardsigmoid},
    {"hardswish(x)", "hard_swish", "x * hardsigmoid(x).", infer_float_unary, lower_hardswish},
    {"tanhshrink(x)", "", "x - tanh(x).", infer_float_unary, lower_tanhshrink},
    {"softshrink(x, lambd: number = 0.5)", "", "x moved towards 0 by lambd, 0 within it.", infer_float_unary,
     lower_softshrink},
    {"hardshrink(x, lambd: number = 0.5)", "", "x, or 0 where |x| <= lambd.", infer_float_unary,
     lower_hardshrink},
    {"threshold(x, threshold: number, value: number)", "", "x where above the threshold, else value.",
     infer_float_unary, lower_threshold},
    {"glu(x, axis: axis = -1)", "", "The first half of an axis times the sigmoid of the second.", infer_glu,
     lower_glu},
};

}  // namespace

Family activation_family() { return {"Activations", kActivationOps}; }

}  // namespace hone::task
