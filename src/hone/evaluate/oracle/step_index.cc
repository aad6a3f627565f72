// Indexing and sorting.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {
namespace {

using task::Prim;
using task::Shape;

/// The scale of an exact value; what is no number is moved by nothing.
double magnitude_scale(double value, double unit) {
  return std::isfinite(value) ? unit * std::abs(value) : 0;
}

/// Random access to the tensor that is indexed: a held region, or an input in its own memory (an
/// embedding table of which a few rows are wanted).
class Indexed {
 public:
  explicit Indexed(const Step& step)
      : step_(step), direct_(reads_input_directly(step.graph.graph, step.id, 0)), shape_(step.operand_shape(0)) {
    if (direct_) {
      const auto& ids = step.graph.graph.inputs;
      const auto which = std::find(ids.begin(), ids.end(), step.node().operands[0]) - ids.begin();
      view_ = &step.inputs[static_cast<size_t>(which)];
      stride_ = dense_strides(shape_);
    } else {
      tensor_ = &step.operands[0];
    }
  }

  void read(const Shape& at, double* value, double* scale, double unit) const {
    if (direct_) {
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); ++d) offset += at[d] * stride_[d];
      load_doubles(view_->dtype, view_->data, offset, 1, value);
      round_to_track(step_, 1, value);
      if (scale) *scale = magnitude_scale(*value, unit);
      return;
    }
    const int64_t offset = tensor_->offset_of(at);
    *value = tensor_->value[offset];
    if (scale) *scale = tensor_->scale ? tensor_->scale[offset] : magnitude_scale(*value, unit);
  }

 private:
  const Step& step_;
  bool direct_;
  const Shape& shape_;
  Shape stride_;
  const TensorView* view_ = nullptr;
  const Tensor* tensor_ = nullptr;
};

/// Advances a position inside `box` in row-major order.
void advance(Shape& at, const Box& box) {
  for (size_t d = at.size(); d-- > 0;) {
    if (++at[d] < box.start[d] + box.extent[d]) return;
    at[d] = box.start[d];
  }
}

}  // namespace

bool reads_input_directly(const task::Graph& graph, int id, size_t operand) {
  const task::Node& node = graph.node(id);
  return operand == 0 && (node.prim == Prim::kGather || node.prim == Prim::kTakeAlongAxis) &&
         graph.node(node.operands[0]).prim == Prim::kInput;
}

Tensor gather_step(const Step& step) {
  const auto axis = static_cast<size_t>(int_attr(step.node(), "axis"));
  const bool along = step.node().prim == Prim::kTakeAlongAxis;
  const size_t inserted = along ? 1 : step.operand_shape(1).size();
  const int64_t bound = step.operand_shape(0)[axis];
  const Indexed x(step);
  const Tensor& index = step.operands[1];
  Fresh out = step.fresh();
  const int64_t count = step.box.count();
  Shape at = step.box.start, from(step.operand_shape(0).size()), which(index.stride.size());
  for (int64_t i = 0; i < count; ++i, advance(at, step.box)) {
    if (along) which = at;
    else std::copy_n(at.begin() + static_cast<std::ptrdiff_t>(axis), inserted, which.begin());
    const int64_t offset = index.offset_of(which);
    const double chosen = index.value[offset];
    double* scale = out.scale ? out.scale + i : nullptr;
    if (!(chosen >= 0 && chosen < static_cast<double>(bound))) {
      out.value[i] = std::nan("");  // out of range: undefined, so not judged
      if (scale) *scale = HUGE_VAL;
      continue;
    }
    for (size_t d = 0; d < from.size(); ++d)
      from[d] = d < axis ? at[d] : d == axis ? static_cast<int64_t>(chosen) : at[d + inserted - 1];
    x.read(from, out.value + i, scale, step.fact().unit);
    // An index that hangs on rounding may point anywhere.
    if (scale && index.scale && index.scale[offset] > 0) *scale = HUGE_VAL;
  }
  return out.tensor;
}

