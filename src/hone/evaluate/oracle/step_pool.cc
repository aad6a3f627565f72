#include <algorithm>
#include <cmath>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

using task::Prim;

/// Tap by tap over rows of the result: each tap adds a strided row of the operand.
Tensor pool_step(const Step& step) {
  const Kernels& k = kernels();
  const bool sums = step.node().prim == Prim::kPoolSum;
  const Prim op = sums ? Prim::kAdd : Prim::kMaximum;
  const Window window = window_of(step.node(), {});
  const Box need = operand_box(step.graph, step.id, 0, step.box);
  Fresh out = step.fresh();
  const int64_t total = step.box.count();
  std::fill_n(out.value, total, sums ? 0.0 : -HUGE_VAL);
  if (out.scale) std::fill_n(out.scale, total, 0.0);
  if (is_empty(need)) return out.tensor;
  const Tensor x = densify(restrict_to(step.operands[0], need), step.pool);

  const size_t rank = step.box.extent.size(), lead = rank - window.kernel.size(), last = rank - 1;
  const int64_t row = step.box.extent[last], rows = total / row;
  int64_t taps = 1;
  for (const int64_t extent : window.kernel) taps *= extent;
  std::vector<double> line(static_cast<size_t>(row)), line_scale(line), next(line);
  const Summation* const summation = sums && step.rounds() ? step.summation : nullptr;
  std::vector<double> collected(summation ? static_cast<size_t>(taps * row) : 0);
  task::Shape at(rank);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r;
    for (size_t d = last; d-- > 0;) {
      at[d] = step.box.start[d] + rest % step.box.extent[d];
      rest /= step.box.extent[d];
    }
    for (int64_t t = 0; t < taps; ++t) {
      // Where this tap reads for the row's first element; rows outside the operand add nothing.
      int64_t tap = t, offset = 0, column = 0;
      bool inside = true;
      for (size_t d = rank; d-- > 0;) {
        if (d < lead) {
          offset += (at[d] - x.box.start[d]) * x.stride[d];
          continue;
        }
        const size_t s = d - lead;
        const int64_t in_window = tap % window.kernel[s];
        tap /= window.kernel[s];
        const int64_t shift = in_window * window.dilation[s] - window.padding_low[s] - x.box.start[d];
        if (d == last) {
          column = step.box.start[d] * window.stride[s] + shift;
        } else {
          const int64_t in = at[d] * window.stride[s] + shift;
          inside &= in >= 0 && in < x.box.extent[d];
          offset += in * x.stride[d];
        }
      }
      if (!inside) continue;
      const int64_t by = window.stride.back(), width = x.box.extent[last];
      const int64_t begin = column >= 0 ? 0 : (-column + by - 1) / by;
      const int64_t end = column >= width ? 0 : std::min(row, (width - column - 1) / by + 1);
      const int64_t count = end - begin;
      if (count <= 0) continue;
      const int64_t from = offset + column + begin * by;
      for (int64_t i = 0; i < count; ++i) line[static_cast<size_t>(i)] = x.value[from + i * by];
      if (summation) {
        std::copy_n(line.data(), count, &collected[static_cast<size_t>(t * row + begin)]);
        continue;
      }
      double* y = out.value + r * row + begin;
      k.binary(op, count, y, line.data(), next.data());
      if (step.rounds()) k.round_f32(count, next.data());
      if (out.scale) {
        double* s = out.scale + r * row + begin;
        if (x.scale)
          for (int64_t i = 0; i < count; ++i) line_scale[static_cast<size_t>(i)] = x.scale[from + i * by];
        else
          k.magnitude(count, line.data(), std::min(step.fact().unit, 1.0), line_scale.data());
        k.binary_scale(op, count, y, s, line.data(), line_scale.data(), next.data(), 0, s);
      }
      std::copy_n(next.data(), count, y);
    }
    if (!summation) continue;
    for (int64_t i = 0; i < row; ++i)
      out.value[r * row + i] = summation->fold(false, taps, &collected[static_cast<size_t>(i)], row);
    std::fill(collected.begin(), collected.end(), 0.0);
  }
  if (sums) round_to_track(step, total, out.value);
  if (out.scale) k.at_least(total, out.value, step.fact().unit, out.scale);
  return out.tensor;
}

}  // namespace hone::evaluate
