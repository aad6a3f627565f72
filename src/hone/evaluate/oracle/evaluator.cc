#include "hone/evaluate/oracle/evaluator.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/certainty.h"
#include "hone/evaluate/oracle/contraction.h"
#include "hone/evaluate/oracle/integer_range.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/region.h"
#include "hone/evaluate/parallel.h"
#include "hone/task/graph/prim_info.h"

namespace hone::evaluate {
namespace {

using task::Prim;
using task::Shape;

/// Doubles that the intermediates of a tile may take: about two megabytes, of which a third is alive
/// at a time. With contractions inside, larger: reading operands again for many small tiles costs
/// more than leaving the second-level cache.
constexpr double kTileBudget = 1 << 18, kContractionBudget = 1 << 21;
/// A contraction whose operands are larger is streamed along the contracted index, in tiles of at
/// most this many results and operand parts of this many elements.
constexpr int64_t kStreamedResults = 1 << 15;
constexpr double kStreamedPart = 1 << 19;
/// Doubles that a result shared by all tiles may take to be kept rather than computed again.
constexpr double kKeepLimit = 1 << 27;

/// Worth computing once and keeping: it condenses much work into its result.
bool is_heavy(Prim op) {
  return (op >= Prim::kSum && op <= Prim::kConvTranspose) || op == Prim::kSort ||
         op == Prim::kArgSort;
}

bool is_view(Prim op) {
  return op == Prim::kBroadcast || op == Prim::kTranspose || op == Prim::kSlice || op == Prim::kFlip;
}

bool is_contraction(Prim op) {
  return op == Prim::kDot || op == Prim::kConv || op == Prim::kConvTranspose;
}

bool can_stream(Prim op) { return op >= Prim::kSum && op <= Prim::kAll; }

/// Steps lie below: a last bit may move a result by all that its scale allows for.
bool jumps_below(const task::Graph& graph, int root) {
  for (int id = 0; id < root; ++id) {
    const task::Node& node = graph.node(id);
    const Prim op = node.prim;
    if (task::info_of(op).is(task::PrimInfo::kJumps) || (op == Prim::kCast && !task::is_float(node.type.dtype))) return true;
  }
  return false;
}

/// Two results of the same, `here` with scale `s` and `there` with scale `t`. Both have the same formulas, in which compilers fuse
/// what they like, and libraries that differ in a last bit: in double, a millionth of what the scale allows for. Elements of
/// magnitudes `size` together are summed in another order, too: in double, or without scales perhaps in fp32.
bool agree(double here, double there, double s, double t, bool scaled, double size, bool jumps) {
  constexpr double kShare = 0x1p-20, kOfScale = 0x1p-10;
  const double of_size = scaled ? 0x1p-42 : 0x1p-12;
  // Scales of what is no number are not used.
  if (scaled && !std::isfinite(here) && !std::isfinite(there)) return here == there || (std::isnan(here) && std::isnan(there));
  if (std::isnan(s) || std::isnan(t)) return std::isnan(s) == std::isnan(t);
  if (std::isinf(s) || std::isinf(t)) return s == t;
  if (!(std::abs(s - t) <= kOfScale * (jumps ? std::max(s, t) * (1 / kOfScale) : s) + 0x1p-80)) return false;
  const bool finite = std::isfinite(here) && std::isfinite(there);
  if (!finite && !scaled) return true;  // what overflows in fp32 can hang on the order
  if (!finite) return false;
  return here == there || std::abs(here - there) <= (jumps ? 1 : kShare) * kUnit * s + of_size * size;
}

}  // namespace

bool TiledEvaluator::is_kept(int id, const Box& need) const {
  const Tensor& kept = kept_[static_cast<size_t>(id)];
  return kept.hold && contains(kept.box, need);
}

Needs TiledEvaluator::pull_back(int root, const Box& box) const {
  const size_t count = static_cast<size_t>(root) + 1;
  Needs needs{std::vector<Box>(count), std::vector<uint8_t>(count, 0)};
  needs.box[count - 1] = box;
  needs.used[count - 1] = 1;
  for (int id = root; id >= 0; --id) {
    const auto at = static_cast<size_t>(id);
    if (!needs.used[at] || is_kept(id, needs.box[at]) || is_covered(id)) continue;
    const auto& operands = graph_.graph.node(id).operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (reads_input_directly(graph_.graph, id, k)) continue;
      Box need = operand_box(graph_, id, k, needs.box[at]);
      if (is_empty(need)) continue;
      const auto from = static_cast<size_t>(operands[k]);
      needs.box[from] = needs.used[from] ? bounding(needs.box[from], need) : std::move(need);
      needs.used[from] = 1;
    }
  }
  return needs;
}