Tensor scatter_step(const Step& step) {
  const auto axis = static_cast<size_t>(int_attr(step.node(), "axis"));
  const auto held = [&](size_t k) { return densify(restrict_to(step.operands[k], operand_box(step.graph, step.id, k, step.box)), step.pool); };
  const Tensor x = held(0), indices = held(1), source = held(2);
  Fresh out = step.fresh();
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < axis; ++d) outer *= step.box.extent[d];
  for (size_t d = axis + 1; d < step.box.extent.size(); ++d) inner *= step.box.extent[d];
  const int64_t length = source.box.extent[axis], kept = step.box.extent[axis], first = step.box.start[axis], bound = step.shape()[axis];
  const double own = step.fact().unit, exact_term = std::min(own, 1.0);
  std::copy_n(x.value, step.box.count(), out.value);
  for (int64_t i = 0; out.scale && i < step.box.count(); ++i) out.scale[i] = x.scale ? x.scale[i] : magnitude_scale(x.value[i], exact_term);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t p = 0; p < length; ++p)
      for (int64_t c = 0; c < inner; ++c) {
        const int64_t from = (o * length + p) * inner + c;
        const double chosen = indices.value[from];
        // Nobody says what an index outside, or one that hangs on rounding, does: nothing of that line is judged.
        const bool unsure = !(chosen >= 0 && chosen < static_cast<double>(bound)) || (indices.scale && indices.scale[from] > 0);
        if (unsure && out.scale)
          for (int64_t i = 0; i < kept; ++i) out.scale[(o * kept + i) * inner + c] = HUGE_VAL;
        const int64_t row = unsure ? -1 : static_cast<int64_t>(chosen) - first;
        if (row < 0 || row >= kept) continue;
        const int64_t to = (o * kept + row) * inner + c;
        const double value = source.value[from], term = source.scale ? source.scale[from] : magnitude_scale(value, exact_term);
        double& sum = out.value[to];
        sum = step.rounds() ? static_cast<double>(static_cast<float>(sum + value)) : sum + value;
        if (out.scale) out.scale[to] = std::max(out.scale[to] + term, own * std::abs(sum) + kUnderflow);
      }
  round_to_track(step, step.box.count(), out.value);
  return out.tensor;
}

Tensor sort_step(const Step& step) {
  const auto axis = static_cast<size_t>(int_attr(step.node(), "axis"));
  const bool descending = bool_attr(step.node(), "descending");
  const bool indices = step.node().prim == Prim::kArgSort;
  const Tensor x = densify(restrict_to(step.operands[0], operand_box(step.graph, step.id, 0, step.box)),
                           step.pool);
  Fresh out = step.fresh();
  const int64_t length = x.box.extent[axis], kept = step.box.extent[axis], first = step.box.start[axis];
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < axis; ++d) outer *= x.box.extent[d];
  for (size_t d = axis + 1; d < x.box.extent.size(); ++d) inner *= x.box.extent[d];

  std::vector<double> key(static_cast<size_t>(length));
  std::vector<int64_t> order(key.size());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < inner; ++c) {
      const auto offset_of = [&](int64_t i) { return (o * length + i) * inner + c; };
      for (int64_t i = 0; i < length; ++i) key[static_cast<size_t>(i)] = x.value[offset_of(i)];
      std::iota(order.begin(), order.end(), 0);
      // NaN counts as the largest.
      std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
        const double a = key[static_cast<size_t>(descending ? q : p)];
        const double b = key[static_cast<size_t>(descending ? p : q)];
        return std::isnan(b) ? !std::isnan(a) : a < b;
      });
      const auto element = [&](int64_t rank) { return order[static_cast<size_t>(rank)]; };
      const auto scale_at = [&](int64_t rank) { return x.scale[offset_of(element(rank))]; };
      const auto rivals = [&](int64_t rank, int64_t other) {
        const double gap = std::abs(key[static_cast<size_t>(element(rank))] -
                                    key[static_cast<size_t>(element(other))]);
        return gap <= kAmbiguous * (scale_at(rank) + scale_at(other));
      };
      for (int64_t r = first; r < first + kept; ++r) {
        const int64_t to = (o * kept + r - first) * inner + c;
        out.value[to] = indices ? static_cast<double>(element(r)) : key[static_cast<size_t>(element(r))];
        if (!out.scale) continue;
        // Neighbours within the ambiguity may change places.
        double most = scale_at(r);
        bool open = false;
        for (int64_t n = r - 1; n >= 0 && rivals(r, n); --n) most = std::max(most, scale_at(n)), open = true;
        for (int64_t n = r + 1; n < length && rivals(r, n); ++n) most = std::max(most, scale_at(n)), open = true;
        out.scale[to] = indices ? (open ? HUGE_VAL : 0) : most;
      }
    }
  return out.tensor;
}

}  // namespace hone::evaluate
