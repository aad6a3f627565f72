#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/hash.h"
#include "hone/base/random.h"
#include "hone/evaluate/baseline/stream_twin.h"
#include "hone/evaluate/evaluator.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/cpu.h"
#include "hone/target/device/cpu_session.h"

namespace hone::evaluate {
namespace {

using kernel::Kernel;
using target::Session;

/// A batch shorter than this drowns in the hand-off between processes.
constexpr double kShortestBatchNs = 2.5e6;
constexpr int kMostCalls = 4000;  // the runner's table holds 4096
/// Share of the available memory that inputs and outputs may take: the oracle and the compiler need some.
constexpr double kMostMemory = 0.8;
/// Share of a sample that its threads may have waited for a CPU before the sample is thrown away.
constexpr double kContended = 0.05;
constexpr int kRetries = 2;
constexpr int kHiddenShapesTried = 3;

/// Families of the pool at full size. Denormals cost time on some CPUs and have no place in a timing.
constexpr Family kTimedFamilies[] = {Family::kNormal, Family::kUniform, Family::kShifted};
constexpr Family kHiddenFamilies[] = {Family::kNormal, Family::kSparse, Family::kLarge, Family::kShifted,
                                      Family::kMantissa};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/// Nanoseconds a call. A batch hardly longer than an empty one says no more than that the kernel is quick:
/// then half of it counts as the kernel's, which pulls ratios towards 1 and never away from it.
double net_ns(int64_t wall_ns, int64_t empty_ns, size_t calls) {
  return std::max<double>({static_cast<double>(wall_ns - empty_ns), 0.5 * static_cast<double>(wall_ns), 1}) /
         static_cast<double>(calls);
}

std::string gibibytes(double bytes) { return fmt::format("{:.1f} GiB", bytes / static_cast<double>(int64_t{1} << 30)); }

class Stopwatch {
 public:
  explicit Stopwatch(int64_t& total) : total_(total), start_(base::system_clock().now_ns()) {}
  ~Stopwatch() { total_ += base::system_clock().now_ns() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  int64_t& total_;
  int64_t start_;
};

/// One workload as it is played over and over.
struct Playing {
  const task::Workload* workload = nullptr;
  std::unique_ptr<Stage> stage;
  int batch = 1;                        ///< calls a timed batch
  int slots = 1;                        ///< calls with buffers of their own
  task::Cost cost;
  Kernel twin;                          ///< the fastest configuration here
  double memory_ns = 0;                 ///< the twin's time
  double compute_ns = 0;                ///< least multiply-adds at the CPU's peaks; 0 without any
  [[nodiscard]] double bound_ns() const { return std::max(memory_ns, compute_ns); }
  std::unique_ptr<Session> yardstick;
  int64_t yardstick_empty_ns = 0;
};

struct Hidden {
  task::Bindings bindings;
  std::unique_ptr<Stage> stage;         ///< made when first needed
};

/// A loaded kernel, or the verdict that keeps it from being one.
struct Loaded {
  std::unique_ptr<Session> session;
  Verdict verdict;
};

Verdict verdict_of(const target::BatchOutcome& outcome) {
  Verdict verdict;
  verdict.reason = outcome.why;
  if (outcome.how == target::BatchOutcome::How::kDeadline) {
    verdict.kind = VerdictKind::kDoesNotFinish;
  } else if (outcome.why.find("SIGSEGV") != std::string::npos || outcome.why.find("SIGBUS") != std::string::npos) {
    verdict.kind = VerdictKind::kOutOfBounds;
  } else if (outcome.why.find("SIGSYS") != std::string::npos) {
    verdict.kind = VerdictKind::kCheating;
  } else {
    verdict.kind = VerdictKind::kLaunchFails;
  }
  return verdict;
}

class CpuEvaluator final : public Evaluator {
 public:
  CpuEvaluator(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, EvaluatorOptions options)
      : task_(task), toolchain_(std::move(toolchain)), options_(std::move(options)),
        limits_(target::cpu_limits(target::cpu_info())) {
    if (options_.threads <= 0) options_.threads = target::cpu_info().threads;
    limits_["THREADS"] = options_.threads;
  }

  Status prepare();