std::vector<Box> TiledEvaluator::inputs_read(int root, const Box& box) const {
  Needs needs = pull_back(root, box);
  needs.box.resize(graph_.graph.nodes.size());
  needs.used.resize(graph_.graph.nodes.size());
  for (int id = 0; id <= root; ++id) {
    if (!needs.used[static_cast<size_t>(id)] || is_covered(id)) continue;
    const auto& operands = graph_.graph.node(id).operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!reads_input_directly(graph_.graph, id, k)) continue;
      const auto from = static_cast<size_t>(operands[k]);
      needs.box[from] = whole(graph_.shapes[from]);
      needs.used[from] = 1;
    }
  }
  std::vector<Box> read;
  for (const int input : graph_.graph.inputs) {
    const auto at = static_cast<size_t>(input);
    read.push_back(needs.used[at] ? needs.box[at] : Box{Shape(graph_.shapes[at].size(), 0), Shape(graph_.shapes[at].size(), 0)});
  }
  return read;
}

TiledEvaluator::Cost TiledEvaluator::cost_of(const Needs& needs) const {
  Cost cost;
  for (size_t i = 0; i < needs.used.size(); ++i) {
    const int id = static_cast<int>(i);
    if (!needs.used[i] || is_kept(id, needs.box[i])) continue;
    const auto count = static_cast<double>(needs.box[i].count());
    if (!is_view(graph_.graph.node(id).prim))
      cost.held += count * (want_scale_ && facts_[i].has_scale() ? 2 : 1);
    cost.work += count * work_per_element(graph_, id);
  }
  return cost;
}

TiledEvaluator::Cost TiledEvaluator::cost_of(int root, const Box& box) const {
  return cost_of(pull_back(root, box));
}

Shape TiledEvaluator::choose_tile(int root, const Box& box, double budget) const {
  Box tile = box;
  Cost cost = cost_of(root, tile);
  while (cost.held > budget) {
    double best_ratio = 1.15;  // more extra work than this is not worth a smaller working set
    Box best;
    Cost best_cost;
    for (size_t d = 0; d < tile.extent.size(); ++d) {
      const int64_t extent = tile.extent[d];
      if (extent == 1) continue;
      // The far half stands for both: scans and the like need most there.
      Box near = tile, far = tile;
      near.extent[d] = (extent + 1) / 2;
      far.start[d] += near.extent[d];
      far.extent[d] = extent - near.extent[d];
      const Cost near_cost = cost_of(root, near), far_cost = cost_of(root, far);
      const double ratio = (near_cost.work + far_cost.work) / cost.work;
      if (ratio >= best_ratio) continue;
      best_ratio = ratio;
      best = near_cost.held >= far_cost.held ? near : far;
      best.extent[d] = near.extent[d];
      best.start[d] = std::min(best.start[d], tile.start[d] + extent - near.extent[d]);
      best_cost = near_cost.held >= far_cost.held ? near_cost : far_cost;
      if (ratio < 1.02) break;  // leading dimensions first: their tiles are contiguous
    }
    if (best.extent.empty()) break;
    tile = best;
    cost = best_cost;
  }
  return tile.extent;
}

Step TiledEvaluator::step_of(int id, const Box& box, std::span<const Tensor> operands) {
  return {graph_, facts_, inputs_, id, box, operands, arithmetic_, want_scale_, pool_, summation_, narrow_};
}

