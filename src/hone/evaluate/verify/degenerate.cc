// Whether a task can tell an answer from none (self_test in gate.h): degenerate answers go through
// the gate on every family; one that passes them all condemns the task.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "hone/base/random.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/parallel.h"
#include "hone/evaluate/verify/bounds.h"
#include "hone/evaluate/verify/compare_found.h"
#include "hone/evaluate/verify/drawn.h"
#include "hone/evaluate/verify/integer_bounds.h"
#include "hone/evaluate/verify/lines.h"

namespace hone::evaluate {
namespace {

using task::Prim;

using Kind = Degenerate::Kind;

/// One that no family has refused yet.
struct Suspect : Degenerate {
  /// kMean of truth values and integers, of which whole answers are often one and the same: the first draw's, in all of them.
  mutable std::optional<double> constant{};
};

/// The smallest workload, by elements of inputs and outputs.
Result<task::ConcreteGraph> smallest(const task::Task& task) {
  std::optional<task::ConcreteGraph> best;
  int64_t least = 0;
  for (const task::Workload& workload : task.workloads) {
    HONE_TRY(task::ConcreteGraph graph, task::instantiate(task.primitive, workload.bindings));
    int64_t size = 0;
    for (const auto* ids : {&graph.graph.inputs, &graph.graph.outputs})
      for (const int id : *ids) size += task::element_count(graph.shapes[static_cast<size_t>(id)]);
    if (best && size >= least) continue;
    best = std::move(graph);
    least = size;
  }
  if (!best) return fail(ErrorCode::kInput, "the task has no workload");
  return std::move(*best);
}

/// The output is an input under another shape: then the input is the answer, not a cheat.
bool is_copy(const task::ConcreteGraph& graph, int output) {
  const task::Node* node = &graph.graph.node(graph.graph.outputs[static_cast<size_t>(output)]);
  while (node->prim == Prim::kReshape) node = &graph.graph.node(node->operands[0]);
  return node->prim == Prim::kInput;
}

std::vector<Suspect> suspects_of(const task::ConcreteGraph& graph) {
  std::vector<Suspect> suspects;
  for (int output = 0; output < static_cast<int>(graph.graph.outputs.size()); ++output) {
    const auto count_of = [&](int id) {
      return task::element_count(graph.shapes[static_cast<size_t>(id)]);
    };
    const int64_t count = count_of(graph.graph.outputs[static_cast<size_t>(output)]);
    suspects.push_back({{output, Kind::kZeros}});
    suspects.push_back({{output, Kind::kOnes}});
    // One element is its own mean.
    if (count > 1) suspects.push_back({{output, Kind::kMean}});
    if (is_copy(graph, output)) continue;
    bool several = false;
    for (size_t i = 0; i < graph.graph.inputs.size(); ++i) {
      several |= count_of(graph.graph.inputs[i]) > 1;
      if (count_of(graph.graph.inputs[i]) == count)
        suspects.push_back({{output, Kind::kInput, static_cast<int>(i)}});
    }
    if (several) suspects.push_back({{output, Kind::kSubsampled}});
  }
  return suspects;
}

double mean_of(const Reference& reference) {
  double sum = 0, count = 0;
  for (const Answer& answer : reference.answers)
    for (const double v : answer.value)
      if (std::isfinite(v)) sum += v, ++count;
  return count > 0 ? sum / count : 0;
}

/// Every odd element of a segment becomes its neighbour.
void subsample(uint8_t* data, const Segment& segment, int64_t element) {
  for (int64_t at = segment.begin | 1; at < segment.end; at += 2)
    std::memcpy(data + at * element, data + (at - 1) * element, static_cast<size_t>(element));
}

/// Elements subsampled by one thread at a time.
constexpr int64_t kScreenPart = 1 << 20;

/// Draws of every family, and twice so many of whole lines, until a truth value or an integer that was one and the same everywhere varies: whether
/// any of many elements is above another hangs on what a few draws happen to be.
constexpr int kMoreDraws = 4;
constexpr int kNonFiniteDraws = 24;
/// Elements of inputs that may be filled line by line.
constexpr int64_t kMostFilled = 1 << 22;

enum class Filling : uint8_t { kAsDrawn, kOfOneKind };

/// kQuick: few elements, and only what is off by many times what the anchor is on them is refused: that any bound refuses. Most suspects are,
/// on the first inputs, and nothing dearer is drawn.
enum class Effort : uint8_t { kQuick, kFull };
constexpr int64_t kQuickElements = 1 << 10;
constexpr double kClearly = 16;

class Trial {
 public:
  Trial(const task::Task& task, const task::ConcreteGraph& graph, Family family, uint64_t seed,
        Bounds& bounds, int threads, Effort how, Filling filling = Filling::kAsDrawn)
      : task_(task), graph_(graph), threads_(threads), inputs_(task, graph) {
    GateOptions options;
    if (how == Effort::kQuick) options.sample_elements = kQuickElements;
    options.full_limit = options.sample_elements;  // enough to refuse an answer that is no answer
    options.sample_seed = seed;
    std::vector<std::vector<Box>> boxes;
    for (int output = 0; output < static_cast<int>(graph.graph.outputs.size()); ++output) {
      boxes.push_back(plan_boxes(graph, output, options));
      inputs_.need(output, boxes.back());
    }
    std::vector<uint64_t> seeds(task.inputs.size());
    std::iota(seeds.begin(), seeds.end(), seed);
    if (filling == Filling::kOfOneKind)
      for (int i = 0; i < static_cast<int>(task.inputs.size()); ++i) inputs_.need_all(i);
    inputs_.draw(family, seeds, threads);
    if (filling == Filling::kOfOneKind) fill(seed);
    views_ = inputs_.views();
    const Oracle oracle(graph, views_, task.track, threads);
    for (int output = 0; output < static_cast<int>(graph.graph.outputs.size()); ++output) {
      references_.push_back(make_reference(graph, oracle, task.track, output, std::move(boxes[static_cast<size_t>(output)]), threads));
      const OutputError& anchor = references_.back().anchor;
      if (how == Effort::kFull) {
        bounds_.push_back(bounds.of(output, family, anchor));
      } else {
        const Bound alone = bound_of(graph, task.track, output, {anchor}, Bounds::kSlack);
        bounds_.push_back({kClearly * alone.max, kClearly * alone.rms});
      }
    }
  }

