// Convolutions, transposed convolutions. Positions that look at the same taps of the window, most of them or those at one
// edge, or between the steps of a transposed one, go together: the group's weights under these taps as a matrix [outputs, channels
// x taps] times the operand's elements there as a matrix [positions, channels x taps]. What a window sees of the padding is
// no term of the sum.
#include <algorithm>
#include <map>
#include <vector>

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

/// Coordinates along one dimension of the result that see the same taps: at least one.
struct Along {
  std::vector<int64_t> taps{};
  std::vector<int64_t> at{};       ///< coordinates, from the box's start on
  std::vector<int64_t> offset{};   ///< of each coordinate: of the element under the first tap, in elements of the held operand
  std::vector<int64_t> step{};     ///< of each tap: from there on
};

/// `x` is the dense operand region; position s of the window lies along dimension s + 2.
std::vector<Along> axes_along(const Window& window, bool transposed, size_t s, const Box& box, const Tensor& x) {
  // Position inside the held region, or -1: in the padding, or between a transposed stride's steps.
  const auto source = [&](int64_t at, int64_t tap) -> int64_t {
    int64_t in = 0;
    if (transposed) {
      const int64_t numerator = at + window.padding_low[s] - tap * window.dilation[s];
      if (numerator < 0 || numerator % window.stride[s] != 0) return -1;
      in = numerator / window.stride[s];
    } else {
      in = at * window.stride[s] - window.padding_low[s] + tap * window.dilation[s];
    }
    in -= x.box.start[s + 2];
    return in >= 0 && in < x.box.extent[s + 2] ? in : -1;
  };
  std::map<std::vector<int64_t>, Along> by_taps;
  for (int64_t i = 0; i < box.extent[s + 2]; ++i) {
    const int64_t at = box.start[s + 2] + i;
    std::vector<int64_t> taps;
    for (int64_t tap = 0; tap < window.kernel[s]; ++tap)
      if (source(at, tap) >= 0) taps.push_back(tap);
    if (taps.empty()) continue;
    Along& axis = by_taps[taps];
    const int64_t first = source(at, taps.front());
    if (axis.taps.empty())
      for (const int64_t tap : taps) axis.step.push_back((source(at, tap) - first) * x.stride[s + 2]);
    axis.taps = std::move(taps);
    axis.at.push_back(i);
    axis.offset.push_back(first * x.stride[s + 2]);
  }
  std::vector<Along> all;
  for (auto& [taps, axis] : by_taps) all.push_back(std::move(axis));
  return all;
}

/// Every sum of one number of each list, the last list running fastest.
std::vector<int64_t> sums_of(const std::vector<std::vector<int64_t>>& lists) {
  std::vector<int64_t> sums = {0};
  for (const std::vector<int64_t>& list : lists) {
    std::vector<int64_t> longer;
    longer.reserve(sums.size() * list.size());
    for (const int64_t sum : sums)
      for (const int64_t number : list) longer.push_back(sum + number);
    sums = std::move(longer);
  }
  return sums;
}

/// Positions of the result that see the same taps.
struct Patch {
  std::vector<int64_t> taps;       ///< of the whole window, row-major
  std::vector<int64_t> steps;      ///< of each tap: from the element under the first one on
  std::vector<int64_t> offsets;    ///< of each position: of that element, in the first channel
  std::vector<int64_t> at;         ///< of each position: in a channel of the result
};

