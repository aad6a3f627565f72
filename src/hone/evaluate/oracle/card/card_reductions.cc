#include "hone/evaluate/oracle/card/card_reductions.h"

#include <algorithm>
#include <mutex>

#include "hone/base/embedded.h"
#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/card/compile.h"
#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/region.h"

namespace hone::evaluate {
namespace {

using card::Fold;
using task::Prim;

/// As reduce.cu has them.
constexpr int kReduceThreads = 128;
constexpr int64_t kCombinedParts = 16;

/// The host would read no less than such a share of what the card reads.
constexpr int64_t kWorthShare = 64;
/// All results are held.
constexpr int64_t kMostResults = int64_t{1} << 20;
/// A spot: results, and elements of each.
constexpr int64_t kSpotResults = 8, kSpotElements = 512;

bool compiles(const task::ConcreteGraph& graph, std::span<const NodeFacts> facts, int id, const Box& box, task::Track track) {
  return compile_reduction(graph, facts, id, box, Arithmetic::kExact, true) &&
         compile_reduction(graph, facts, id, box, arithmetic_of(track), false);
}

/// A part of a node's operand with few elements, anywhere.
Box random_spot(const task::ConcreteGraph& graph, int id, int64_t results, int64_t elements, base::Rng& rng) {
  const task::Node& node = graph.graph.node(id);
  const task::Shape& shape = graph.shapes[static_cast<size_t>(node.operands[0])];
  std::vector<bool> folded(shape.size(), false);
  for (const int64_t axis : ints_attr(node, "axes")) folded[static_cast<size_t>(axis)] = true;
  Box spot{shape, shape};
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t& left = folded[d] ? elements : results;
    spot.extent[d] = std::min(shape[d], left);
    left /= spot.extent[d];
    // On a multiple of its extent, so that it does not lie across what a view below has apart.
    const int64_t places = shape[d] / spot.extent[d];
    spot.start[d] = spot.extent[d] * static_cast<int64_t>(rng.below(static_cast<uint64_t>(places)));
  }
  return spot;
}

/// Elements of the operand of node `id` that the host reads for these boxes of `root`; those that several read, once.
int64_t elements_read(const task::ConcreteGraph& graph, const TiledEvaluator& evaluator, int root, int id, std::span<const Box> boxes) {
  std::vector<Box> read;
  int64_t elements = 0;
  for (const Box& box : boxes) {
    const Needs needs = evaluator.needs_of(root, box);
    if (!needs.used[static_cast<size_t>(id)]) continue;
    const Box& need = needs.box[static_cast<size_t>(id)];
    if (std::find(read.begin(), read.end(), need) != read.end()) continue;
    read.push_back(need);
    elements += operand_box(graph, id, 0, need).count();
  }
  return elements;
}

int64_t given_doubles(const task::ConcreteGraph& graph, std::span<const int> given) {
  int64_t doubles = 0;
  for (const int id : given) doubles += 2 * task::element_count(graph.shapes[static_cast<size_t>(id)]);
  return doubles;
}

}  // namespace

std::string reduce_source() {
  const auto text_of = [](std::string_view name) {
    const auto found = base::find_embedded(name);
    HONE_CHECK(found.has_value(), name);
    return *found;
  };
  std::string text(text_of("oracle/card/reduce.cu"));
  constexpr std::string_view kInclude = "#include \"", kAbove = "../";
  for (size_t at; (at = text.find(kInclude)) != std::string::npos;) {
    const size_t name = at + kInclude.size(), end = text.find('"', name);
    const std::string file = text.substr(name, end - name);
    text.replace(at, end + 1 - at, text_of(file.starts_with(kAbove) ? "oracle/" + file.substr(kAbove.size()) : "oracle/card/" + file));
  }
  return text;
}

