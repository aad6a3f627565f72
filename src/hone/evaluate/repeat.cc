#include "hone/evaluate/repeat.h"

#include <algorithm>
#include <numeric>

#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/oracle/step.h"

namespace hone::evaluate {

bool is_repeated(const Stage& stage) {
  if (stage.task().deterministic) return true;
  // An integer that hangs on rounding, or is nobody's to say, is not compared with anything.
  const task::Graph& graph = stage.graph().graph;
  const auto facts = facts_of(stage.graph());
  return std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](int node) {
    return task::is_int(graph.node(node).type.dtype) && facts[static_cast<size_t>(node)].has_scale();
  });
}

Verdict check_repeated(Stage& stage, target::Session& session, std::span<const int> slots, int times, std::chrono::nanoseconds deadline) {
  if (!is_repeated(stage)) return {};
  std::vector<Stage::Kept> first;
  for (const int slot : slots) first.push_back(stage.keep(slot));
  for (int time = 0; time < times; ++time) {
    stage.poison(slots);
    std::vector<target::Call> calls;
    for (const int slot : slots) calls.push_back(stage.call(slot));
    const auto outcome = session.run(calls, deadline);
    if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
    for (size_t i = 0; i < slots.size(); ++i)
      if (Verdict verdict = stage.check_against(slots[i], first[i]); !verdict.accepted()) return verdict;
  }
  return {};
}

bool is_right_in_usual_order(Stage& stage, target::Session& session, int slot, std::chrono::nanoseconds deadline) {
  stage.poison({&slot, 1});
  const target::Call usual = stage.call(slot);
  return session.run({&usual, 1}, deadline).how == target::BatchOutcome::How::kDone && stage.check(slot).accepted();
}

Verdict check_moved(Stage& stage, target::Session& session, std::chrono::nanoseconds deadline) {
  if (!stage.task().deterministic || stage.calls() < 2) return {};
  // Sums of values of all magnitudes hang on their order the most.
  std::vector<Stage::Draw> draws;
  const uint64_t seed = base::secret_seed();
  for (int content = 0; content < stage.contents(); ++content) draws.push_back({content, Family::kLarge, seed});
  stage.draw(draws);
  std::vector<int> slots(static_cast<size_t>(stage.calls()));
  std::iota(slots.begin(), slots.end(), 0);
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) calls.push_back(stage.call(slot));
  const auto outcome = session.run(calls, deadline);
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  const Stage::Kept first = stage.keep(slots.front());
  for (const int slot : slots)
    if (Verdict verdict = stage.check_against(slot, first); !verdict.accepted()) return verdict;
  return {};
}

void require_repeatable(const task::Task& task, Promotion& promotion) {
  if (!task.deterministic || promotion.bitwise_deterministic || !promotion.verdict.accepted()) return;
  promotion.verdict.kind = VerdictKind::kNotRepeatable;
  promotion.verdict.reason = "calls on equal inputs differ bitwise, and the task says deterministic = true";
}

}  // namespace hone::evaluate
