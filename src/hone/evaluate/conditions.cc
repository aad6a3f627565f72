#include "hone/evaluate/conditions.h"

#include <algorithm>

#include "hone/evaluate/compare/statistics.h"
#include "hone/evaluate/measure/hot.h"
#include "hone/target/device/counters.h"

namespace hone::evaluate {
namespace {

/// Rounds after the first, which may be no more than a probe.
constexpr int kRounds = 5, kRoundsQuick = 2;
/// On one thread a kernel may take as many times longer as there are threads.
constexpr int kRoundsSingle = 3;

double median_or_none(std::vector<double>& times) { return times.empty() ? 0 : median(times); }

/// A sample with cold caches; 0 for a probe. `verdict` is what the batch said of its outputs.
double cold_sample(Playing& play, Player& player, base::Rng& rng, Spent& spent, Verdict& verdict) {
  BatchOptions batch;
  batch.bound_ns = play.bound_ns();
  const std::vector<int> slots = pick_fresh_slots(play, player.pace.calls(), rng);
  batch.renew = [&](std::span<const int> again) { (void)redraw(*play.stage, again); };
  batch.renew(slots);
  const Timed timed = time_batch(*play.stage, player, slots, batch, spent);
  verdict = timed.verdict;
  return timed.probe ? 0 : timed.ns;
}

/// Whatever the counters saw of one more batch with cold caches.
void count_events(Playing& play, Player& player, base::Rng& rng, Spent& spent, Conditions& all) {
  target::Counters counters(player.session->pid(), target::hardware_events());
  all.counters_absent = counters.absent();
  if (!all.counters_absent.empty()) return;
  counters.start();
  (void)cold_sample(play, player, rng, spent, all.verdict);
  counters.stop();
  for (const target::CounterEvent& event : target::hardware_events())
    if (const auto count = counters.count(event.name)) all.counters[event.name] = *count;
}

Result<Player> player_of(Playing& play, const kernel::Kernel& kernel, Loader& loader, Verdict& verdict) {
  Player player;
  player.pace = Pace(play.batch);
  HONE_TRY(Loaded loaded, loader.load(kernel, *play.stage));
  if (!loaded.session) {
    verdict = loaded.verdict;
    return player;
  }
  player.session = std::move(loaded.session);
  player.empty_ns = player.session->empty_batch_ns();
  return player;
}

}  // namespace

Result<Conditions> time_conditions(Playing& play, const kernel::Kernel& kernel, Loader& loader, Loader* single, bool thorough,
                                   base::Rng& rng, Spent& spent) {
  Conditions all;
  all.workload = play.workload->name;
  all.bindings = play.workload->bindings;
  all.compute_ns = play.compute_ns;
  all.cost = play.cost;
  all.memory_stream_ns = play.memory_stream_ns;
  all.memory_plain_ns = play.memory_plain_ns;
  HONE_TRY(Player candidate, player_of(play, kernel, loader, all.verdict));
  if (!candidate.session) return all;
  Verdict twin_verdict;
  Player twin;
  if (thorough) {
    HONE_TRY(twin, player_of(play, play.twin, loader, twin_verdict));
  }
  if (thorough && !twin.session) return fail(ErrorCode::kInternal, "the stream kernel does not run: " + twin_verdict.reason);
  std::vector<double> cold, hot, memory, alone;
  for (int round = 0; round <= (thorough ? kRounds : kRoundsQuick) && all.verdict.accepted(); ++round) {
    if (const double ns = cold_sample(play, candidate, rng, spent, all.verdict); ns > 0) cold.push_back(ns);
    // The twin writes something else than the answer: what is said of that is of no interest.
    if (const double ns = thorough ? cold_sample(play, twin, rng, spent, twin_verdict) : 0; ns > 0) memory.push_back(ns);
    if (const double ns = all.verdict.accepted() ? hot_sample(play, candidate, rng, spent, all.verdict) : 0; ns > 0 && round > 0) hot.push_back(ns);
  }
  if (all.verdict.accepted()) count_events(play, candidate, rng, spent, all);
  if (single && all.verdict.accepted()) {
    HONE_TRY(Player lone, player_of(play, kernel, *single, all.verdict));
    for (int round = 0; lone.session && round <= kRoundsSingle && all.verdict.accepted(); ++round)
      if (const double ns = cold_sample(play, lone, rng, spent, all.verdict); ns > 0) alone.push_back(ns);
  }
  all.cold_least_ns = cold.empty() ? 0 : *std::min_element(cold.begin(), cold.end());
  all.rounds = static_cast<int>(cold.size());
  all.cold_ns = median_or_none(cold);
  all.hot_ns = median_or_none(hot);
  all.memory_ns = thorough ? median_or_none(memory) : play.memory_ns;
  all.one_thread_ns = median_or_none(alone);
  return all;
}

}  // namespace hone::evaluate