std::vector<Patch> patches_of(const Window& window, bool transposed, const Box& box, const Tensor& x, const Shape& out_stride) {
  const size_t rank = window.kernel.size();
  std::vector<std::vector<Along>> axes;
  int64_t count = 1;
  for (size_t s = 0; s < rank; ++s) {
    axes.push_back(axes_along(window, transposed, s, box, x));
    count *= static_cast<int64_t>(axes.back().size());
  }
  const auto scaled = [](std::vector<int64_t> list, int64_t by) {
    for (int64_t& number : list) number *= by;
    return list;
  };
  std::vector<Patch> patches;
  for (int64_t index = 0; index < count; ++index) {
    std::vector<std::vector<int64_t>> taps(rank), steps(rank), offsets(rank), at(rank);
    int64_t rest = index, tap_stride = 1;
    for (size_t s = rank; s-- > 0;) {
      const Along& axis = axes[s][static_cast<size_t>(rest % static_cast<int64_t>(axes[s].size()))];
      rest /= static_cast<int64_t>(axes[s].size());
      taps[s] = scaled(axis.taps, tap_stride);
      tap_stride *= window.kernel[s];
      steps[s] = axis.step;
      offsets[s] = axis.offset;
      at[s] = scaled(axis.at, out_stride[s + 2]);
    }
    patches.push_back({sums_of(taps), sums_of(steps), sums_of(offsets), sums_of(at)});
  }
  return patches;
}

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
  const std::vector<Patch> patches = patches_of(window, transposed, box, x, out.tensor.stride);
  size_t most_taps = 0;
  for (const Patch& patch : patches) most_taps = std::max(most_taps, patch.taps.size());
  const int64_t first_output = box.start[1], end_output = first_output + box.extent[1];
  const int64_t rows = std::min(outputs_per_group, box.extent[1]), most_depth = inputs_per_group * static_cast<int64_t>(most_taps);
  const int64_t most_gathered = std::max(kGathered, most_depth), most_sums = std::max(kGathered, rows);
  const auto take_if = [&](bool wanted, int64_t count) { return wanted ? step.pool.take(count) : nullptr; };
  const bool with_scale = out.scale && x.scale, scaled_weights = out.scale && w.scale;
  const auto gathered = step.pool.take(most_gathered), weights_there = step.pool.take(rows * most_depth), sums = step.pool.take(most_sums);
  const auto gathered_scale = take_if(with_scale, most_gathered), scales_there = take_if(scaled_weights, rows * most_depth), scale_sums = take_if(out.scale, most_sums);

  for (int64_t group = first_output / outputs_per_group; group * outputs_per_group < end_output; ++group) {
    const int64_t from = std::max(first_output, group * outputs_per_group);
    const int64_t to = std::min(end_output, (group + 1) * outputs_per_group);
    const int64_t x_channel = group * inputs_per_group - x.box.start[1];
    for (const Patch& patch : patches) {
      const auto taps = static_cast<int64_t>(patch.taps.size()), depth = inputs_per_group * taps, positions = static_cast<int64_t>(patch.at.size());
      // Weights are [outputs, inputs, taps], a transposed convolution's [inputs, outputs, taps].
      const auto under_taps = [&](const double* data, double* there) {
        for (int64_t o = from; o < to; ++o)
          for (int64_t c = 0; c < inputs_per_group; ++c) {
            const double* const all = transposed ? data + (group * inputs_per_group + c - w.box.start[0]) * w.stride[0] +
                                                       (o - group * outputs_per_group - w.box.start[1]) * w.stride[1]
                                                 : data + (o - w.box.start[0]) * w.stride[0] + (c - w.box.start[1]) * w.stride[1];
            for (int64_t t = 0; t < taps; ++t) *there++ = all[patch.taps[static_cast<size_t>(t)]];
          }
      };
      under_taps(w.value, weights_there.get());
      if (scaled_weights) under_taps(w.scale, scales_there.get());
      const Matrix weights{weights_there.get(), scales_there.get(), depth, 1};
      const int64_t chunk = std::clamp<int64_t>(std::min(kGathered / depth, kGathered / rows), 1, positions);
      for (int64_t image = 0; image < box.extent[0]; ++image) {
        const int64_t base = (box.start[0] + image - x.box.start[0]) * x.stride[0] + x_channel * x.stride[1];
        for (int64_t p0 = 0; p0 < positions; p0 += chunk) {
          const int64_t count = std::min(chunk, positions - p0);
          const auto gather = [&](const double* data, double* there) {
            for (int64_t p = p0; p < p0 + count; ++p)
              for (int64_t c = 0; c < inputs_per_group; ++c) {
                const double* const first = data + base + patch.offsets[static_cast<size_t>(p)] + c * x.stride[1];
                for (int64_t t = 0; t < taps; ++t) *there++ = first[patch.steps[static_cast<size_t>(t)]];
              }
          };
          gather(x.value, gathered.get());
          if (with_scale) gather(x.scale, gathered_scale.get());
          std::fill_n(sums.get(), (to - from) * count, 0.0);
          if (out.scale) std::fill_n(scale_sums.get(), (to - from) * count, 0.0);
          accumulate_product(rules, {.m = to - from, .n = count, .depth = depth, .a = weights,
                                     .b = {gathered.get(), gathered_scale.get(), depth, 1},
                                     .value = sums.get(), .scale = out.scale ? scale_sums.get() : nullptr,
                                     .c_row = count, .c_column = 1});
          const int64_t corner = image * out.tensor.stride[0] + (from - first_output) * out.tensor.stride[1];
          const auto put = [&](const double* found, double* there) {
            for (int64_t o = 0; o < to - from; ++o)
              for (int64_t p = 0; p < count; ++p) there[corner + o * out.tensor.stride[1] + patch.at[static_cast<size_t>(p0 + p)]] = *found++;
          };
          put(sums.get(), out.value);
          if (out.scale) put(scale_sums.get(), out.scale);
        }
      }
    }
  }
  finish_products(step, out);
  return out.tensor;
}

}  // namespace hone::evaluate
