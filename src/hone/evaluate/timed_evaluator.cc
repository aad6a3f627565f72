// The evaluator where there is a clock to believe: the CPU under us, or a card.
#include <algorithm>
#include <array>
#include <future>
#include <map>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/compare/statistics.h"
#include "hone/evaluate/card_sanitize.h"
#include "hone/evaluate/check_task.h"
#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/hidden_trial.h"
#include "hone/evaluate/loader.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/measure/judging.h"
#include "hone/evaluate/measure/nearly_equal.h"
#include "hone/evaluate/measure/workload.h"
#include "hone/evaluate/memory_need.h"
#include "hone/evaluate/promotion.h"
#include "hone/evaluate/repeat.h"
#include "hone/evaluate/sanitize.h"
#include "hone/evaluate/settle.h"
#include "hone/kernel/check_names.h"
#include "hone/evaluate/verify/near_bound.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/cpu.h"
#include "hone/target/card_peaks.h"

namespace hone::evaluate {
namespace {

using kernel::Kernel;

constexpr int kHiddenShapesScreened = 3;
constexpr int kHiddenShapesPromoted = 8;
/// Small and odd ones, where a step beyond the end shows soonest.
constexpr int kShapesSanitized = 4;
/// Where a task asks for equal bits, so many rounds of all orders are compared.
constexpr int kRoundsOfOrders = 3;
/// Far behind after one look: the rest would only cost time.
constexpr double kFarBehind = 0.6;
/// Pairs of a close look, for one of a few.
constexpr int kPairsClosely = 3;
/// A bound that kernels keep beating is what it is: the loop of the one moves bytes faster than the other's.
constexpr int kMostBoundsAgain = 3;
/// Pairs of a comparison that only time ends: what is kept of them stays small.
constexpr int kNoCap = 100'000;
/// Screening draws fresh inputs for each repetition, and judges its calls, where either takes no longer (nanoseconds).
constexpr int64_t kMostForFresh = 60'000'000;
/// So long answers of families that are never timed are judged whole at a workload, and then some elements of each (nanoseconds):
/// to find a whole answer to a product of gigabytes takes seconds.
constexpr int64_t kMostForWhole = 5'000'000'000;

/// A workload with the kernel that screening times candidates against.
struct Course {
  Playing play;
  Player yardstick;
  int bounds_again = 0;   ///< times that its bound was measured again
};

int threads_of(const EvaluatorOptions& options) {
  return options.threads > 0 ? options.threads : target::cpu_info().threads;
}

class TimedEvaluator final : public Evaluator {
 public:
  TimedEvaluator(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, EvaluatorOptions options)
      : task_(task), options_(std::move(options)), loader_(task, std::move(toolchain), threads_of(options_)),
        hidden_(loader_) {}
  TimedEvaluator(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, std::shared_ptr<target::Card> card,
                 EvaluatorOptions options)
      : task_(task), options_(std::move(options)), loader_(task, std::move(toolchain), std::move(card)), hidden_(loader_) {}

  Status prepare();

  Result<target::BuildOutcome> build(const Kernel& kernel) override {
    return loader_.build(kernel, task_.workloads.front().bindings);
  }
  Result<Screening> screen(const Kernel& kernel) override { return screen(kernel, options_.repetitions); }
  Result<Screening> screen_closely(const Kernel& kernel) override { return screen(kernel, kPairsClosely * options_.repetitions); }
  Status set_yardstick(const Kernel& kernel) override;
  Result<Promotion> promote(const Kernel& kernel, const std::vector<Opponent>& opponents) override {
    return promote(kernel, opponents, options_.sampling_seconds, options_.max_pairs, false);
  }
  Result<Promotion> promote_for(const Kernel& kernel, const std::vector<Opponent>& opponents, double seconds) override {
    return promote(kernel, opponents, seconds, kNoCap, true);
  }
  Result<std::vector<Conditions>> conditions(const Kernel& kernel, bool thorough) override;
  Result<Explanation> explain(const Kernel& kernel, const Verdict& verdict) override;
  std::vector<double> bounds_ns() const override {
    std::vector<double> all;
    for (const Course& course : courses_) all.push_back(course.play.bound_ns());
    return all;
  }
  std::vector<LightBound> light_bounds() const override {
    std::vector<LightBound> all;
    for (const Course& course : courses_)
      all.push_back({course.play.cost.bytes_read + course.play.cost.bytes_written, course.play.cost.flops, course.play.memory_ns, course.play.compute_ns});
    return all;
  }