  [[nodiscard]] bool passes(const Suspect& suspect) const {
    switch (suspect.kind) {
      case Kind::kZeros: return passes(suspect, constant(0));
      case Kind::kOnes: return passes(suspect, constant(1));
      case Kind::kMean: {
        const auto at = static_cast<size_t>(suspect.output);
        const double mean = mean_of(references_[at]);
        if (task::is_float(task_.outputs[at].second.dtype)) return passes(suspect, constant(mean));
        if (!suspect.constant) suspect.constant = std::nearbyint(mean);
        return passes(suspect, constant(*suspect.constant));
      }
      case Kind::kInput: {
        const TensorView& view = views_[static_cast<size_t>(suspect.input)];
        return passes(suspect, [&](int64_t, int64_t, int64_t flat, std::span<double> found) {
          load_doubles(view.dtype, view.data, flat, static_cast<int64_t>(found.size()), found.data());
        });
      }
      case Kind::kSubsampled: {
        const auto& boxes = references_[static_cast<size_t>(suspect.output)].boxes;
        const Oracle oracle(graph_, views_, task_.track, threads_);
        std::vector<Answer> answers(boxes.size());
        const int each = std::max(1, threads_ / static_cast<int>(boxes.size()));
        parallel_for(static_cast<int64_t>(boxes.size()), threads_, [&](int64_t b) {
          const auto at = static_cast<size_t>(b);
          answers[at] = oracle.evaluate(suspect.output, boxes[at], Arithmetic::kF32, false, each);
        });
        return passes(suspect, [&](int64_t box, int64_t position, int64_t, std::span<double> found) {
          std::copy_n(answers[static_cast<size_t>(box)].value.begin() + position, found.size(),
                      found.begin());
        });
      }
    }
    return false;
  }

  /// From here on only kSubsampled may be asked for.
  void subsample_inputs() {
    for (int i = 0; i < static_cast<int>(views_.size()); ++i) {
      std::vector<Segment> parts;
      for (const Segment& s : inputs_.drawn(i))
        for (int64_t at = s.begin / 2 * 2; at < s.end; at += kScreenPart) parts.push_back({at, std::min(at + kScreenPart, s.end)});
      parallel_for(static_cast<int64_t>(parts.size()), threads_, [&](int64_t part) {
        subsample(inputs_.data(i), parts[static_cast<size_t>(part)], task::size_of(views_[static_cast<size_t>(i)].dtype));
      });
    }
  }

