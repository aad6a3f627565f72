#include "hone/evaluate/measure/hot.h"

#include <algorithm>

#include "hone/target/card.h"

namespace hone::evaluate {
namespace {

/// Hot calls judged of each batch.
constexpr int kHotJudged = 8;
/// Less of a batch's time than this is not told apart from what warming it took.
constexpr double kLeastHotShare = 0.05;

}  // namespace

double hot_sample(Playing& play, Player& player, base::Rng& rng, Spent& spent, Verdict& verdict) {
  Stage& stage = *play.stage;
  int64_t count = std::max(player.pace.calls(), 2);
  // One after another they find a card's cache warm if all of them fit into it.
  if (stage.card()) count = std::clamp<int64_t>(stage.card()->info().l2_bytes / 2 / std::max<int64_t>(stage.call_bytes(), 1), 2, count);
  const std::vector<int> slots = pick_fresh_slots(play, static_cast<int>(count), rng);
  std::vector<target::Call> calls, warming;
  {
    const Stopwatch watch(spent.verify);
    (void)redraw(stage, slots);
    stage.poison(slots, true);
    for (const int slot : slots) {
      calls.push_back(stage.call(slot));
      calls.back().hot = true;
      warming.push_back(calls.back());
      warming.back().idle = true;
    }
  }
  const auto run = [&](const std::vector<target::Call>& batch) {
    const Stopwatch watch(spent.run);
    return player.session->run(batch, deadline_for(play.bound_ns(), batch.size()));
  };
  const target::BatchOutcome outcome = run(calls);
  if (outcome.how != target::BatchOutcome::How::kDone) {
    verdict = verdict_of(outcome);
    return 0;
  }
  {
    const Stopwatch watch(spent.verify);
    BatchOptions options;
    options.judged = kHotJudged;
    Timed timed;
    if (Verdict judged = judge_calls(stage, slots, options, timed); !judged.accepted()) {
      verdict = std::move(judged);
      verdict.reason += " (a call with hot caches)";
      return 0;
    }
  }
  double ns = net_ns(outcome.wall_ns, player.empty_ns);
  // On a CPU whoever warms the caches is timed with the call.
  if (!stage.card()) {
    const target::BatchOutcome warmed = run(warming);
    if (warmed.how != target::BatchOutcome::How::kDone) return 0;
    ns = std::max(ns - net_ns(warmed.wall_ns, player.empty_ns), kLeastHotShare * ns);
  }
  return ns / static_cast<double>(calls.size());
}

}  // namespace hone::evaluate