 private:
  void set_compute_side(const target::CpuPeaks& peaks);
  Result<bool> check_build(const Kernel& kernel, Screening& screening);
  Result<bool> check_applies(const Kernel& kernel, Screening& screening);
  Verdict check_pool(Player& player, Playing& play, Spent& spent, int64_t whole_until = INT64_MAX);
  Result<Verdict> check_all_families(const Kernel& kernel, Playing& play, Spent& spent);
  Result<Verdict> check_orders(const Kernel& kernel, Playing& play, Promotion& promotion);
  Result<Promotion> promote(const Kernel& kernel, const std::vector<Opponent>& opponents, double seconds, int max_pairs, bool known_counts);
  Result<Promotion> try_in_full(const Kernel& kernel);
  Result<Screening> screen(const Kernel& kernel, int pairs);
  Result<bool> screen_on(const Kernel& kernel, int pairs, Course& course, Screening& screening);
  [[nodiscard]] bool deals_afresh(const Playing& play) const;
  Status bound_again(Course& course);
  Status time_against_yardstick(Player& player, int pairs, Course& course, Screening& screening);
  Result<Sanitized> sanitize(const Kernel& kernel, const std::vector<task::Bindings>& shapes, Spent& spent);
  [[nodiscard]] bool interrupted() const { return options_.interrupted && options_.interrupted(); }

