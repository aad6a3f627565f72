#include "hone/evaluate/measure/batch.h"

#include <algorithm>

#include "hone/base/clock.h"
#include "hone/base/trace.h"
#include "hone/evaluate/measure/judging.h"
#include "hone/evaluate/verify/near_bound.h"
#include "hone/target/card.h"

namespace hone::evaluate {
namespace {

/// Share of a sample that its threads may have waited for a CPU before the sample is thrown away.
constexpr double kContended = 0.05;
constexpr int kRetries = 2;
/// Share of the highest frequency its kernel had so far, below which a card was held back and its sample is thrown away.
constexpr double kThrottled = 0.9;
/// Calls judged before the clock is looked at again: enough for all threads and for errors to be counted together.
constexpr int64_t kJudgedTogether = 16;

}  // namespace

Stopwatch::Stopwatch(int64_t& total) : total_(total), start_(base::system_clock().now_ns()) {}
Stopwatch::~Stopwatch() { total_ += base::system_clock().now_ns() - start_; }

double net_ns(int64_t wall_ns, int64_t empty_ns) {
  return std::max<double>({static_cast<double>(wall_ns - empty_ns), 0.5 * static_cast<double>(wall_ns), 1});
}

Verdict verdict_of(const target::BatchOutcome& outcome) {
  Verdict verdict;
  verdict.reason = outcome.why;
  if (outcome.how == target::BatchOutcome::How::kDeadline) {
    verdict.kind = VerdictKind::kDoesNotFinish;
  } else if (!outcome.finding.empty()) {
    verdict.kind = outcome.outside ? VerdictKind::kOutOfBounds : VerdictKind::kLaunchFails;
  } else if (outcome.why.find("SIGSEGV") != std::string::npos || outcome.why.find("SIGBUS") != std::string::npos) {
    verdict.kind = VerdictKind::kOutOfBounds;
  } else if (outcome.why.find("SIGSYS") != std::string::npos) {
    verdict.kind = VerdictKind::kCheating;
  } else {
    verdict.kind = VerdictKind::kLaunchFails;
  }
  return verdict;
}

std::chrono::nanoseconds deadline_for(double bound_ns, size_t calls) {
  return std::chrono::nanoseconds(static_cast<int64_t>(5e9 + 300 * bound_ns * static_cast<double>(calls)));
}

Verdict judge_calls(Stage& stage, std::span<const int> slots, const BatchOptions& options, Timed& timed) {
  if (Verdict verdict = stage.check_quick(slots); !verdict.accepted()) return verdict;
  const Stopwatch watch(timed.judging_ns);
  timed.left += static_cast<int>(slots.size());
  const auto took = [&](size_t calls) { timed.judged += static_cast<int>(calls), timed.left -= static_cast<int>(calls); };
  std::vector<int> chosen = choose_judged(slots, options.judged);
  if (options.whole) {
    std::vector<int> among = chosen.empty() ? std::vector<int>(slots.begin(), slots.end()) : chosen;
    if (std::erase_if(among, [&](int slot) { return std::find(options.known.begin(), options.known.end(), slot) == options.known.end(); }); among.empty())
      among = chosen.empty() ? std::vector<int>(slots.begin(), slots.end()) : chosen;
    const int slot = choose_judged(among, 1).front();
    std::erase(chosen, slot);
    took(1);
    if (Verdict verdict = unless_near_bound(stage.check(slot)); !verdict.accepted()) return verdict;
  }
  const auto now = [] { return base::system_clock().now_ns(); };
  const int64_t start = now(), end = start + options.judging.count();
  for (size_t from = 0; from < chosen.size() && (from == 0 || now() < end);) {
    // The first says what one costs.
    const int64_t one = from == 0 ? 0 : std::max<int64_t>(1, (now() - start) / static_cast<int64_t>(from));
    const size_t affordable = from == 0 ? 1 : static_cast<size_t>(std::clamp<int64_t>((end - now()) / one, 1, kJudgedTogether));
    const size_t part = std::min(affordable, chosen.size() - from);
    took(part);
    if (Verdict verdict = unless_near_bound(stage.check_some(std::span(chosen).subspan(from, part))); !verdict.accepted()) return verdict;
    from += part;
  }
  return {};
}

Timed time_batch(Stage& stage, Player& player, std::span<const int> slots, const BatchOptions& options,
                 Spent& spent) {
  const base::Span span("timed batch");
  const bool probing = !player.pace.known();
  const auto count = static_cast<size_t>(player.pace.calls());
  HONE_CHECK(slots.size() >= count);
  slots = slots.first(count);
  Timed timed;
  timed.calls = static_cast<int>(count);
  for (int attempt = 0;; ++attempt) {
    {
      const Stopwatch watch(spent.verify);
      if (attempt > 0 && options.renew) options.renew(slots);
      stage.poison(slots, options.judged > 0);
      stage.evict(slots);
    }
    std::vector<target::Call> calls;
    for (const int slot : slots) calls.push_back(stage.call(slot)), calls.back().cold = true;
    target::BatchOutcome outcome;
    target::Card* const card = stage.card();
    const auto before = card ? card->read_clocks() : std::vector<target::ClockReading>();
    {
      const Stopwatch watch(spent.run);
      const base::Span running("run");
      outcome = player.session->run(calls, deadline_for(options.bound_ns, count));
    }
    if (card && outcome.how == target::BatchOutcome::How::kDone) timed.mhz = target::clock_mhz(before, card->read_clocks());
    player.most_mhz = std::max(player.most_mhz, timed.mhz);
    if (outcome.how != target::BatchOutcome::How::kDone) {
      timed.verdict = verdict_of(outcome);
      return timed;
    }
    const double net = net_ns(outcome.wall_ns, player.empty_ns);
    player.pace.took(timed.calls, net);
    timed.ns = net / timed.calls;
    timed.probe = probing && net < static_cast<double>(kShortestBatchNs) && player.pace.calls() > timed.calls;
    const Stopwatch watch(spent.verify);
    if (timed.verdict = judge_calls(stage, slots, options, timed); !timed.verdict.accepted()) return timed;
    const bool contended = static_cast<double>(outcome.contended_ns) > kContended * static_cast<double>(outcome.wall_ns);
    const bool throttled = timed.mhz > 0 && timed.mhz < kThrottled * player.most_mhz;
    if ((!contended && !throttled) || attempt == kRetries) return timed;
  }
}

}  // namespace hone::evaluate
