#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/certainty.h"
#include "hone/evaluate/oracle/integer_range.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Prim;

/// Elements handled at a time: every array of a chunk stays in the first-level cache.
constexpr int64_t kChunk = 512;
using Chunk = std::array<double, kChunk>;

/// One operand, chunk by chunk: read in place where it lies contiguous, else gathered.
class Source {
 public:
  Source(const Step& step, size_t k)
      : tensor_(step.operands[k]),
        walk_(tensor_, step.operand_shape(k), step.box),
        exact_factor_(task::info_of(step.node().prim).is(task::PrimInfo::kTerms) ? step.fact().unit : 0.0),
        once_(is_once_computed(step, k)),
        whole_(is_whole_before(step, k)),
        type_(step.graph.graph.node(step.node().operands[k]).type.dtype) {}

  const double* value(int64_t begin, int64_t count) {
    return value_ = fetch(tensor_.value, begin, count, value_chunk_);
  }
  /// After value() of the same chunk.
  const double* scale(int64_t begin, int64_t count) {
    if (tensor_.scale) return sure_of(fetch(tensor_.scale, begin, count, scale_chunk_), count);
    kernels().magnitude(count, value_, exact_factor_, scale_chunk_.data());
    if (exact_factor_ == 0) std::fill_n(scale_chunk_.begin(), count, 0.0);  // not 0 * inf
    return scale_chunk_.data();
  }
  [[nodiscard]] bool exact() const { return tensor_.scale == nullptr; }

 private:
  /// 0 where every program has the same number.
  const double* sure_of(const double* scale, int64_t count) {
    if (!once_ && !whole_) return scale;
    for (int64_t i = 0; i < count; ++i)
      scale_chunk_[static_cast<size_t>(i)] = (once_ && is_held(type_, value_[i])) || (whole_ && std::isfinite(value_[i]) && stays_whole(scale[i])) ? 0 : scale[i];
    return scale_chunk_.data();
  }
  const double* fetch(const double* data, int64_t begin, int64_t count, Chunk& chunk) const {
    if (const double* direct = walk_.direct(data, begin)) return direct;
    walk_.read(data, begin, count, chunk.data());
    return chunk.data();
  }

  const Tensor& tensor_;
  Walk walk_;
  double exact_factor_;
  bool once_, whole_;
  DType type_;
  const double* value_ = nullptr;
  Chunk value_chunk_, scale_chunk_;
};

/// Rounds to fp32 and puts the result's own roundings under its scale.
struct Finish {
  bool rounds;
  double own;    ///< roundings of this operation, in units
  double least;  ///< as NodeFacts have it
  NarrowRoundings narrow;
  DType type;
  int node;

  explicit Finish(const Step& step)
      : rounds(step.rounds()), own(step.fact().own), least(step.fact().least), narrow(step.narrow), type(step.node().type.dtype), node(step.id) {}

  /// What a rule has to see to: nothing where the roundings are added afterwards.
  [[nodiscard]] double below() const { return least > 0 ? 0 : own; }
  /// Where roundings to 16 and 8 bits are made: the values after this one's.
  void make_narrow(int64_t n, double* y) const {
    if (narrow.way != NarrowRoundings::Way::kMade || !(least > 0) || !task::is_narrow(type)) return;
    const double unit = task::unit_roundoff(type), most = task::largest(type);
    const auto key = base::philox(static_cast<uint64_t>(node), narrow.sample);
    const uint64_t first = uint64_t{key[0]} << 32 | key[1], second = uint64_t{key[2]} << 32 | key[3] | 1;
    for (int64_t i = 0; i < n; ++i) {
      if (!std::isfinite(y[i])) continue;
      if (narrow.sample == 0) {
        y[i] = round_to(type, y[i]);
        continue;
      }
      // Equal numbers are rounded alike, wherever they stand: what rounding one does to many adds up. A float tells them apart. Nobody has
      // to be kept from guessing it, and it is asked for each number: two products mix well enough.
      uint64_t mixed = (std::bit_cast<uint32_t>(static_cast<float>(y[i])) ^ first) * 0x9E3779B97F4A7C15;
      mixed = (mixed ^ mixed >> 32) * second;
      const double share = static_cast<double>(mixed >> 33) * 0x1p-30 - 1;
      y[i] += share * unit * std::max(std::abs(y[i]), least);
      if (std::abs(y[i]) > most) y[i] = std::copysign(task::is_f8(type) ? most : HUGE_VAL, y[i]);
    }
  }
  void add(int64_t n, const double* y, double* scale) const {
    if (least > 0) kernels().narrowed(n, y, own, least, scale);
  }
};

