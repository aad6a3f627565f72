#include "hone/engine/sweep.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/clock.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/evaluate/compare/statistics.h"
#include "hone/evaluate/parallel.h"
#include "hone/search/tune/tunables.h"
#include "hone/target/cores.h"
#include "hone/target/cpu.h"

namespace hone::engine {
namespace {

namespace tuning = search::tune;
using kernel::Kernel;
using tuning::Invalidity;
using tuning::Measured;
using tuning::Point;

/// Where cores are shared: so many builds a job, then their measurements.
constexpr size_t kTurn = 4;
/// Between two timings of the control configuration.
constexpr size_t kControl = 50;
constexpr double kKeepSeconds = 20;
/// No build is begun that would hardly be done in time.
constexpr double kBuildSeconds = 3;

Invalidity invalidity_of(evaluate::VerdictKind kind) {
  using Kind = evaluate::VerdictKind;
  switch (kind) {
    case Kind::kAccepted: return Invalidity::kNone;
    case Kind::kDoesNotCompile: return Invalidity::kCompile;
    case Kind::kDoesNotApply: return Invalidity::kConstraints;
    case Kind::kWrong:
    case Kind::kNotRepeatable:
    case Kind::kLessAccurate: return Invalidity::kCorrectness;
    case Kind::kDoesNotFinish: return Invalidity::kTimeout;
    default: return Invalidity::kRuntime;
  }
}

/// The cores that measure, each by one CPU, and the CPUs of all others.
struct Floor {
  std::vector<int> measuring, building;
};
Floor floor_of(int threads) {
  Floor floor;
  for (const std::vector<int>& core : target::cores()) {
    if (static_cast<int>(floor.measuring.size()) < threads) floor.measuring.push_back(core.front());
    else floor.building.insert(floor.building.end(), core.begin(), core.end());
  }
  return floor;
}

/// Tunables with their values in ascending order, as tuning caches have them.
Kernel with_ascending_values(Kernel kernel) {
  for (kernel::Tunable& tunable : kernel.header.tunables) std::sort(tunable.values.begin(), tunable.values.end());
  return kernel;
}

class Sweep {
 public:
  Sweep(Kernel kernel, const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, const SweepOptions& options)
      : kernel_(with_ascending_values(std::move(kernel))), task_(task), options_(options),
        threads_(options.threads > 0 ? options.threads : target::cpu_info().threads), loader_(task, std::move(toolchain), threads_),
        start_(base::system_clock().now_ns()) {}

  Result<SweepResult> run(const std::string& name, const std::optional<tuning::TuningCache>& known);

 private:
  [[nodiscard]] double passed() const { return static_cast<double>(base::system_clock().now_ns() - start_) * 1e-9; }
  [[nodiscard]] bool over(double margin = 0) const {
    return (options_.interrupted && options_.interrupted()) || (options_.seconds > 0 && passed() > options_.seconds - margin);
  }
  [[nodiscard]] Kernel at(const Point& point) const {
    Kernel kernel = kernel_;
    kernel.config = tuning::config_at(kernel_.header.tunables, point);
    return kernel;
  }
  Status take(const std::optional<tuning::TuningCache>& known);
  Status round(int number);
  Status measure(const Point& point);
  Status record(const Point& point, Measured measured);
  /// How many timings a configuration has after so many rounds.
  [[nodiscard]] size_t share(int rounds) const { return static_cast<size_t>((options_.timings * rounds + options_.rounds - 1) / options_.rounds); }
  [[nodiscard]] bool been_through(const Point& point, int rounds) const;
  Status beside(const Floor& floor);
  Status in_turn();

