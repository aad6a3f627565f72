// Which boxes of an output are compared (plan_boxes in gate.h).
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate {
namespace {

using task::Shape;

/// Rough operations that comparing a whole output may cost, and a sample of one: about a second of one core; less of a sample, as
/// its elements are dear for what they read from memory, and all cores wait for that together.
constexpr double kFullWork = 0x1p30, kSampleWork = 0x1p29;
/// The same for elements at edges, one by one; and what a box costs beside its elements.
constexpr double kEdgeWork = 0x1p27, kWorkOfABox = 0x1p14;
/// For outputs judged by value, whose keys are kept: doubles of them.
constexpr double kFullKeys = 0x1p25, kSampleKeys = 0x1p24;
/// A box of the whole output: doubles of its intermediates, so that both threads get many boxes.
constexpr double kBoxBudget = 1 << 21;
/// Sampled boxes hold at least this many elements where the output does: one element a call would
/// cost more in bookkeeping than in arithmetic.
constexpr int64_t kLeastBox = 256, kMostInBox = 1 << 22;
/// Many places rather than large ones, unless whole rows come nearly free.
constexpr int64_t kBoxes = 64, kLeastBoxes = 16;

/// Whom to ask what parts of an output cost.
struct Costs {
  int root;
  const Shape& shape;
  Box all;
  std::vector<NodeFacts> facts;
  TiledEvaluator evaluator;

  Costs(const task::ConcreteGraph& graph, int output, const Coverage& coverage)
      : root(graph.graph.outputs[static_cast<size_t>(output)]), shape(graph.shapes[static_cast<size_t>(root)]), all(whole(shape)), facts(facts_of(graph)),
        evaluator(graph, facts, {}, Arithmetic::kExact, true) {
    evaluator.assume_covered(coverage);
    evaluator.assume_invariants(root, all);
  }
};

/// Grows a box from one element in the direction that makes elements cheapest, as long as it does.
Shape cheap_extent(const TiledEvaluator& evaluator, int root, const Shape& shape,
                   const GateOptions& options) {
  Box box{shape, Shape(shape.size(), 1)};
  for (int64_t& at : box.start) at /= 2;
  double work = evaluator.cost_of(root, box).work;
  for (;;) {
    Box best;
    double best_work = 0, best_ratio = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      if (box.extent[d] == shape[d]) continue;
      Box wider = box;
      wider.extent[d] = std::min(2 * box.extent[d], shape[d]);
      wider.start[d] = std::min(wider.start[d], shape[d] - wider.extent[d]);
      const double wider_work = evaluator.cost_of(root, wider).work;
      const double ratio = wider_work / work * static_cast<double>(box.count()) /
                           static_cast<double>(wider.count());
      if (!best.extent.empty() && ratio > best_ratio - 0.01) continue;
      best = wider;
      best_work = wider_work;
      best_ratio = ratio;
    }
    if (best.extent.empty()) break;
    const bool nearly_free = best_ratio < 0.7 && best.count() <= kMostInBox;
    const bool cheaper = best_ratio < 0.9 && best.count() * kBoxes <= options.sample_elements;
    if (box.count() >= kLeastBox && !nearly_free && !cheaper) break;
    box = best;
    work = best_work;
  }
  return box.extent;
}

/// Halves a box, as long as that halves its work nearly, until the fewest boxes cost no more than a sample may: beside elements
/// that dear, what a call costs in bookkeeping is nothing.
Shape affordable_extent(const TiledEvaluator& evaluator, int root, Shape extent) {
  const auto work_of = [&](const Shape& of) { return evaluator.cost_of(root, {Shape(of.size(), 0), of}).work; };
  double work = work_of(extent);
  while (work * static_cast<double>(kLeastBoxes) > kSampleWork) {
    Shape best;
    double best_work = 0.6 * work;
    for (size_t d = 0; d < extent.size(); ++d) {
      if (extent[d] == 1) continue;
      Shape half = extent;
      half[d] = (half[d] + 1) / 2;
      if (const double less = work_of(half); less <= best_work) best = half, best_work = less;
    }
    if (best.empty()) break;
    extent = std::move(best);
    work = best_work;
  }
  return extent;
}

/// Adds a cell at either end of every axis, where kernels have their tails, anywhere along the others. Cells are numbered
/// row-major.
void add_ends(const Shape& shape, const Shape& extent, base::Rng& rng, std::set<uint64_t>& chosen) {
  const auto cells_along = [&](size_t d) { return static_cast<uint64_t>((shape[d] + extent[d] - 1) / extent[d]); };
  for (size_t axis = 0; axis < shape.size(); ++axis)
    for (const bool last : {false, true}) {
      uint64_t cell = 0;
      for (size_t d = 0; d < shape.size(); ++d)
        cell = cell * cells_along(d) + (d != axis ? rng.below(cells_along(d)) : last ? cells_along(d) - 1 : 0);
      chosen.insert(cell);
    }
}

/// Positions where a kernel may go wrong that is right elsewhere: corners, the most important; ends of an axis; multiples of
/// powers of two and their neighbours, along an axis or counted through the tensor.
class Edges {
 public:
  Edges(const Shape& shape, uint64_t seed) : shape_(shape), count_(task::element_count(shape)), rng_(seed, 0x65646765) {}

  std::set<Shape> pick(int64_t most) {
    std::set<Shape> all = corners(most);
    for (int64_t i = 0; std::ssize(all) < most && i < 4 * most; ++i) all.insert(i % 3 == 0 ? end() : i % 3 == 1 ? beside_a_power() : flat_beside_a_power());
    return all;
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(rng_.below(static_cast<uint64_t>(n))); }
  Shape anywhere() {
    Shape at;
    for (const int64_t extent : shape_) at.push_back(below(extent));
    return at;
  }
  std::set<Shape> corners(int64_t most) const {
    std::set<Shape> all;
    const size_t rank = shape_.size();
    for (uint64_t which = 0; which < (uint64_t{1} << std::min<size_t>(rank, 5)) && std::ssize(all) < most; ++which) {
      Shape first(rank, 0), last(rank, 0);  // from both ends of the list, so that the last element is among the first two
      for (size_t d = 0; d < rank; ++d) {
        first[d] = (which >> d & 1) != 0 ? shape_[d] - 1 : 0;
        last[d] = shape_[d] - 1 - first[d];
      }
      all.insert(first);
      all.insert(last);
    }
    return all;
  }
  /// Of n elements: beside a multiple of a power of two.
  int64_t near_power(int64_t n) {
    const int64_t power = int64_t{1} << below(std::bit_width(static_cast<uint64_t>(n)));
    return std::clamp<int64_t>(below(n / power + 1) * power + below(3) - 1, 0, n - 1);
  }
  Shape end() {
    Shape at = anywhere();
    if (at.empty()) return at;
    const auto d = static_cast<size_t>(below(std::ssize(at)));
    at[d] = below(2) == 0 ? 0 : shape_[d] - 1;
    return at;
  }
  Shape beside_a_power() {
    Shape at = anywhere();
    if (at.empty()) return at;
    const auto d = static_cast<size_t>(below(std::ssize(at)));
    at[d] = near_power(shape_[d]);
    return at;
  }
  Shape flat_beside_a_power() {
    int64_t flat = near_power(count_);
    Shape at(shape_.size(), 0);
    for (size_t d = shape_.size(); d-- > 0; flat /= shape_[d]) at[d] = flat % shape_[d];
    return at;
  }

  const Shape& shape_;
  int64_t count_;
  base::Rng rng_;
};

/// As many as cost the oracle little beside the rest of a sample; two corners at least.
void add_edges(const TiledEvaluator& evaluator, int root, const Shape& shape, const GateOptions& options, std::vector<Box>& boxes) {
  if (options.edges == 0) return;
  const Shape one(shape.size(), 1);
  Shape last = shape;
  for (int64_t& extent : last) --extent;
  const double work = evaluator.cost_of(root, {last, one}).work + kWorkOfABox;
  const auto most = static_cast<int64_t>(std::clamp(kEdgeWork / work, 2.0, static_cast<double>(options.edges)));
  for (const Shape& at : Edges(shape, options.sample_seed).pick(most)) boxes.push_back({at, one});
}

}  // namespace