Tensor TiledEvaluator::run_tile(int root, const Box& box) {
  const Needs needs = pull_back(root, box);
  const size_t count = needs.used.size();
  std::vector<size_t> last_use(count, 0);
  for (size_t i = 0; i < count; ++i)
    if (needs.used[i] && !is_kept(static_cast<int>(i), needs.box[i]) && !is_covered(static_cast<int>(i)))
      for (const int k : graph_.graph.node(static_cast<int>(i)).operands)
        last_use[static_cast<size_t>(k)] = i;
  std::vector<Tensor> results(count);
  std::vector<Tensor> operands;
  for (size_t i = 0; i < count; ++i) {
    if (!needs.used[i]) continue;
    const int id = static_cast<int>(i);
    if (is_kept(id, needs.box[i])) {
      results[i] = restrict_to(kept_[i], needs.box[i]);
      continue;
    }
    if (is_covered(id)) {
      results[i] = covered(id, needs.box[i]);
      continue;
    }
    operands.clear();
    for (const int k : graph_.graph.node(id).operands) {
      Tensor& operand = results[static_cast<size_t>(k)];
      operands.push_back(operand);
      if (last_use[static_cast<size_t>(k)] == i) operand.hold.reset();
    }
    results[i] = run_step(step_of(id, needs.box[i], operands));
  }
  return results.back();
}

Tensor TiledEvaluator::covered(int id, const Box& box) {
  HONE_CHECK(helper_, "only assumed to be covered");
  const Tensor& whole_result = helper_->once(id, arithmetic_, want_scale_, [&] {
    const Box all = whole(graph_.shapes[static_cast<size_t>(id)]);
    std::vector<Tensor> given;
    for (const int other : coverage_->at(id).given) given.push_back(compute(other, whole(graph_.shapes[static_cast<size_t>(other)])));
    look_over(id, given);
    const Step step = step_of(id, all, {});
    // In memory that is no evaluator's own: it outlives this one.
    Pool apart;
    const Tensor result = helper_->reduce(id, operand_box(graph_, id, 0, all), arithmetic_, want_scale_, given);
    const Step into{graph_, facts_, inputs_, id, all, {}, arithmetic_, want_scale_, apart, summation_};
    const Fresh out = into.fresh();
    place(unsettled(step, in_range(step, result)), out, all.start);
    return out.tensor;
  });
  return restrict_to(whole_result, box);
}

void TiledEvaluator::look_over(int id, std::span<const Tensor> given) {
  const CoveredReduction& c = coverage_->at(id);
  Box result = c.spot;
  for (const int64_t axis : ints_attr(graph_.graph.node(id), "axes"))
    result.start[static_cast<size_t>(axis)] = 0, result.extent[static_cast<size_t>(axis)] = 1;
  const Step step = step_of(id, result, {});
  const Tensor operand = densify(compute(graph_.graph.node(id).operands[0], c.spot), pool_);
  const Tensor here = reduce_region(step, operand), there = helper_->reduce(id, c.spot, arithmetic_, want_scale_, given);
  double size = 0;
  for (int64_t i = 0; i < c.spot.count(); ++i)
    if (std::isfinite(operand.value[i])) size += std::abs(operand.value[i]);
  const auto scale_of = [&](const Tensor& t, int64_t i) { return t.scale ? t.scale[i] : 0; };
  const bool scaled = here.scale != nullptr, jumps = jumps_below(graph_.graph, id);
  for (int64_t i = 0; i < result.count(); ++i)
    HONE_CHECK(agree(here.value[i], there.value[i], scale_of(here, i), scale_of(there, i), scaled, size, jumps),
               fmt::format("{} of node {} comes to {} elsewhere and to {} here, scales {} and {}", task::name_of(graph_.graph.node(id).prim), id,
                           there.value[i], here.value[i], scale_of(there, i), scale_of(here, i)));
}

Tensor TiledEvaluator::stream_reduction(int root, const Box& box) {
  const int operand = graph_.graph.node(root).operands[0];
  const Box need = operand_box(graph_, root, 0, box);
  const Shape tile = choose_tile(operand, need, budget_of(operand, need));
  keep_shared(operand, need, {need.start, tile});

  std::vector<bool> reduced(tile.size(), false);
  for (const int64_t axis : ints_attr(graph_.graph.node(root), "axes"))
    reduced[static_cast<size_t>(axis)] = true;
  Shape result_tile = tile;
  for (size_t d = 0; d < tile.size(); ++d)
    if (reduced[d]) result_tile[d] = 1;

  Fresh out = step_of(root, box, {}).fresh();
  const Tiling results(box, result_tile);
  const auto reduce_part = [&](TiledEvaluator& by, int64_t i) {
    const Box part = results[i];
    const Step step = by.step_of(root, box, {});
    const std::vector<Tensor> partials = by.partial_reductions(root, box, Tiling(operand_box(graph_, root, 0, part), tile));
    place(settled(step, in_range(step, combine_partials(step, partials)), partials), out, part.start);
  };
  // Many short reductions are shared out; few long ones share out their parts.
  if (results.count() >= threads_) share_out(results.count(), reduce_part);
  else
    for (int64_t i = 0; i < results.count(); ++i) reduce_part(*this, i);
  return out.tensor;
}

