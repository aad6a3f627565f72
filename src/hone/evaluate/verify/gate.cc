#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "hone/evaluate/oracle/certainty.h"
#include "hone/evaluate/oracle/index_output.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/product_range.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/evaluate/verify/compare_found.h"
#include "hone/evaluate/verify/gate.h"
#include "hone/evaluate/verify/one_answer.h"
#include "hone/evaluate/verify/spread.h"
#include "hone/evaluate/parallel.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Shape;

DType output_type(const task::ConcreteGraph& graph, int output) {
  return graph.graph.node(graph.graph.outputs[static_cast<size_t>(output)]).type.dtype;
}

/// How many times what one rounding may move a number may lie from the exact one beyond the type's range; and by how many times
/// the terms of a sum outweigh it where they may overflow by themselves.
constexpr double kNearTheEdge = 64, kCancels = 16;

/// Results below it may come out as zero: the smallest normal number. No hardware flushes f16 and the
/// floats of one byte, whose smallest normal numbers are large.
double flushed_below(DType type) { return type == DType::kF16 || task::is_f8(type) ? 0 : task::smallest_normal(type); }

/// In an answer's scale: the element is not judged.
constexpr double kNotJudged = std::numeric_limits<double>::quiet_NaN();

/// How the elements of an output are judged.
struct Judging {
  DType type;
  bool any_infinity = false;  ///< the sign of an infinity may be that of a zero, which sums and maxima may give either of
};

/// Whether an infinity of the output may have come of a division by a zero.
bool divides(const task::ConcreteGraph& graph, int output) {
  const int root = graph.graph.outputs[static_cast<size_t>(output)];
  const auto is_given = [&](int id) { return graph.graph.node(id).prim == task::Prim::kConstant || graph.graph.node(id).prim == task::Prim::kSymbol; };
  for (int id = 0; id <= root; ++id) {
    const task::Node& node = graph.graph.node(id);
    if (task::info_of(node.prim).is(task::PrimInfo::kPoleAtZero)) return true;
    if (node.prim == task::Prim::kDiv && !is_given(node.operands[1])) return true;
  }
  return false;
}

Judging judging_of(const task::ConcreteGraph& graph, int output) { return {output_type(graph, output), divides(graph, output)}; }

void count_non_finite(double expected, double found, int64_t index, OutputError& error) {
  if (error.non_finite++ > 0) return;
  error.worst_index = index;
  error.expected = expected;
  error.found = found;
}

/// Where NaN or an infinity belongs. A number may stand for an infinity where the exact answer is a number too large for
/// the type: then it has to be about that number.
bool is_of_right_kind(const Judging& judging, double exact, double expected, double scale, double found) {
  if (std::isinf(expected) && std::isinf(found)) return judging.any_infinity || found == expected;
  if (std::isfinite(exact) && std::isfinite(found)) return std::abs(found - exact) <= kNearTheEdge * scale * task::unit_roundoff(judging.type);
  // Terms of both signs may overflow, each to an infinity of its own, before they meet.
  if (std::isfinite(exact) && std::isnan(found)) return scale > kCancels * std::abs(exact);
  return same_class(expected, found);
}

/// An honest program may have anything there, NaN too. What is infinite in f32 and bf16 is as large as its scale by itself.
bool is_lost(DType type, double expected, double scale) {
  return is_range_lost(scale) && (type == DType::kF16 || (type != DType::kF64 && std::isfinite(expected)));
}