 private:
  void fill(uint64_t seed) {
    base::Rng rng(seed, 0x6c696e65);
    const bool whole = rng.below(2) == 0;
    const std::vector<FilledLines> all = lines_of(task_, graph_, draw_bounds(task_, graph_), false);
    for (size_t i = 0; i < all.size(); ++i) {
      const task::Shape& shape = graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])];
      const task::DType type = task_.inputs[i].type.dtype;
      const auto bytes = static_cast<size_t>(task::element_count(shape) * task::size_of(type));
      fill_lines(std::as_writable_bytes(std::span(inputs_.data(static_cast<int>(i)), bytes)), shape, type, all[i], whole, false, rng);
    }
  }

  static FoundValues constant(double value) {
    return [value](int64_t, int64_t, int64_t, std::span<double> found) {
      std::fill(found.begin(), found.end(), value);
    };
  }

  [[nodiscard]] bool passes(const Suspect& suspect, const FoundValues& found) const {
    const auto at = static_cast<size_t>(suspect.output);
    const OutputError error = compare_found(graph_, suspect.output, references_[at], found, threads_);
    return !judge(error, bounds_[at], task_.outputs[at].first);
  }

  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  int threads_;
  DrawnInputs inputs_;
  std::vector<TensorView> views_;
  std::vector<Reference> references_;
  std::vector<Bound> bounds_;
};

}  // namespace

std::string Degenerate::describe(const task::Task& task) const {
  const std::string& name = task.outputs[static_cast<size_t>(output)].first;
  switch (kind) {
    case Kind::kZeros: return fmt::format("{}: zeros pass", name);
    case Kind::kOnes: return fmt::format("{}: a constant passes", name);
    case Kind::kMean: return fmt::format("{}: the mean of the answer passes", name);
    case Kind::kSubsampled: return fmt::format("{}: half of the input's elements are enough to pass", name);
    case Kind::kInput: return fmt::format("{}: the input {}, unchanged, passes", name, task.inputs[static_cast<size_t>(input)].name);
  }
  return name;
}

Result<std::vector<Degenerate>> self_test(const task::Task& task, uint64_t seed, int threads) {
  HONE_TRY(const task::ConcreteGraph graph, smallest(task));
  std::vector<Suspect> suspects = suspects_of(graph);
  base::Rng rng(seed);
  Bounds bounds(task, graph, rng.next_u64(), threads);
  const auto look = [&](Family family, Filling filling, Effort how = Effort::kFull) {
    Trial trial(task, graph, family, rng.next_u64(), bounds, threads, how, filling);
    const auto refuse = [&](bool subsampled) {
      std::erase_if(suspects, [&](const Suspect& suspect) {
        return (suspect.kind == Kind::kSubsampled) == subsampled && !trial.passes(suspect);
      });
    };
    refuse(false);
    if (std::ranges::none_of(suspects, [](const Suspect& suspect) { return suspect.kind == Kind::kSubsampled; })) return;
    trial.subsample_inputs();
    refuse(true);
  };
  for (const Effort how : {Effort::kQuick, Effort::kFull})
    for (const Family family : kAllFamilies)
      if (!suspects.empty()) look(family, Filling::kAsDrawn, how);
  // Of what a task does with NaN alone, where(isnan(x), 0.0, x), only these show anything; a draw holds some now and then.
  for (int draw = 0; draw < kNonFiniteDraws && task.nan_policy && !suspects.empty(); ++draw) look(Family::kNonFinite, Filling::kAsDrawn);
  int64_t elements = 0;
  for (const int id : graph.graph.inputs) elements += task::element_count(graph.shapes[static_cast<size_t>(id)]);
  const auto may_vary = [&] {
    return std::ranges::any_of(suspects, [&](const Suspect& s) { return !task::is_float(task.outputs[static_cast<size_t>(s.output)].second.dtype); });
  };
  for (int draw = 0; draw < kMoreDraws; ++draw) {
    for (int line = 0; line < 2 && elements <= kMostFilled; ++line)
      if (may_vary()) look(Family::kNormal, Filling::kOfOneKind);
    for (const Family family : kAllFamilies)
      if (may_vary()) look(family, Filling::kAsDrawn);
  }
  return std::vector<Degenerate>(suspects.begin(), suspects.end());
}

}  // namespace hone::evaluate
