// Activations and the softmax family.
#pragma once
#include "hone/evaluate/baseline/testing/random_case.h"

namespace hone::evaluate::testing {
namespace activation {

/// torch: the function. Attributes of one number each, present half the time.
inline void with(Draft& d, DType type, const Options& options) {
  d.tensor("x", type, d.shape());
  d.sometimes_special();
  d.compare(fmt::format("{}(x{})", d.name(), options.hone), fmt::format("{}(x{})", d.torch(), options.torch));
}
inline void plain(Draft& d) { with(d, d.real(), {}); }
inline void numeric(Draft& d) { with(d, d.numeric(), {}); }

inline Options one(Draft& d, std::string_view key, double low, double high) {
  Options options;
  if (d.chance(0.7)) options.add(key, d.number(low, high));
  return options;
}
inline void slope(Draft& d) { with(d, d.real(), one(d, "negative_slope", -0.5, 1.5)); }
inline void alpha(Draft& d) { with(d, d.real(), one(d, "alpha", 0.1, 2)); }
inline void lambda(Draft& d) { with(d, d.real(), one(d, "lambd", 0, 2)); }

inline void gelu(Draft& d) {
  Options options;
  if (d.chance()) options.add("approximate", d.pick({"'tanh'", "'none'"}));
  // Ordinary numbers alone: gelu(inf) is NaN in PyTorch on a CPU (2026-11).
  d.tensor("x", d.real(), d.shape());
  d.compare(fmt::format("gelu(x{})", options.hone), fmt::format("F.gelu(x{})", options.torch));
}
inline void softplus(Draft& d) {
  Options options = one(d, "beta", 0.1, 3);
  if (d.chance()) options.add("threshold", d.number(0, 40));
  with(d, d.real(), options);
}
inline void hardtanh(Draft& d) {
  Options options;
  if (d.chance()) options.add("min_val", d.number(-3, 0));
  if (d.chance()) options.add("max_val", d.number(0.01, 3));
  with(d, d.real(), options);
}
inline void threshold(Draft& d) {
  Options options;
  options.add("threshold", d.number(-2, 2));
  options.add("value", d.number(-2, 2));
  with(d, d.real(), options);
}

inline void prelu(Draft& d) {
  const DType type = d.real();
  Shape shape = d.shape(0, 4);
  const bool channels = shape.size() >= 2 && d.chance(0.7);
  d.tensor("x", type, shape);
  d.tensor("w", type, channels ? Shape{shape[1]} : Shape{});
  std::string weight = "w";
  if (channels) {
    weight = "w.reshape(-1";
    for (size_t i = 2; i < shape.size(); ++i) weight += ", 1";
    weight += ")";
  }
  d.compare("prelu(x, w)", fmt::format("torch.where(x > 0, x, x * {})", weight));
}

inline void glu(Draft& d) {
  Shape shape = d.shape(1, 4);
  const int64_t axis = d.axis(shape.size());
  int64_t& halved = shape[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis)];
  halved *= 2;
  d.tensor("x", d.real(), shape);
  d.compare(fmt::format("glu(x, axis={})", axis), fmt::format("F.glu(x, dim={})", axis));
}

inline void softmax(Draft& d) {
  const Shape shape = d.shape(1, 4);
  Options options;
  const int64_t axis = d.chance(0.8) ? d.axis(shape.size()) : -1;
  if (axis != -1) options.hone = fmt::format(", axis={}", axis);
  d.tensor("x", d.real(), shape);
  d.compare(fmt::format("{}(x{})", d.name(), options.hone), fmt::format("{}(x, dim={})", d.torch(), axis));
}

inline constexpr Generator kRows[] = {
    {"relu", numeric, "F.relu"},
    {"relu6", numeric, "F.relu6"},
    {"leaky_relu", slope, "F.leaky_relu"},
    {"prelu", prelu},
    {"elu", alpha, "F.elu"},
    {"selu", plain, "F.selu"},
    {"celu", alpha, "F.celu"},
    {"gelu", gelu, "F.gelu"},
    {"sigmoid", plain, "torch.sigmoid"},
    {"log_sigmoid", plain, "F.logsigmoid"},
    {"silu", plain, "F.silu"},
    {"softplus", softplus, "F.softplus"},
    {"mish", plain, "F.mish"},
    {"softsign", plain, "F.softsign"},
    {"hardtanh", hardtanh, "F.hardtanh"},
    {"hardsigmoid", plain, "F.hardsigmoid"},
    {"hardswish", plain, "F.hardswish"},
    {"tanhshrink", plain, "F.tanhshrink"},
    {"softshrink", lambda, "F.softshrink"},
    {"hardshrink", lambda, "F.hardshrink"},
    {"threshold", threshold, "F.threshold"},
    {"glu", glu},
};
inline constexpr Generator kSoftmaxRows[] = {
    {"softmax", softmax, "F.softmax"},
    {"log_softmax", softmax, "F.log_softmax"},
    {"softmin", softmax, "F.softmin"},
};

}  // namespace activation
}  // namespace hone::evaluate::testing
