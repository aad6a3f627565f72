#include "hone/evaluate/measure/gauge.h"

#include "hone/evaluate/measure/workload.h"
#include "hone/evaluate/verify/near_bound.h"

namespace hone::evaluate {
namespace {

/// Calls with buffers of their own: as many as the shortest kernel worth tuning needs for a batch that lasts.
constexpr int kCalls = 8;
/// And contents beside them that every kernel is checked on.
constexpr int kChecked = static_cast<int>(std::size(kTimedFamilies));

}  // namespace

Result<std::unique_ptr<Gauge>> Gauge::create(const task::Task& task, Loader& loader, int threads) {
  if (task.workloads.size() != 1)
    return fail(ErrorCode::kInput, "a tuning space is of one workload", "choose one with -w NAME");
  StageOptions stage_options;
  stage_options.calls = stage_options.contents = kCalls + kChecked;
  stage_options.threads = threads;
  stage_options.card = loader.card();
  HONE_TRY(auto stage, Stage::create(task, task.workloads.front().bindings, stage_options));
  for (int c = 0; c < kChecked; ++c) stage->draw(c, kTimedFamilies[c], base::secret_seed());
  return std::unique_ptr<Gauge>(new Gauge(loader, std::move(stage)));
}

/// `count` slots of those that are timed, or all that are checked, in random order.
std::vector<int> Gauge::pick(bool checked, int count) {
  std::vector<int> slots = pick_slots(*stage_, stage_->calls(), rng_);
  std::erase_if(slots, [&](int slot) { return (stage_->content_of(slot) < kChecked) != checked; });
  slots.resize(std::min(slots.size(), static_cast<size_t>(count)));
  return slots;
}

/// One call of each content that every kernel is checked on, judged in full. Tells the player's pace.
Verdict Gauge::check(Player& player, Spent& spent) {
  const std::vector<int> slots = pick(true, kChecked);
  std::vector<target::Call> calls;
  const Stopwatch watch(spent.verify);
  stage_->poison(slots);
  for (const int slot : slots) calls.push_back(stage_->call(slot));
  const target::BatchOutcome outcome = player.session->run(calls, deadline_for(0, calls.size()));
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  player.pace.took(static_cast<int>(calls.size()), net_ns(outcome.wall_ns, player.empty_ns));
  for (const int slot : slots)
    if (Verdict verdict = unless_near_bound(stage_->check(slot)); !verdict.accepted()) return verdict;
  return {};
}

Result<Gauged> Gauge::time(const kernel::Kernel& kernel, int timings) {
  Gauged gauged;
  Player player;
  player.pace = Pace(kCalls);
  HONE_TRY(Loaded loaded, loader_.load(kernel, *stage_));
  gauged.verdict = std::move(loaded.verdict);
  if (!loaded.session) return gauged;
  player.session = std::move(loaded.session);
  player.empty_ns = player.session->empty_batch_ns();
  gauged.verdict = check(player, gauged.spent);
  while (gauged.verdict.accepted() && static_cast<int>(gauged.times_ns.size()) < timings) {
    const std::vector<int> slots = pick(false, player.pace.calls());
    BatchOptions batch;
    batch.renew = [&](std::span<const int> again) { (void)redraw(*stage_, again); };
    batch.renew(slots);
    const Timed timed = time_batch(*stage_, player, slots, batch, gauged.spent);
    gauged.verdict = timed.verdict;
    if (timed.verdict.accepted() && !timed.probe) gauged.times_ns.push_back(timed.ns);
  }
  if (!gauged.verdict.accepted()) gauged.times_ns.clear();
  return gauged;
}

}  // namespace hone::evaluate