  Result<target::BuildOutcome> build(const Kernel& kernel) override {
    return build_for(kernel, task_.workloads.front().bindings);
  }
  Result<Screening> screen(const Kernel& kernel) override;
  Status set_yardstick(const Kernel& kernel) override;
  Result<Promotion> promote(const Kernel& kernel, const std::vector<Opponent>& opponents) override;
  std::vector<double> bounds_ns() const override {
    std::vector<double> all;
    for (const Playing& play : plays_) all.push_back(play.bound_ns());
    return all;
  }

 private:
  Result<target::BuildOutcome> build_for(const Kernel& kernel, const task::Bindings& bindings);
  Result<Loaded> load(const Kernel& kernel, const Stage& stage);
  [[nodiscard]] std::chrono::nanoseconds deadline(double bound_ns, size_t calls) const {
    return std::chrono::nanoseconds(static_cast<int64_t>(5e9 + 300 * bound_ns * static_cast<double>(calls)));
  }
  std::vector<int> pick_slots(const Stage& stage, int count);
  /// One timed batch: nanoseconds a call, or the verdict that ended it.
  struct Timed {
    double ns = 0;
    Verdict verdict;
  };
  Timed time_batch(Session& session, int64_t empty_ns, Playing& play, std::vector<int> slots, bool gate, Spent& spent);
  /// Times of the twin's variants in interleaved rounds, and of a candidate beside them if there is one.
  struct TwinTimes {
    std::vector<Kernel> variants;
    std::vector<std::vector<double>> ns;  ///< [variant][round]
    std::vector<double> candidate_ns;     ///< [round]
  };
  Result<TwinTimes> time_twins(Playing& play, Session* candidate, int64_t candidate_empty_ns);
  Status prepare_twin(Playing& play);
  void prepare_compute_side(const target::CpuPeaks& peaks);
  Status check_bound(Session& candidate, int64_t empty_ns, Playing& play, WorkloadResult& result);
  Result<Verdict> check_hidden(const Kernel& kernel, std::vector<Hidden>& shapes, int most, Spent& spent);
  Result<Verdict> check_pool(Session& session, Playing& play, Spent& spent);
  Result<WorkloadResult> promote_workload(const Kernel& kernel, Playing& play,
                                          const std::vector<Opponent>& opponents, double seconds,
                                          Promotion& promotion);
  [[nodiscard]] bool interrupted() const { return options_.interrupted && options_.interrupted(); }

