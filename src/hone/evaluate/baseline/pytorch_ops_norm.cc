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
  const std::string input = trailing ? x.text : fmt::format("{}.permute{}", bracket(x, Binding::kPrimary), tuple(order));
  Term term = call_term(fmt::format("{}({}, {}{}{}, eps={})", detail, input, tuple(extents),
                                    site.optional_tensor("weight", "weight"),
                                    detail == "F.layer_norm" ? site.optional_tensor("bias", "bias") : "",
                                    literal(site.number("eps"))));
  if (!trailing) {
    term.text += ".permute" + tuple(back);
    term.strided = true;
  }
  return term;
}

constexpr WriterRow kRows[] = {
    {"layer_norm", trailing_norm, "F.layer_norm"},
    {"rms_norm", trailing_norm, "F.rms_norm"},
};

}  // namespace

std::span<const WriterRow> norm_writers() { return kRows; }

}  // namespace hone::evaluate
