// Operations that rearrange elements. Most are views: they say whether the result may share memory
// with an argument and whether it may be strided.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "hone/evaluate/baseline/pytorch_emit.h"

namespace hone::evaluate {
namespace {

Term method(const Site& site, std::string_view call) {
  return call_term(fmt::format("{}.{}", bracket(site.operand(0), Binding::kPrimary), call));
}

/// Of a strided tensor reshape makes a copy, as a rule; the exceptions are strided and not dense, or
/// are caught when the opponent is tried out.
Result<Term> reshape(const Site& site, std::string_view) {
  Term term = method(site, fmt::format("reshape({})", fmt::join(site.result_shape(), ", ")));
  term.alias = site.operand(0).alias && !site.operand(0).strided;
  return term;
}

Result<Term> permute(const Site& site, std::string_view) {
  const std::vector<int64_t> perm = site.integers("perm");
  std::vector<int64_t> swapped;
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) swapped.push_back(static_cast<int64_t>(i));
  Term term;
  if (perm.size() == 2 && swapped.size() == 2) {
    term = method(site, "T");
  } else if (swapped.size() == 2) {
    term = method(site, fmt::format("transpose({}, {})", swapped[0], swapped[1]));
  } else {
    term = method(site, fmt::format("permute({})", fmt::join(perm, ", ")));
  }
  term.alias = site.operand(0).alias;
  term.strided = true;
  return term;
}

constexpr WriterRow kRows[] = {
    {"reshape", reshape},
    {"transpose", permute},
    {"permute", permute},
};

}  // namespace

std::span<const WriterRow> shape_writers() { return kRows; }

}  // namespace hone::evaluate
