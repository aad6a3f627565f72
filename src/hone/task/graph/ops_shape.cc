// Rows that rearrange elements.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hone/task/graph/infer.h"
#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

using Axes = std::vector<int64_t>;

Result<TensorType> infer_reshape(Call& call) {
  Dims dims = call.attr<Dims>("shape");
  const IntExpr total = product(call.dims(0));
  const auto open = std::find(dims.begin(), dims.end(), IntExpr(-1));
  if (open != dims.end()) {
    if (std::count(dims.begin(), dims.end(), IntExpr(-1)) > 1) return wrong("reshape infers one dimension at most, found two -1");
    *open = 1;
    const IntExpr rest = product(dims);
    const auto quotient = IntExpr::divide_exactly(total, rest);
    *open = quotient ? *quotient : IntExpr::floor_div(total, rest);
  }
  if (!may_equal(total, product(dims)))
    return wrong(fmt::format("reshape of {} ({} elements) to {} ({})", dims_text(call.dims(0)),
                             total.to_string(), dims_text(dims), product(dims).to_string()));
  call.attrs["shape"] = dims;
  return TensorType{call.type(0).dtype, std::move(dims)};
}

Ref lower_reshape(const LowerCall& c) { return reshape(c.in[0], c.node.type.dims); }

Result<TensorType> permuted(const Call& call, const Axes& perm) {
  TensorType type{call.type(0).dtype, {}};
  for (const int64_t axis : perm) type.dims.push_back(call.dims(0)[static_cast<size_t>(axis)]);
  return type;
}

Result<Axes> full_permutation(const Call& call, const Axes& axes) {
  Axes perm;
  for (const int64_t axis : axes) {
    HONE_TRY(const int64_t normal, normal_axis(axis, call.rank(0)));
    perm.push_back(normal);
  }
  Axes sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  Axes all(call.dims(0).size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    return wrong(fmt::format("{} of {} needs each of its {} axes once", call.op.name, call.type(0).to_string(), call.rank(0)));
  return perm;
}

/// transpose(x, 0, 1) swaps as PyTorch does; transpose(x, [1, 0]) permutes and transpose(x)
/// reverses as NumPy does.
Result<TensorType> infer_transpose(Call& call) {
  Axes perm(call.dims(0).size());
  std::iota(perm.begin(), perm.end(), 0);
  if (!call.has("axis0")) {
    std::reverse(perm.begin(), perm.end());
  } else {
    const Axes given = call.attr<Axes>("axis0");
    if (!call.has("axis1")) {
      HONE_TRY(perm, full_permutation(call, given));
    } else {
      if (given.size() != 1) return wrong("transpose takes two axes to swap, or one list of all axes");
      HONE_TRY(const int64_t a, normal_axis(given[0], call.rank(0)));
      HONE_TRY(const int64_t b, normal_axis(call.attr<int64_t>("axis1"), call.rank(0)));
      std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
    }
  }
  call.attrs = {{"perm", perm}};
  return permuted(call, perm);
}

Result<TensorType> infer_permute(Call& call) {
  HONE_TRY(const Axes perm, full_permutation(call, call.attr<Axes>("axes")));
  call.attrs = {{"perm", perm}};
  return permuted(call, perm);
}

Ref lower_transpose(const LowerCall& c) { return transpose(c.in[0], c.attr<Axes>("perm")); }

const OpRow kRows[] = {
    {"reshape(x, shape: dims)", "view", "The same elements in another shape; one dimension may be -1.", infer_reshape, lower_reshape},
    {"transpose(x, axis0: ints = none, axis1: int = none)", "", "Swaps two axes; with one list permutes, with nothing reverses all (x.T).", infer_transpose, lower_transpose},
    {"permute(x, axes: ints)", "", "Result axis i is operand axis axes[i].", infer_permute, lower_transpose},
};

}  // namespace

Family shape_family() { return {"Shape", kRows}; }

}  // namespace hone::task
