#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/step.h"

#include <algorithm>
#include <cmath>

namespace hone::evaluate {
namespace {

using task::Prim;
using task::Shape;

/// Copies a box out of a dense typed tensor, run by run along the dimensions that stay whole.
void load_box(const TensorView& view, const Box& box, double* out) {
  const Shape stride = dense_strides(view.shape);
  const size_t rank = view.shape.size();
  size_t inner = rank;  // dimensions from here on are walked as one run
  int64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= box.extent[inner];
    if (box.extent[inner] != view.shape[inner]) break;
  }
  int64_t base = 0;
  for (size_t d = 0; d < rank; ++d) base += box.start[d] * stride[d];
  Shape at(inner, 0);
  for (int64_t left = box.count(); left > 0; left -= run) {
    int64_t offset = base;
    for (size_t d = 0; d < inner; ++d) offset += at[d] * stride[d];
    load_doubles(view.dtype, view.data, offset, run, out);
    out += run;
    for (size_t d = inner; d-- > 0;) {
      if (++at[d] < box.extent[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace

Tensor leaf_step(const Step& step) {
  Fresh out = step.fresh();
  const task::Node& node = step.node();
  switch (node.prim) {
    case Prim::kInput: {
      const auto& ids = step.graph.graph.inputs;
      const auto which = std::find(ids.begin(), ids.end(), step.id) - ids.begin();
      load_box(step.inputs[static_cast<size_t>(which)], step.box, out.value);
      round_to_track(step, step.box.count(), out.value);
      if (out.scale) kernels().magnitude(step.box.count(), out.value, step.fact().unit, out.scale);
      break;
    }
    case Prim::kConstant: {
      const double value = number_attr(node, "value");
      *out.value = step.rounds() ? static_cast<float>(value) : value;
      if (out.scale) *out.scale = std::isfinite(value) ? step.fact().unit * std::abs(value) : 0;
      break;
    }
    case Prim::kSymbol: {
      const auto value = node.attr<task::IntExpr>("value").eval(step.graph.bindings);
      HONE_CHECK(value.has_value(), "unbound symbol in a concrete graph");
      *out.value = static_cast<double>(*value);
      break;
    }
    case Prim::kIota: {
      const auto axis = static_cast<size_t>(int_attr(node, "axis"));
      int64_t inner = 1;
      for (size_t d = axis + 1; d < step.box.extent.size(); ++d) inner *= step.box.extent[d];
      const int64_t count = step.box.count(), length = step.box.extent[axis];
      for (int64_t i = 0; i < count; ++i)
        out.value[i] = static_cast<double>(step.box.start[axis] + i / inner % length);
      break;
    }
    default: HONE_CHECK(false, "not a leaf");
  }
  return out.tensor;
}

}  // namespace hone::evaluate
