// Losses and distances.
#pragma once
#include "hone/evaluate/baseline/testing/random_case.h"

namespace hone::evaluate::testing {
namespace loss {

inline std::string reduction(Draft& d, Options& options) {
  const std::string how = d.pick({"mean", "sum", "none"});
  if (how != "mean" || d.chance()) options.hone += fmt::format(", reduction=\"{}\"", how);
  return how;
}

/// x and targets; the row's text is the loss of one element.
inline void pair(Draft& d, Domain values, Domain targets, Options options) {
  const DType type = d.real();
  const Shape shape = d.shape();
  const bool swap = d.chance(0.2);
  d.tensor("x", type, swap ? d.part_of(shape) : shape, values);
  d.tensor("t", type, swap ? shape : d.part_of(shape, 0.7), targets);
  const std::string how = reduction(d, options);
  d.compare(fmt::format("{}(x, t{})", d.name(), options.hone),
            fmt::format("reduced({}, '{}')", d.torch(), how));
}
inline void real(Draft& d) { pair(d, Domain::kReal, Domain::kReal, {}); }
inline void sign(Draft& d) { pair(d, Domain::kReal, Domain::kSign, {}); }
inline void unit(Draft& d) { pair(d, Domain::kUnit, Domain::kUnit, {}); }
/// PyTorch adds max(x, 0) and (1 - t) x, which cancel: in f32 even for small x.
inline void logits(Draft& d) {
  d.family(d.pick({Family::kNormal, Family::kUniform, Family::kSparse, Family::kInteger}));
  d.never_gated();
  pair(d, Domain::kReal, Domain::kUnit, {});
}
inline void bend(Draft& d) {
  const char* key = d.op() == "huber_loss" ? "delta" : "beta";
  std::string value = "1";
  Options options;
  if (d.chance(0.7)) {
    value = d.op() == "huber_loss" || d.chance(0.8) ? d.number(0.1, 3) : "0";
    options.hone = fmt::format(", {}={}", key, value);
  }
  d.before("c = " + value);
  pair(d, Domain::kReal, Domain::kReal, options);
}

inline void kl_div(Draft& d) {
  const DType type = d.real();
  const Shape shape = d.shape(1, 4);
  const bool logs = d.chance(0.4);
  d.tensor("x", type, shape);
  d.tensor("t", type, d.part_of(shape, 0.7), logs ? Domain::kReal : Domain::kUnit);
  Options options;
  if (logs) options.hone = ", log_target=True";
  std::string how = reduction(d, options);
  if (how == "sum" && d.chance()) {
    options.hone.replace(options.hone.find("\"sum\""), 5, "\"batchmean\"");
    how = "batchmean";
  }
  d.compare(fmt::format("kl_div(x, t{})", options.hone),
            fmt::format("reduced({}, '{}')", logs ? "t.exp() * (t - x)" : "torch.xlogy(t, t) - t * x", how));
}

/// [C] or [N, C, ...], with class indices or probabilities.
inline void classes(Draft& d) {
  const DType type = d.real();
  const Shape shape = d.shape(1, 4);
  const size_t axis = shape.size() == 1 ? 0 : 1;
  Shape rest = shape;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  d.tensor("x", type, shape);
  const bool nll = d.op() == "nll_loss", indices = nll || d.chance(0.6);
  if (indices)
    d.tensor("t", d.whole(), rest, Domain::kIndex, shape[axis]);
  else
    d.tensor("t", type, shape, Domain::kUnit);
  Options options;
  if (!nll && d.chance()) options.add("label_smoothing", d.number(0, 0.9));
  const std::string how = reduction(d, options);
  d.compare(
      fmt::format("{}(x, t{})", d.name(), options.hone),
      fmt::format("F.{}(x, {}, reduction='{}'{})", d.op(), indices ? "t.long()" : "t", how, options.torch));
}

/// Two tensors that broadcast, and an axis of their joint shape.
inline void similarity(Draft& d) {
  const DType type = d.real();
  const Shape shape = d.shape(2, 4);
  const bool swap = d.chance(0.4);
  d.tensor("x", type, swap ? d.part_of(shape) : shape);
  d.tensor("y", type, swap ? shape : d.part_of(shape));
  const int64_t axis = d.chance(0.7) ? d.axis(shape.size()) : 1;
  std::string hone = "cosine_similarity(x, y", eps = "1e-8";
  if (axis != 1 || d.chance()) hone += fmt::format(", axis={}", axis);
  if (d.chance(0.4)) hone += ", eps=" + (eps = d.pick({"0.5", "1e-3", "2"}));
  d.compare(hone + ")", fmt::format("cosine_similarity(x, y, {}, {})", axis, eps));
}

inline void distance(Draft& d) {
  const DType type = d.real();
  const Shape shape = d.shape(1, 4);
  const bool swap = d.chance(0.4);
  d.tensor("x", type, swap ? d.part_of(shape) : shape);
  d.tensor("y", type, swap ? shape : d.part_of(shape));
  std::string hone = "pairwise_distance(x, y", p = "2", eps = "1e-6";
  if (d.chance(0.7)) hone += ", p=" + (p = d.pick({"1", "2", "3", "1.5", "inf", "0.5"}));
  if (d.chance(0.4)) hone += ", eps=" + (eps = d.pick({"0.5", "1e-3", "0"}));
  const bool keep = d.chance(0.3);
  if (keep) hone += ", keepdims=True";
  const int64_t axis = d.chance() ? -1 : d.axis(shape.size());
  if (axis != -1) hone += fmt::format(", axis={}", axis);
  d.compare(hone + ")", fmt::format("torch.linalg.vector_norm(x - y + {}, float('{}'), {}, {})", eps, p, axis,
                                    Draft::word(keep)));
}

inline void triplet(Draft& d) {
  const DType type = d.real();
  const Shape shape = d.shape(1, 3);
  Shape parts[3] = {d.part_of(shape, 0.8), d.part_of(shape, 0.8), d.part_of(shape, 0.8)};
  parts[d.between(0, 2)] = shape;
  for (int i = 0; i < 3; ++i) d.tensor(std::string(1, "xyz"[i]), type, parts[i]);
  std::string hone = "triplet_margin_loss(x, y, z", margin = "1", p = "2", eps = "1e-6";
  if (d.chance()) hone += ", margin=" + (margin = d.number(0.1, 3));
  if (d.chance()) hone += ", p=" + (p = d.pick({"1", "2", "3", "1.5"}));
  if (d.chance(0.3)) hone += ", eps=" + (eps = d.pick({"0.5", "1e-3"}));
  Options options;
  const std::string how = reduction(d, options);
  d.compare(hone + options.hone + ")",
            fmt::format("triplet(x, y, z, {}, {}, {}, '{}')", margin, p, eps, how));
}

inline constexpr Generator kRows[] = {
    {"mse_loss", real, "(x - t) ** 2"},
    {"l1_loss", real, "torch.abs(x - t)"},
    {"smooth_l1_loss", bend, "F.smooth_l1_loss(*torch.broadcast_tensors(x, t), reduction='none', beta=c)"},
    {"huber_loss", bend, "F.huber_loss(*torch.broadcast_tensors(x, t), reduction='none', delta=c)"},
    {"hinge_loss", sign, "torch.clamp(1 - x * t, min=0)"},
    {"bce_loss", unit, "F.binary_cross_entropy(*torch.broadcast_tensors(x, t), reduction='none')"},
    {"bce_with_logits", logits,
     "F.binary_cross_entropy_with_logits(*torch.broadcast_tensors(x, t), reduction='none')"},
    {"kl_div", kl_div},
    {"cross_entropy", classes},
    {"nll_loss", classes},
    {"cosine_similarity", similarity},
    {"pairwise_distance", distance},
    {"triplet_margin_loss", triplet},
};

}  // namespace loss
}  // namespace hone::evaluate::testing
