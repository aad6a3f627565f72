// Convolutions, transposed convolutions: each group's weights as a matrix [outputs, taps] times the
// operand's elements under each tap as a matrix [positions, taps].
#include <algorithm>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/contraction.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {
namespace {

using task::Prim;
using task::Shape;

/// Elements of a matrix of gathered positions: a few megabytes at most.
constexpr int64_t kGathered = 1 << 18;

/// Where each tap of a window finds its element, for one output position after another.
class Taps {
 public:
  /// `channels` of the group; x is the dense operand region.
  Taps(const Window& window, bool transposed, int64_t channels, const Tensor& x)
      : window_(window), transposed_(transposed), channels_(channels), x_(x) {
    for (const int64_t k : window.kernel) per_channel_ *= k;
  }
  [[nodiscard]] int64_t count() const { return channels_ * per_channel_; }

  /// Fills `offsets` (one per tap) with positions in x, -1 where the window looks at nothing. `at`:
  /// the spatial position in the result; `base`: offset of the image's first channel of the group.
  void locate(const int64_t* at, int64_t base, int64_t* offsets) const {
    const size_t rank = window_.kernel.size();
    for (int64_t t = 0; t < per_channel_; ++t) {
      int64_t rest = t, offset = base;
      for (size_t s = rank; s-- > 0 && offset >= 0;) {
        const int64_t tap = rest % window_.kernel[s];
        rest /= window_.kernel[s];
        const int64_t in = source(s, at[s], tap);
        offset = in < 0 ? -1 : offset + in * x_.stride[s + 2];
      }
      offsets[t] = offset;
    }
    for (int64_t c = 1; c < channels_; ++c)
      for (int64_t t = 0; t < per_channel_; ++t)
        offsets[c * per_channel_ + t] = offsets[t] < 0 ? -1 : offsets[t] + c * x_.stride[1];
  }

 private:
  /// Position inside the held region, or -1: in the padding, or between a transposed stride's steps.
  [[nodiscard]] int64_t source(size_t s, int64_t at, int64_t tap) const {
    int64_t in;
    if (transposed_) {
      const int64_t numerator = at + window_.padding_low[s] - tap * window_.dilation[s];
      if (numerator < 0 || numerator % window_.stride[s] != 0) return -1;
      in = numerator / window_.stride[s];
    } else {
      in = at * window_.stride[s] - window_.padding_low[s] + tap * window_.dilation[s];
    }
    in -= x_.box.start[s + 2];
    return in >= 0 && in < x_.box.extent[s + 2] ? in : -1;
  }

  const Window& window_;
  bool transposed_;
  int64_t channels_, per_channel_ = 1;
  const Tensor& x_;
};

}  // namespace

Tensor conv_step(const Step& step) {
  const bool transposed = step.node().prim == Prim::kConvTranspose;
  const Shape& w_shape = step.operand_shape(1);
  const Window window = window_of(step.node(), w_shape);
  const ProductRules rules = product_rules(step);
  const auto held = [&](size_t k) {
    Tensor t = restrict_to(step.operands[k], operand_box(step.graph, step.id, k, step.box));
    if (rules.f16) return rounded_to_f16(t, step.pool);
    return step.scaled() ? with_rounding(densify(t, step.pool), step.fact().operands, step.pool)
                         : densify(t, step.pool);
  };
  const Box& box = step.box;
  Fresh out = zero_products(step);
  if (is_empty(operand_box(step.graph, step.id, 0, box))) {
    finish_products(step, out);
    return out.tensor;
  }
  const Tensor x = held(0), w = held(1);

  const int64_t inputs_per_group = step.operand_shape(0)[1] / window.groups;
  const int64_t outputs_per_group = transposed ? w_shape[1] : w_shape[0] / window.groups;
  const Taps taps(window, transposed, inputs_per_group, x);
  const int64_t depth = taps.count(), tap_count = depth / inputs_per_group;

  const size_t spatial = window.kernel.size();
  int64_t positions = 1;
  for (size_t s = 0; s < spatial; ++s) positions *= box.extent[s + 2];
  const int64_t chunk = std::clamp<int64_t>(kGathered / depth, 1, positions);
  std::vector<int64_t> offsets(static_cast<size_t>(depth));
  const auto gathered = step.pool.take(chunk * depth);
  const bool with_scale = out.scale && x.scale;
  const auto gathered_scale = with_scale ? step.pool.take(chunk * depth) : nullptr;
  // A transposed convolution's weights [inputs, outputs, taps], as [outputs, inputs x taps].
  const auto turned = transposed ? step.pool.take(outputs_per_group * depth) : nullptr;
  const auto turned_scale = transposed && out.scale && w.scale ? step.pool.take(outputs_per_group * depth)
                                                               : nullptr;

  const int64_t first_output = box.start[1], end_output = first_output + box.extent[1];
  for (int64_t group = first_output / outputs_per_group; group * outputs_per_group < end_output; ++group) {
    const int64_t from = std::max(first_output, group * outputs_per_group);
    const int64_t to = std::min(end_output, (group + 1) * outputs_per_group);
    const int64_t x_channel = group * inputs_per_group - x.box.start[1];
    Matrix weights{};
    if (transposed) {
      const auto turn = [&](const double* data, double* turned_data) {
        for (int64_t o = from; o < to; ++o)
          for (int64_t c = 0; c < inputs_per_group; ++c)
            std::copy_n(data + (group * inputs_per_group + c - w.box.start[0]) * w.stride[0] +
                            (o - group * outputs_per_group - w.box.start[1]) * w.stride[1],
                        tap_count, turned_data + (o - from) * depth + c * tap_count);
      };
      turn(w.value, turned.get());
      if (turned_scale) turn(w.scale, turned_scale.get());
      weights = {turned.get(), turned_scale.get(), depth, 1};
    } else {
      const int64_t row = (from - w.box.start[0]) * depth;
      weights = {w.value + row, w.scale ? w.scale + row : nullptr, depth, 1};
    }
    for (int64_t image = 0; image < box.extent[0]; ++image) {
      const int64_t base = (box.start[0] + image - x.box.start[0]) * x.stride[0] + x_channel * x.stride[1];
      for (int64_t p0 = 0; p0 < positions; p0 += chunk) {
        const int64_t count = std::min(chunk, positions - p0);
        for (int64_t p = 0; p < count; ++p) {
          int64_t at[8], rest = p0 + p;
          for (size_t s = spatial; s-- > 0;) {
            at[s] = box.start[s + 2] + rest % box.extent[s + 2];
            rest /= box.extent[s + 2];
          }
          taps.locate(at, base, offsets.data());
          for (int64_t t = 0; t < depth; ++t) {
            const int64_t offset = offsets[static_cast<size_t>(t)];
            gathered.get()[p * depth + t] = offset < 0 ? 0 : x.value[offset];
            if (with_scale) gathered_scale.get()[p * depth + t] = offset < 0 ? 0 : x.scale[offset];
          }
        }
        const int64_t corner = image * out.tensor.stride[0] + (from - first_output) * out.tensor.stride[1] + p0;
        accumulate_product(rules, {.m = to - from, .n = count, .depth = depth, .a = weights,
                                   .b = {gathered.get(), gathered_scale.get(), depth, 1},
                                   .value = out.value + corner,
                                   .scale = out.scale ? out.scale + corner : nullptr,
                                   .c_row = out.tensor.stride[1], .c_column = 1});
      }
    }
  }
  finish_products(step, out);
  return out.tensor;
}

}  // namespace hone::evaluate