  Kernel kernel_;
  const task::Task& task_;
  const SweepOptions& options_;
  int threads_;
  evaluate::Loader loader_;
  int64_t start_;
  std::unique_ptr<evaluate::Gauge> gauge_;
  std::vector<Point> all_;      ///< the space
  std::vector<Point> waiting_;  ///< for this round, in the order in which they are looked at
  int round_ = 1;
  tuning::PointMap<size_t> places_;  ///< of those measured, in the cache
  std::optional<Point> control_;
  size_t measured_ = 0;
  double kept_at_ = 0, best_ms_ = 0;
  SweepResult result_;
};

Status Sweep::take(const std::optional<tuning::TuningCache>& known) {
  HONE_TRY(const tuning::Space space, tuning::tunables_space(kernel_.header, loader_.limits_for(kernel_)));
  if (!space.enumerated()) return fail(ErrorCode::kInput, "the space has too many configurations to go through them all");
  result_.total = space.points().size();
  tuning::TuningCache& cache = result_.cache;
  cache.parameters = space.parameters();
  if (known) {
    const bool same = std::equal(known->parameters.begin(), known->parameters.end(), cache.parameters.begin(), cache.parameters.end(),
                                 [](const auto& a, const auto& b) { return a.name == b.name && a.values == b.values; });
    constexpr std::string_view kAnew = "name another file, or remove this one, to measure anew";
    if (!same) return fail(ErrorCode::kInput, "the cache is of a kernel with other tunables", std::string(kAnew));
    if (known->problem_size != cache.problem_size)
      return fail(ErrorCode::kInput, fmt::format("the cache was measured at {}, this is {}", known->problem_size, cache.problem_size), std::string(kAnew));
    if (known->subject != cache.subject)
      return fail(ErrorCode::kInput, known->subject.empty() ? "the cache does not say which source and task it was measured with"
                                                            : "the cache was measured with another source, plan or task of this kernel", std::string(kAnew));
    if (known->device != cache.device)
      return fail(ErrorCode::kInput, fmt::format("the cache was measured on {}, this is {}", known->device, cache.device), std::string(kAnew));
    cache.points = known->points, cache.keys = known->keys, cache.measured = known->measured;
  }
  for (size_t i = 0; i < cache.points.size(); ++i) places_.emplace(cache.points[i], i);
  for (const Measured& m : cache.measured)
    if (m.cost && (best_ms_ == 0 || *m.cost < best_ms_)) best_ms_ = *m.cost;
  all_.assign(space.points().begin(), space.points().end());
  return {};
}

/// One that does not work has been through all of them.
bool Sweep::been_through(const Point& point, int rounds) const {
  const auto place = places_.find(point);
  if (place == places_.end()) return false;
  const Measured& measured = result_.cache.measured[place->second];
  return !measured.cost || measured.times.size() >= share(rounds);
}

Status Sweep::record(const Point& point, Measured measured) {
  tuning::TuningCache& cache = result_.cache;
  if (measured.cost && (best_ms_ == 0 || *measured.cost < best_ms_)) best_ms_ = *measured.cost;
  const auto [place, fresh] = places_.emplace(point, cache.points.size());
  if (fresh) {
    std::string key;
    for (size_t p = 0; p < point.size(); ++p)
      key += fmt::format("{}{}", p == 0 ? "" : ",", tuning::text_of(cache.parameters[p].values[point[p]]));
    cache.points.push_back(point);
    cache.keys.push_back(std::move(key));
    cache.measured.push_back(std::move(measured));
  } else {
    cache.measured[place->second] = std::move(measured);
  }
  if (options_.progress) options_.progress({round_, cache.points.size(), result_.total, best_ms_});
  if (!options_.keep || passed() - kept_at_ < kKeepSeconds) return {};
  kept_at_ = passed();
  return options_.keep(result_.cache);
}

/// For a configuration that was built: what it lacks of this round's timings.
Status Sweep::measure(const Point& point) {
  const Kernel kernel = at(point);
  const task::Bindings& bindings = task_.workloads.front().bindings;
  Measured measured;
  if (const auto place = places_.find(point); place != places_.end()) measured = result_.cache.measured[place->second];
  const auto applies = kernel::applies(kernel, bindings, loader_.limits_for(kernel));
  if (!applies || !*applies) {
    measured.invalidity = Invalidity::kConstraints;
    return record(point, std::move(measured));
  }
  if (measured.times.empty())
    if (const auto built = loader_.build(kernel, bindings))
      if (const auto* build = std::get_if<target::Build>(&*built)) measured.compile_ms = static_cast<double>(build->wall_ns) * 1e-6;
  HONE_TRY(const evaluate::Gauged gauged, gauge_->time(kernel, static_cast<int>(share(round_) - measured.times.size())));
  measured.invalidity = invalidity_of(gauged.verdict.kind);
  if (gauged.verdict.accepted()) {
    for (const double ns : gauged.times_ns) measured.times.push_back(ns * 1e-6);
    measured.cost = evaluate::median(measured.times);
    if (!control_) control_ = point;
  } else {
    measured.cost.reset(), measured.times.clear();
    if (result_.first_refusal.empty()) result_.first_refusal = fmt::format("{}: {}", evaluate::name_of(gauged.verdict.kind), gauged.verdict.reason);
  }
  HONE_TRY_VOID(record(point, std::move(measured)));
  if (!control_ || ++measured_ % kControl != 1) return {};
  HONE_TRY(const evaluate::Gauged control, gauge_->time(at(*control_), static_cast<int>(share(1))));
  if (control.verdict.accepted()) result_.control_ms.push_back(evaluate::median(control.times_ns) * 1e-6);
  return {};
}

/// Builders on their cores hand over what they have built to the one who measures on others.
Status Sweep::beside(const Floor& floor) {
  result_.beside = true;
  result_.jobs = options_.jobs > 0 ? options_.jobs : static_cast<int>(floor.building.size());
  if (!target::keep_to(floor.measuring)) return fail(ErrorCode::kUnavailable, "cannot keep to some of the machine's CPUs");
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Point> built;
  size_t next = 0;
  int building = result_.jobs;
  bool stop = false;
  const auto build = [&] {
    (void)target::keep_to(floor.building);
    for (;;) {
      Point point;
      {
        const std::scoped_lock lock(mutex);
        if (stop || next == waiting_.size() || over(kBuildSeconds)) break;
        point = waiting_[next++];
      }
      (void)loader_.build(at(point), task_.workloads.front().bindings);
      const std::scoped_lock lock(mutex);
      built.push_back(std::move(point));
      changed.notify_one();
    }
    const std::scoped_lock lock(mutex);
    --building;
    changed.notify_one();
  };
  std::vector<std::jthread> builders;
  for (int i = 0; i < result_.jobs; ++i) builders.emplace_back(build);
  Status status;
  while (status && !over()) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::milliseconds(200), [&] { return !built.empty() || building == 0; });
    if (built.empty()) {
      if (building == 0) break;
      continue;
    }
    const Point point = std::move(built.front());
    built.pop_front();
    lock.unlock();
    status = measure(point);
  }
  {
    const std::scoped_lock lock(mutex);
    stop = true;
  }
  std::vector<int> all = floor.measuring;
  all.insert(all.end(), floor.building.begin(), floor.building.end());
  (void)target::keep_to(all);
  return status;
}