Coverage cover_reductions(const task::ConcreteGraph& graph, task::Track track, int output, std::span<const Box> boxes, uint64_t seed,
                          int64_t least) {
  const int root = graph.graph.outputs[static_cast<size_t>(output)];
  const auto facts = facts_of(graph, track);
  const TiledEvaluator evaluator(graph, facts, {}, Arithmetic::kExact, true);
  base::Rng rng(seed, 0x73706F74);
  Coverage coverage;
  for (int id = 0; id <= root; ++id) {
    const task::Node& node = graph.graph.node(id);
    if (!task::is_reduction(node.prim) || facts[static_cast<size_t>(id)].open) continue;
    const Box all = whole(graph.shapes[static_cast<size_t>(node.operands[0])]);
    if (task::element_count(graph.shapes[static_cast<size_t>(id)]) > kMostResults || all.count() < least) continue;
    if (elements_read(graph, evaluator, root, id, boxes) < std::max(least, all.count() / kWorthShare)) continue;
    if (!compiles(graph, facts, id, all, track)) continue;
    Box spot;
    int64_t results = kSpotResults, elements = kSpotElements;
    do {
      spot = random_spot(graph, id, results, elements, rng);
      results = std::max<int64_t>(1, results / 2);
      elements = std::max<int64_t>(1, elements / 4);
    } while (!compiles(graph, facts, id, spot, track) && spot.count() > 1);
    coverage[id] = {compile_reduction(graph, facts, id, all, Arithmetic::kExact, true)->given, spot};
  }
  return coverage;
}

struct CardReductions::State {
  const task::ConcreteGraph& graph;
  std::vector<NodeFacts> facts;
  std::vector<uint64_t> addresses;
  target::CardProgram* program = nullptr;
  std::unique_ptr<target::CardMemory> memory;
  int64_t most_given = 0, most_parts = 0, most_results = 0;  ///< of any covered reduction; doubles
  std::mutex mutex;

  State(const task::ConcreteGraph& of, task::Track track, std::vector<uint64_t> at)
      : graph(of), facts(facts_of(of, track)), addresses(std::move(at)) {}

  // The memory: the program, what it is given, parts and parts of parts, results of two passes.
  static constexpr int64_t kGiven = static_cast<int64_t>(sizeof(card::Program));
  [[nodiscard]] int64_t parts_at(bool second) const {
    return kGiven + 8 * (most_given + (second ? 2 * most_parts : 0));
  }
  [[nodiscard]] int64_t results_at(bool second) const { return parts_at(true) + 16 * (combined_most() + (second ? most_results : 0)); }
  [[nodiscard]] int64_t bytes() const { return results_at(true) + 16 * most_results; }
  /// Parts that are left after the first time they are combined.
  [[nodiscard]] int64_t combined_most() const { return most_parts / kCombinedParts + most_results + 1; }

  template <class... Arguments>
  void launch(std::string_view function, int64_t threads, const Arguments&... arguments) const {
    const void* const all[] = {&arguments...};
    program->launch(function, (threads + kReduceThreads - 1) / kReduceThreads, kReduceThreads, all);
  }

  /// Runs the program as it lies there; values and then scales of all results come to lie at `to` (bytes).
  void run(const CompiledReduction& compiled, int64_t extremes, int64_t to) const {
    const card::Program& p = compiled.program;
    const uint64_t base = memory->address();
    uint64_t in[card::kMostInputs];
    for (size_t i = 0; i < card::kMostInputs; ++i)
      in[i] = i < compiled.inputs.size() ? addresses[static_cast<size_t>(compiled.inputs[i])] : base;
    int64_t parts = p.parts;
    // Values, and behind them scales.
    uint64_t values = base + static_cast<uint64_t>(parts == 1 ? to : parts_at(false));
    uint64_t scales = values + 8 * static_cast<uint64_t>(p.results * parts);
    const uint64_t given = base + kGiven, known = base + static_cast<uint64_t>(extremes);
    launch("fold_parts", p.results * parts, base, given, in[0], in[1], in[2], in[3], in[4], in[5], known, values, scales);
    for (bool second = true; parts > 1; second = !second) {
      const int64_t left = (parts + kCombinedParts - 1) / kCombinedParts;
      const uint64_t to_values = base + static_cast<uint64_t>(left == 1 ? to : parts_at(second));
      const uint64_t to_scales = to_values + 8 * static_cast<uint64_t>(p.results * left);
      const auto fold = static_cast<int32_t>(p.fold);
      launch("combine_parts", p.results * left, values, scales, to_values, to_scales, p.results, parts, p.results_first, fold, p.rounds);
      values = to_values;
      scales = to_scales;
      parts = left;
    }
  }
};

