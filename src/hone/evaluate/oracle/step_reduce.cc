#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/product_range.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {
namespace {

using task::Prim;

/// A dense operand as [outer, length, inner], reduced along the middle.
struct KeptGroup {
  int64_t outer = 1, length = 1, inner = 1;
};

/// The sum of many vectors: running sums of as many of them as the sum of a row takes (kernels.h), then
/// pairwise. Partial sums of equal weight wait for each other, so that
/// the tree takes little memory.
class VectorSum {
 public:
  VectorSum(int64_t width, int64_t length, bool f32)
      : width_(width), run_(std::clamp<int64_t>(length / 32, length <= 256 ? 256 : 128, 512)), f32_(f32),
        sum_(static_cast<size_t>(width)) {}

  /// Adds one vector; `magnitudes`: the absolute values of it.
  void add(const double* x, bool magnitudes) {
    if (in_sum_ == 0) std::fill(sum_.begin(), sum_.end(), 0.0);
    if (magnitudes)
      for (int64_t i = 0; i < width_; ++i) sum_[static_cast<size_t>(i)] += std::abs(x[i]);
    else
      plus(x, sum_.data());
    if (++in_sum_ == run_) carry();
  }

  void finish(double* out) {
    if (in_sum_ > 0) waiting_.push_back({0, std::move(sum_)});
    std::fill_n(out, width_, 0.0);
    while (!waiting_.empty()) {
      plus(waiting_.back().value.data(), out);
      waiting_.pop_back();
    }
  }

 private:
  struct Partial {
    int level;
    std::vector<double> value;
  };

  void plus(const double* x, double* y) const {
    kernels().binary(Prim::kAdd, width_, x, y, y);
    if (f32_) kernels().round_f32(width_, y);
  }

  void carry() {
    in_sum_ = 0;
    Partial done{0, sum_};
    while (!waiting_.empty() && waiting_.back().level == done.level) {
      plus(waiting_.back().value.data(), done.value.data());
      waiting_.pop_back();
      ++done.level;
    }
    waiting_.push_back(std::move(done));
  }

