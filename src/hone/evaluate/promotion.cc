#include "hone/evaluate/promotion.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/trace.h"
#include "hone/evaluate/compare/statistics.h"
#include "hone/evaluate/measure/hot.h"
#include "hone/evaluate/measure/long_batch.h"
#include "hone/evaluate/measure/nearly_equal.h"
#include "hone/evaluate/repeat.h"
#include "hone/target/calibrate/speed_of_light.h"

namespace hone::evaluate {
namespace {

using kernel::Kernel;

/// Share of a contest's time that drawing may take on a card, after the first.
constexpr double kDrawingShare = 0.25;
/// Of a batch's calls, how many are judged: with the fewest pairs that a call takes, enough for a promotion.
constexpr int kJudgedAPair = 24;
/// Calls on equal inputs whose answers are compared bit for bit.
constexpr int kEqualCalls = 4;
/// Times that a kernel beyond the speed of light meets nearly equal inputs.
constexpr int kRoundsBeyondLight = 8;
constexpr int kHotSamples = 4;

/// The contest's view of a stage and the processes around it.
class StageArena final : public Arena {
 public:
  StageArena(Playing& play, const Kernel& kernel, const std::vector<Opponent>& opponents, Preparations preparations, Loader& loader,
             const PromotionOptions& options, base::Rng& rng, Promotion& promotion)
      : play_(play), preparations_(std::move(preparations)), loader_(loader), options_(options), rng_(rng), promotion_(promotion) {
    sides_.resize(kFirstOpponent + opponents.size());
    sides_[kCandidate].name = "candidate";
    sides_[kCandidate].kernel = &kernel;
    sides_[kCompanion].name = "stream twin";
    sides_[kCompanion].kernel = &play.twin;
    for (size_t i = 0; i < opponents.size(); ++i) {
      Side& side = sides_[kFirstOpponent + i];
      side.name = opponents[i].name;
      side.kernel = opponents[i].kernel ? &*opponents[i].kernel : nullptr;
    }
    for (Side& side : sides_) side.player.pace = Pace(play.batch);
  }

  /// The contest's clock. On a card it stands still while contents are drawn and judged: that takes seconds there and would leave no time for
  /// pairs, and it has a share of its own (draw_for).
  int64_t now_ns() override { return base::system_clock().now_ns() - (loader_.card() ? drawing_ns_ : 0); }

  Status open() override {
    if (!loader_.card()) return {};
    const Stopwatch watch(promotion_.spent.verify);
    std::vector<int> all(static_cast<size_t>(play_.stage->calls()));
    std::iota(all.begin(), all.end(), 0);
    began_ns_ = base::system_clock().now_ns();
    draw_anew(all);
    return {};
  }

  Result<bool> prepare(int who) override {
    Side& side = at(who);
    if (side.kernel) return true;
    const Stopwatch watch(promotion_.spent.opponents);
    const base::Span span("opponent's compiler");
    auto starter = preparations_[static_cast<size_t>(who - kFirstOpponent)].get();
    if (!starter) return out(side, starter.error().message);
    side.starter = std::move(*starter);
    return true;
  }

  Result<bool> start(int who) override {
    Side& side = at(who);
    HONE_TRY(const bool started, open_session(who));
    if (!started || side.player.pace.known()) return started;
    // On inputs that will be drawn anew before anything counts.
    HONE_TRY(const std::optional<Lap> lap, play(who, pick_fresh_slots(play_, side.player.pace.calls(), rng_)));
    return lap.has_value();
  }

  void stop(int who) override { at(who).player.session.reset(); }