/// Scaled error of one element; `rms` sums squares until finish_error().
void judge_element(const Judging& judging, double exact, double scale, double found, int64_t index,
                   OutputError& error) {
  const DType type = judging.type;
  if (std::isnan(scale)) return;
  if (!task::is_float(type)) {
    if (!std::isfinite(exact)) return;  // what becomes of a NaN or an infinity as an integer nobody says
    ++error.count;
    if (std::abs(found - exact) <= scale) return;
    if (error.mismatches++ == 0) {
      error.worst_index = index;
      error.expected = exact;
      error.found = found;
    }
    return;
  }
  const double expected = round_to(type, exact);
  ++error.count;
  if (!std::isfinite(expected)) {
    if (!is_of_right_kind(judging, exact, expected, scale, found)) count_non_finite(expected, found, index, error);
    return;
  }
  const bool too_large = std::isinf(found) && std::isfinite(scale) && std::signbit(found) == std::signbit(expected);
  if (!std::isfinite(found) && !too_large) return count_non_finite(expected, found, index, error);
  if (std::isinf(scale)) return;  // hangs on nothing but rounding
  if (found == 0 && std::abs(expected) < flushed_below(type)) return;
  // An infinity is as far off as the least number that is rounded to it.
  const double off = too_large ? task::largest(type) * (1 + task::unit_roundoff(type) / 2) - std::abs(expected) : std::abs(found - expected);
  const double scaled = off / scale;
  error.rms += scaled * scaled;
  if (scaled > error.max) {
    error.max = scaled;
    if (error.non_finite == 0) {
      error.worst_index = index;
      error.expected = expected;
      error.found = found;
    }
  }
}

void finish_error(OutputError& error) {
  error.rms = error.count > 0 ? std::sqrt(error.rms / static_cast<double>(error.count)) : 0;
}

/// Calls run(flat index in the tensor, position in the box, length) for each contiguous run.
template <class Run>
void for_each_run(const Shape& shape, const Box& box, Run run) {
  const Shape stride = dense_strides(shape);
  const size_t rank = shape.size();
  const int64_t length = rank == 0 ? 1 : box.extent.back(), count = box.count();
  Shape at = box.start;
  for (int64_t position = 0; position < count; position += length) {
    int64_t flat = 0;
    for (size_t d = 0; d < rank; ++d) flat += at[d] * stride[d];
    run(flat, position, length);
    for (size_t d = rank < 1 ? 0 : rank - 1; d-- > 0;) {
      if (++at[d] < box.start[d] + box.extent[d]) break;
      at[d] = box.start[d];
    }
  }
}

/// Values along one line that are known up to an allowance each, and what may stand at each rank. Each value lies in an interval; the value at a
/// rank lies between the numbers at that rank of all lower ends and of all upper ends, as moving a value up moves no rank down.
class Ranks {
 public:
  /// `key(i)` and `scale(i)` of `length` values, allowed `tolerance` times its scale each. NaNs come first, as last, where `nan_first`.
  template <class Key, class Scale>
  Ranks(int64_t length, bool falling, bool nan_first, double tolerance, const Key& key, const Scale& scale) {
    low_.resize(static_cast<size_t>(length));
    high_.resize(low_.size());
    for (int64_t i = 0; i < length; ++i) {
      const Interval at = interval(key(i), tolerance * scale(i));
      const double nan = nan_first == falling ? HUGE_VAL : -HUGE_VAL;
      low_[static_cast<size_t>(i)] = std::isnan(key(i)) ? nan : at.low;
      high_[static_cast<size_t>(i)] = std::isnan(key(i)) ? nan : at.high;
    }
    for (auto* ends : {&low_, &high_}) {
      std::ranges::sort(*ends);
      if (falling) std::ranges::reverse(*ends);
    }
  }
  /// Whether a value `key` that may move by `allowed` can stand at `rank`.
  [[nodiscard]] bool may_stand(int64_t rank, double key, double allowed) const {
    const Interval at = interval(key, allowed);
    return at.high >= low_[static_cast<size_t>(rank)] && at.low <= high_[static_cast<size_t>(rank)];
  }

 private:
  struct Interval {
    double low, high;
  };
  static Interval interval(double key, double allowed) {
    if (!(allowed < HUGE_VAL)) return {-HUGE_VAL, HUGE_VAL};
    return {key - allowed, key + allowed};
  }
  std::vector<double> low_, high_;
};

