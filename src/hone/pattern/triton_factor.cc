#include "hone/pattern/triton_factor.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/expression.h"

namespace hone::pattern {

using task::DType;
using task::IntExpr;
using task::Track;

std::string TritonFactors::places(const AxisGroup& group, const std::string& from, const std::string& indent) const {
  std::string text, rest = from;
  for (size_t k = group.letters.size(); k-- > 0;) {
    const std::string extent = parameters_.extent(all_.extents.at(group.letters[k]));
    text += fmt::format("{}{}{} = {}{}\n", indent, prefix_, group.letters[k], rest, k == 0 ? "" : " % " + extent);
    if (k > 0) rest = fmt::format("{} // {}", rest, extent);
  }
  return text;
}

std::string TritonFactors::offset(const Factor& factor, const AxisGroup& group) const {
  std::string text;
  for (const char letter : group.letters) {
    const IntExpr stride = factor.stride(letter);
    if (is_zero(stride)) continue;
    text += fmt::format(" + {}{}{}", prefix_, letter, is_one(stride) ? "" : " * " + parameters_.extent(stride));
  }
  return text;
}

std::string TritonFactors::pointers(const Factor& factor, const AxisGroup& lines) const {
  const auto& inputs = task_.primitive.inputs;
  const auto input = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), factor.input) - inputs.begin());
  const std::string begin = is_zero(factor.begin) ? "" : " + " + parameters_.extent(factor.begin);
  return parameters_.tensor(task_.inputs[input].name) + begin + offset(factor, all_.batch) + offset(factor, lines) + offset(factor, all_.depth);
}

TritonMethod triton_method(Track track, DType a, DType b) {
  if (a == b && a != DType::kF32) return {};
  if (track == Track::kBf16) return {"tl.bfloat16", "", false};
  if (track == Track::kTf32 || track == Track::kF16) return {"tl.float32", ", input_precision=\"tf32\"", false};
  return {"tl.float32", ", input_precision=\"ieee\" if EXACT else \"bf16x6\"", true};
}

}  // namespace hone::pattern
