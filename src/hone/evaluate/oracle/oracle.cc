#include "hone/evaluate/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/oracle/index_output.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"

namespace hone::evaluate {

using task::DType;

namespace {

/// Doubles that an oracle keeps beside what all of an output needs: a gigabyte.
constexpr int64_t kMostShared = int64_t{1} << 27;

}  // namespace

Arithmetic arithmetic_of(task::Track track) {
  switch (track) {
    case task::Track::kStrict: return Arithmetic::kF32;
    case task::Track::kAsPytorch: return Arithmetic::kAsPytorch;
    case task::Track::kTf32: return Arithmetic::kTf32;
    case task::Track::kBf16: return Arithmetic::kBf16;
    case task::Track::kF16: return Arithmetic::kF16;
  }
  return Arithmetic::kF32;
}

struct Oracle::State {
  const task::ConcreteGraph& graph;
  std::vector<TensorView> inputs;
  task::Track track;
  int threads;
  ReductionHelper* helper;
  std::vector<NodeFacts> facts;
  NarrowRoundings narrow = {};

  /// What every element of an output, or of a part of one, needs in full: computed for the first box that does, and there for the next. So
  /// is an image's convolution under the group norm that follows.
  struct Shared {
    std::once_flag once;
    Tensor tensor;
  };
  std::mutex mutex;
  std::map<std::tuple<int, Arithmetic, bool, task::Shape, task::Shape>, Shared> shared;
  int64_t shared_doubles = 0;

  TiledEvaluator evaluator_for(Arithmetic arithmetic, bool want_scale, int with_threads) {
    return {graph, facts, inputs, arithmetic, want_scale, nullptr, with_threads, helper, narrow};
  }

  /// Has the evaluator keep what all of the output needs, and then what its parts with the first coordinates of `box` do, as many as it has
  /// one of.
  void keep_shared(TiledEvaluator& evaluator, int root, const Box& box, Arithmetic arithmetic, bool want_scale) {
    Box part = whole(graph.shapes[static_cast<size_t>(root)]);
    for (size_t d = 0;; ++d) {
      const auto find = [&](int id, const Box& need) {
        Shared* entry = nullptr;
        {
          const std::lock_guard lock(mutex);
          const auto key = std::tuple(id, arithmetic, want_scale, need.start, need.extent);
          const int64_t doubles = (want_scale ? 2 : 1) * need.count();
          const auto known = shared.find(key);
          if (known != shared.end()) {
            entry = &known->second;
          } else if (d == 0 || shared_doubles + doubles <= kMostShared) {
            shared_doubles += doubles;
            entry = &shared[key];
          }
        }
        if (!entry) return evaluator.compute(id, need);
        std::call_once(entry->once, [&] {
          TiledEvaluator all = evaluator_for(arithmetic, want_scale, threads);
          all.keep(evaluator.kept());
          entry->tensor = all.compute(id, need);
        });
        return entry->tensor;
      };
      evaluator.settle_invariants(root, part, find);
      if (d + 1 >= box.extent.size() || box.extent[d] != 1) return;
      part.start[d] = box.start[d];
      part.extent[d] = 1;
    }
  }
};

int judged_by_value(const task::ConcreteGraph& graph, int output) {
  const int node = index_node(graph, output);
  return node < 0 ? -1 : graph.graph.node(node).operands[0];
}

Oracle::Oracle(const task::ConcreteGraph& graph, std::vector<TensorView> inputs, task::Track track, int threads, ReductionHelper* helper)
    : state_(new State{graph, std::move(inputs), track, threads, helper, facts_of(graph, track), {}, {}, {}, 0}) {
  HONE_CHECK(state_->inputs.size() == graph.graph.inputs.size(), "one view for each input");
  for (size_t i = 0; i < state_->inputs.size(); ++i)
    HONE_CHECK(state_->inputs[i].shape == graph.shapes[static_cast<size_t>(graph.graph.inputs[i])],
               "an input's shape is not the graph's");
}
Oracle Oracle::with(NarrowRoundings narrow) const {
  HONE_CHECK(has_ways(), "a helper knows of one way");
  Oracle other(state_->graph, state_->inputs, state_->track, state_->threads);
  other.state_->narrow = narrow;
  if (narrow.way == NarrowRoundings::Way::kLeftOut) other.state_->facts = facts_of(state_->graph, state_->track, false);
  return other;
}
bool Oracle::has_ways() const { return !state_->helper; }
Oracle::~Oracle() = default;
task::Track Oracle::track() const { return state_->track; }
Oracle::Oracle(Oracle&&) noexcept = default;

Answer Oracle::evaluate(int output, const Box& box, Arithmetic arithmetic, bool want_scale, int threads) const {
  return evaluate_node(state_->graph.graph.outputs[static_cast<size_t>(output)], box, arithmetic,
                       want_scale, threads);
}

Answer Oracle::evaluate_node(int root, const Box& box, Arithmetic arithmetic, bool want_scale, int threads) const {
  State& state = *state_;
  TiledEvaluator evaluator = state.evaluator_for(arithmetic, want_scale, threads);
  state.keep_shared(evaluator, root, box, arithmetic, want_scale);
  const Tensor result = evaluator.compute(root, box);

  const DType type = state.graph.graph.node(root).type.dtype;
  const int64_t count = box.count();
  const Walk walk(result);
  Answer answer;
  answer.value.resize(static_cast<size_t>(count));
  walk.read(result.value, 0, count, answer.value.data());
  if (arithmetic != Arithmetic::kExact && type != DType::kF64)
    for (double& v : answer.value) v = round_near_end(type, v);
  if (!want_scale) return answer;

  answer.scale.assign(static_cast<size_t>(count), 0.0);
  if (result.scale) walk.read(result.scale, 0, count, answer.scale.data());
  if (!task::is_float(type)) {
    for (double& s : answer.scale) s *= kUnit;
    return answer;
  }
  const double factor = kUnit / task::unit_roundoff(type), least = task::smallest_normal(type);
  for (size_t i = 0; i < answer.scale.size(); ++i) {
    if (!std::isfinite(answer.value[i])) continue;  // how sure it is, as certainty.h says
    answer.scale[i] = std::max({answer.scale[i] * factor, least, std::abs(answer.value[i])});
  }
  return answer;
}

}  // namespace hone::evaluate