/// Judges a box of indices by the values at them: any index of an equal value is right, and of computed values any that roundings may
/// have put there. A sort must also name each element once.
class IndexJudge {
 public:
  IndexJudge(const task::ConcreteGraph& graph, int output, const Box& box, const Answer& answer,
             const Answer& keys)
      : map_(key_map(graph, output, box)), answer_(answer), keys_(keys) {
    const int node = judged_by_value(graph, output);
    // Values that were computed, and so have scales, may be told apart only beyond their own rounding.
    if (!keys.scale.empty())
      tolerance_ = kAmbiguous / kUnit * task::unit_roundoff(graph.graph.node(node).type.dtype);
    if (map_.sorted) named_.resize(keys.value.size());
    if (tolerance_ > 0) ranks_.resize(keys.value.size() / static_cast<size_t>(std::max<int64_t>(1, map_.length)));
  }

  void judge(int64_t element, double found, int64_t index, OutputError& error) {
    ++error.count;
    const double expected = answer_.value[static_cast<size_t>(element)];
    if (is_right(element, expected, found)) return;
    if (error.mismatches++ > 0) return;
    error.worst_index = index;
    error.expected = expected;
    error.found = found;
  }

 private:
  bool is_right(int64_t element, double expected, double found) {
    if (!(found >= 0 && found < static_cast<double>(map_.length)) || found != std::floor(found))
      return false;
    const auto mine = static_cast<size_t>(map_.key_of(element, static_cast<int64_t>(found)));
    const auto best = static_cast<size_t>(map_.key_of(element, static_cast<int64_t>(expected)));
    if (map_.sorted && std::exchange(named_[mine], 1)) return false;
    const double a = keys_.value[mine], b = keys_.value[best];
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    if (tolerance_ == 0 || std::isnan(a) || std::isnan(b)) return false;
    return ranks_of(element).may_stand(map_.first + element / map_.inner % map_.kept, a, tolerance_ * keys_.scale[mine]);
  }
  /// Of the line that an element of the box belongs to; made when first asked for, as few elements are not where they are expected.
  const Ranks& ranks_of(int64_t element) {
    const int64_t outer = element / map_.inner / map_.kept, inner = element % map_.inner;
    auto& ranks = ranks_[static_cast<size_t>(outer * map_.inner + inner)];
    const auto at = [&](int64_t i) { return static_cast<size_t>(map_.key_of(element, i)); };
    if (!ranks)
      ranks.emplace(map_.length, map_.falling, map_.falling || !map_.sorted, tolerance_, [&](int64_t i) { return keys_.value[at(i)]; },
                    [&](int64_t i) { return keys_.scale[at(i)]; });
    return *ranks;
  }

  KeyMap map_;
  const Answer& answer_;
  const Answer& keys_;
  double tolerance_ = 0;
  std::vector<uint8_t> named_;
  std::vector<std::optional<Ranks>> ranks_;  ///< a line each
};

}  // namespace

void OutputError::merge(const OutputError& other) {
  const bool worse = other.non_finite > 0 ? non_finite == 0
                     : other.mismatches > 0 ? mismatches == 0
                                            : non_finite == 0 && other.max > max;
  if (worse || worst_index < 0) {
    worst_index = other.worst_index;
    expected = other.expected;
    found = other.found;
  }
  const auto mine = static_cast<double>(count), theirs = static_cast<double>(other.count);
  if (mine + theirs > 0)
    rms = std::sqrt((rms * rms * mine + other.rms * other.rms * theirs) / (mine + theirs));
  max = std::max(max, other.max);
  count += other.count;
  non_finite += other.non_finite;
  mismatches += other.mismatches;
}