  const task::Task& task_;
  std::shared_ptr<target::Toolchain> toolchain_;
  EvaluatorOptions options_;
  kernel::Limits limits_;
  std::vector<Playing> plays_;
  std::vector<Hidden> hidden_;
  base::Rng rng_{base::secret_seed()};
  std::mutex builds_mutex_;
  std::map<std::string, target::BuildOutcome> builds_;
};

Result<target::BuildOutcome> CpuEvaluator::build_for(const Kernel& kernel, const task::Bindings& bindings) {
  std::string key = kernel.hash();
  for (const std::string& symbol : kernel.header.specialise) {
    const auto it = bindings.find(symbol);
    if (it != bindings.end()) key += fmt::format("/{}={}", symbol, it->second);
  }
  {
    const std::scoped_lock lock(builds_mutex_);
    if (const auto it = builds_.find(key); it != builds_.end()) return it->second;
  }
  HONE_TRY(target::BuildOutcome outcome, toolchain_->build(kernel, task_, bindings, {}));
  const std::scoped_lock lock(builds_mutex_);
  return builds_.emplace(std::move(key), std::move(outcome)).first->second;
}

Result<Loaded> CpuEvaluator::load(const Kernel& kernel, const Stage& stage) {
  auto outcome = build_for(kernel, stage.bindings());
  if (!outcome) {
    if (outcome.error().code == ErrorCode::kInput)
      return Loaded{nullptr, {VerdictKind::kLaunchFails, outcome.error().message, {}, {}}};
    return tl::unexpected(outcome.error());
  }
  if (const auto* failure = std::get_if<target::BuildFailure>(&*outcome))
    return Loaded{nullptr, {VerdictKind::kDoesNotCompile, failure->reason, failure->log, {}}};
  const auto plan = kernel::bind(kernel, task_, stage.bindings(), limits_);
  if (!plan) return Loaded{nullptr, {VerdictKind::kLaunchFails, plan.error().message, {}, {}}};
  const auto regions = stage.regions();
  target::CpuSessionOptions session;
  session.threads = options_.threads;
  HONE_TRY(auto started, target::start_cpu_session(std::get<target::Build>(*outcome), *plan,
                                                   static_cast<int>(task_.inputs.size() + task_.outputs.size()),
                                                   regions, session));
  if (auto* failure = std::get_if<target::LoadFailure>(&started))
    return Loaded{nullptr, {VerdictKind::kLaunchFails, failure->reason, {}, {}}};
  return Loaded{std::move(std::get<std::unique_ptr<Session>>(started)), {}};
}

std::vector<int> CpuEvaluator::pick_slots(const Stage& stage, int count) {
  std::vector<int> slots(static_cast<size_t>(stage.calls()));
  std::iota(slots.begin(), slots.end(), 0);
  for (size_t i = slots.size(); i > 1; --i) std::swap(slots[i - 1], slots[rng_.below(i)]);
  slots.resize(static_cast<size_t>(std::min(count, stage.calls())));
  return slots;
}

CpuEvaluator::Timed CpuEvaluator::time_batch(Session& session, int64_t empty_ns, Playing& play,
                                             std::vector<int> slots, bool gate, Spent& spent) {
  Stage& stage = *play.stage;
  const int64_t flush = 2 * target::cpu_info().l3_bytes;
  for (int attempt = 0;; ++attempt) {
    {
      const Stopwatch watch(spent.verify);
      stage.poison(slots);
      stage.flush(flush);
    }
    std::vector<target::Call> calls;
    for (const int slot : slots) calls.push_back(stage.call(slot));
    target::BatchOutcome outcome;
    {
      const Stopwatch watch(spent.run);
      outcome = session.run(calls, deadline(play.bound_ns(), calls.size()));
    }
    if (outcome.how != target::BatchOutcome::How::kDone) return {0, verdict_of(outcome)};
    const double ns = net_ns(outcome.wall_ns, empty_ns, slots.size());
    const Stopwatch watch(spent.verify);
    for (const int slot : slots)
      if (Verdict verdict = stage.check_quick(slot); !verdict.accepted()) return {0, std::move(verdict)};
    if (gate)
      if (Verdict verdict = stage.check(slots[rng_.below(slots.size())]); !verdict.accepted())
        return {0, std::move(verdict)};
    const bool contended = static_cast<double>(outcome.contended_ns) > kContended * static_cast<double>(outcome.wall_ns);
    if (!contended || attempt == kRetries) return {ns, {}};
  }
}

Result<CpuEvaluator::TwinTimes> CpuEvaluator::time_twins(Playing& play, Session* candidate, int64_t candidate_empty_ns) {
  const Kernel twin = stream_twin(task_);
  TwinTimes all;
  std::vector<Kernel>& variants = all.variants;
  for (const int64_t block : {16, 64})
    for (const int64_t non_temporal : {1, 0}) {
      Kernel variant = twin;
      variant.config = {{"BLOCK_KIB", block}, {"NON_TEMPORAL", non_temporal}};
      variants.push_back(std::move(variant));
    }
  // Two compilers at a time: nothing is measured yet.
  for (size_t i = 0; i < variants.size(); i += 2) {
    std::thread other([&] { (void)build(variants[i + 1]); });
    (void)build(variants[i]);
    other.join();
  }
  Spent spent;
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<int64_t> empty;
  for (const Kernel& variant : variants) {
    HONE_TRY(Loaded loaded, load(variant, *play.stage));
    if (!loaded.session)
      return fail(ErrorCode::kInternal, "the stream kernel does not run: " + loaded.verdict.reason,
                  loaded.verdict.detail);
    empty.push_back(loaded.session->empty_batch_ns());
    sessions.push_back(std::move(loaded.session));
  }
  // Interleaved, so that a slow moment does not fall on one variant alone.
  constexpr int kRounds = 5;
  all.ns.resize(variants.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t v = 0; v < variants.size(); ++v) {
      const Timed timed = time_batch(*sessions[v], empty[v], play, pick_slots(*play.stage, play.batch), false, spent);
      if (!timed.verdict.accepted() && timed.verdict.kind != VerdictKind::kWrong)
        return fail(ErrorCode::kInternal, "the stream kernel does not run: " + timed.verdict.reason);
      if (timed.ns > 0) all.ns[v].push_back(timed.ns);
    }
    if (!candidate) continue;
    const Timed timed = time_batch(*candidate, candidate_empty_ns, play, pick_slots(*play.stage, play.batch), false, spent);
    if (timed.ns > 0) all.candidate_ns.push_back(timed.ns);
  }
  return all;
}

Status CpuEvaluator::prepare_twin(Playing& play) {
  HONE_TRY(const TwinTimes times, time_twins(play, nullptr, 0));
  for (size_t v = 0; v < times.variants.size(); ++v)
    if (const double ns = median(times.ns[v]); ns > 0 && (play.memory_ns == 0 || ns < play.memory_ns)) {
      play.memory_ns = ns;
      play.twin = times.variants[v];
    }
  return {};
}

void CpuEvaluator::prepare_compute_side(const target::CpuPeaks& peaks) {
  for (Playing& play : plays_) play.compute_ns = target::compute_ns(play.cost, task_.track, peaks);
}

/// Nobody is faster than light: a fraction above 1 has the peak behind it measured anew. What is still
/// above 1 then is said with the number.
Status CpuEvaluator::check_bound(Session& candidate, int64_t empty_ns, Playing& play, WorkloadResult& result) {
  if (result.sol_fraction <= 1) return {};
  std::string_view reason = "an algorithm with fewer multiply-adds, or a peak measured too low";
  if (result.bound_by == "compute") {
    prepare_compute_side(target::measure_cpu_peaks_again(options_.threads));
    result.compute_ns = play.compute_ns;
    result.bound_ns = std::max(result.memory_ns, result.compute_ns);
    result.bound_by = target::bound_by(result.memory_ns, result.compute_ns);
    result.sol_fraction = result.bound_ns / result.candidate_ns;
  } else {
    reason = "its loop moves the bytes faster than the stream twin's";
    HONE_TRY(const TwinTimes again, time_twins(play, &candidate, empty_ns));
    std::vector<double> fastest;
    for (const auto& times : again.ns) fastest.push_back(median(times));
    const double memory_ns = *std::min_element(fastest.begin(), fastest.end());
    const double candidate_ns = median(again.candidate_ns);
    if (memory_ns > 0 && candidate_ns > 0)
      result.sol_fraction = std::min(result.sol_fraction, memory_ns / candidate_ns);
    result.memory_ns = result.bound_ns = result.sol_fraction * result.candidate_ns;
  }
  if (result.sol_fraction > 1)
    result.bound_note = fmt::format("at {:.2f} of the speed of light, also after its peaks were measured anew: {}",
                                    result.sol_fraction, reason);
  return {};
}

Status CpuEvaluator::prepare() {
  const int tensors = static_cast<int>(task_.inputs.size() + task_.outputs.size());
  double wanted = 0;
  for (const task::Workload& workload : task_.workloads) {
    Playing play;
    play.workload = &workload;
    HONE_TRY(const task::ConcreteGraph graph, task::instantiate(task_.primitive, workload.bindings));
    play.cost = task::minimal_cost(graph);
    int64_t bytes = 1;
    for (size_t i = 0; i < task_.inputs.size(); ++i)
      bytes += task::element_count(graph.shapes[static_cast<size_t>(graph.graph.inputs[i])]) * task::size_of(task_.inputs[i].type.dtype);
    for (const int output : graph.graph.outputs)
      bytes += task::element_count(graph.shapes[static_cast<size_t>(output)]) * task::size_of(graph.graph.node(output).type.dtype);
    // At 50 bytes a nanosecond, more than any memory here gives, a batch is still long enough.
    const double guess_ns = static_cast<double>(bytes) / 50;
    const int64_t room = std::max<int64_t>(1, (int64_t{1} << 30) / bytes);
    play.batch = static_cast<int>(std::clamp<double>(kShortestBatchNs / guess_ns, 1, static_cast<double>(std::min<int64_t>(kMostCalls, room))));
    play.slots = std::max(play.batch, static_cast<int>(std::min<int64_t>(std::size(kTimedFamilies), 4 * room)));
    wanted += static_cast<double>(bytes) * play.slots;
    plays_.push_back(std::move(play));
  }
  // Before anything is allocated: a machine that runs out of memory helps nobody.
  if (const int64_t available = target::available_memory();
      available >= 0 && wanted > kMostMemory * static_cast<double>(available))
    return fail(ErrorCode::kExhausted,
                fmt::format("the workloads need {} of memory for inputs and outputs, but only {} are available",
                            gibibytes(wanted), gibibytes(static_cast<double>(available))),
                "use smaller workloads, or fewer");
  for (Playing& play : plays_) {
    StageOptions stage;
    stage.contents = static_cast<int>(std::size(kTimedFamilies));
    stage.calls = play.slots;
    stage.threads = target::cpu_info().threads;
    HONE_TRY(play.stage, Stage::create(task_, play.workload->bindings, stage));
    for (int c = 0; c < play.stage->contents(); ++c)
      play.stage->draw(c, kTimedFamilies[static_cast<size_t>(c)], base::secret_seed());
    HONE_TRY_VOID(prepare_twin(play));
  }
  HONE_CHECK(tensors > 0);
  // Once for the evaluation: a peak that moved between workloads would compare them by two measures.
  if (std::any_of(plays_.begin(), plays_.end(), [](const Playing& play) { return play.cost.products.all() > 0; }))
    prepare_compute_side(target::cpu_peaks(options_.threads));
  for (task::Bindings& bindings : hidden_shapes(task_, base::secret_seed()))
    hidden_.push_back({std::move(bindings), nullptr});
  return {};
}

Result<Verdict> CpuEvaluator::check_hidden(const Kernel& kernel, std::vector<Hidden>& shapes, int most, Spent& spent) {
  Verdict closest;
  int tried = 0;
  for (Hidden& hidden : shapes) {
    if (tried == most) break;
    // A specialised symbol is tested at the values it was baked in for.
    task::Bindings bindings = hidden.bindings;
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = task_.workloads.front().bindings.find(symbol); it != task_.workloads.front().bindings.end())
        bindings[symbol] = it->second;
    const auto fits = kernel::applies(kernel, bindings, limits_);
    if (!fits || !*fits) continue;
    ++tried;
    const Stopwatch watch(spent.verify);
    std::unique_ptr<Stage> special;
    Stage* stage = nullptr;
    if (bindings == hidden.bindings && hidden.stage) {
      stage = hidden.stage.get();
    } else {
      StageOptions options;
      const int tensors = static_cast<int>(task_.inputs.size() + task_.outputs.size());
      options.calls = std::clamp(60 / tensors, 1, static_cast<int>(std::size(kHiddenFamilies)));
      options.contents = options.calls;
      options.edge = true;
      auto made = Stage::create(task_, bindings, options);
      if (!made) {
        if (made.error().code == ErrorCode::kInput) continue;
        return tl::unexpected(made.error());
      }
      for (int c = 0; c < (*made)->contents(); ++c)
        (*made)->draw(c, kHiddenFamilies[static_cast<size_t>(c)], base::secret_seed());
      (bindings == hidden.bindings ? hidden.stage : special) = std::move(*made);
      stage = bindings == hidden.bindings ? hidden.stage.get() : special.get();
    }
    HONE_TRY(Loaded loaded, load(kernel, *stage));
    if (!loaded.session) return loaded.verdict;
    const std::vector<int> slots = pick_slots(*stage, stage->calls());
    stage->poison(slots);
    std::vector<target::Call> calls;
    for (const int slot : slots) calls.push_back(stage->call(slot));
    const auto outcome = loaded.session->run(calls, std::chrono::seconds(10));
    if (outcome.how != target::BatchOutcome::How::kDone) {
      Verdict verdict = verdict_of(outcome);
      verdict.reason += fmt::format(" (hidden shape {})", task::bindings_text(bindings));
      return verdict;
    }
    for (const int slot : slots) {
      Verdict verdict = stage->check(slot);
      if (!verdict.accepted()) return verdict;
      if (!closest.accuracy || (verdict.accuracy && verdict.accuracy->candidate * closest.accuracy->bound >
                                                        closest.accuracy->candidate * verdict.accuracy->bound))
        closest = std::move(verdict);
    }
  }
  return closest;
}

Result<Verdict> CpuEvaluator::check_pool(Session& session, Playing& play, Spent& spent) {
  Stage& stage = *play.stage;
  std::vector<int> slots;
  for (int content = 0; content < stage.contents(); ++content)
    for (int slot = 0; slot < stage.calls(); ++slot)
      if (stage.content_of(slot) == content) {
        slots.push_back(slot);
        break;
      }
  std::vector<target::Call> calls;
  {
    const Stopwatch watch(spent.verify);
    stage.poison(slots);
    for (const int slot : slots) calls.push_back(stage.call(slot));
  }
  target::BatchOutcome outcome;
  {
    const Stopwatch watch(spent.run);
    outcome = session.run(calls, deadline(play.bound_ns(), calls.size()));
  }
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  const Stopwatch watch(spent.verify);
  Verdict closest;
  for (const int slot : slots) {
    Verdict verdict = stage.check(slot);
    if (!verdict.accepted()) return verdict;
    if (!closest.accuracy || (verdict.accuracy && verdict.accuracy->candidate * closest.accuracy->bound >
                                                      closest.accuracy->candidate * verdict.accuracy->bound))
      closest = std::move(verdict);
  }
  return closest;
}

Result<Screening> CpuEvaluator::screen(const Kernel& kernel) {
  Screening screening;
  screening.toolchain = toolchain_->name();
  {
    const Stopwatch watch(screening.spent.build);
    const auto outcome = build(kernel);
    if (!outcome) {
      if (outcome.error().code != ErrorCode::kInput) return tl::unexpected(outcome.error());
      screening.verdict = {VerdictKind::kLaunchFails, outcome.error().message, {}, {}};
      return screening;
    }
    if (const auto* failure = std::get_if<target::BuildFailure>(&*outcome)) {
      screening.verdict = {VerdictKind::kDoesNotCompile, failure->reason, failure->log, {}};
      return screening;
    }
    screening.build_hash = std::get<target::Build>(*outcome).hash;
    screening.toolchain = std::get<target::Build>(*outcome).toolchain;
  }
  for (const Playing& play : plays_) {
    const auto fits = kernel::applies(kernel, play.workload->bindings, limits_);
    if (!fits) {
      screening.verdict = {VerdictKind::kLaunchFails, fits.error().message, {}, {}};
      return screening;
    }
    if (!*fits) {
      screening.verdict = {VerdictKind::kDoesNotApply,
                           fmt::format("its requirements exclude workload {}", play.workload->name), {}, {}};
      return screening;
    }
  }
  HONE_TRY(screening.verdict, check_hidden(kernel, hidden_, kHiddenShapesTried, screening.spent));
  if (!screening.verdict.accepted()) return screening;
  std::vector<double> weights;
  for (Playing& play : plays_) {
    if (interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    std::unique_ptr<Session> session;
    {
      const Stopwatch watch(screening.spent.verify);
      HONE_TRY(Loaded loaded, load(kernel, *play.stage));
      screening.verdict = loaded.session ? screening.verdict : loaded.verdict;
      session = std::move(loaded.session);
    }
    if (!session) return screening;
    HONE_TRY(Verdict verdict, check_pool(*session, play, screening.spent));
    if (!verdict.accepted() || !screening.verdict.accuracy) screening.verdict = std::move(verdict);
    if (!screening.verdict.accepted()) return screening;
    const int64_t empty = session->empty_batch_ns();
    std::vector<double> ratios, times;
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      double mine = 0, other = 0;
      for (const bool candidate : rng_.below(2) ? std::array{true, false} : std::array{false, true}) {
        if (!candidate && !play.yardstick) continue;
        const Timed timed = time_batch(candidate ? *session : *play.yardstick,
                                       candidate ? empty : play.yardstick_empty_ns, play,
                                       pick_slots(*play.stage, play.batch), candidate, screening.spent);
        if (!timed.verdict.accepted()) {
          if (!candidate) return fail(ErrorCode::kInternal, "the yardstick failed: " + timed.verdict.reason);
          screening.verdict = timed.verdict;
          return screening;
        }
        (candidate ? mine : other) = timed.ns;
      }
      times.push_back(mine);
      ratios.push_back(other > 0 ? other / mine : 1);
      // Far behind after one look: the rest would only cost time.
      if (repetition == 0 && ratios.back() < 0.6) break;
    }
    screening.repetitions = static_cast<int>(times.size());
    screening.ratio.push_back(median(ratios));
    screening.median_ns.push_back(median(times));
    weights.push_back(play.workload->weight);
  }
  screening.score = weighted_geometric_mean(screening.ratio, weights);
  return screening;
}

Status CpuEvaluator::set_yardstick(const Kernel& kernel) {
  for (Playing& play : plays_) {
    HONE_TRY(Loaded loaded, load(kernel, *play.stage));
    if (!loaded.session)
      return fail(ErrorCode::kInternal, "the yardstick does not load: " + loaded.verdict.reason);
    play.yardstick = std::move(loaded.session);
    play.yardstick_empty_ns = play.yardstick->empty_batch_ns();
  }
  return {};
}

Result<WorkloadResult> CpuEvaluator::promote_workload(const Kernel& kernel, Playing& play,
                                                      const std::vector<Opponent>& opponents,
                                                      double seconds, Promotion& promotion) {
  WorkloadResult result;
  result.workload = play.workload->name;
  result.bytes = play.cost.bytes_read + play.cost.bytes_written;
  result.flops = play.cost.flops;
  struct Participant {
    std::string name;
    const Kernel* kernel = nullptr;
    const Opponent* opponent = nullptr;
    std::unique_ptr<Session> session;
    int64_t empty_ns = 0;
    std::optional<Comparer> comparer;
    std::vector<double> times;
    bool absent = false;
  };
  CompareOptions compare;
  compare.max_pairs = options_.max_pairs;
  // Five processes of four pairs are the least that a call takes; a comparison that they leave open goes on.
  compare.pairs_per_process = 4;
  compare.seed = 1;
  std::vector<Participant> all(2);
  all[0].name = "candidate";
  all[0].kernel = &kernel;
  all[1].name = "stream twin";
  all[1].kernel = &play.twin;
  for (const Opponent& opponent : opponents) {
    Participant& p = all.emplace_back();
    p.name = opponent.name;
    p.kernel = opponent.kernel ? &*opponent.kernel : nullptr;
    p.opponent = &opponent;
    p.comparer.emplace(compare);
  }
  std::vector<double> sol;
  const int64_t start = base::system_clock().now_ns();
  const auto elapsed = [&] { return static_cast<double>(base::system_clock().now_ns() - start) * 1e-9; };
  const auto decided = [&] {
    return std::all_of(all.begin(), all.end(), [](const Participant& p) { return p.absent || !p.comparer || p.comparer->done(); });
  };
  Stage& stage = *play.stage;
  for (int process = 0; process < 64; ++process) {
    // Enough processes for a call, then until every comparison is settled or time is up.
    if (process >= compare.min_processes && ((!opponents.empty() && decided()) || opponents.empty() || elapsed() > seconds)) break;
    {
      const Stopwatch watch(promotion.spent.verify);
      for (Participant& p : all) {
        if (p.absent || (p.session && p.opponent && !p.opponent->restarts)) continue;
        p.session.reset();
        std::string why;
        if (p.kernel) {
          HONE_TRY(Loaded loaded, load(*p.kernel, stage));
          if (!loaded.session && p.name == "candidate") {
            promotion.verdict = loaded.verdict;
            return result;
          }
          p.session = std::move(loaded.session);
          why = loaded.verdict.reason;
        } else {
          auto started = p.opponent->start(stage);
          if (started) {
            p.session = std::move(*started);
          } else {
            why = started.error().message;
          }
        }
        p.absent = !p.session;
        if (p.absent) {
          promotion.absent.push_back(fmt::format("{}: {}", p.name, why));
          continue;
        }
        p.empty_ns = p.session->empty_batch_ns();
      }
    }
    for (int round = 0; round < compare.pairs_per_process; ++round) {
      if (interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
      // Everybody plays the same slots, on contents that nobody has seen before.
      const std::vector<int> slots = pick_slots(stage, play.batch);
      {
        const Stopwatch watch(promotion.spent.verify);
        std::set<int> contents;
        for (const int slot : slots) contents.insert(stage.content_of(slot));
        for (const int content : contents) {
          const uint64_t seed = base::secret_seed();
          promotion.seeds.push_back(seed);
          stage.draw(content, kTimedFamilies[static_cast<size_t>(content) % std::size(kTimedFamilies)], seed);
        }
      }
      std::vector<Participant*> order;
      for (Participant& p : all)
        if (!p.absent) order.push_back(&p);
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
      std::map<std::string, double> times;
      for (Participant* p : order) {
        const bool candidate = p == &all[0];
        Timed timed = time_batch(*p->session, p->empty_ns, play, slots, candidate, promotion.spent);
        if (!timed.verdict.accepted()) {
          if (candidate) {
            promotion.verdict = timed.verdict;
            return result;
          }
          if (p == &all[1]) continue;  // the twin writes no answers; only its time counts
          p->absent = true;
          promotion.absent.push_back(fmt::format("{}: its answer is refused: {}", p->name, timed.verdict.reason));
          continue;
        }
        times[p->name] = timed.ns;
        p->times.push_back(timed.ns);
      }
      const double mine = times["candidate"];
      if (const auto twin = times.find("stream twin"); twin != times.end()) sol.push_back(twin->second / mine);
      for (Participant& p : all)
        if (const auto it = times.find(p.name); p.comparer && !p.absent && it != times.end())
          p.comparer->add({mine, it->second, process});
    }
  }
  result.candidate_ns = median(all[0].times);
  result.samples_ns = all[0].times;
  result.memory_ns = median(all[1].times);
  result.compute_ns = play.compute_ns;
  result.bound_ns = std::max(result.memory_ns, result.compute_ns);
  result.bound_by = target::bound_by(result.memory_ns, result.compute_ns);
  result.sol_fraction = result.bound_by == "memory" ? median(sol) : result.bound_ns / result.candidate_ns;
  HONE_TRY_VOID(check_bound(*all[0].session, all[0].empty_ns, play, result));
  for (Participant& p : all) {
    if (!p.comparer || p.absent) continue;
    OpponentResult out;
    out.opponent = p.name;
    out.comparison = p.comparer->decision();
    out.ratio = p.comparer->ratio();
    out.opponent_ns = median(p.times);
    out.candidate_ns = result.candidate_ns;
    out.pairs = p.comparer->pairs();
    out.processes = p.comparer->processes();
    result.opponents.push_back(std::move(out));
  }
  // Two calls on equal contents, and one slot over and over for the hot figure.
  const std::vector<int> slots = pick_slots(stage, stage.calls());
  for (size_t i = 1; i < slots.size(); ++i) {
    if (stage.content_of(slots[i]) != stage.content_of(slots[0])) continue;
    const int pair[] = {slots[0], slots[i]};
    stage.poison(pair);
    const target::Call calls[] = {stage.call(pair[0]), stage.call(pair[1])};
    if (all[0].session->run(calls, deadline(play.bound_ns(), 2)).how == target::BatchOutcome::How::kDone)
      promotion.bitwise_deterministic &= stage.same_outputs(pair[0], pair[1]);
    break;
  }
  std::vector<double> hot;
  const std::vector<target::Call> same(static_cast<size_t>(std::min(play.batch + 1, kMostCalls)), stage.call(slots[0]));
  for (int i = 0; i < 4; ++i) {
    const Stopwatch watch(promotion.spent.run);
    const auto outcome = all[0].session->run(same, deadline(play.bound_ns(), same.size()));
    if (outcome.how != target::BatchOutcome::How::kDone) break;
    if (i > 0) hot.push_back(net_ns(outcome.wall_ns, all[0].empty_ns, same.size()));
  }
  result.hot_ns = median(hot);
  return result;
}

Result<Promotion> CpuEvaluator::promote(const Kernel& kernel, const std::vector<Opponent>& opponents) {
  Promotion promotion;
  // Shapes drawn after the candidate was fixed.
  std::vector<Hidden> fresh;
  for (task::Bindings& bindings : hidden_shapes(task_, base::secret_seed())) fresh.push_back({std::move(bindings), nullptr});
  HONE_TRY(promotion.verdict, check_hidden(kernel, fresh, 6, promotion.spent));
  if (!promotion.verdict.accepted()) return promotion;
  for (Playing& play : plays_) {
    HONE_TRY(WorkloadResult result,
             promote_workload(kernel, play, opponents,
                              options_.promotion_seconds / static_cast<double>(plays_.size()), promotion));
    if (!promotion.verdict.accepted()) return promotion;
    promotion.workloads.push_back(std::move(result));
  }
  std::sort(promotion.absent.begin(), promotion.absent.end());
  promotion.absent.erase(std::unique(promotion.absent.begin(), promotion.absent.end()), promotion.absent.end());
  return promotion;
}

}  // namespace

Result<std::unique_ptr<Evaluator>> cpu_evaluator(const task::Task& task,
                                                 std::shared_ptr<target::Toolchain> toolchain,
                                                 const EvaluatorOptions& options) {
  const auto leaks = self_test(task, base::secret_seed());
  if (!leaks.empty())
    return fail(ErrorCode::kInput, "the task would accept a degenerate answer: " + leaks.front(),
                "change the computation or the inputs' domains so that the answer depends on the inputs");
  auto evaluator = std::make_unique<CpuEvaluator>(task, std::move(toolchain), options);
  HONE_TRY_VOID(evaluator->prepare());
  return std::unique_ptr<Evaluator>(std::move(evaluator));
}

}  // namespace hone::evaluate
