#include "hone/evaluate/verify/bounds.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/oracle/card/card_reductions.h"
#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/evaluate/verify/drawn.h"
#include "hone/evaluate/verify/drawn_card.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Prim;

/// Further draws of ordinary outputs and of tiny ones. Few elements say little about what the anchor
/// loses; with the draw at hand a single element has been seen 16 times.
constexpr int kDraws = 3, kDrawsOfFew = 15;
/// Rough operations that the further draws of one family may cost: about a second of one core.
constexpr double kAnchorWork = 0x1p30;
/// Elements of an output that a further draw looks at.
constexpr int64_t kAnchorElements = 1 << 16;

int root_of(const task::ConcreteGraph& graph, int output) {
  return graph.graph.outputs[static_cast<size_t>(output)];
}

DType bounded_type(const task::ConcreteGraph& graph, int output) {
  return graph.graph.node(root_of(graph, output)).type.dtype;
}

bool has_few_elements(const task::ConcreteGraph& graph, int output) {
  return task::element_count(graph.shapes[static_cast<size_t>(root_of(graph, output))]) < kFewElements;
}

/// Whether is(id) for the node or one that lies between the inputs and it.
template <class Is>
bool comes_from(const task::ConcreteGraph& graph, int node, Is is) {
  std::vector<uint8_t> below(static_cast<size_t>(node) + 1, 0);
  below.back() = 1;
  for (int id = node; id >= 0; --id) {
    if (!below[static_cast<size_t>(id)]) continue;
    if (is(id)) return true;
    for (const int k : graph.graph.node(id).operands) below[static_cast<size_t>(k)] = 1;
  }
  return false;
}

/// A contraction lies behind the node, of operands of more than 16 bits if `wide`.
bool has_contraction(const task::ConcreteGraph& graph, int node, bool wide) {
  const auto type_of = [&](int k) {
    while (graph.graph.node(k).prim == Prim::kCast && task::size_of(graph.graph.node(graph.graph.node(k).operands[0]).type.dtype) == 2)
      k = graph.graph.node(k).operands[0];
    return graph.graph.node(k).type.dtype;
  };
  return comes_from(graph, node, [&](int id) {
    const task::Node& n = graph.graph.node(id);
    return (n.prim == Prim::kDot || n.prim == Prim::kConv || n.prim == Prim::kConvTranspose) &&
           (!wide || std::ranges::any_of(n.operands, [&](int k) { return task::size_of(type_of(k)) > 2; }));
  });
}

/// A few sums, such as the mean of everything, lie between the inputs and this node: a rounding of one moves many of its
/// elements alike.
bool has_few_sums(const task::ConcreteGraph& graph, int node) {
  return comes_from(graph, node, [&](int id) {
    const Prim op = graph.graph.node(id).prim;
    return (op == Prim::kSum || op == Prim::kProd) && task::element_count(graph.shapes[static_cast<size_t>(id)]) < kFewElements;
  });
}

GateOptions sample_of(uint64_t seed, int threads) {
  GateOptions options;
  options.full_limit = options.sample_elements = kAnchorElements;
  options.sample_seed = seed;
  options.threads = threads;
  return options;
}

/// What bound_of() goes by of each draw.
nlohmann::json errors_json(const std::vector<OutputError>& errors) {
  nlohmann::json all = nlohmann::json::array();
  for (const OutputError& error : errors) all.push_back({{"max", error.max}, {"rms", error.rms}, {"count", error.count}});
  return all;
}

/// Empty where that is not what this is.
std::vector<OutputError> errors_from(const nlohmann::json& all) {
  std::vector<OutputError> errors;
  for (const nlohmann::json& one : all) {
    OutputError error;
    const auto max = one.find("max"), rms = one.find("rms"), count = one.find("count");
    if (max == one.end() || rms == one.end() || count == one.end() || !max->is_number() || !rms->is_number() || !count->is_number_integer()) return {};
    error.max = max->get<double>();
    error.rms = rms->get<double>();
    error.count = count->get<int64_t>();
    errors.push_back(error);
  }
  return errors;
}

Bound larger(const Bound& a, const Bound& b) { return {std::max(a.max, b.max), std::max(a.rms, b.rms)}; }