  int64_t width_, run_;
  bool f32_;
  int64_t in_sum_ = 0;
  std::vector<double> sum_;
  std::vector<Partial> waiting_;
};

/// Columns handled at a time: a few thousand bytes of partial sums a level.
constexpr int64_t kColumns = 512;

void sum_groups(const KeptGroup& g, const double* x, bool magnitudes, bool f32, double* y) {
  const Kernels& k = kernels();
  if (g.inner == 1) {
    for (int64_t o = 0; o < g.outer; ++o)
      y[o] = magnitudes ? k.sum_magnitudes(g.length, x + o * g.length)
                        : k.sum(g.length, x + o * g.length, f32);
    return;
  }
  for (int64_t o = 0; o < g.outer; ++o)
    for (int64_t c = 0; c < g.inner; c += kColumns) {
      const int64_t width = std::min(kColumns, g.inner - c);
      VectorSum sum(width, g.length, f32);
      for (int64_t i = 0; i < g.length; ++i)
        sum.add(x + (o * g.length + i) * g.inner + c, magnitudes);
      sum.finish(y + o * g.inner + c);
    }
}

/// y = fold of op over the middle, for commutative operations without rounding.
void fold_groups(Prim op, const KeptGroup& g, const double* x, double* y) {
  const Kernels& k = kernels();
  for (int64_t o = 0; o < g.outer; ++o) {
    const double* from = x + o * g.length * g.inner;
    double* to = y + o * g.inner;
    if (g.inner == 1 && op == Prim::kMaximum) *to = k.max(g.length, from);
    else if (g.inner == 1 && op == Prim::kMinimum) *to = k.min(g.length, from);
    else {
      std::copy_n(from, g.inner, to);
      for (int64_t i = 1; i < g.length; ++i) k.binary(op, g.inner, from + i * g.inner, to, to);
    }
  }
}

/// For each element that may be the extreme one (within the ambiguity of its own scale), the largest
/// scale: which of them wins, and so what the extreme moves by, is open.
void extreme_scale(const KeptGroup& g, double sign, const double* x, const double* sx, const double* y,
                   double* s) {
  for (int64_t o = 0; o < g.outer; ++o)
    for (int64_t c = 0; c < g.inner; ++c) {
      const int64_t at = o * g.inner + c;
      double most = 0;
      for (int64_t i = 0; i < g.length; ++i) {
        const int64_t k = (o * g.length + i) * g.inner + c;
        if (sign * x[k] + kAmbiguous * sx[k] >= sign * y[at]) most = std::max(most, sx[k]);
      }
      s[at] = most;
    }
}

/// Products, with the product rule for the scales; `own`: the unit below each result.
void product_groups(const KeptGroup& g, const double* x, const double* sx, bool f32, double own, task::DType type,
                    double* y, double* s) {
  for (int64_t o = 0; o < g.outer; ++o)
    for (int64_t c = 0; c < g.inner; ++c) {
      double v = 1, d = 0;
      ProductRange range(type);
      for (int64_t i = 0; i < g.length; ++i) {
        const int64_t k = (o * g.length + i) * g.inner + c;
        if (s) range.take(x[k]);
        if (sx && is_range_lost(sx[k])) range.lose();
        if (s) d = std::abs(x[k]) * d + (sx ? std::abs(v) * sx[k] : 0.0);
        v *= x[k];
        if (f32) v = static_cast<float>(v);
      }
      y[o * g.inner + c] = v;
      if (s) s[o * g.inner + c] = std::isnan(d) ? HUGE_VAL : std::max(d, own * std::abs(v) + kUnderflow);
      if (s && range.lost()) y[o * g.inner + c] = lost_value(v), s[o * g.inner + c] = kRangeLost;
    }
}

/// Any and all. The answer is sure when a sure element decides it or every element is sure.
void truth_groups(const KeptGroup& g, bool any, const double* x, const double* sx, double* y, double* s) {
  for (int64_t o = 0; o < g.outer; ++o)
    for (int64_t c = 0; c < g.inner; ++c) {
      bool decided = false, open = false, found = false;
      for (int64_t i = 0; i < g.length; ++i) {
        const int64_t k = (o * g.length + i) * g.inner + c;
        const bool decides = (x[k] != 0) == any, sure = !sx || sx[k] == 0;
        found |= decides;
        decided |= decides && sure;
        open |= !sure;
      }
      y[o * g.inner + c] = found == any;
      if (s) s[o * g.inner + c] = open && !decided ? 1 / kUnit : 0;
    }
}

/// First extreme element; a NaN is extreme. Where a rival is within the ambiguity the index is open.
void arg_groups(const KeptGroup& g, double sign, const double* x, const double* sx, double* y, double* s) {
  for (int64_t o = 0; o < g.outer; ++o)
    for (int64_t c = 0; c < g.inner; ++c) {
      const double* from = x + o * g.length * g.inner + c;
      int64_t best = 0;
      for (int64_t i = 1; i < g.length && !std::isnan(from[best * g.inner]); ++i)
        if (!(sign * from[i * g.inner] <= sign * from[best * g.inner])) best = i;
      y[o * g.inner + c] = static_cast<double>(best);
      if (!s) continue;
      const double* scale = sx + o * g.length * g.inner + c;
      const double bar = sign * from[best * g.inner] - kAmbiguous * scale[best * g.inner];
      bool open = false;
      for (int64_t i = 0; i < g.length; ++i)
        open |= i != best && sign * from[i * g.inner] + kAmbiguous * scale[i * g.inner] >= bar;
      s[o * g.inner + c] = open ? HUGE_VAL : 0;
    }
}

struct GroupStep {
  Prim op;
  bool f32;     ///< additions and products round to fp32
  double unit;  ///< of the result's type
  task::DType type;
  const Summation* summation;  ///< null: the anchor's ways

