#include <algorithm>
#include <cmath>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/product_range.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {
namespace {

using task::Prim;

struct Scan {
  Prim op;           ///< element-wise; kCumLogSumExp has none and stays itself
  double identity;
  double exact_term; ///< what an exact operand adds to the scale, as a share of its magnitude

  explicit Scan(const Step& step) : op(step.node().prim), exact_term(0) {
    switch (op) {
      case Prim::kCumSum: case Prim::kLinearScan: op = Prim::kAdd, identity = 0, exact_term = std::min(step.fact().unit, 1.0); break;
      case Prim::kCumProd: op = Prim::kMul, identity = 1; break;
      case Prim::kCumMax: op = Prim::kMaximum, identity = -HUGE_VAL; break;
      case Prim::kCumMin: op = Prim::kMinimum, identity = HUGE_VAL; break;
      default: identity = -HUGE_VAL, exact_term = step.fact().unit; break;
    }
  }
};

void log_add_exp(int64_t n, const double* a, const double* b, double* y) {
  for (int64_t i = 0; i < n; ++i) {
    const double most = a[i] > b[i] || std::isnan(a[i]) ? a[i] : b[i];
    if (std::isfinite(most)) y[i] = most + std::log1p(std::exp(-std::abs(a[i] - b[i])));
    else y[i] = std::isnan(b[i]) ? b[i] : most;
  }
}

/// Both operands' scales in the share each has in the sum; four units for the smaller's exponential
/// and logarithm.
void log_add_exp_scale(int64_t n, const double* a, const double* sa, const double* b, const double* sb,
                       const double* y, double own, double* s) {
  for (int64_t i = 0; i < n; ++i) {
    const double in_a = std::exp(a[i] - y[i]), in_b = std::exp(b[i] - y[i]);
    const double moved = (in_a > 0 ? in_a * sa[i] : 0) + (in_b > 0 ? in_b * sb[i] : 0);
    s[i] = std::isnan(moved) ? HUGE_VAL : std::max(moved, own * (std::abs(y[i]) + 4 * std::min(in_a, in_b)) + kUnderflow);
  }
}

/// Rows of the slowest kind, scans along the last axis, are turned so that this many advance at once.
constexpr int64_t kWidth = 64;

/// The running results of `width` scans side by side. Vectors follow each other `pitch` apart.
class Runner {
 public:
  Runner(const Step& step, int64_t width, bool exact_operand)
      : scan_(step), width_(width), rounds_(step.rounds()), scaled_(step.scaled()),
        exact_(exact_operand), own_(step.fact().unit),
        value_(static_cast<size_t>(width), scan_.identity), scale_(static_cast<size_t>(width), 0.0),
        next_(value_), term_scale_(scale_),
        ranges_(step.node().prim == Prim::kCumProd && scaled_ ? static_cast<size_t>(width) : 0, ProductRange(step.node().type.dtype)) {}

  void advance(const double* x, const double* sx) {
    const Kernels& k = kernels();
    for (size_t i = 0; i < ranges_.size(); ++i) ranges_[i].take(x[i]);
    if (first_) {
      std::copy_n(x, width_, next_.data());
    } else {
      if (scan_.op == Prim::kCumLogSumExp) log_add_exp(width_, value_.data(), x, next_.data());
      else k.binary(scan_.op, width_, value_.data(), x, next_.data());
      if (rounds_) k.round_f32(width_, next_.data());
    }
    if (scaled_) {
      if (exact_) {
        if (scan_.exact_term == 0) std::fill(term_scale_.begin(), term_scale_.end(), 0.0);
        else k.magnitude(width_, x, scan_.exact_term, term_scale_.data());
        sx = term_scale_.data();
      }
      if (first_) {
        std::copy_n(sx, width_, scale_.data());
        k.at_least(width_, next_.data(), own_, scale_.data());
      } else if (scan_.op == Prim::kCumLogSumExp) {
        log_add_exp_scale(width_, value_.data(), scale_.data(), x, sx, next_.data(), own_, scale_.data());
      } else {
        k.binary_scale(scan_.op, width_, value_.data(), scale_.data(), x, sx, next_.data(), own_,
                       scale_.data());
      }
    }
    std::swap(value_, next_);
    first_ = false;
  }

  /// The results so far times a: linear recurrences, before they advance. Does nothing to the first.
  void decay(const double* a, const double* sa) {
    if (first_) return;
    const Kernels& k = kernels();
    k.binary(Prim::kMul, width_, value_.data(), a, next_.data());
    if (rounds_) k.round_f32(width_, next_.data());
    if (scaled_) k.binary_scale(Prim::kMul, width_, value_.data(), scale_.data(), a, sa, next_.data(), own_, scale_.data());
    std::swap(value_, next_);
  }

  /// Of a recurrence: nobody says what follows from a result beyond the range of what it is computed in. One element after the other it
  /// stays infinite; by pairs, or kept in a wider type, it may be a number again. It goes on as a finite one, which is unsure by its scale:
  /// infinities of this oracle's own are sure.
  void forget_beyond(double largest) {
    if (!scaled_) return;
    for (size_t i = 0; i < value_.size(); ++i)
      if (std::isfinite(value_[i]) && std::abs(value_[i]) > largest) value_[i] = std::copysign(largest, value_[i]), scale_[i] = HUGE_VAL;
  }

  void write(double* value, double* scale) const {
    std::copy_n(value_.data(), width_, value);
    if (scale) std::copy_n(scale_.data(), width_, scale);
    for (size_t i = 0; i < ranges_.size(); ++i)
      if (ranges_[i].lost()) value[i] = lost_value(value[i]), scale[i] = kRangeLost;
  }