CardReductions::CardReductions(Coverage coverage, std::unique_ptr<State> state)
    : ReductionHelper(std::move(coverage)), state_(std::move(state)) {}
CardReductions::~CardReductions() = default;

Result<std::unique_ptr<CardReductions>> CardReductions::create(target::Card& card, const task::ConcreteGraph& graph, task::Track track,
                                                               Coverage coverage, std::vector<uint64_t> addresses) {
  auto state = std::make_unique<State>(graph, track, std::move(addresses));
  HONE_TRY(state->program, card.program("reduce.cu", reduce_source()));
  for (const auto& [id, covered] : coverage) {
    const Box all = whole(graph.shapes[static_cast<size_t>(graph.graph.node(id).operands[0])]);
    for (const Box& box : {all, covered.spot}) {
      const auto compiled = compile_reduction(graph, state->facts, id, box, Arithmetic::kExact, true);
      HONE_CHECK(compiled.has_value(), "covered, but not by a card");
      state->most_given = std::max(state->most_given, given_doubles(graph, compiled->given));
      state->most_parts = std::max(state->most_parts, compiled->program.results * compiled->program.parts);
      state->most_results = std::max(state->most_results, compiled->program.results);
    }
  }
  HONE_TRY(state->memory, card.allocate(state->bytes()));
  return std::unique_ptr<CardReductions>(new CardReductions(std::move(coverage), std::move(state)));
}

Tensor CardReductions::reduce(int id, const Box& box, Arithmetic arithmetic, bool want_scale, std::span<const Tensor> given) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  const base::Span span("reduce on the card");
  auto compiled = compile_reduction(s.graph, s.facts, id, box, arithmetic, want_scale);
  HONE_CHECK(compiled.has_value(), "covered, but not by a card");
  card::Program& p = compiled->program;
  const std::vector<int>& expected = coverage().at(id).given;
  HONE_CHECK(given.size() == expected.size());
  // A part may read less than the whole.
  Pool pool;
  std::vector<double> doubles;
  for (const int wanted : compiled->given) {
    const auto at = std::find(expected.begin(), expected.end(), wanted);
    HONE_CHECK(at != expected.end(), "a result that is not given");
    const Tensor dense = densify(given[static_cast<size_t>(at - expected.begin())], pool);
    const int64_t count = dense.box.count();
    doubles.insert(doubles.end(), dense.value, dense.value + count);
    if (dense.scale) doubles.insert(doubles.end(), dense.scale, dense.scale + count);
    else doubles.resize(doubles.size() + static_cast<size_t>(count));
  }
  if (!doubles.empty()) s.memory->upload(State::kGiven, doubles.data(), static_cast<int64_t>(doubles.size()) * 8);

  const bool extreme = p.fold != Fold::kSum, two_passes = extreme && p.scaled;
  const int32_t scaled = p.scaled;
  if (extreme) p.scaled = 0;
  const int64_t first = s.results_at(false), second = s.results_at(true);
  s.memory->upload(0, &p, sizeof p);
  s.run(*compiled, first, first);
  if (two_passes) {
    // Which elements may be the extreme ones is known when it is.
    p.scaled = scaled;
    p.fold = p.fold == Fold::kMax ? Fold::kMaxScale : Fold::kMinScale;
    s.memory->upload(0, &p, sizeof p);
    s.run(*compiled, first, second);
  }

  Box result = box;
  for (const int64_t axis : ints_attr(s.graph.graph.node(id), "axes"))
    result.start[static_cast<size_t>(axis)] = 0, result.extent[static_cast<size_t>(axis)] = 1;
  const Fresh out = make_dense(result, scaled != 0, pool);
  const int64_t bytes = p.results * 8;
  s.memory->download(first, out.value, bytes);
  if (!out.scale) return out.tensor;
  s.memory->download((two_passes ? second : first) + bytes, out.scale, bytes);
  if (extreme) return out.tensor;
  // As reduce_group().
  const double unit = s.facts[static_cast<size_t>(id)].unit;
  if (p.exact)
    for (int64_t i = 0; i < p.results; ++i) out.scale[i] *= std::min(unit, 1.0);
  kernels().at_least(p.results, out.value, unit, out.scale);
  return out.tensor;
}

}  // namespace hone::evaluate