  const task::Task& task_;
  EvaluatorOptions options_;
  Loader loader_;
  HiddenTrial hidden_;
  std::vector<Course> courses_;
  std::map<std::string, Promotion> tried_;   ///< by hash: what passed the full trial here, without its times
  base::Rng rng_{base::secret_seed()};
};

Status TimedEvaluator::prepare() {
  const base::Span span("workloads");
  constexpr int kAtOnce = 5;  // the four variants of the stream twin play together; a candidate
  if (loader_.card()) loader_.card()->expect(kAtOnce);
  HONE_TRY(std::vector<Playing> plays, plan_workloads(task_, loader_.card().get()));
  for (Playing& play : plays) {
    HONE_TRY_VOID(prepare_workload(play, loader_, rng_, options_.facts));
    Course& course = courses_.emplace_back();
    course.play = std::move(play);
  }
  // Once for the evaluation: a peak that moved between workloads would compare them by two measures.
  if (std::any_of(courses_.begin(), courses_.end(), [](const Course& c) { return c.play.cost.products.all() > 0; }))
    set_compute_side(loader_.card() ? target::card_peaks(loader_.card()->info()) : target::cpu_peaks(options_.threads));
  return {};
}

void TimedEvaluator::set_compute_side(const target::CpuPeaks& peaks) {
  for (Course& course : courses_) course.play.compute_ns = target::compute_ns(course.play.cost, task_.track, peaks);
}

/// Both say whether screening goes on.
Result<bool> TimedEvaluator::check_build(const Kernel& kernel, Screening& screening) {
  const Stopwatch watch(screening.spent.build);
  if (const Status named = kernel::check_names(kernel, task_, loader_.limits_for(kernel)); !named) {
    screening.verdict = {VerdictKind::kLaunchFails, named.error().message, named.error().hint, {}};
    return false;
  }
  const auto outcome = build(kernel);
  if (!outcome) {
    if (outcome.error().code != ErrorCode::kInput) return tl::unexpected(outcome.error());
    screening.verdict = {VerdictKind::kLaunchFails, outcome.error().message, {}, {}};
    return false;
  }
  if (const auto* failure = std::get_if<target::BuildFailure>(&*outcome)) {
    screening.verdict = {VerdictKind::kDoesNotCompile, failure->reason, failure->log, {}};
    return false;
  }
  screening.build_hash = std::get<target::Build>(*outcome).hash;
  screening.toolchain = std::get<target::Build>(*outcome).toolchain;
  return true;
}

Result<bool> TimedEvaluator::check_applies(const Kernel& kernel, Screening& screening) {
  for (const Course& course : courses_) {
    const auto fits = kernel::applies(kernel, course.play.workload->bindings, loader_.limits_for(kernel));
    if (!fits) {
      screening.verdict = {VerdictKind::kLaunchFails, fits.error().message, {}, {}};
      return false;
    }
    if (!*fits) {
      screening.verdict = {VerdictKind::kDoesNotApply,
                           fmt::format("its requirements exclude workload {}", course.play.workload->name), {}, {}};
      return false;
    }
  }
  return true;
}

/// One call of each of the pool's contents, judged whole until that time and by some elements after it, and one on nearly the same as
/// one of them. Tells the player's pace.
Verdict TimedEvaluator::check_pool(Player& player, Playing& play, Spent& spent, int64_t whole_until) {
  Stage& stage = *play.stage;
  std::vector<int> slots = pick_slots(stage, stage.calls(), rng_);
  std::erase_if(slots, [&](int slot) { return stage.content_of(slot) >= play.pool; });
  const std::vector<int> pool = slots;
  std::optional<int> near;
  std::vector<target::Call> calls;
  {
    const Stopwatch watch(spent.verify);
    if (play.has_fresh_slots()) near = add_nearly_equal(play, slots, rng_);
    stage.poison(slots);
    for (const int slot : slots) {
      calls.push_back(stage.call(slot));
      // The first as it is timed, for its pace; the others in any order of blocks.
      if (calls.size() == 1) continue;
      calls.back().order = target::kBlockOrders[rng_.below(std::size(target::kBlockOrders))];
      calls.back().order_seed = base::secret_seed();
    }
  }
  target::BatchOutcome outcome;
  {
    const Stopwatch watch(spent.run);
    outcome = player.session->run(calls, deadline_for(play.bound_ns(), calls.size()));
  }
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  player.pace.took(static_cast<int>(calls.size()), net_ns(outcome.wall_ns, player.empty_ns));
  const Stopwatch watch(spent.verify);
  Verdict closest;
  std::vector<NearVerdict> open;
  for (const int slot : pool) {
    Verdict verdict = base::system_clock().now_ns() < whole_until ? stage.check(slot) : stage.check_some({&slot, 1});
    if (is_near_bound(verdict)) {
      open.push_back({stage.content_of(slot), std::move(verdict)});
      continue;
    }
    if (!verdict.accepted()) return verdict;
    if (nearer(verdict, closest)) closest = std::move(verdict);
  }
  if (Verdict verdict = check_repeated(stage, *player.session, pool, 1, deadline_for(play.bound_ns(), pool.size())); !verdict.accepted()) return verdict;
  if (near) {
    Verdict verdict = said_of_nearly_equal(stage.check_quick({&*near, 1}));
    if (verdict.accepted()) verdict = said_of_nearly_equal(unless_near_bound(stage.check_some({&*near, 1})));
    if (!verdict.accepted()) return verdict;
  }
  Verdict verdict = settle(stage, *player.session, open, deadline_for(play.bound_ns(), calls.size()));
  if (!verdict.accepted() || nearer(verdict, closest)) closest = std::move(verdict);
  return closest;
}

/// The families that are never timed, at the workload's own shape: a kernel may go another way there than at any hidden one.
Result<Verdict> TimedEvaluator::check_all_families(const Kernel& kernel, Playing& play, Spent& spent) {
  const base::Span span("all families at a workload");
  Stage& stage = *play.stage;
  Player player;
  player.pace = Pace(play.batch);
  {
    const Stopwatch watch(spent.verify);
    HONE_TRY(Loaded loaded, loader_.load(kernel, stage));
    if (!loaded.session) return loaded.verdict;
    player.session = std::move(loaded.session);
    player.empty_ns = player.session->empty_batch_ns();
  }
  const std::span<const Family> families = untimed_families(task_);
  const auto turn = static_cast<size_t>(play.pool);
  // Nobody knows which ones are judged whole where not all can be.
  const size_t begin = families.empty() ? 0 : rng_.below(families.size());
  const int64_t whole_until = base::system_clock().now_ns() + kMostForWhole;
  Verdict closest;
  for (size_t first = 0; first < families.size() && closest.accepted(); first += turn) {
    if (interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    {
      const Stopwatch watch(spent.verify);
      for (size_t c = 0; c < turn; ++c) {
        const Family family = families[(begin + first + c) % families.size()];
        stage.draw(static_cast<int>(c), family, stage.telling_seed(family));
      }
    }
    Verdict verdict = check_pool(player, play, spent, whole_until);
    if (!verdict.accepted() || nearer(verdict, closest)) closest = std::move(verdict);
  }
  // Nothing is timed on denormals.
  const Stopwatch watch(spent.verify);
  for (int c = 0; c < play.pool; ++c) stage.draw(c, kTimedFamilies[static_cast<size_t>(c) % std::size(kTimedFamilies)], base::secret_seed());
  return closest;
}

/// Fresh inputs for both, where there is room beside the pool's and time: a kernel remembers nothing from call to call then.
bool TimedEvaluator::deals_afresh(const Playing& play) const {
  return play.has_fresh_slots() && std::max(play.drawing_ns, play.judging_ns) < kMostForFresh;
}

/// A workload's first call again and again, its blocks in every order: whoever hangs on one of them, or on two threads running at
/// once, is found out. Says too whether the answers were the same to the bit.
Result<Verdict> TimedEvaluator::check_orders(const Kernel& kernel, Playing& play, Promotion& promotion) {
  const Stopwatch watch(promotion.spent.verify);
  Stage& stage = *play.stage;
  HONE_TRY(const Loaded loaded, loader_.load(kernel, stage));
  if (!loaded.session) return loaded.verdict;
  const int slots[] = {pick_slots(stage, 1, rng_).front()};
  std::optional<size_t> first;
  Verdict closest;
  for (int round = 0; round < (task_.deterministic ? kRoundsOfOrders : 1); ++round)
    for (const target::BlockOrder order : target::kBlockOrders) {
      stage.poison(slots);
      target::Call call = stage.call(slots[0]);
      call.order = order;
      call.order_seed = base::secret_seed();
      const target::BatchOutcome outcome = loaded.session->run({&call, 1}, deadline_for(play.bound_ns(), 1));
      if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
      Verdict verdict = unless_near_bound(stage.check(slots[0]));
      if (!verdict.accepted()) return verdict;
      if (nearer(verdict, closest)) closest = std::move(verdict);
      size_t bits = 0;
      for (const auto output : stage.outputs(slots[0]))
        bits = bits * 31 + std::hash<std::string_view>()({reinterpret_cast<const char*>(output.data()), output.size()});
      promotion.bitwise_deterministic &= first.value_or(bits) == bits;
      first = first.value_or(bits);
    }
  return closest;
}

Status TimedEvaluator::time_against_yardstick(Player& player, int pairs, Course& course, Screening& screening) {
  std::vector<double> ratios, times, others;
  const int judged = (calls_to_judge(kGarbageShare, kFoundInScreening) + pairs - 1) / pairs;
  const auto renew = [&](std::span<const int> slots) {
    course.play.drawing_ns = 0;
    const Stopwatch watch(course.play.drawing_ns);
    (void)redraw(*course.play.stage, slots);
  };
  for (int repetition = 0; repetition < pairs; ++repetition) {
    double mine = 0, other = 0;
    const bool afresh = deals_afresh(course.play);
    std::vector<int> slots;
    for (const bool candidate : rng_.below(2) ? std::array{true, false} : std::array{false, true}) {
      if (!candidate && !course.yardstick.session) continue;
      Player& timed_player = candidate ? player : course.yardstick;
      BatchOptions batch;
      batch.bound_ns = course.play.bound_ns();
      batch.whole = candidate && !afresh;
      batch.judged = candidate && afresh ? judged : 0;
      batch.judging = std::chrono::nanoseconds(kMostForFresh);
      if (afresh) batch.renew = renew;
      Timed timed;
      do {
        const auto calls = static_cast<size_t>(timed_player.pace.calls());
        if (!afresh) {
          slots = pick_known_slots(course.play, static_cast<int>(calls), rng_, batch.known);
        } else if (timed.probe || slots.size() < calls) {
          const Stopwatch watch(screening.spent.verify);
          slots = pick_fresh_slots(course.play, static_cast<int>(calls), rng_);
          renew(slots);
        }
        timed = time_batch(*course.play.stage, timed_player, slots, batch, screening.spent);
      } while (timed.probe && timed.verdict.accepted());
      if (candidate && timed.judged > 0) course.play.judging_ns = timed.judging_ns / timed.judged;
      if (!timed.verdict.accepted()) {
        if (!candidate) return fail(ErrorCode::kInternal, "the yardstick failed: " + timed.verdict.reason);
        screening.verdict = timed.verdict;
        return {};
      }
      (candidate ? mine : other) = timed.ns;
    }
    times.push_back(mine);
    others.push_back(other);
    ratios.push_back(other > 0 ? other / mine : 1);
    if (repetition == 0 && ratios.back() < kFarBehind && pairs <= options_.repetitions) break;
  }
  screening.repetitions = static_cast<int>(times.size());
  screening.ratio.push_back(median(ratios));
  screening.ratio_low.push_back(*std::min_element(ratios.begin(), ratios.end()));
  screening.ratio_high.push_back(*std::max_element(ratios.begin(), ratios.end()));
  screening.least_ns.push_back(*std::min_element(times.begin(), times.end()));
  screening.yardstick_least_ns.push_back(*std::min_element(others.begin(), others.end()));
  screening.median_ns.push_back(median(times));
  return {};
}

/// A kernel was faster than light: others had the machine when that was measured, or it does what the twin does not. Measured again, the less counts.
Status TimedEvaluator::bound_again(Course& course) {
  if (course.bounds_again == kMostBoundsAgain) return {};
  ++course.bounds_again;
  const base::Span span("bound again");
  if (course.play.memory_ns >= course.play.compute_ns) {
    HONE_TRY(const TwinTimes again, time_twins(course.play, nullptr, loader_, rng_));
    take_twins(again, course.play);
  } else if (!loader_.card()) {
    // A card's come from its data sheet.
    set_compute_side(target::measure_cpu_peaks_again(options_.threads));
  }
  return {};
}

Result<bool> TimedEvaluator::screen_on(const Kernel& kernel, int pairs, Course& course, Screening& screening) {
  Player player;
  player.pace = Pace(course.play.batch);
  {
    const Stopwatch watch(screening.spent.verify);
    HONE_TRY(Loaded loaded, loader_.load(kernel, *course.play.stage));
    if (!loaded.session) {
      screening.verdict = loaded.verdict;
      return false;
    }
    player.session = std::move(loaded.session);
    player.empty_ns = player.session->empty_batch_ns();
  }
  Verdict verdict = check_pool(player, course.play, screening.spent);
  if (verdict.accuracy && (!screening.at_size || nearer(verdict, {VerdictKind::kAccepted, {}, {}, screening.at_size}))) screening.at_size = verdict.accuracy;
  if (!verdict.accepted() || !screening.verdict.accuracy) screening.verdict = std::move(verdict);
  if (!screening.verdict.accepted()) return false;
  HONE_TRY_VOID(time_against_yardstick(player, pairs, course, screening));
  if (screening.verdict.accepted() && screening.least_ns.back() < course.play.bound_ns()) HONE_TRY_VOID(bound_again(course));
  return screening.verdict.accepted();
}

Result<Screening> TimedEvaluator::screen(const Kernel& kernel, int pairs) {
  const base::Span span("screening");
  Screening screening;
  screening.toolchain = loader_.toolchain().name();
  HONE_TRY(const bool builds, check_build(kernel, screening));
  if (!builds) return screening;
  HONE_TRY(const bool fits, check_applies(kernel, screening));
  if (!fits) return screening;
  HONE_TRY(screening.verdict, hidden_.check(kernel, kHiddenShapesScreened, false, screening.spent));
  if (!screening.verdict.accepted()) return screening;
  std::vector<double> weights;
  for (Course& course : courses_) {
    if (interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    HONE_TRY(const bool goes_on, screen_on(kernel, pairs, course, screening));
    if (!goes_on) return screening;
    weights.push_back(course.play.workload->weight);
  }
  screening.score = weighted_geometric_mean(screening.ratio, weights);
  return screening;
}

Status TimedEvaluator::set_yardstick(const Kernel& kernel) {
  for (Course& course : courses_) {
    HONE_TRY(Loaded loaded, loader_.load(kernel, *course.play.stage));
    if (!loaded.session)
      return fail(ErrorCode::kInternal, "the yardstick does not load: " + loaded.verdict.reason);
    const int64_t empty = loaded.session->empty_batch_ns();
    course.yardstick = {std::move(loaded.session), empty, Pace(course.play.batch)};
  }
  return {};
}

/// A card has no sanitized builds: the emulator looks at its kernels, and compute-sanitizer at what the card runs. One of
/// them is enough for shapes to count; what did not look is said.
Result<Sanitized> TimedEvaluator::sanitize(const Kernel& kernel, const std::vector<task::Bindings>& shapes, Spent& spent) {
  if (!loader_.card()) return evaluate::sanitize(kernel, shapes, loader_, spent);
  Sanitized emulated;
  if (auto emulator = target::emulator_toolchain(kernel.header.language)) {
    Loader loader(task_, std::move(*emulator), 1);
    HONE_TRY(emulated, evaluate::sanitize(kernel, shapes, loader, spent));
  } else {
    emulated.unavailable = emulator.error().message;
  }
  if (!emulated.verdict.accepted()) return emulated;
  HONE_TRY(Sanitized watched, sanitize_on_card(kernel, shapes, loader_, spent));
  watched.shapes = std::max(watched.shapes, emulated.shapes);
  if (!watched.unavailable.empty() && !emulated.unavailable.empty()) watched.unavailable = emulated.unavailable + "; " + watched.unavailable;
  else if (watched.unavailable.empty() && !emulated.unavailable.empty()) watched.unavailable = "the emulator: " + emulated.unavailable;
  return watched;
}

Result<Explanation> TimedEvaluator::explain(const Kernel& kernel, const Verdict& verdict) {
  Spent spent;
  const std::set<task::Bindings> secret = hidden_.secret();
  // The emulator names lines, threads and races, where a card says at most that something faulted.
  if (loader_.card())
    if (auto emulator = target::emulator_toolchain(kernel.header.language)) {
      Loader loader(task_, std::move(*emulator), 1);
      HONE_TRY(Explanation found, evaluate::explain(kernel, verdict, loader, secret, spent, kExplainTime / 2));
      if (found.reproduced) return found;
    }
  return evaluate::explain(kernel, verdict, loader_, secret, spent, loader_.card() ? kExplainTime / 2 : kExplainTime);
}

/// Everything of a promotion but its times: fresh shapes, sanitizers, all families, orders of blocks.
Result<Promotion> TimedEvaluator::try_in_full(const Kernel& kernel) {
  Promotion promotion;
  // Shapes drawn after the candidate was fixed.
  HiddenTrial fresh(loader_);
  // Known where the kernel was screened; a contest's time is no time to learn them in.
  for (Course& course : courses_) course.play.stage->begin_bounds();
  HONE_TRY(promotion.verdict, fresh.check(kernel, kHiddenShapesPromoted, true, promotion.spent));
  promotion.only_at = fresh.only_at();
  if (!promotion.verdict.accepted()) return promotion;
  HONE_TRY(Sanitized sanitized, sanitize(kernel, fresh.admitted(kernel, kShapesSanitized), promotion.spent));
  promotion.sanitized_shapes = sanitized.shapes;
  promotion.sanitizers_absent = std::move(sanitized.unavailable);
  if (!sanitized.verdict.accepted()) {
    promotion.verdict = std::move(sanitized.verdict);
    return promotion;
  }
  {
    const Stopwatch watch(promotion.spent.verify);
    for (Course& course : courses_) course.play.stage->end_bounds();
  }
  for (Course& course : courses_) {
    HONE_TRY(Verdict verdict, check_all_families(kernel, course.play, promotion.spent));
    if (!verdict.accepted() || nearer(verdict, promotion.verdict)) promotion.verdict = std::move(verdict);
    if (!promotion.verdict.accepted()) return promotion;
    if (loader_.card()) continue;
    HONE_TRY(Verdict ordered, check_orders(kernel, course.play, promotion));
    if (!ordered.accepted()) promotion.verdict = std::move(ordered);
    require_repeatable(task_, promotion);
    if (!promotion.verdict.accepted()) return promotion;
  }
  return promotion;
}

Result<Promotion> TimedEvaluator::promote(const Kernel& kernel, const std::vector<Opponent>& opponents, double seconds, int max_pairs, bool known_counts) {
  const base::Span span("promotion");
  double sampled = 0;
  // Imports and compilations beside our checks: none of it is timed.
  Preparations preparations = begin_preparing(opponents, courses_.front().play, !loader_.card() && !interrupted());
  Promotion promotion;
  if (const auto known = tried_.find(kernel.hash()); known_counts && known != tried_.end()) {
    promotion = known->second;
  } else {
    HONE_TRY(promotion, try_in_full(kernel));
    if (!promotion.verdict.accepted()) return promotion;
    tried_[kernel.hash()] = promotion;
    tried_[kernel.hash()].spent = {};
  }
  for (size_t i = 0; i < courses_.size(); ++i) {
    // What one workload leaves of its share, later ones have. Checks, and importing and compiling opponents,
    // take what they take: charged here, they would leave dear opponents the fewest samples.
    PromotionOptions options;
    options.seconds = (seconds - sampled) / static_cast<double>(courses_.size() - i);
    options.max_pairs = max_pairs;
    options.interrupted = options_.interrupted;
    // A card's come from its data sheet: measuring again would not move them.
    options.peaks_again = [this] {
      if (!loader_.card()) set_compute_side(target::measure_cpu_peaks_again(options_.threads));
    };
    if (i > 0) preparations = begin_preparing(opponents, courses_[i].play, !loader_.card() && !interrupted());
    HONE_TRY(WorkloadResult result,
             promote_on(courses_[i].play, kernel, opponents, std::move(preparations), loader_, options, rng_, promotion));
    if (!promotion.verdict.accepted()) return promotion;
    sampled += result.sampling_seconds;
    promotion.workloads.push_back(std::move(result));
  }
  std::sort(promotion.absent.begin(), promotion.absent.end());
  promotion.absent.erase(std::unique(promotion.absent.begin(), promotion.absent.end()), promotion.absent.end());
  return promotion;
}

Result<std::vector<Conditions>> TimedEvaluator::conditions(const Kernel& kernel, bool thorough) {
  std::optional<Loader> single;
  const bool several = !loader_.card() && threads_of(options_) > 1;
  if (thorough && several) single.emplace(task_, loader_.shared_toolchain(), 1);
  std::vector<Conditions> all;
  for (Course& course : courses_) {
    if (interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    Spent spent;
    HONE_TRY(all.emplace_back(), time_conditions(course.play, kernel, loader_, single ? &*single : nullptr, thorough, rng_, spent));
    all.back().threads = loader_.card() ? 1 : threads_of(options_);
    if (!all.back().verdict.accepted()) break;
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<Evaluator>> cpu_evaluator(const task::Task& task,
                                                 std::shared_ptr<target::Toolchain> toolchain,
                                                 const EvaluatorOptions& options) {
  {
    HONE_TRY(const std::vector<Playing> plays, plan_workloads(task));
    HONE_TRY_VOID(check_memory(task, plays, target::available_memory()));
  }
  HONE_TRY_VOID(check_task(task, options.facts.get()));
  auto evaluator = std::make_unique<TimedEvaluator>(task, std::move(toolchain), options);
  HONE_TRY_VOID(evaluator->prepare());
  return std::unique_ptr<Evaluator>(std::move(evaluator));
}

Result<std::unique_ptr<Evaluator>> card_evaluator(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain,
                                                  std::shared_ptr<target::Card> card, const EvaluatorOptions& options) {
  // The host's work beside the card's.
  std::future<Status> tested = std::async(std::launch::async, [&task, &options] { return check_task(task, options.facts.get()); });
  auto evaluator = std::make_unique<TimedEvaluator>(task, std::move(toolchain), std::move(card), options);
  const Status prepared = evaluator->prepare();
  HONE_TRY_VOID(tested.get());
  HONE_TRY_VOID(prepared);
  return std::unique_ptr<Evaluator>(std::move(evaluator));
}

}  // namespace hone::evaluate
