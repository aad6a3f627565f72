#include "hone/evaluate/measure/nearly_equal.h"

#include <algorithm>

#include "hone/evaluate/verify/near_bound.h"

namespace hone::evaluate {
namespace {

/// One element of so many is changed in a look at some elements of the answer: enough that many rows of any input have one,
/// few enough that a fingerprint of a few hundred elements has none.
constexpr int64_t kElementsAChange = 1024;
/// Calls whose inputs are nearly those of the first.
constexpr int kNearlyEqualCalls = 3;

}  // namespace

int64_t changes_here_and_there(const Stage& stage) {
  int64_t most = 0;
  for (const int input : stage.graph().graph.inputs) most = std::max(most, task::element_count(stage.graph().shapes[static_cast<size_t>(input)]));
  return 1 + most / kElementsAChange;
}

std::optional<int> add_nearly_equal(Playing& play, std::vector<int>& slots, base::Rng& rng) {
  Stage& stage = *play.stage;
  std::vector<int> free = pick_fresh_slots(play, play.slots, rng);
  std::erase_if(free, [&](int slot) { return std::find(slots.begin(), slots.end(), slot) != slots.end(); });
  if (free.empty() || slots.empty()) return std::nullopt;
  const auto like = static_cast<int64_t>(rng.below(slots.size()));
  stage.draw_near(stage.content_of(free.front()), stage.content_of(slots[static_cast<size_t>(like)]), changes_here_and_there(stage),
                  base::secret_seed());
  slots.insert(slots.begin() + like + 1, free.front());
  return free.front();
}

Verdict said_of_nearly_equal(Verdict verdict) {
  if (!verdict.accepted()) verdict.reason = "after a call on nearly the same inputs: " + verdict.reason;
  return verdict;
}

Verdict check_nearly_equal(Playing& play, Player& player, Spent& spent, base::Rng& rng) {
  Stage& stage = *play.stage;
  std::vector<int> slots = pick_fresh_slots(play, kNearlyEqualCalls + 1, rng);
  if (slots.size() < 2 || stage.contents() != stage.calls()) return {};
  std::vector<target::Call> calls;
  {
    const Stopwatch watch(spent.verify);
    (void)redraw(stage, std::span(slots).first(1));
    for (size_t i = 1; i < slots.size(); ++i)
      stage.draw_near(stage.content_of(slots[i]), stage.content_of(slots[0]), i < kNearlyEqualCalls ? 1 : changes_here_and_there(stage),
                      base::secret_seed());
    stage.poison(slots, true);
    for (const int slot : slots) calls.push_back(stage.call(slot));
  }
  {
    const Stopwatch watch(spent.run);
    const auto outcome = player.session->run(calls, deadline_for(play.bound_ns(), calls.size()));
    if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  }
  const Stopwatch watch(spent.verify);
  if (Verdict verdict = stage.check_quick(slots); !verdict.accepted()) return verdict;
  for (size_t i = 1; i < slots.size(); ++i)
    if (Verdict verdict = said_of_nearly_equal(unless_near_bound(stage.check(slots[i]))); !verdict.accepted()) return verdict;
  return {};
}

}  // namespace hone::evaluate
