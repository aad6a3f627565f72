// Losses and distances.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

/// The shape that all operands have together.
std::vector<int64_t> joint_shape(const Site& site) {
  std::vector<int64_t> joint;
  for (size_t k = 0; k < site.size(); ++k) {
    const std::vector<int64_t> shape = site.shape(k);
    if (joint.size() < shape.size()) joint.insert(joint.begin(), shape.size() - joint.size(), 1);
    for (size_t i = 1; i <= shape.size(); ++i) {
      int64_t& extent = joint[joint.size() - i];
      extent = std::max(extent, shape[shape.size() - i]);
    }
  }
  return joint;
}

/// Operand i in the result's type and in the shape it has together with the others: PyTorch's losses
/// broadcast reluctantly or not at all.
std::string paired(const Site& site, size_t i) {
  const Term term = site.in_result_type(i);
  const std::vector<int64_t> joint = joint_shape(site);
  if (site.shape(i) == joint) return term.text;
  return fmt::format("{}.expand({})", bracket(term, Binding::kPrimary), fmt::join(joint, ", "));
}

std::string reduction(const Site& site) {
  const std::string how = site.word("reduction");
  return how == "mean" ? "" : fmt::format(", reduction='{}'", how);
}

/// detail: the function.
Result<Term> pair_loss(const Site& site, std::string_view detail) {
  std::string options;
  if (site.has("beta")) options += site.keyword("beta", 1);
  if (site.has("delta")) options += site.keyword("delta", 1);
  if (site.flag("log_target")) options += ", log_target=True";
  return call_term(
      fmt::format("{}({}, {}{}{})", detail, paired(site, 0), paired(site, 1), options, reduction(site)));
}

Result<Term> hinge(const Site& site, std::string_view) {
  const std::string loss = fmt::format("torch.clamp(1 - {} * {}, min=0)",
                                       bracket(site.in_result_type(0), Binding::kProduct),
                                       bracket(site.in_result_type(1), Binding::kUnary));
  const std::string how = site.word("reduction");
  return call_term(how == "none" ? loss : fmt::format("torch.{}({})", how, loss));
}

/// detail: the function. Class indices are int64 to PyTorch.
Result<Term> class_loss(const Site& site, std::string_view detail) {
  const task::DType targets = site.type(1).dtype;
  std::string classes = task::is_float(targets) ? site.in_result_type(1).text : site.argument(1);
  if (!task::is_float(targets) && targets != task::DType::kI64)
    classes = bracket(site.operand(1), Binding::kPrimary) + ".to(torch.int64)";
  return call_term(fmt::format("{}({}, {}{}{})", detail, site.in_result_type(0).text, classes,
                               site.has("label_smoothing") ? site.keyword("label_smoothing", 0) : "",
                               reduction(site)));
}

Result<Term> cosine_similarity(const Site& site, std::string_view) {
  const int64_t axis = site.integer("axis"), last = static_cast<int64_t>(joint_shape(site).size()) - 1;
  const std::string dim = axis == 1 ? "" : fmt::format(", dim={}", axis == last ? -1 : axis);
  return call_term(fmt::format("F.cosine_similarity({}, {}{}{})", site.in_result_type(0).text,
                               site.in_result_type(1).text, dim, site.keyword("eps", 1e-8)));
}

Result<Term> pairwise_distance(const Site& site, std::string_view) {
  const auto rank = static_cast<int64_t>(joint_shape(site).size());
  const std::string keep = site.flag("keepdims") ? ", keepdim=True" : "";
  if (site.integer("axis") == rank - 1)
    return call_term(fmt::format("F.pairwise_distance({}, {}{}{}{})", site.in_result_type(0).text,
                                 site.in_result_type(1).text, site.keyword("p", 2), site.keyword("eps", 1e-6),
                                 keep));
  return call_term(fmt::format(
      "torch.linalg.vector_norm({} - {} + {}, ord={}, dim={}{})",
      bracket(site.in_result_type(0), Binding::kSum), bracket(site.in_result_type(1), Binding::kProduct),
      literal(site.number("eps")), literal(site.number("p")), site.integer("axis"), keep));
}

Result<Term> triplet(const Site& site, std::string_view) {
  return call_term(fmt::format("F.triplet_margin_loss({}, {}, {}{}{}{}{})", paired(site, 0), paired(site, 1), paired(site, 2),
                               site.keyword("margin", 1), site.keyword("p", 2), site.keyword("eps", 1e-6),
                               reduction(site)));
}

constexpr WriterRow kLossWriters[] = {
    {"mse_loss", pair_loss, "F.mse_loss"},
    {"l1_loss", pair_loss, "F.l1_loss"},
    {"smooth_l1_loss", pair_loss, "F.smooth_l1_loss"},
    {"huber_loss", pair_loss, "F.huber_loss"},
    {"hinge_loss", hinge},
    {"bce_loss", pair_loss, "F.binary_cross_entropy"},
    {"bce_with_logits", pair_loss, "F.binary_cross_entropy_with_logits"},
    {"kl_div", pair_loss, "F.kl_div"},
    {"cross_entropy", class_loss, "F.cross_entropy"},
    {"nll_loss", class_loss, "F.nll_loss"},
    {"cosine_similarity", cosine_similarity},
    {"pairwise_distance", pairwise_distance},
    {"triplet_margin_loss", triplet},
};

}  // namespace

std::span<const WriterRow> loss_writers() { return kLossWriters; }

}  // namespace hone::evaluate