  Status deal() override {
    if (options_.interrupted && options_.interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    int calls = 1;
    for (const Side& side : sides_)
      if (side.player.session) calls = std::max(calls, side.player.pace.calls());
    const Stopwatch watch(promotion_.spent.verify);
    slots_ = pick_fresh_slots(play_, calls, rng_);
    draw_for(slots_);
    return {};
  }

  Result<std::optional<Lap>> time(int who) override {
    // A pace learnt in this round may ask for more calls than were dealt.
    Side& side = at(who);
    if (const int calls = side.player.pace.calls(); static_cast<size_t>(calls) > slots_.size()) {
      slots_ = pick_fresh_slots(play_, calls, rng_);
      draw_for(slots_);
    }
    return play(who, slots_);
  }

  /// The candidate's timed calls, and those of them that were judged.
  [[nodiscard]] const Timed& counted() const { return counted_; }
  [[nodiscard]] Player& candidate() { return sides_[kCandidate].player; }
  [[nodiscard]] double dispatch_ns(size_t opponent) const { return static_cast<double>(sides_[kFirstOpponent + opponent].dispatch_ns); }

 private:
  struct Side {
    std::string name;
    const Kernel* kernel = nullptr;
    Opponent::Starter starter;
    Player player;
    int64_t dispatch_ns = 0;  ///< measured in its first session
  };
  Side& at(int who) { return sides_[static_cast<size_t>(who)]; }

  /// Fresh contents. On a card, where drawing gigabytes and their answers can take a thousand times as long as a kernel's call:
  /// everything once, after the candidate was fixed (open), and then as often as that takes no more than its share of the time.
  void draw_for(std::span<const int> slots) {
    afresh_ = !loader_.card() || static_cast<double>(drawing_ns_) < kDrawingShare * static_cast<double>(base::system_clock().now_ns() - began_ns_);
    if (afresh_) draw_anew(slots);
  }

  void draw_anew(std::span<const int> slots) {
    const Stopwatch watch(drawing_ns_);
    promotion_.seeds.push_back(redraw(*play_.stage, slots));
  }

  Result<bool> open_session(int who) {
    Side& side = at(who);
    const Stopwatch watch(promotion_.spent.verify);
    side.player.session.reset();
    if (side.kernel) {
      HONE_TRY(Loaded loaded, loader_.load(*side.kernel, *play_.stage));
      if (!loaded.session) {
        if (who == kCandidate) promotion_.verdict = loaded.verdict;
        return out(side, loaded.verdict.reason);
      }
      side.player.session = std::move(loaded.session);
    } else {
      auto started = side.starter();
      if (!started) return out(side, started.error().message);
      side.player.session = std::move(*started);
      if (side.dispatch_ns == 0) side.dispatch_ns = side.player.session->dispatch_ns();
    }
    side.player.empty_ns = side.player.session->empty_batch_ns();
    return true;
  }

  bool out(const Side& side, const std::string& why) {
    promotion_.absent.push_back(fmt::format("{}: {}", side.name, why));
    return false;
  }

  Result<std::optional<Lap>> play(int who, std::span<const int> slots) {
    BatchOptions options;
    options.whole = who == kCandidate;
    options.judged = who == kCandidate && afresh_ ? kJudgedAPair : 0;
    options.bound_ns = play_.bound_ns();
    options.renew = [this](std::span<const int> again) { draw_for(again); };
    const Timed timed = time_batch(*play_.stage, at(who).player, slots, options, promotion_.spent);
    if (who == kCandidate) {
      counted_.judged += timed.judged;
      counted_.left += timed.left;
      drawing_ns_ += timed.judging_ns;
    }
    // The twin writes no answers; only its time counts.
    if (timed.verdict.accepted() || (who == kCompanion && timed.ns > 0)) return Lap{timed.ns, timed.mhz};
    if (who == kCandidate) {
      promotion_.verdict = timed.verdict;
    } else {
      (void)out(at(who), "its answer is refused: " + timed.verdict.reason);
    }
    return std::nullopt;
  }

  Playing& play_;
  Preparations preparations_;
  Loader& loader_;
  const PromotionOptions& options_;
  base::Rng& rng_;
  Promotion& promotion_;
  std::vector<Side> sides_;
  std::vector<int> slots_;
  Timed counted_;
  bool afresh_ = true;          ///< the latest inputs are new
  int64_t began_ns_ = 0, drawing_ns_ = 0;
};

double median_or_zero(const std::vector<double>& values) { return values.empty() ? 0 : median(values); }

OpponentResult result_of(const std::string& name, const Standing& standing, double candidate_ns, double dispatch_ns) {
  OpponentResult out;
  out.opponent = name;
  out.comparison = decision_of(standing);
  out.ratio = standing.comparer->deciding();
  out.opponent_ns = median_or_zero(standing.times_ns);
  out.candidate_ns = candidate_ns;
  out.dispatch_ns = dispatch_ns;
  out.pairs = standing.comparer->pairs();
  out.processes = standing.comparer->processes();
  out.stopped = standing.time_was_up ? "time" : std::string(name_of(standing.comparer->stop_reason()));
  if (out.comparison != standing.comparer->decision()) {
    // Counted in cycles the samples say the opposite: what is not called has an interval that reaches there.
    const double cycles = median_or_zero(standing.cycle_ratio);
    out.stopped = "clock";
    out.ratio.low = std::min(out.ratio.low, cycles), out.ratio.high = std::max(out.ratio.high, cycles);
  }
  return out;
}

/// Calls on equal contents, each in a place of its own. True where the stage has no such slots.
bool repeats(Playing& play, Player& player, base::Rng& rng) {
  Stage& stage = *play.stage;
  const std::vector<int> slots = pick_fresh_slots(play, kEqualCalls, rng);
  std::vector<Stage::Draw> draws;
  const uint64_t seed = base::secret_seed();
  for (const int slot : slots) draws.push_back({stage.content_of(slot), Family::kNormal, seed});
  stage.draw(draws);
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) calls.push_back(stage.call(slot));
  if (player.session->run(calls, deadline_for(play.bound_ns(), calls.size())).how != target::BatchOutcome::How::kDone) return true;
  return std::all_of(slots.begin(), slots.end(), [&](int slot) { return slot == slots.front() || stage.same_outputs(slots.front(), slot); });
}

/// Several calls on equal inputs, after the last that was timed.
Verdict repeated(Playing& play, Player& player, base::Rng& rng) {
  constexpr int kTimes = 8;
  Stage& stage = *play.stage;
  if (!is_repeated(stage)) return {};
  const std::vector<int> slots = pick_fresh_slots(play, static_cast<int>(std::size(kTimedFamilies)), rng);
  (void)redraw(stage, slots);
  const std::chrono::nanoseconds deadline = deadline_for(play.bound_ns(), slots.size());
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) calls.push_back(stage.call(slot));
  const auto outcome = player.session->run(calls, deadline);
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  return check_repeated(stage, *player.session, slots, kTimes, deadline);
}

/// Nobody is faster than light: a fraction above 1 has the peak behind it measured anew. What is still
/// above 1 then is said with the number.
Status check_bound(Playing& play, Player& candidate, Loader& loader, const PromotionOptions& options, base::Rng& rng,
                   WorkloadResult& result) {
  if (result.sol_fraction <= 1) return {};
  std::string_view reason = "an algorithm with fewer multiply-adds, or a peak measured too low";
  if (result.bound_by == "compute") {
    options.peaks_again();
    result.compute_ns = play.compute_ns;
    result.bound_ns = std::max(result.memory_ns, result.compute_ns);
    result.bound_by = target::bound_by(result.memory_ns, result.compute_ns);
    result.sol_fraction = result.bound_ns / result.candidate_ns;
  } else {
    reason = "its loop moves the bytes faster than the stream twin's";
    HONE_TRY(const TwinTimes again, time_twins(play, &candidate, loader, rng));
    const double memory_ns = *std::min_element(again.ns.begin(), again.ns.end());
    if (memory_ns > 0 && again.candidate_ns > 0)
      result.sol_fraction = std::min(result.sol_fraction, memory_ns / again.candidate_ns);
    result.memory_ns = result.bound_ns = result.sol_fraction * result.candidate_ns;
  }
  if (result.sol_fraction > 1)
    result.bound_note = fmt::format("at {:.2f} of the speed of light, also after its peaks were measured anew: {}",
                                    result.sol_fraction, reason);
  return {};
}

}  // namespace