  explicit GroupStep(const Step& step)
      : op(step.node().prim), f32(step.rounds()), unit(step.fact().unit), type(step.node().type.dtype),
        summation(step.rounds() && (op == Prim::kSum || op == Prim::kProd) ? step.summation : nullptr) {}
};

void fold_by(const Summation& summation, bool product, const KeptGroup& g, const double* x, double* y) {
  for (int64_t o = 0; o < g.outer; ++o)
    for (int64_t c = 0; c < g.inner; ++c)
      y[o * g.inner + c] = summation.fold(product, g.length, x + o * g.length * g.inner + c, g.inner);
}

/// `s` null: no scales wanted. `sx` null: the operand is exact.
void reduce_group(const GroupStep& r, const KeptGroup& g, const double* x, const double* sx, double* y,
                  double* s) {
  const int64_t results = g.outer * g.inner;
  const bool is_max = r.op == Prim::kMax || r.op == Prim::kArgMax;
  if (r.summation) return fold_by(*r.summation, r.op == Prim::kProd, g, x, y);
  switch (r.op) {
    case Prim::kSum: {
      sum_groups(g, x, false, r.f32, y);
      if (!s) return;
      sum_groups(g, sx ? sx : x, sx == nullptr, false, s);
      // Sums accumulate in fp32 even where the result is narrower, in fp64 where it is f64.
      if (!sx)
        for (int64_t i = 0; i < results; ++i) s[i] *= std::min(r.unit, 1.0);
      for (int64_t i = 0; i < results; ++i)
        if (s[i] != 0) kernels().at_least(1, y + i, r.unit, s + i);  // the sum of exact zeros is one
      return;
    }
    case Prim::kProd: return product_groups(g, x, sx, r.f32, r.unit, r.type, y, s);
    case Prim::kMax:
    case Prim::kMin:
      fold_groups(is_max ? Prim::kMaximum : Prim::kMinimum, g, x, y);
      if (s) extreme_scale(g, is_max ? 1 : -1, x, sx, y, s);
      return;
    case Prim::kAny:
    case Prim::kAll: return truth_groups(g, r.op == Prim::kAny, x, sx, y, s);
    case Prim::kArgMax:
    case Prim::kArgMin: return arg_groups(g, is_max ? 1 : -1, x, sx, y, s);
    default: HONE_CHECK(false, "not a reduction");
  }
}

void keep_in_track(const Step& step, const Fresh& out) {
  const Prim op = step.node().prim;
  if (op == Prim::kSum || op == Prim::kProd) round_to_track(step, out.tensor.box.count(), out.value);
}

}  // namespace

Tensor reduce_region(const Step& step, const Tensor& region) {
  Tensor now = densify(region, step.pool);
  const GroupStep r(step);
  std::vector<bool> reduced(now.box.extent.size(), false);
  for (const int64_t axis : ints_attr(step.node(), "axes")) reduced[static_cast<size_t>(axis)] = true;
  // Runs of neighbouring axes, innermost first; each pass leaves a smaller dense tensor.
  size_t end = reduced.size();
  for (bool first = true;; first = false) {
    while (end > 0 && !reduced[end - 1]) --end;
    size_t begin = end;
    while (begin > 0 && reduced[begin - 1]) --begin;
    if (begin == end && !first) break;
    KeptGroup g;
    Box box = now.box;
    for (size_t d = 0; d < box.extent.size(); ++d) {
      (d < begin ? g.outer : d < end ? g.length : g.inner) *= box.extent[d];
      if (d >= begin && d < end) box.start[d] = 0, box.extent[d] = 1;
    }
    Fresh out = make_dense(box, step.scaled(), step.pool);
    reduce_group(r, g, now.value, now.scale, out.value, out.scale);
    keep_in_track(step, out);
    now = out.tensor;
    end = begin;
  }
  return now;
}

Tensor combine_partials(const Step& step, const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  const Box& box = parts[0].box;
  const int64_t width = box.count(), count = static_cast<int64_t>(parts.size());
  Fresh stacked = make_dense({{0, 0}, {count, width}}, step.scaled(), step.pool);
  for (int64_t p = 0; p < count; ++p) {
    const Tensor& part = parts[static_cast<size_t>(p)];
    std::copy_n(part.value, width, stacked.value + p * width);
    if (stacked.scale) std::copy_n(part.scale, width, stacked.scale + p * width);
  }
  Fresh out = make_dense(box, step.scaled(), step.pool);
  reduce_group(GroupStep(step), {1, count, width}, stacked.value, stacked.scale, out.value, out.scale);
  keep_in_track(step, out);
  return out.tensor;
}

Tensor reduce_step(const Step& step) {
  const Box need = operand_box(step.graph, step.id, 0, step.box);
  return reduce_region(step, restrict_to(step.operands[0], need));
}

}  // namespace hone::evaluate