Status Sweep::in_turn() {
  result_.jobs = options_.jobs > 0 ? options_.jobs : target::cpu_info().threads;
  const size_t turn = kTurn * static_cast<size_t>(result_.jobs);
  for (size_t first = 0; first < waiting_.size() && !over(kBuildSeconds); first += turn) {
    const size_t count = std::min(turn, waiting_.size() - first);
    evaluate::parallel_for(static_cast<int64_t>(count), result_.jobs,
                           [&](int64_t i) { (void)loader_.build(at(waiting_[first + static_cast<size_t>(i)]), task_.workloads.front().bindings); });
    for (size_t i = first; i < first + count && !over(); ++i) HONE_TRY_VOID(measure(waiting_[i]));
  }
  return {};
}

Status Sweep::round(int number) {
  round_ = number;
  waiting_.clear();
  for (const Point& point : all_)
    if (!been_through(point, number)) waiting_.push_back(point);
  base::Rng rng(options_.seed, static_cast<uint64_t>(number));
  rng.shuffle(waiting_);
  const Floor floor = floor_of(threads_);
  const bool spare = !floor.building.empty() && static_cast<int>(floor.measuring.size()) == threads_;
  HONE_TRY_VOID(spare ? beside(floor) : in_turn());
  if (std::all_of(all_.begin(), all_.end(), [&](const Point& point) { return been_through(point, number); })) result_.rounds = number;
  return {};
}

Result<SweepResult> Sweep::run(const std::string& name, const std::optional<tuning::TuningCache>& known) {
  if (target::simt_device(kernel_.header.language)) return fail(ErrorCode::kInput, "the emulator of GPUs knows no time", "a kernel for the CPU can be timed here");
  const target::CpuInfo& cpu = target::cpu_info();
  result_.cache.device = fmt::format("{}, {}, {} threads", cpu.model, cpu.isa, threads_);
  result_.cache.kernel = name;
  base::Json sizes = base::Json::object();
  for (const auto& [symbol, value] : task_.workloads.front().bindings) sizes[symbol] = value;
  result_.cache.problem_size = base::canonical_json(sizes);
  Kernel plan = kernel_;
  plan.config.clear();
  plan.parent.clear();
  result_.cache.subject = base::Hasher().add(plan.hash()).add(task_.hash()).finish();
  HONE_TRY_VOID(take(known));
  HONE_TRY(gauge_, evaluate::Gauge::create(task_, loader_, threads_));
  Status status;
  for (int number = 1; number <= options_.rounds && status && !over(); ++number) status = round(number);
  result_.seconds = passed();
  // What was measured is kept whatever became of the rest.
  if (options_.keep && !result_.cache.points.empty()) HONE_TRY_VOID(options_.keep(result_.cache));
  HONE_TRY_VOID(status);
  return std::move(result_);
}

}  // namespace

Result<SweepResult> sweep(const kernel::Kernel& kernel, const std::string& name, const task::Task& task, std::shared_ptr<target::Toolchain> toolchain,
                          const SweepOptions& options, const std::optional<search::tune::TuningCache>& known) {
  return Sweep(kernel, task, std::move(toolchain), options).run(name, known);
}

}  // namespace hone::engine
