// Reductions.
#include <fmt/format.h>

#include <cmath>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

/// detail: the function.
Result<Term> reduce(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({}{})", detail, site.tensor(0), reduced(site)));
}

/// detail: the function; it takes floats only and needs its dimensions.
Result<Term> reduce_real(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({}{})", detail, site.real(0), reduced(site, /*all_is_default=*/false)));
}

Result<Term> mean(const Site& site, std::string_view) {
  return call_term(fmt::format("torch.mean({}{})", site.real(0), reduced(site)));
}

/// torch.prod takes one dimension or all.
Result<Term> prod(const Site& site, std::string_view) {
  const std::vector<int64_t> axes = site.integers("axis");
  const bool keep = site.flag("keepdims");
  std::string text = site.tensor(0);
  if (site.rank(0) == 0 || (!keep && static_cast<int>(axes.size()) == site.rank(0)))
    return call_term(fmt::format("torch.prod({})", text));
  for (size_t i = axes.size(); i-- > 0;)
    text = fmt::format("torch.prod({}, dim={}{})", text, axes[i], keep ? ", keepdim=True" : "");
  return call_term(std::move(text));
}

/// detail: the function. PyTorch's own correction is 1.
Result<Term> spread(const Site& site, std::string_view detail) {
  const double correction = site.number("correction");
  const std::string value = correction == std::floor(correction)
                                ? std::to_string(static_cast<int64_t>(correction))
                                : literal(correction);
  return call_term(fmt::format("{}({}{}{})", detail, site.real(0), reduced(site),
                               correction == 1 ? "" : ", correction=" + value));
}

/// detail: the function. One axis, or none for all elements.
Result<Term> arg(const Site& site, std::string_view detail) {
  return call_term(fmt::format("{}({}{}{})", detail, site.tensor(0),
                               site.has("axis") ? fmt::format(", dim={}", site.axis("axis")) : "",
                               site.flag("keepdims") ? ", keepdim=True" : ""));
}

/// torch.count_nonzero drops the dimensions it counts along.
Result<Term> count_nonzero(const Site& site, std::string_view) {
  if (site.flag("keepdims"))
    return call_term(
        fmt::format("torch.sum({} != 0{})", bracket(site.operand(0), Binding::kOr), reduced(site)));
  return call_term(fmt::format("torch.count_nonzero({}{})", site.tensor(0), reduced(site)));
}

constexpr WriterRow kReductionWriters[] = {
    {"sum", reduce, "torch.sum"},
    {"prod", prod},
    {"mean", mean},
    {"var", spread, "torch.var"},
    {"std", spread, "torch.std"},
    {"max", reduce, "torch.amax"},
    {"min", reduce, "torch.amin"},
    {"any", reduce, "torch.any"},
    {"all", reduce, "torch.all"},
    {"argmax", arg, "torch.argmax"},
    {"argmin", arg, "torch.argmin"},
    {"count_nonzero", count_nonzero},
    {"logsumexp", reduce_real, "torch.logsumexp"},
};

}  // namespace

std::span<const WriterRow> reduction_writers() { return kReductionWriters; }

}  // namespace hone::evaluate
