#include <algorithm>
#include <cmath>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {
namespace {

using task::Prim;
using task::Shape;

/// The part of the operand that the result needs, as the result sees it: same memory, the result's
/// box, strides yet to be arranged.
Tensor view_step(const Step& step) {
  Tensor out = restrict_to(step.operands[0], operand_box(step.graph, step.id, 0, step.box));
  out.box = step.box;
  return out;
}

Tensor broadcast(const Step& step) {
  Tensor out = view_step(step);
  const Shape& from = step.operand_shape(0);
  const Shape stride = out.stride;
  out.stride.assign(step.box.extent.size(), 0);
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1) out.stride[d] = stride[d];
  return out;
}

Tensor transpose(const Step& step) {
  Tensor out = view_step(step);
  const Shape stride = out.stride;
  const auto perm = ints_attr(step.node(), "perm");
  for (size_t i = 0; i < perm.size(); ++i) out.stride[i] = stride[static_cast<size_t>(perm[i])];
  return out;
}

Tensor slice_step(const Step& step) {
  Tensor out = view_step(step);
  const auto by = ints_attr(step.node(), "step");
  for (size_t d = 0; d < by.size(); ++d) out.stride[d] *= by[d];
  return out;
}

Tensor flip_step(const Step& step) {
  Tensor out = view_step(step);
  for (const int64_t axis : ints_attr(step.node(), "axes")) {
    const auto d = static_cast<size_t>(axis);
    const int64_t end = (step.box.extent[d] - 1) * out.stride[d];
    out.value += end;
    if (out.scale) out.scale += end;
    out.stride[d] = -out.stride[d];
  }
  return out;
}

Tensor concat(const Step& step) {
  Fresh out = step.fresh();
  const auto axis = static_cast<size_t>(int_attr(step.node(), "axis"));
  int64_t before = 0;
  for (size_t k = 0; k < step.operands.size(); ++k) {
    const Box need = operand_box(step.graph, step.id, k, step.box);
    if (!is_empty(need)) {
      Shape at = need.start;
      at[axis] += before;
      place(restrict_to(step.operands[k], need), out, at, step.fact().unit);
    }
    before += step.operand_shape(k)[axis];
  }
  return out.tensor;
}

Tensor pad_step(const Step& step) {
  Fresh out = step.fresh();
  const double value = number_attr(step.node(), "value");
  const int64_t count = step.box.count();
  std::fill_n(out.value, count, value);
  if (out.scale)
    std::fill_n(out.scale, count, std::isinf(value) ? 0 : step.fact().unit * std::abs(value));
  const Box need = operand_box(step.graph, step.id, 0, step.box);
  if (is_empty(need)) return out.tensor;
  Shape at = need.start;
  const auto low = ints_attr(step.node(), "low");
  for (size_t d = 0; d < at.size(); ++d) at[d] += low[d];
  place(restrict_to(step.operands[0], need), out, at, step.fact().unit);
  return out.tensor;
}

Tensor reshape_step(const Step& step) {
  const Box need = operand_box(step.graph, step.id, 0, step.box);
  const Tensor from = densify(restrict_to(step.operands[0], need), step.pool);
  // Equal counts: both boxes hold the same elements, and row-major order agrees.
  if (need.count() == step.box.count()) {
    Tensor out = from;
    out.box = step.box;
    out.stride = dense_strides(step.box.extent);
    return out;
  }
  Fresh out = make_dense(step.box, from.scale != nullptr, step.pool);
  const Shape from_full = dense_strides(step.operand_shape(0)), to_full = dense_strides(step.shape());
  const int64_t count = step.box.count();
  Shape at = step.box.start;
  for (int64_t i = 0; i < count; ++i) {
    int64_t flat = 0, offset = 0;
    for (size_t d = 0; d < at.size(); ++d) flat += at[d] * to_full[d];
    for (size_t d = 0; d < from_full.size(); ++d) {
      offset += (flat / from_full[d] - need.start[d]) * from.stride[d];
      flat %= from_full[d];
    }
    out.value[i] = from.value[offset];
    if (out.scale) out.scale[i] = from.scale[offset];
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < step.box.start[d] + step.box.extent[d]) break;
      at[d] = step.box.start[d];
    }
  }
  return out.tensor;
}

}  // namespace

Tensor shape_step(const Step& step) {
  switch (step.node().prim) {
    case Prim::kBroadcast: return broadcast(step);
    case Prim::kReshape: return reshape_step(step);
    case Prim::kTranspose: return transpose(step);
    case Prim::kSlice: return slice_step(step);
    case Prim::kFlip: return flip_step(step);
    case Prim::kConcat: return concat(step);
    case Prim::kPad: return pad_step(step);
    default: HONE_CHECK(false, "not a shape operation");
  }
}

}  // namespace hone::evaluate
