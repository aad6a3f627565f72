// Normalisations.
#pragma once
#include "hone/evaluate/baseline/testing/random_reduction.h"

namespace hone::evaluate::testing {
namespace norm {

inline Options eps(Draft& d, const char* fallback) {
  Options options;
  const std::string value = d.chance() ? fallback : d.pick({"0.1", "1e-3", "1e-8"});
  if (value != fallback || d.chance()) options.hone = ", eps=" + value;
  options.torch = value;
  return options;
}

/// The weights have the normalised dimensions in the order of x's.
inline void trailing(Draft& d) {
  const bool shifts = d.op() == "layer_norm";
  const DType type = d.real();
  const Shape shape = d.shape(1, 4);
  const bool named = d.chance();
  bool weight = d.chance();
  const bool bias = shifts && d.chance();
  std::vector<int64_t> axes;
  if (named) {
    axes = d.axes(shape.size());
  } else {
    const int64_t n = weight || bias ? d.between(1, static_cast<int64_t>(shape.size())) : 1;
    for (int64_t i = -n; i < 0; ++i) axes.push_back(i);
  }
  Shape extents;
  for (size_t i = 0; i < shape.size(); ++i)
    for (const int64_t a : axes)
      if (a == static_cast<int64_t>(i) || a + static_cast<int64_t>(shape.size()) == static_cast<int64_t>(i))
        extents.push_back(shape[i]);
  std::string hone = d.name() + "(x";
  d.tensor("x", type, shape);
  const auto vector = [&](const char* name, const char* key, bool first) {
    d.tensor(name, type, extents);
    hone += first && d.chance() ? fmt::format(", {}", name) : fmt::format(", {}={}", key, name);
  };
  if (weight) vector("w", "weight", true);
  if (bias) vector("b", "bias", false);
  if (named) hone += ", axis=" + tuple_text(axes);
  const Options e = eps(d, shifts ? "1e-5" : "1e-6");
  d.compare(hone + e.hone + ")", fmt::format("{}(x, {}, {}, {}, {})", d.torch(), tuple_text(axes),
                                             weight ? "w" : "None", bias ? "b" : "None", e.torch));
}

/// [N, C, ...], a weight and a bias a channel.
inline void channels(Draft& d) {
  const DType type = d.real();
  const bool batch = d.op() == "batch_norm", group = d.op() == "group_norm";
  Shape shape = d.shape(d.op() == "instance_norm" ? 3 : 2, 5, 4);
  const int64_t groups = group ? d.between(1, 3) : 1;
  shape[1] *= groups;
  // PyTorch refuses statistics of one element.
  if (batch) shape[0] += 1;
  if (!batch) {
    if (shape.size() == 2 && shape[1] == groups) shape[1] *= 2;
    if (shape.size() > 2) shape.back() += 1;
  }
  d.tensor("x", type, shape);
  std::string hone = d.name() + "(x";
  if (group) hone += fmt::format(", {}", groups);
  std::string weight = "None", bias = "None", mean = "None", var = "None";
  const auto vector = [&](std::string& name, const char* letter, const char* key, Domain domain) {
    d.tensor(letter, type, {shape[1]}, domain);
    hone += fmt::format(", {}={}", key, letter);
    name = letter;
  };
  if (d.chance()) vector(weight, "w", "weight", Domain::kReal);
  if (d.chance()) vector(bias, "b", "bias", Domain::kReal);
  if (batch && d.chance()) {
    vector(mean, "m", "mean", Domain::kReal);
    vector(var, "v", "var", Domain::kPositive);
  }
  const Options e = eps(d, "1e-5");
  const std::string call = batch ? fmt::format("F.batch_norm(x, {}, {}, {}, {}, {}, 0, {})", mean, var,
                                               weight, bias, Draft::word(mean == "None"), e.torch)
                           : group
                               ? fmt::format("F.group_norm(x, {}, {}, {}, {})", groups, weight, bias, e.torch)
                               : fmt::format("F.instance_norm(x, None, None, {}, {}, True, 0, {})", weight,
                                             bias, e.torch);
  d.compare(hone + e.hone + ")", call);
}

inline void vector_norm(Draft& d) {
  const Shape shape = d.shape();
  d.tensor("x", d.real(), shape);
  const reduction::Axes a = reduction::axes(d, shape.size());
  std::string p = "2";
  std::string hone = d.name() + "(x";
  if (d.op() == "norm" && d.chance(0.8)) {
    p = d.pick({"1", "2", "3", "inf", "-inf", "0", "1.5", "0.5", "4"});
    hone += ", p=" + p;
  }
  d.compare(hone + a.hone + ")",
            fmt::format("over(lambda v: torch.linalg.vector_norm(v, float('{}'), -1), x, {})", p, a.torch));
}

inline void normalize(Draft& d) {
  const Shape shape = d.shape(2, 4);
  d.tensor("x", d.real(), shape);
  std::string hone = d.name() + "(x", torch = "F.normalize(x";
  if (d.chance()) {
    const std::string p = d.pick({"1", "2", "3", "inf", "1.5"});
    hone += ", p=" + p;
    torch += fmt::format(", p=float('{}')", p);
  }
  if (d.chance(0.7)) {
    const int64_t axis = d.axis(shape.size());
    hone += fmt::format(", axis={}", axis);
    torch += fmt::format(", dim={}", axis);
  }
  const Options e = eps(d, "1e-12");
  d.compare(hone + e.hone + ")", fmt::format("{}, eps={})", torch, e.torch));
}

inline constexpr Generator kRows[] = {
    {"layer_norm", trailing, "layer_norm"},
    {"rms_norm", trailing, "rms_norm"},
    {"batch_norm", channels},
    {"instance_norm", channels},
    {"group_norm", channels},
    {"norm", vector_norm},
    {"frobenius_norm", vector_norm},
    {"normalize", normalize},
};

}  // namespace norm
}  // namespace hone::evaluate::testing
