#include "hone/evaluate/verify/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/product_range.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/evaluate/verify/bounds.h"
#include "hone/evaluate/parallel.h"

namespace hone::evaluate {
namespace {

using task::DType;

/// Times the program is evaluated with its roundings: the first as they are.
constexpr uint32_t kSamples = 8;
/// An answer that may be off by this share of itself everywhere is not told from a right one.
constexpr double kTelling = 1.0 / 8;
/// Elements side by side whose errors are taken together: one by itself may have been lucky in all evaluations.
constexpr size_t kNeighbours = 16;

DType spread_type(const task::ConcreteGraph& graph, int output) {
  return graph.graph.node(graph.graph.outputs[static_cast<size_t>(output)]).type.dtype;
}

/// The median of numbers that are not NaN; 0 of none.
double median_of(std::vector<double> all) {
  std::erase_if(all, [](double x) { return std::isnan(x); });
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace

bool says_little(const task::ConcreteGraph& graph, const Oracle& oracle, int output, const std::vector<Answer>& answers) {
  const DType type = spread_type(graph, output);
  const auto root = static_cast<size_t>(graph.graph.outputs[static_cast<size_t>(output)]);
  if (!task::is_float(type) || judged_by_value(graph, output) >= 0 || !oracle.has_ways() || !facts_of(graph, oracle.track())[root].rounded) return false;
  double told = 0, count = 0;
  for (const Answer& answer : answers)
    for (size_t i = 0; i < answer.value.size(); ++i) {
      const double value = std::abs(round_to(type, answer.value[i])), scale = answer.scale[i];
      if (value == 0 || !std::isfinite(value)) continue;
      ++count;
      if (std::isfinite(scale) && scale < kRangeLostAtLeast) told += value / scale * (value / scale);
    }
  const double allowed = task::unit_roundoff(type) / kTelling;
  return count >= kFewElements && told < count * allowed * allowed;
}

void scale_by_spread(const task::ConcreteGraph& graph, const Oracle& oracle, int output, const std::vector<Box>& boxes, std::vector<Answer>& answers,
                     int threads) {
  using Way = NarrowRoundings::Way;
  const DType type = spread_type(graph, output);
  const int each = std::max(1, threads / std::max(1, static_cast<int>(boxes.size())));
  const auto evaluate = [&](NarrowRoundings narrow, bool want_scale, const auto& take) {
    const Oracle other = oracle.with(narrow);
    parallel_for(static_cast<int64_t>(boxes.size()), threads, [&](int64_t b) {
      const auto at = static_cast<size_t>(b);
      take(at, other.evaluate(output, boxes[at], Arithmetic::kExact, want_scale, each));
    });
  };
  std::vector<std::vector<double>> squares(boxes.size());
  for (size_t b = 0; b < boxes.size(); ++b) squares[b].assign(answers[b].value.size(), 0.0);
  for (uint32_t sample = 0; sample < kSamples; ++sample)
    evaluate({Way::kMade, sample}, false, [&](size_t b, const Answer& made) {
      for (size_t i = 0; i < made.value.size(); ++i) {
        const double off = made.value[i] - answers[b].value[i];
        squares[b][i] += std::isfinite(off) ? off * off / kSamples : std::numeric_limits<double>::quiet_NaN();
      }
    });
  std::vector<double> all;
  for (const auto& of_box : squares) all.insert(all.end(), of_box.begin(), of_box.end());
  const double usual = median_of(std::move(all));
  const double unit = task::unit_roundoff(type), least = task::smallest_normal(type);
  evaluate({Way::kLeftOut, 0}, true, [&](size_t b, const Answer& wide) {
    Answer& answer = answers[b];
    for (size_t i = 0; i < answer.value.size(); ++i) {
      if (!std::isfinite(answer.value[i])) continue;
      const size_t first = i / kNeighbours * kNeighbours, end = std::min(first + kNeighbours, squares[b].size());
      double beside = 0;
      for (size_t k = first; k < end; ++k) beside += std::isnan(squares[b][k]) ? 0 : squares[b][k] / static_cast<double>(end - first);
      // Of a number that an evaluation did not have nothing is asked: NaN stays NaN.
      const double square = std::isnan(squares[b][i]) ? squares[b][i] : std::max({squares[b][i], beside, usual / 2});
      const double spread = Bounds::kSlack * std::sqrt(square) / unit;
      answer.scale[i] = std::isnan(spread) ? kRangeLost : std::max({spread, wide.scale[i], std::abs(answer.value[i]), least});
    }
  });
}

}  // namespace hone::evaluate