Tensor unary_step(const Step& step) {
  const Kernels& k = kernels();
  const Prim op = step.node().prim;
  const Finish finish(step);
  Fresh out = step.fresh();
  Source a(step, 0);
  const int64_t total = step.box.count();
  for (int64_t i = 0; i < total; i += kChunk) {
    const int64_t n = std::min(kChunk, total - i);
    const double* x = a.value(i, n);
    k.unary(op, n, x, out.value + i);
    if (finish.rounds) k.round_f32(n, out.value + i);
    finish.make_narrow(n, out.value + i);
    if (!out.scale) continue;
    const double* sx = a.exact() ? nullptr : a.scale(i, n);
    if (sx)
      k.unary_scale(op, n, x, sx, out.value + i, finish.below(), out.scale + i);
    else {
      std::fill_n(out.scale + i, n, 0.0);
      k.at_least(n, out.value + i, finish.below(), out.scale + i);
    }
    finish.add(n, out.value + i, out.scale + i);
    settle_elementwise(step, n, x, sx, nullptr, nullptr, out.value + i, out.scale + i);
    if (sx && task::is_float(step.node().type.dtype)) k.keep_lost(n, x, sx, out.value + i, out.scale + i);
  }
  return out.tensor;
}

/// What hangs on an integer that is nobody's to say is so too: a derivative, 0 at 0, tells nothing of it.
void keep_open(const Step& step, int64_t count, const double* sx, const double* sy, double* scale) {
  if (!step.fact().open) return;
  for (int64_t i = 0; i < count; ++i)
    if (std::isinf(sx[i]) || (sy && std::isinf(sy[i]))) scale[i] = HUGE_VAL;
}

Tensor binary_step(const Step& step) {
  const bool less_its_extreme = is_less_its_extreme(step.graph.graph, step.id);
  const Kernels& k = kernels();
  const Prim op = step.node().prim;
  const Finish finish(step);
  Fresh out = step.fresh();
  Source a(step, 0), b(step, 1);
  const int64_t total = step.box.count();
  for (int64_t i = 0; i < total; i += kChunk) {
    const int64_t n = std::min(kChunk, total - i);
    const double *x = a.value(i, n), *y = b.value(i, n);
    const DType type = step.node().type.dtype;
    if (!whole_binary(type, op, n, x, y, out.value + i)) k.binary(op, n, x, y, out.value + i);
    if (task::is_int(type)) settle_wide(type, op, n, x, y, out.value + i, nullptr);
    if (finish.rounds) k.round_f32(n, out.value + i);
    finish.make_narrow(n, out.value + i);
    if (!out.scale) continue;
    const double *sx = a.scale(i, n), *sy = b.scale(i, n);
    k.binary_scale(op, n, x, sx, y, sy, out.value + i, finish.below(), out.scale + i);
    finish.add(n, out.value + i, out.scale + i);
    settle_elementwise(step, n, x, a.exact() ? nullptr : sx, y, b.exact() ? nullptr : sy, out.value + i, out.scale + i);
    keep_open(step, n, sx, sy, out.scale + i);
    if (less_its_extreme) k.less_extreme(n, x, sx, y, out.scale + i);
    if (type == DType::kI64) settle_wide(type, op, n, x, y, out.value + i, out.scale + i);
    if (!task::is_float(type)) continue;  // a comparison's outcome is open, and no more than that
    k.keep_lost(n, x, sx, out.value + i, out.scale + i);
    k.keep_lost(n, y, sy, out.value + i, out.scale + i);
  }
  return out.tensor;
}