Reference make_reference(const task::ConcreteGraph& graph, const Oracle& oracle, task::Track track,
                         int output, std::vector<Box> boxes, int threads) {
  const Judging judging = judging_of(graph, output);
  const OneAnswer one(graph, track, output);
  Reference reference;
  reference.answers.resize(boxes.size());
  const int judged = judged_by_value(graph, output);
  const bool judged_exact = judged >= 0 && !facts_of(graph, track)[static_cast<size_t>(judged)].has_scale();
  HONE_CHECK(oracle.track() == track, "an oracle of another track");
  if (judged >= 0) reference.keys.resize(boxes.size());
  std::vector<OutputError> errors(boxes.size());
  // Where there are fewer boxes than threads, a loss has one, several go into each.
  const int each = std::max(1, threads / std::max(1, static_cast<int>(boxes.size())));
  const auto for_each_box = [&](const auto& work) { parallel_for(static_cast<int64_t>(boxes.size()), threads, [&](int64_t b) { work(static_cast<size_t>(b)); }); };
  for_each_box([&](size_t at) {
    reference.answers[at] = oracle.evaluate(output, boxes[at], Arithmetic::kExact, true, each);
    if (judged < 0) return;
    const Box keys = key_map(graph, output, boxes[at]).keys;
    reference.keys[at] = oracle.evaluate_node(judged, keys, Arithmetic::kExact, !judged_exact, each);
  });
  if (says_little(graph, oracle, output, reference.answers)) scale_by_spread(graph, oracle, output, boxes, reference.answers, threads);
  for_each_box([&](size_t at) {
    if (judged >= 0) return;  // an anchor's indices would be right by definition
    Answer& answer = reference.answers[at];
    const Answer anchor = oracle.evaluate(output, boxes[at], arithmetic_of(track), false, each);
    const Answer before = one.computed() < 0 ? Answer{} : oracle.evaluate_node(one.computed(), boxes[at], Arithmetic::kExact, true, each);
    for (size_t i = 0; i < answer.value.size(); ++i) {
      // Where the program itself overflows at the declared precision, nobody is asked for more: not judged. NaN and
      // infinities are, where the two agree and no rounding decides.
      const double expected = round_to(judging.type, answer.value[i]);
      const bool finite = std::isfinite(expected) && std::isfinite(anchor.value[i]);
      const bool sure = same_class(expected, anchor.value[i]) && (std::isfinite(answer.value[i]) ? std::isfinite(answer.scale[i]) : answer.scale[i] == 0);
      const bool lost = is_lost(judging.type, expected, answer.scale[i]);
      if (task::is_float(judging.type) && ((!finite && !sure) || lost)) answer.scale[i] = kNotJudged;
      // Whatever differs is then far beyond any bound.
      else if (finite && anchor.value[i] == expected && one.is_at(before, answer.value[i], i)) answer.scale[i] = std::numeric_limits<double>::min();
      judge_element(judging, answer.value[i], answer.scale[i], anchor.value[i], static_cast<int64_t>(i),
                    errors[at]);
    }
    finish_error(errors[at]);
  });
  for (const OutputError& error : errors) reference.anchor.merge(error);
  reference.boxes = std::move(boxes);
  return reference;
}

OutputError compare_found(const task::ConcreteGraph& graph, int output, const Reference& reference,
                          const FoundValues& found_values, int threads) {
  const Judging judging = judging_of(graph, output);
  const Shape& shape =
      graph.shapes[static_cast<size_t>(graph.graph.outputs[static_cast<size_t>(output)])];
  std::vector<OutputError> errors(reference.boxes.size());
  parallel_for(static_cast<int64_t>(errors.size()), threads, [&](int64_t b) {
    const auto at = static_cast<size_t>(b);
    const Answer& answer = reference.answers[at];
    std::vector<double> found;
    std::optional<IndexJudge> by_value;
    if (!reference.keys.empty())
      by_value.emplace(graph, output, reference.boxes[at], answer, reference.keys[at]);
    for_each_run(shape, reference.boxes[at], [&](int64_t flat, int64_t position, int64_t length) {
      found.resize(static_cast<size_t>(length));
      found_values(b, position, flat, found);
      for (int64_t i = 0; i < length; ++i) {
        const auto k = static_cast<size_t>(position + i);
        if (by_value)
          by_value->judge(position + i, found[static_cast<size_t>(i)], flat + i, errors[at]);
        else judge_element(judging, answer.value[k], answer.scale[k], found[static_cast<size_t>(i)],
                      flat + i, errors[at]);
      }
    });
    finish_error(errors[at]);
  });
  OutputError total;
  for (const OutputError& error : errors) total.merge(error);
  return total;
}

