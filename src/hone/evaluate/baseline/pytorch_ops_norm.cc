// Normalisations.
#include <fmt/format.h>

#include <algorithm>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

/// detail: the function. PyTorch normalises trailing dimensions; others are brought to the end and
/// back.
Result<Term> trailing_norm(const Site& site, std::string_view detail) {
  const std::vector<int64_t> axes = site.integers("axis");
  const std::vector<int64_t> shape = site.shape(0);
  std::vector<int64_t> order, extents, back(shape.size());
  for (int64_t i = 0; i < site.rank(0); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
  for (const int64_t axis : axes) {
    order.push_back(axis);
    extents.push_back(shape[static_cast<size_t>(axis)]);
  }
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const bool trailing = std::is_sorted(order.begin(), order.end());

  Term x = call_term(site.real(0));
  x.binding = site.operand(0).binding;
  const std::string input = trailing
                                ? x.text
                                : fmt::format("{}.permute{}", bracket(x, Binding::kPrimary), tuple(order));
  Term term = call_term(fmt::format("{}({}, {}{}{}{})", detail, input, tuple(extents),
                                    site.optional_tensor("weight", "weight"),
                                    detail == "F.layer_norm" ? site.optional_tensor("bias", "bias") : "",
                                    site.keyword("eps", detail == "F.layer_norm" ? 1e-5 : -1)));
  if (!trailing) {
    term.text += ".permute" + tuple(back);
    term.strided = true;
  }
  return term;
}

std::string weight_and_bias(const Site& site) {
  return site.optional_tensor("weight", "weight") + site.optional_tensor("bias", "bias");
}

/// Given statistics are those of inference; else the batch's own are taken, as in training.
Result<Term> batch_norm(const Site& site, std::string_view) {
  const auto mean = site.find("mean"), var = site.find("var");
  return call_term(fmt::format("F.batch_norm({}, {}, {}{}{}{})", site.real(0),
                               mean ? site.argument(*mean) : "None", var ? site.argument(*var) : "None",
                               weight_and_bias(site), mean ? "" : ", training=True",
                               site.keyword("eps", 1e-5)));
}

Result<Term> instance_norm(const Site& site, std::string_view) {
  return call_term(
      fmt::format("F.instance_norm({}{}{})", site.real(0), weight_and_bias(site), site.keyword("eps", 1e-5)));
}

Result<Term> group_norm(const Site& site, std::string_view) {
  return call_term(fmt::format("F.group_norm({}, {}{}{})", site.real(0), site.integer("groups"),
                               weight_and_bias(site), site.keyword("eps", 1e-5)));
}

Result<Term> norm(const Site& site, std::string_view) {
  const std::string order = site.has("p") && site.number("p") != 2
                                ? fmt::format(", ord={}", literal(site.number("p")))
                                : "";
  return call_term(fmt::format("torch.linalg.vector_norm({}{}{})", site.real(0), order, reduced(site)));
}

Result<Term> normalize(const Site& site, std::string_view) {
  const std::string dim = site.integer("axis") == 1 ? "" : fmt::format(", dim={}", site.axis("axis"));
  return call_term(fmt::format("F.normalize({}{}{}{})", site.real(0), site.keyword("p", 2), dim,
                               site.keyword("eps", 1e-12)));
}

constexpr WriterRow kNormWriters[] = {
    {"layer_norm", trailing_norm, "F.layer_norm"},
    {"rms_norm", trailing_norm, "F.rms_norm"},
    {"batch_norm", batch_norm},
    {"instance_norm", instance_norm},
    {"group_norm", group_norm},
    {"norm", norm},
    {"frobenius_norm", norm},
    {"normalize", normalize},
};

}  // namespace

std::span<const WriterRow> norm_writers() { return kNormWriters; }

}  // namespace hone::evaluate