std::vector<Tensor> TiledEvaluator::partial_reductions(int root, const Box& box, const Tiling& regions) {
  const int operand = graph_.graph.node(root).operands[0];
  std::vector<Tensor> partials(static_cast<size_t>(regions.count()));
  share_out(regions.count(), [&](TiledEvaluator& by, int64_t region) {
    const Step step = by.step_of(root, box, {});
    const Tensor part = by.compute(operand, regions[region]);
    partials[static_cast<size_t>(region)] = settled(step, reduce_region(step, part), {&part, 1});
  });
  return partials;
}

template <class Work>
void TiledEvaluator::share_out(int64_t count, const Work& work) {
  const int64_t workers = std::min<int64_t>(threads_, count);
  if (workers <= 1) {
    for (int64_t i = 0; i < count; ++i) work(*this, i);
    return;
  }
  std::atomic<int64_t> next{0};
  parallel_for(workers, static_cast<int>(workers), [&](int64_t) {
    TiledEvaluator worker(graph_, facts_, inputs_, arithmetic_, want_scale_, summation_, 1, helper_, narrow_);
    worker.keep(kept_);
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(worker, i);
  });
}

void TiledEvaluator::settle_invariants(int root, const Box& box, const std::function<Tensor(int id, const Box& need)>& find) {
  Box unit = box;
  std::fill(unit.extent.begin(), unit.extent.end(), 1);
  for (int id = 0; id < root; ++id) {
    if (!is_heavy(graph_.graph.node(id).prim)) continue;
    const auto at = static_cast<size_t>(id);
    const Needs full = pull_back(root, box);
    if (!full.used[at] || is_kept(id, full.box[at])) continue;
    const Needs least = pull_back(root, unit);
    if (least.used[at] && least.box[at] == full.box[at]) kept_[at] = find(id, full.box[at]);
  }
}

void TiledEvaluator::settle_invariants(int root, const Box& box) {
  settle_invariants(root, box, [&](int id, const Box& need) { return compute(id, need); });
}

void TiledEvaluator::assume_invariants(int root, const Box& box) {
  static const auto kNowhere = std::make_shared<const double>(0.0);
  settle_invariants(root, box, [](int, const Box& need) {
    return Tensor{need, task::Shape(need.extent.size(), 0), nullptr, nullptr, kNowhere};
  });
}

void TiledEvaluator::keep_shared(int root, const Box& box, const Box& tile) {
  if (tile == box) return;
  // Expensive nodes first: with their results at hand, less of the rest is needed whole.
  for (const bool heavy : {true, false}) {
    for (int id = 0; id < root; ++id) {
      const task::Node& node = graph_.graph.node(id);
      if (is_heavy(node.prim) != heavy) continue;
      const auto at = static_cast<size_t>(id);
      const Needs full = pull_back(root, box), part = pull_back(root, tile);
      const auto shared = [&](size_t i) { return part.used[i] && part.box[i] == full.box[i]; };
      if (!shared(at) || is_kept(id, full.box[at])) continue;
      const double size = static_cast<double>(full.box[at].count());
      if (size > kKeepLimit) continue;
      if (!heavy) {
        // Only what a tile's own work reads; single numbers are not worth the bookkeeping.
        if (size <= 1 || is_view(node.prim)) continue;
        bool read = false;
        for (int user = id + 1; user <= root && !read; ++user) {
          const auto& operands = graph_.graph.node(user).operands;
          const auto u = static_cast<size_t>(user);
          read = part.used[u] && !is_kept(user, part.box[u]) && !shared(u) &&
                 std::find(operands.begin(), operands.end(), id) != operands.end();
        }
        if (!read) continue;
      }
      kept_[at] = compute(id, full.box[at]);
    }
  }
}

double TiledEvaluator::budget_of(int root, const Box& box) const {
  const Needs needs = pull_back(root, box);
  for (size_t i = 0; i < needs.used.size(); ++i)
    if (needs.used[i] && !is_kept(static_cast<int>(i), needs.box[i]) &&
        is_contraction(graph_.graph.node(static_cast<int>(i)).prim))
      return kContractionBudget;
  return kTileBudget;
}

