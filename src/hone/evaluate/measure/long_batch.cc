#include "hone/evaluate/measure/long_batch.h"

#include <algorithm>

#include "hone/evaluate/measure/judging.h"

namespace hone::evaluate {
namespace {

constexpr int kLongBatchCalls = 256;
/// What the calls may take together, and what judging them may (nanoseconds).
constexpr double kLongBatchNs = 1e9;
constexpr std::chrono::milliseconds kLongJudging{3000};
/// A call may take as many times longer than the median before the batch is said not to end.
constexpr double kPatience = 30;

}  // namespace

Verdict check_long_batch(Playing& play, Player& player, double call_ns, Spent& spent, base::Rng& rng, Timed& counted) {
  Stage& stage = *play.stage;
  const auto affordable = static_cast<int>(std::clamp(kLongBatchNs / std::max(call_ns, 1.0), 1.0, static_cast<double>(kLongBatchCalls)));
  const std::vector<int> slots = pick_fresh_slots(play, affordable, rng);
  std::vector<target::Call> calls;
  {
    const Stopwatch watch(spent.verify);
    (void)redraw(stage, slots);
    stage.poison(slots, true);
    for (const int slot : slots) calls.push_back(stage.call(slot));
  }
  {
    const Stopwatch watch(spent.run);
    // deadline_for() gives a call three hundred times its bound.
    const auto outcome = player.session->run(calls, deadline_for(std::max(play.bound_ns(), call_ns * kPatience / 300), calls.size()));
    if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  }
  const Stopwatch watch(spent.verify);
  BatchOptions options;
  options.judged = calls_to_judge(kGarbageShare, kFoundInPromotion);
  options.judging = kLongJudging;
  return judge_calls(stage, slots, options, counted);
}

}  // namespace hone::evaluate
