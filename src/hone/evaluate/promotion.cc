#include "hone/evaluate/promotion.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/trace.h"
#include "hone/evaluate/compare/statistics.h"
#include "hone/target/calibrate/speed_of_light.h"

namespace hone::evaluate {
namespace {

using kernel::Kernel;

/// Share of a contest's time that drawing may take on a card, after the first.
constexpr double kDrawingShare = 0.25;

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

  int64_t now_ns() override { return base::system_clock().now_ns(); }

  Status open() override {
    if (!loader_.card()) return {};
    const Stopwatch watch(promotion_.spent.verify);
    std::vector<int> all(static_cast<size_t>(play_.stage->calls()));
    std::iota(all.begin(), all.end(), 0);
    began_ns_ = now_ns();
    draw_with_answers(all);
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
    HONE_TRY(const std::optional<Lap> lap, play(who, pick_slots(*play_.stage, side.player.pace.calls(), rng_)));
    return lap.has_value();
  }

  void stop(int who) override { at(who).player.session.reset(); }

  Status deal() override {
    if (options_.interrupted && options_.interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    int calls = 1;
    for (const Side& side : sides_)
      if (side.player.session) calls = std::max(calls, side.player.pace.calls());
    const Stopwatch watch(promotion_.spent.verify);
    slots_ = pick_slots(*play_.stage, calls, rng_);
    draw_for(slots_);
    return {};
  }

  Result<std::optional<Lap>> time(int who) override {
    // A pace learnt in this round may ask for more calls than were dealt.
    Side& side = at(who);
    if (const int calls = side.player.pace.calls(); static_cast<size_t>(calls) > slots_.size()) {
      slots_ = pick_slots(*play_.stage, calls, rng_);
      draw_for(slots_);
    }
    return play(who, slots_);
  }

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

  /// Fresh contents. On a card, where drawing gigabytes can take a thousand times as long as a kernel's call: everything
  /// once, after the candidate was fixed (open), and then as often as drawing takes no more than its share of the time;
  /// which content a call gets is chosen at random all the same, and every output is judged.
  void draw_for(std::span<const int> slots) {
    if (!loader_.card()) return redraw(*play_.stage, slots, promotion_.seeds);
    if (static_cast<double>(drawing_ns_) < kDrawingShare * static_cast<double>(now_ns() - began_ns_)) draw_with_answers(slots);
  }

  void draw_with_answers(std::span<const int> slots) {
    const int64_t from = now_ns();
    redraw(*play_.stage, slots, promotion_.seeds);
    play_.stage->answer(slots);
    drawing_ns_ += now_ns() - from;
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
    options.gate = who == kCandidate;
    options.bound_ns = play_.bound_ns();
    const Timed timed = time_batch(*play_.stage, at(who).player, slots, options, promotion_.spent);
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
  int64_t began_ns_ = 0, drawing_ns_ = 0;
};

double median_or_zero(const std::vector<double>& values) { return values.empty() ? 0 : median(values); }

OpponentResult result_of(const std::string& name, const Standing& standing, double candidate_ns, double dispatch_ns) {
  OpponentResult out;
  out.opponent = name;
  out.comparison = decision_of(standing);
  out.ratio = standing.comparer->ratio();
  out.opponent_ns = median_or_zero(standing.times_ns);
  out.candidate_ns = candidate_ns;
  out.dispatch_ns = dispatch_ns;
  out.pairs = standing.comparer->pairs();
  out.processes = standing.comparer->processes();
  out.stopped = standing.time_was_up ? "time" : std::string(name_of(standing.comparer->stop_reason()));
  if (out.comparison != standing.comparer->decision()) out.stopped = "clock";
  return out;
}

/// Two calls on equal contents. True where the stage has no such slots.
bool same_twice(Playing& play, Player& player, base::Rng& rng) {
  Stage& stage = *play.stage;
  const std::vector<int> slots = pick_slots(stage, stage.calls(), rng);
  for (size_t i = 1; i < slots.size(); ++i) {
    if (stage.content_of(slots[i]) != stage.content_of(slots[0])) continue;
    const int pair[] = {slots[0], slots[i]};
    stage.poison(pair);
    const target::Call calls[] = {stage.call(pair[0]), stage.call(pair[1])};
    return player.session->run(calls, deadline_for(play.bound_ns(), 2)).how != target::BatchOutcome::How::kDone ||
           stage.same_outputs(pair[0], pair[1]);
  }
  return true;
}

/// One slot over and over (nanoseconds a call); 0 where it could not be measured.
double hot_ns(Playing& play, Player& player, base::Rng& rng, Spent& spent) {
  const int slot = pick_slots(*play.stage, 1, rng).front();
  target::Call call = play.stage->call(slot);
  call.hot = true;
  const std::vector<target::Call> calls(static_cast<size_t>(player.pace.calls()) + 1, call);
  std::vector<double> times;
  for (int i = 0; i < 4; ++i) {
    const Stopwatch watch(spent.run);
    const auto outcome = player.session->run(calls, deadline_for(play.bound_ns(), calls.size()));
    if (outcome.how != target::BatchOutcome::How::kDone) break;
    if (i > 0) times.push_back(net_ns(outcome.wall_ns, player.empty_ns) / static_cast<double>(calls.size()));
  }
  return median_or_zero(times);
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
  promotion.bitwise_deterministic &= same_twice(play, arena.candidate(), rng);
  result.hot_ns = hot_ns(play, arena.candidate(), rng, promotion.spent);
  return result;
}

}  // namespace hone::evaluate
