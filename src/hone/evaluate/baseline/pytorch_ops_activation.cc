// Activation functions: one call of torch.nn.functional each.
#include <fmt/format.h>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

/// detail: the function, of the tensor alone.
Result<Term> plain(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({})", detail, site.real(0)));
}

/// The same where integers stay integers.
Result<Term> plain_any(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({})", detail, site.tensor(0)));
}

Result<Term> leaky_relu(const Site& site, std::string_view) {
  return call_term(fmt::format("F.leaky_relu({}{})", site.real(0), site.keyword("negative_slope", 0.01)));
}

Result<Term> prelu(const Site& site, std::string_view) {
  return call_term(fmt::format("F.prelu({}, {})", site.real(0), site.real(1)));
}

/// detail: the function.
Result<Term> with_alpha(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({}{})", detail, site.real(0), site.keyword("alpha", 1)));
}

Result<Term> gelu(const Site& site, std::string_view) {
  const std::string how = site.word("approximate");
  return call_term(
      fmt::format("F.gelu({}{})", site.real(0), how.empty() ? "" : ", approximate='" + how + "'"));
}

Result<Term> softplus(const Site& site, std::string_view) {
  return call_term(fmt::format("F.softplus({}{}{})", site.real(0), site.keyword("beta", 1),
                               site.keyword("threshold", 20)));
}

Result<Term> hardtanh(const Site& site, std::string_view) {
  return call_term(fmt::format("F.hardtanh({}{}{})", site.tensor(0), site.keyword("min_val", -1),
                               site.keyword("max_val", 1)));
}

/// detail: the function.
Result<Term> with_lambda(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({}{})", detail, site.real(0), site.keyword("lambd", 0.5)));
}

Result<Term> threshold(const Site& site, std::string_view) {
  return call_term(fmt::format("F.threshold({}, {}, {})", site.real(0), literal(site.number("threshold")),
                               literal(site.number("value"))));
}

/// detail: the function, along one axis.
Result<Term> along(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({}, dim={})", detail, site.real(0), site.axis("axis")));
}

constexpr WriterRow kActivationWriters[] = {
    {"relu", plain_any, "F.relu"},
    {"relu6", plain_any, "F.relu6"},
    {"leaky_relu", leaky_relu},
    {"prelu", prelu},
    {"elu", with_alpha, "F.elu"},
    {"selu", plain, "F.selu"},
    {"celu", with_alpha, "F.celu"},
    {"gelu", gelu},
    {"sigmoid", plain, "torch.sigmoid"},
    {"log_sigmoid", plain, "F.logsigmoid"},
    {"silu", plain, "F.silu"},
    {"softplus", softplus},
    {"mish", plain, "F.mish"},
    {"softsign", plain, "F.softsign"},
    {"hardtanh", hardtanh},
    {"hardsigmoid", plain, "F.hardsigmoid"},
    {"hardswish", plain, "F.hardswish"},
    {"tanhshrink", plain, "F.tanhshrink"},
    {"softshrink", with_lambda, "F.softshrink"},
    {"hardshrink", with_lambda, "F.hardshrink"},
    {"threshold", threshold},
    {"glu", along, "F.glu"},
    {"softmax", along, "F.softmax"},
    {"log_softmax", along, "F.log_softmax"},
    {"softmin", along, "F.softmin"},
};

}  // namespace

std::span<const WriterRow> activation_writers() { return kActivationWriters; }

}  // namespace hone::evaluate