OutputError compare_output(const task::ConcreteGraph& graph, int output, const Reference& reference,
                           const void* output_data, int threads) {
  const DType type = output_type(graph, output);
  return compare_found(
      graph, output, reference,
      [&](int64_t, int64_t, int64_t flat, std::span<double> found) {
        load_doubles(type, output_data, flat, static_cast<int64_t>(found.size()), found.data());
      },
      threads);
}

std::vector<bool> wrong_elements(const task::ConcreteGraph& graph, int output, const Reference& reference, const void* output_data, double bound) {
  const Judging judging = judging_of(graph, output);
  const DType type = output_type(graph, output);
  const Shape& shape = graph.shapes[static_cast<size_t>(graph.graph.outputs[static_cast<size_t>(output)])];
  std::vector<bool> wrong(static_cast<size_t>(task::element_count(shape)));
  for (size_t b = 0; b < reference.boxes.size(); ++b) {
    const Answer& answer = reference.answers[b];
    std::optional<IndexJudge> by_value;
    if (!reference.keys.empty()) by_value.emplace(graph, output, reference.boxes[b], answer, reference.keys[b]);
    for_each_run(shape, reference.boxes[b], [&](int64_t flat, int64_t position, int64_t length) {
      std::vector<double> found(static_cast<size_t>(length));
      load_doubles(type, output_data, flat, length, found.data());
      for (int64_t i = 0; i < length; ++i) {
        OutputError one;
        const auto k = static_cast<size_t>(position + i);
        if (by_value) by_value->judge(position + i, found[static_cast<size_t>(i)], flat + i, one);
        else judge_element(judging, answer.value[k], answer.scale[k], found[static_cast<size_t>(i)], flat + i, one);
        wrong[static_cast<size_t>(flat + i)] = one.non_finite > 0 || one.mismatches > 0 || !(one.max <= bound);
      }
    });
  }
  return wrong;
}

std::optional<std::string> judge(const OutputError& error, const Bound& bound,
                                 const std::string& output_name) {
  const auto at_worst = [&] {
    return fmt::format("element {}: expected {:.9g}, found {:.9g}", error.worst_index,
                       error.expected, error.found);
  };
  if (error.non_finite > 0)
    return fmt::format("{}: {} of {} elements are {}; {}", output_name, error.non_finite, error.count,
                       std::isfinite(error.expected) ? "not finite where they should be" : "something else where NaN or infinity belongs",
                       at_worst());
  if (error.mismatches > 0)
    return fmt::format("{}: {} of {} elements differ; {}", output_name, error.mismatches,
                       error.count, at_worst());
  // Negated, so that a NaN is refused.
  // Of the scales that make_reference() gives such elements; an infinity where an f32 belongs is 1e77 of its own at most.
  if (error.max > 1e100)
    return fmt::format("{}: where one answer alone is right, to the last bit, another was found; {}", output_name, at_worst());
  if (!(error.max <= bound.max))
    return fmt::format("{}: scaled error {:.3g} is above the bound {:.3g}; {}", output_name,
                       error.max, bound.max, at_worst());
  if (!(error.rms <= bound.rms))
    return fmt::format("{}: root-mean-square scaled error {:.3g} is above the bound {:.3g}; worst {}",
                       output_name, error.rms, bound.rms, at_worst());
  return std::nullopt;
}

}  // namespace hone::evaluate
