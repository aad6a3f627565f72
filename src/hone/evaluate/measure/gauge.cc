#include "hone/evaluate/measure/gauge.h"

#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {
namespace {

/// Calls with buffers of their own: as many as the shortest kernel worth tuning needs for a batch that lasts.
constexpr int kCalls = 8;

}  // namespace

Result<std::unique_ptr<Gauge>> Gauge::create(const task::Task& task, Loader& loader, int threads) {
  if (task.workloads.size() != 1)
    return fail(ErrorCode::kInput, "a tuning space is of one workload", "choose one with -w NAME");
  StageOptions stage_options;
  stage_options.calls = kCalls;
  stage_options.contents = static_cast<int>(std::size(kTimedFamilies));
  stage_options.threads = threads;
  stage_options.card = loader.card();
  HONE_TRY(auto stage, Stage::create(task, task.workloads.front().bindings, stage_options));
  for (int c = 0; c < stage->contents(); ++c) stage->draw(c, kTimedFamilies[static_cast<size_t>(c)], base::secret_seed());
  return std::unique_ptr<Gauge>(new Gauge(loader, std::move(stage)));
}

/// One call of each content, judged in full. Tells the player's pace.
Verdict Gauge::check(Player& player, Spent& spent) {
  std::vector<int> slots;
  std::vector<target::Call> calls;
  for (int content = 0; content < stage_->contents(); ++content)
    for (int slot = 0; slot < stage_->calls(); ++slot)
      if (stage_->content_of(slot) == content) {
        slots.push_back(slot);
        break;
      }
  const Stopwatch watch(spent.verify);
  stage_->poison(slots);
  for (const int slot : slots) calls.push_back(stage_->call(slot));
  const target::BatchOutcome outcome = player.session->run(calls, deadline_for(0, calls.size()));
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  player.pace.took(static_cast<int>(calls.size()), net_ns(outcome.wall_ns, player.empty_ns));
  for (const int slot : slots)
    if (Verdict verdict = stage_->check(slot); !verdict.accepted()) return verdict;
  return {};
}

Result<Gauged> Gauge::time(const kernel::Kernel& kernel, int timings) {
  Gauged gauged;
  Player player;
  player.pace = Pace(stage_->calls());
  HONE_TRY(Loaded loaded, loader_.load(kernel, *stage_));
  gauged.verdict = std::move(loaded.verdict);
  if (!loaded.session) return gauged;
  player.session = std::move(loaded.session);
  player.empty_ns = player.session->empty_batch_ns();
  gauged.verdict = check(player, gauged.spent);
  while (gauged.verdict.accepted() && static_cast<int>(gauged.times_ns.size()) < timings) {
    const Timed timed = time_batch(*stage_, player, pick_slots(*stage_, player.pace.calls(), rng_), {}, gauged.spent);
    gauged.verdict = timed.verdict;
    if (timed.verdict.accepted() && !timed.probe) gauged.times_ns.push_back(timed.ns);
  }
  if (!gauged.verdict.accepted()) gauged.times_ns.clear();
  return gauged;
}

}  // namespace hone::evaluate