double work_of_whole(const task::ConcreteGraph& graph, int output) {
  const Costs costs(graph, output, {});
  return costs.evaluator.cost_of(costs.root, costs.all).work;
}

std::vector<Box> plan_boxes(const task::ConcreteGraph& graph, int output,
                            const GateOptions& options, const Coverage& coverage) {
  const Costs costs(graph, output, coverage);
  const auto& [root, shape, all, facts, evaluator] = costs;

  std::vector<Box> boxes;
  const bool by_value = judged_by_value(graph, output) >= 0;
  const double total_work = evaluator.cost_of(root, all).work;
  if (options.full_limit == INT64_MAX ||
      (all.count() <= options.full_limit && total_work <= (by_value ? kFullKeys : kFullWork))) {
    const Tiling tiling(all, evaluator.choose_tile(root, all, kBoxBudget));
    for (int64_t i = 0; i < tiling.count(); ++i) boxes.push_back(tiling[i]);
    return boxes;
  }
  // Cells of one grid, each as likely as any other: so is every position.
  Shape extent = cheap_extent(evaluator, root, shape, options);
  if (!by_value) extent = affordable_extent(evaluator, root, std::move(extent));
  const Tiling cells(all, extent);
  const Box first{Shape(shape.size(), 0), extent};
  const double box_work = evaluator.cost_of(root, first).work;
  const auto affordable = static_cast<int64_t>((by_value ? kSampleKeys : kSampleWork) / box_work);
  const int64_t wanted =
      std::max(kLeastBoxes, std::min(affordable, (options.sample_elements + first.count() - 1) /
                                                     first.count()));
  if (wanted >= cells.count()) {
    for (int64_t i = 0; i < cells.count(); ++i) boxes.push_back(cells[i]);
    return boxes;
  }
  add_edges(evaluator, root, shape, options, boxes);
  base::Rng rng(options.sample_seed, 0x626F786573);
  std::set<uint64_t> chosen;
  while (static_cast<int64_t>(chosen.size()) < wanted)
    chosen.insert(rng.below(static_cast<uint64_t>(cells.count())));
  add_ends(shape, extent, rng, chosen);
  for (const uint64_t cell : chosen) boxes.push_back(cells[static_cast<int64_t>(cell)]);
  return boxes;
}

}  // namespace hone::evaluate