Tensor TiledEvaluator::stream_dot(int root, const Box& box) {
  const EinsumSpec spec = einsum_spec(graph_.graph.node(root));
  // The longest contracted index is cut; results are cut from the front until few enough at a time.
  Shape tile = box.extent;
  for (size_t d = 0; d < tile.size();) {
    int64_t count = 1;
    for (const int64_t extent : tile) count *= extent;
    if (count <= kStreamedResults) break;
    // Matrix letters keep a square of results, so that operands are read few times.
    const bool batch = spec.a.find(spec.result[d]) != std::string::npos &&
                       spec.b.find(spec.result[d]) != std::string::npos;
    const int64_t least = batch ? 1 : 128;
    if (tile[d] > least) tile[d] = std::max(least, (tile[d] + 1) / 2);
    else ++d;
  }
  const Tiling results(box, tile);
  Fresh out = step_of(root, box, {}).fresh();
  for (int64_t i = 0; i < results.count(); ++i) {
    const Box part = results[i];
    const Step step = step_of(root, part, {});
    const Box a = operand_box(graph_, root, 0, part), b = operand_box(graph_, root, 1, part);
    const auto [letter, length] = longest_contracted(spec, a, b);
    const double together = static_cast<double>(a.count() + b.count());
    const auto pieces = static_cast<int64_t>(std::ceil(together / kStreamedPart));
    const int64_t depth = std::max<int64_t>(1, length / std::max<int64_t>(1, pieces));
    const auto& operands = graph_.graph.node(root).operands;
    DotSums sums(step);
    for (int64_t k = 0; k < length; k += depth) {
      const int64_t deep = std::min(depth, length - k);
      sums.add(compute(operands[0], cut_along(letter, k, deep, a, spec.a)),
               compute(operands[1], cut_along(letter, k, deep, b, spec.b)));
    }
    place(unsettled(step, in_range(step, sums.finish().tensor)), out, part.start);
  }
  return out.tensor;
}

bool TiledEvaluator::keep_heavy(int root, const Box& box) {
  bool any = false;
  for (int id = 0; id < root; ++id) {
    if (!is_heavy(graph_.graph.node(id).prim)) continue;
    const auto at = static_cast<size_t>(id);
    const Needs needs = pull_back(root, box);
    if (!needs.used[at] || is_kept(id, needs.box[at])) continue;
    if (static_cast<double>(needs.box[at].count()) > kKeepLimit) continue;
    kept_[at] = compute(id, needs.box[at]);
    any = true;
  }
  return any;
}

Tensor TiledEvaluator::compute_in_tiles(int root, const Box& box, const Shape& tile) {
  Fresh out = step_of(root, box, {}).fresh();
  const Tiling tiles(box, tile);
  share_out(tiles.count(), [&](TiledEvaluator& by, int64_t i) { place(by.compute(root, tiles[i]), out, tiles[i].start); });
  return out.tensor;
}

Tensor TiledEvaluator::compute_large(int root, const Box& box) {
  const Prim op = graph_.graph.node(root).prim;
  settle_invariants(root, box);
  const double budget = budget_of(root, box);
  if (cost_of(root, box).held <= budget) return run_tile(root, box);
  if (can_stream(op)) return stream_reduction(root, box);
  const Shape tile = choose_tile(root, box, budget);
  if (cost_of(root, {box.start, tile}).held > 2 * budget) {
    // No tile is small enough. Expensive nodes one by one, each in its own way; then there may be.
    if (op == Prim::kDot) return stream_dot(root, box);
    if (keep_heavy(root, box)) return compute_large(root, box);
  }
  keep_shared(root, box, {box.start, tile});
  const Shape final_tile = choose_tile(root, box, budget_of(root, box));
  return final_tile == box.extent ? run_tile(root, box) : compute_in_tiles(root, box, final_tile);
}

Tensor TiledEvaluator::compute(int root, const Box& box) {
  if (is_kept(root, box)) return restrict_to(kept_[static_cast<size_t>(root)], box);
  if (is_covered(root)) return covered(root, box);
  if (cost_of(root, box).held <= budget_of(root, box)) return run_tile(root, box);
  const std::vector<Tensor> kept_outside = kept_;
  Tensor result = compute_large(root, box);
  kept_ = kept_outside;
  return result;
}

}  // namespace hone::evaluate