Tensor where_step(const Step& step) {
  const Kernels& k = kernels();
  Fresh out = step.fresh();
  Source c(step, 0), a(step, 1), b(step, 2);
  const bool sure = !step.operands[0].scale;
  const Chunk zeros{};
  const int64_t total = step.box.count();
  for (int64_t i = 0; i < total; i += kChunk) {
    const int64_t n = std::min(kChunk, total - i);
    const double *condition = c.value(i, n), *x = a.value(i, n), *y = b.value(i, n);
    k.select(n, condition, x, y, out.value + i);
    if (!out.scale) continue;
    const double *sc = sure ? zeros.data() : c.scale(i, n), *sx = a.scale(i, n), *sy = b.scale(i, n);
    k.select_scale(n, condition, sc, x, sx, y, sy, out.scale + i);
    // A NaN or an infinity is as sure as the side that it is from.
    for (int64_t j = 0; j < n; ++j) {
      if (std::isfinite(out.value[i + j])) continue;
      const bool first = condition[j] != 0, exact = first ? a.exact() : b.exact();
      out.scale[i + j] = sc[j] != 0 ? HUGE_VAL : exact ? 0.0 : (first ? sx : sy)[j];
    }
  }
  return out.tensor;
}

/// Casts. The oracle rounds to a narrower float only what is exact: for computed values the ideal
/// program does not round, and the scale has the rounding added: a program as its types say, PyTorch's own among them, makes
/// each of them. What is beyond the range of f16 is infinite for the
/// anchor all the same, as it is for every program that has the declared types.
Tensor cast_step(const Step& step) {
  const Kernels& k = kernels();
  const auto& operand = step.graph.graph.node(step.node().operands[0]);
  const DType from = operand.type.dtype, to = step.node().type.dtype;
  const bool to_float = task::is_float(to);
  const bool meant = step.node().attrs.contains("rounds");
  const bool rounds = to_float ? step.operand_fact(0).exact || (meant && step.arithmetic != Arithmetic::kExact)
                               : from != to;
  const Finish finish(step);
  Fresh out = step.fresh();
  Source a(step, 0);
  const int64_t total = step.box.count();
  for (int64_t i = 0; i < total; i += kChunk) {
    const int64_t n = std::min(kChunk, total - i);
    const double* x = a.value(i, n);
    double* y = out.value + i;
    std::copy_n(x, n, y);
    // What saturates does so whether it is rounded or not.
    if (task::is_f8(to))
      for (int64_t j = 0; j < n; ++j) y[j] = std::isnan(x[j]) ? x[j] : std::clamp(x[j], -task::largest(to), task::largest(to));
    if (rounds && to == DType::kF32) k.round_f32(n, y);
    else if (rounds && to != DType::kF64)
      for (int64_t j = 0; j < n; ++j) {
        // Which integer comes of a NaN or an infinity nobody says: it stays what it is, and is not judged.
        if (task::is_int(to) && !std::isfinite(x[j])) continue;
        const double held = task::is_int(from) ? wrapped(to, y[j]) : y[j];
        y[j] = step.operand_fact(0).exact ? round_to(to, held) : round_near_end(to, held);
      }
    else if (to == DType::kF16 && step.arithmetic != Arithmetic::kExact)
      for (int64_t j = 0; j < n; ++j)
        if (std::isinf(round_near_end(to, y[j]))) y[j] = std::copysign(HUGE_VAL, y[j]);
    finish.make_narrow(n, y);
    if (!out.scale) continue;
    std::copy_n(a.scale(i, n), n, out.scale + i);
    if (to_float) {
      if (const double least = step.fact().least; least > 0) k.narrowed(n, y, step.fact().own, least, out.scale + i);
      else k.at_least(n, y, step.fact().unit, out.scale + i);
      settle_elementwise(step, n, x, a.exact() ? nullptr : a.scale(i, n), nullptr, nullptr, y, out.scale + i);
    } else if (task::is_float(from)) {
      // Truncation: sure, or one off where an integer is near (to bool: where zero is), or nobody's to say.
      for (int64_t j = 0; j < n; ++j) {
        if (task::is_int(to) && !holds_whole(to, x[j])) {
          out.scale[i + j] = HUGE_VAL;
          continue;
        }
        const double nearest = to == DType::kBool ? 0 : std::nearbyint(x[j]);
        double& s = out.scale[i + j];
        s = s > 0 && std::abs(x[j] - nearest) <= kAmbiguous * s
                ? std::max(1.0, std::ceil(s * kUnit)) / kUnit : 0.0;
      }
    }
  }
  return out.tensor;
}

}  // namespace

Tensor elementwise_step(const Step& step) {
  if (step.node().prim == Prim::kCast) return cast_step(step);
  switch (step.node().operands.size()) {
    case 1: return unary_step(step);
    case 2: return binary_step(step);
    default: return where_step(step);
  }
}

}  // namespace hone::evaluate