/// The least bound that the types allow.
Bound floor_of(const task::ConcreteGraph& graph, task::Track track, int output) {
  const DType type = bounded_type(graph, output);
  const double unit = task::unit_roundoff(type);
  // For f64 outputs the oracle is no better than an honest kernel.
  if (type == DType::kF64) return {1024 * unit, 1024 * unit};
  // An honest fp32 product of split operands on matrix units loses up to 16 units of the products' sum. Where values are rounded
  // to 16 bits on the way the scale is made of those roundings, which two units hold: only what is split asks for more there.
  const bool fp32 = type == DType::kF32 && (track == task::Track::kStrict || track == task::Track::kAsPytorch);
  const int root = root_of(graph, output);
  if (fp32 && has_contraction(graph, root, false) && (has_contraction(graph, root, true) || !facts_of(graph, track)[static_cast<size_t>(root)].rounded))
    return {16 * unit, 16 * unit};
  // The oracle has been rounded too, so the least error there is, one unit in the last place, can be
  // two roundoffs of the value. The mean square of few elements, or of many that one rounding moves alike, can be that of one.
  const bool as_one = has_few_elements(graph, output) || has_few_sums(graph, root);
  return {2 * unit, as_one ? 2 * unit : unit};
}

}  // namespace

Bound bound_of(const task::ConcreteGraph& graph, task::Track track, int output,
               const std::vector<OutputError>& anchor_draws, double slack) {
  Bound bound;
  if (has_few_elements(graph, output)) {
    OutputError pooled;
    for (const OutputError& draw : anchor_draws) pooled.merge(draw);
    bound = {slack * pooled.max, slack * pooled.rms};
  } else {
    for (const OutputError& draw : anchor_draws) {
      bound.max += slack * draw.max / static_cast<double>(anchor_draws.size());
      bound.rms += slack * draw.rms / static_cast<double>(anchor_draws.size());
    }
  }
  return larger(bound, floor_of(graph, track, output));
}

Bounds::Bounds(const task::Task& task, const task::ConcreteGraph& graph, uint64_t seed, int threads,
               std::shared_ptr<const Facts> facts, std::shared_ptr<target::Card> card, double slack)
    : task_(task), graph_(graph), seed_(seed), threads_(threads), facts_(std::move(facts)), card_(std::move(card)), slack_(slack) {}

Bound Bounds::of(int output, Family family, const OutputError& here) {
  std::vector<OutputError> draws = further_anchors(output, family);
  draws.push_back(here);
  const Bound averaged = larger(
      bound_of(graph_, task_.track, output, draws, slack_),
      bound_of(graph_, task_.track, output, further_anchors(output, Family::kNormal), slack_));
  // The largest error of more elements is larger: then it counts by itself.
  if (here.count <= kAnchorElements) return averaged;
  return larger(averaged, bound_of(graph_, task_.track, output, {here}, slack_));
}

Bound Bounds::deciding(int output, Family family, const OutputError& here, const OutputError& error, double& nearest) {
  const auto decides = [&](const Bound& least) {
    return error.max < kFarWithin * least.max && error.rms < kFarWithin * least.rms && error.max <= nearest * least.max;
  };
  const auto all = [&] {
    const Bound bound = of(output, family, here);
    if (bound.max > 0) nearest = std::max(nearest, error.max / bound.max);
    return bound;
  };
  if (refined_.contains({output, family}) || (further_.contains({output, family}) && further_.contains({output, Family::kNormal}))) return all();
  // What further draws cannot take away: they add to an average, and the floor stays.
  OutputError share = here;
  const int most = 1 + (has_few_elements(graph_, output) ? kDrawsOfFew : kDraws);
  share.max /= has_few_elements(graph_, output) ? 1 : most;
  share.rms /= has_few_elements(graph_, output) ? std::sqrt(most) : most;
  Bound least = bound_of(graph_, task_.track, output, {share}, slack_);
  if (here.count > kAnchorElements) least = larger(least, bound_of(graph_, task_.track, output, {here}, slack_));
  if (decides(least)) return least;
  // Ordinary inputs' draws serve all families.
  least = larger(least, bound_of(graph_, task_.track, output, further_anchors(output, Family::kNormal), slack_));
  return decides(least) ? least : all();
}