 private:
  Scan scan_;
  int64_t width_;
  bool rounds_, scaled_, exact_;
  double own_;
  bool first_ = true;
  std::vector<double> value_, scale_, next_, term_scale_;
  std::vector<ProductRange> ranges_;  ///< of running products, one each
};

bool scans_by_sums(Prim op) { return op == Prim::kCumSum || op == Prim::kCumProd || op == Prim::kLinearScan; }

/// The operand as [outer, length, inner], of which the last `kept` along the scan are wanted.
struct Lines {
  int64_t outer, length, inner, kept;
  bool reverse, exclusive;
};

/// `a`: the factors of a linear recurrence.
void scan_by(const Step& step, const Lines& l, const double* a, const double* x, double* y) {
  const bool product = step.node().prim == Prim::kCumProd;
  std::vector<double> in(static_cast<size_t>(l.length)), out(in), factors(in);
  for (int64_t line = 0; line < l.outer * l.inner; ++line) {
    const int64_t from = line / l.inner * l.length * l.inner + line % l.inner;
    const int64_t to = line / l.inner * l.kept * l.inner + line % l.inner;
    const auto place = [&](int64_t t) { return l.reverse ? l.length - 1 - t : t; };
    for (int64_t t = 0; t < l.length; ++t) in[static_cast<size_t>(t)] = x[from + place(t) * l.inner];
    if (a != nullptr) {
      for (int64_t t = 0; t < l.length; ++t) factors[static_cast<size_t>(t)] = a[from + place(t) * l.inner];
      step.summation->linear_scan(l.length, factors.data(), in.data(), out.data());
    } else {
      step.summation->scan(product, l.length, in.data(), out.data());
    }
    for (int64_t t = l.length - l.kept; t < l.length; ++t) {
      const double before = t == 0 ? (product ? 1.0 : 0.0) : out[static_cast<size_t>(t) - 1];
      const int64_t target = l.reverse ? place(t) : t - (l.length - l.kept);
      y[to + target * l.inner] = l.exclusive ? before : out[static_cast<size_t>(t)];
    }
  }
}

}  // namespace

Tensor scan_step(const Step& step) {
  const auto axis = static_cast<size_t>(int_attr(step.node(), "axis"));
  const bool reverse = bool_attr(step.node(), "reverse"), exclusive = bool_attr(step.node(), "exclusive");
  const bool linear = step.node().prim == Prim::kLinearScan;  // its first operand is what the results are multiplied by
  const auto held = [&](size_t k) { return densify(restrict_to(step.operands[k], operand_box(step.graph, step.id, k, step.box)), step.pool); };
  const Tensor x = held(linear ? 1 : 0), a = linear ? held(0) : Tensor{};
  Fresh out = step.fresh();
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < axis; ++d) outer *= step.box.extent[d];
  for (size_t d = axis + 1; d < step.box.extent.size(); ++d) inner *= step.box.extent[d];
  const int64_t length = x.box.extent[axis], kept = step.box.extent[axis];
  // Along the scan the held region ends where the box does; before it lies what is only passed over.
  const int64_t passed = length - kept;

  // Blocks of scans that advance together: neighbours when there are inner dimensions, else rows,
  // turned in scratch memory.
  if (step.summation && step.rounds() && scans_by_sums(step.node().prim)) {
    scan_by(step, {outer, length, inner, kept, reverse, exclusive}, a.value, x.value, out.value);
    return out.tensor;
  }
  const bool turned = inner == 1;
  const int64_t lanes = turned ? outer : inner, blocks_of = turned ? 1 : outer;
  std::vector<double> in(static_cast<size_t>(kWidth)), in_scale(in), now(in), now_scale(in);
  for (int64_t o = 0; o < blocks_of; ++o)
    for (int64_t l = 0; l < lanes; l += kWidth) {
      const int64_t width = std::min(kWidth, lanes - l);
      Runner runner(step, width, x.scale == nullptr);
      const auto gather = [&](const double* data, int64_t i, std::vector<double>& to) {
        for (int64_t j = 0; j < width; ++j)
          to[static_cast<size_t>(j)] =
              turned ? data[(l + j) * length + i] : data[(o * length + i) * inner + l + j];
      };
      const auto scatter = [&](const std::vector<double>& from, int64_t i, double* data) {
        for (int64_t j = 0; j < width; ++j)
          data[turned ? (l + j) * kept + i : (o * kept + i) * inner + l + j] = from[static_cast<size_t>(j)];
      };
      for (int64_t t = 0; t < length; ++t) {
        const int64_t i = reverse ? length - 1 - t : t;
        const int64_t target = reverse ? i : i - passed;
        const bool wanted = t >= passed;
        const auto put = [&] {
          runner.write(now.data(), out.scale ? now_scale.data() : nullptr);
          scatter(now, target, out.value);
          if (out.scale) scatter(now_scale, target, out.scale);
        };
        if (wanted && exclusive) put();
        if (linear) {
          gather(a.value, i, in);
          std::fill(in_scale.begin(), in_scale.end(), 0.0);
          if (a.scale) gather(a.scale, i, in_scale);
          runner.decay(in.data(), in_scale.data());
        }
        gather(x.value, i, in);
        if (x.scale) gather(x.scale, i, in_scale);
        runner.advance(in.data(), in_scale.data());
        if (wanted && !exclusive) put();
        if (linear) runner.forget_beyond(task::largest(step.node().type.dtype == task::DType::kF64 ? task::DType::kF64 : task::DType::kF32));
      }
    }
  if (scans_by_sums(step.node().prim)) round_to_track(step, step.box.count(), out.value);
  return out.tensor;
}

}  // namespace hone::evaluate