Preparations begin_preparing(const std::vector<Opponent>& opponents, const Playing& play, bool at_once) {
  Preparations all;
  for (const Opponent& opponent : opponents) {
    auto& preparation = all.emplace_back();
    if (!opponent.kernel)
      preparation = std::async(at_once ? std::launch::async : std::launch::deferred,
                               [prepare = opponent.prepare, &stage = *play.stage] { return prepare(stage); });
  }
  return all;
}

Result<WorkloadResult> promote_on(Playing& play, const Kernel& kernel, const std::vector<Opponent>& opponents,
                                    Preparations preparations, Loader& loader, const PromotionOptions& options, base::Rng& rng,
                                    Promotion& promotion) {
  StageArena arena(play, kernel, opponents, std::move(preparations), loader, options, rng, promotion);
  ContestOptions rules;
  rules.compare.max_pairs = options.max_pairs;
  rules.seconds = options.seconds;
  HONE_TRY(const ContestResult contested, contest(arena, static_cast<int>(opponents.size()), rules, rng));
  WorkloadResult result;
  result.workload = play.workload->name;
  result.bytes = play.cost.bytes_read + play.cost.bytes_written;
  result.flops = play.cost.flops;
  if (contested.candidate_failed) return result;
  result.sampling_seconds = contested.seconds;
  result.samples_ns = contested.candidate_ns;
  result.samples_mhz = contested.candidate_mhz;
  result.candidate_ns = median_or_zero(contested.candidate_ns);
  result.memory_ns = median_or_zero(contested.companion_ns);
  result.compute_ns = play.compute_ns;
  result.bound_ns = std::max(result.memory_ns, result.compute_ns);
  result.bound_by = target::bound_by(result.memory_ns, result.compute_ns);
  result.sol_fraction = result.bound_by == "memory" ? median_or_zero(contested.companion_ratio)
                                                    : result.bound_ns / result.candidate_ns;
  HONE_TRY_VOID(check_bound(play, arena.candidate(), loader, options, rng, result));
  for (size_t i = 0; i < opponents.size(); ++i)
    if (const Standing& standing = contested.opponents[i]; standing.comparer && !standing.out)
      result.opponents.push_back(result_of(opponents[i].name, standing, result.candidate_ns, arena.dispatch_ns(i)));
  Timed counted = arena.counted();
  Verdict verdict = check_long_batch(play, arena.candidate(), result.candidate_ns, promotion.spent, rng, counted);
  result.timed_calls = counted.judged + counted.left;
  result.judged_calls = counted.judged;
  const int rounds = result.sol_fraction > 1 ? kRoundsBeyondLight : 1;
  for (int round = 0; round < rounds && verdict.accepted(); ++round)
    verdict = check_nearly_equal(play, arena.candidate(), promotion.spent, rng);
  if (!verdict.accepted()) {
    promotion.verdict = std::move(verdict);
    return result;
  }
  promotion.bitwise_deterministic &= repeats(play, arena.candidate(), rng);
  require_repeatable(loader.task(), promotion);
  if (!promotion.verdict.accepted()) return result;
  if (Verdict found = repeated(play, arena.candidate(), rng); !found.accepted()) {
    promotion.verdict = std::move(found);
    return result;
  }
  std::vector<double> hot;
  for (int i = 0; i < kHotSamples && promotion.verdict.accepted(); ++i)
    if (const double ns = hot_sample(play, arena.candidate(), rng, promotion.spent, promotion.verdict); ns > 0 && i > 0) hot.push_back(ns);
  result.hot_ns = median_or_zero(hot);
  return result;
}

}  // namespace hone::evaluate