const std::vector<OutputError>& Bounds::further_anchors(int output, Family family) {
  const auto [it, is_new] = further_.try_emplace({output, family});
  if (!is_new || !task::is_float(bounded_type(graph_, output)) || judged_by_value(graph_, output) >= 0) return it->second;
  if (!facts_) return it->second = draw_anchors(output, family, seed_, 1);
  const std::string question = question_of(output, family);
  if (const auto known = facts_->known(question)) it->second = errors_from(*known);
  if (it->second.empty()) facts_->keep(question, errors_json(it->second = draw_anchors(output, family, seed_, 1)));
  return it->second;
}

void Bounds::refine(int output, Family family) {
  constexpr int kTimes = 4;
  // Where the bound is of the largest of all draws, more of them would widen it.
  if (has_few_elements(graph_, output)) return;
  if (further_anchors(output, family).empty() || !refined_.emplace(output, family).second) return;
  std::vector<OutputError>& known = further_[{output, family}];
  const std::vector<OutputError> more = draw_anchors(output, family, seed_ + 1, kTimes - 1);
  known.insert(known.end(), more.begin(), more.end());
}

std::string Bounds::question_of(int output, Family family) const {
  return fmt::format("the anchor's errors: task {}, {}, output {}, {} inputs", task_.hash(), task::bindings_text(graph_.bindings), output,
                     name_of(family));
}

int Bounds::draws_of(int output) const {
  const int root = root_of(graph_, output);
  const Box all = whole(graph_.shapes[static_cast<size_t>(root)]);
  const auto facts = facts_of(graph_);
  TiledEvaluator evaluator(graph_, facts, {}, Arithmetic::kExact, true);
  const double with_invariants = evaluator.cost_of(root, all).work;
  evaluator.assume_invariants(root, all);
  double work = with_invariants - evaluator.cost_of(root, all).work;
  for (const Box& box : plan_boxes(graph_, output, sample_of(0, threads_)))
    work += evaluator.cost_of(root, box).work;
  for (const int input : graph_.graph.inputs)
    work += static_cast<double>(task::element_count(graph_.shapes[static_cast<size_t>(input)]));
  const int wanted = has_few_elements(graph_, output) ? kDrawsOfFew : kDraws;
  return static_cast<int>(std::clamp(kAnchorWork / work, 1.0, static_cast<double>(wanted)));
}

bool Bounds::on_card(int output) const {
  return card_ && !cover_reductions(graph_, task_.track, output, plan_boxes(graph_, output, sample_of(0, threads_)), 0).empty();
}

std::vector<OutputError> Bounds::draw_anchors(int output, Family family, uint64_t seed, int times) const {
  const base::Span span("further anchors");
  base::Rng rng(seed, static_cast<uint64_t>(family));
  std::vector<OutputError> errors;
  const bool by_card = on_card(output);
  for (int draws = times * draws_of(output); draws > 0; --draws) {
    std::vector<uint64_t> seeds(task_.inputs.size());
    for (uint64_t& seed : seeds) seed = rng.next_u64();
    const GateOptions options = sample_of(rng.next_u64(), threads_);
    std::vector<Box> boxes = plan_boxes(graph_, output, options);
    DrawnInputs inputs(task_, graph_);
    std::unique_ptr<ReductionHelper> helper;
    std::unique_ptr<DrawnOnCard> there;
    if (by_card && (there = DrawnOnCard::create(*card_, task_, graph_))) {
      Coverage coverage = cover_reductions(graph_, task_.track, output, boxes, options.sample_seed);
      if (auto made = CardReductions::create(*card_, graph_, task_.track, std::move(coverage), there->addresses())) helper = std::move(*made);
    }
    if (helper) {
      boxes = plan_boxes(graph_, output, options, helper->coverage());
      there->need(family, inputs);
    }
    inputs.need(output, boxes, helper ? helper->coverage() : Coverage{});
    inputs.draw(family, seeds, threads_);
    if (helper) there->draw(family, seeds, inputs);
    const Oracle oracle(graph_, inputs.views(), task_.track, threads_, helper.get());
    errors.push_back(make_reference(graph_, oracle, task_.track, output, std::move(boxes), threads_).anchor);
  }
  return errors;
}

}  // namespace hone::evaluate
