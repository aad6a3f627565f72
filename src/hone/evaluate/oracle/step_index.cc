// Indexing and sorting.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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
  const Prim op = step.node().prim;
  const std::optional<Prim> extreme = op == Prim::kScatterAdd ? std::nullopt : std::optional(op == Prim::kScatterMax ? Prim::kMaximum : Prim::kMinimum);
  std::copy_n(x.value, step.box.count(), out.value);
  for (int64_t i = 0; out.scale && i < step.box.count(); ++i) out.scale[i] = x.scale ? x.scale[i] : extreme ? 0 : magnitude_scale(x.value[i], exact_term);
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
        if (extreme) {
          const double before = sum, scale = out.scale ? out.scale[to] : 0, moved = source.scale ? source.scale[from] : 0;
          kernels().binary(*extreme, 1, &before, &value, &sum);
          if (out.scale) kernels().binary_scale(*extreme, 1, &before, &scale, &value, &moved, &sum, 0, &out.scale[to]);
          continue;
        }
        sum = step.rounds() ? static_cast<double>(static_cast<float>(sum + value)) : sum + value;
        if (out.scale) out.scale[to] = std::max(out.scale[to] + term, own * std::abs(sum) + kUnderflow);
      }
  if (!extreme) round_to_track(step, step.box.count(), out.value);
  return out.tensor;
}

namespace {

/// Values in rising order with their scales: of which others one may take the place. Two are rivals where their gap is at most kAmbiguous times
/// the sum of their scales; of each value those on either side are looked at up to the first that is none. In time n log n, whatever the
/// values: of a row whose small values all lie within their scales, each has all others as rivals.
class Rivals {
 public:
  struct Found {
    double most;        ///< the largest scale among the value's own and its rivals'
    bool any = false;
  };

  void set(std::span<const double> value, std::span<const double> scale) {
    value_ = value, scale_ = scale;
    leaves_ = std::bit_ceil(value.size());
    nodes_.assign(2 * leaves_, {});
    for (size_t i = 0; i < value.size(); ++i)
      if (!std::isnan(value[i])) nodes_[leaves_ + i] = {false, value[i] + kAmbiguous * scale[i], value[i] - kAmbiguous * scale[i], scale[i]};
    for (size_t n = leaves_; n-- > 1;) {
      const Node &a = nodes_[2 * n], &b = nodes_[2 * n + 1];
      nodes_[n] = {a.alone || b.alone, std::min(a.least_end, b.least_end), std::max(a.largest_begin, b.largest_begin), std::max(a.scale, b.scale)};
    }
  }

  [[nodiscard]] Found of(size_t i) const {
    Found found{scale_[i]};
    if (std::isnan(value_[i])) return found;
    const double begin = value_[i] - kAmbiguous * scale_[i], end = value_[i] + kAmbiguous * scale_[i];
    walk(i, 0, [&](const Node& node) { return !node.alone && !(node.least_end < begin); }, found);
    walk(i, 1, [&](const Node& node) { return !node.alone && !(node.largest_begin > end); }, found);
    return found;
  }

 private:
  /// Of a range of values: whether one is nobody's rival, NaN or beyond the last; where the first of them ends and the last begins, each widened
  /// by its scale; and their largest scale.
  struct Node {
    bool alone = true;
    double least_end = 0, largest_begin = 0, scale = 0;
  };

  /// From a value outwards, to smaller ones (side 0) or larger ones (1), over ranges as large as can be, as long as all of one are rivals.
  template <class All>
  void walk(size_t from, size_t side, const All& all_are, Found& found) const {
    for (size_t node = leaves_ + from; node > 1; node /= 2) {
      if (node % 2 == side) continue;   // nothing lies beyond it under this parent
      size_t beside = node ^ 1;
      while (!all_are(nodes_[beside])) {
        if (beside >= leaves_) return;
        beside = 2 * beside + (1 - side);   // the half that is nearer
        if (all_are(nodes_[beside])) take(beside, found), beside ^= 1;
      }
      take(beside, found);
    }
  }
  void take(size_t node, Found& found) const {
    found.most = std::max(found.most, nodes_[node].scale);
    found.any = true;
  }

  std::span<const double> value_, scale_;
  size_t leaves_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace

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

  std::vector<double> key(static_cast<size_t>(length)), sorted(key.size()), scale(key.size());
  std::vector<int64_t> order(key.size());
  Rivals rivals;
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
      if (out.scale) {
        for (int64_t r = 0; r < length; ++r) {
          const double value = key[static_cast<size_t>(element(r))];
          sorted[static_cast<size_t>(r)] = descending ? -value : value;
          scale[static_cast<size_t>(r)] = x.scale[offset_of(element(r))];
        }
        rivals.set(sorted, scale);
      }
      for (int64_t r = first; r < first + kept; ++r) {
        const int64_t to = (o * kept + r - first) * inner + c;
        out.value[to] = indices ? static_cast<double>(element(r)) : key[static_cast<size_t>(element(r))];
        if (!out.scale) continue;
        const Rivals::Found found = rivals.of(static_cast<size_t>(r));
        out.scale[to] = indices ? (found.any ? HUGE_VAL : 0) : found.most;
      }
    }
  return out.tensor;
}

}  // namespace hone::evaluate
