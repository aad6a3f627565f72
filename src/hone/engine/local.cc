#include "hone/engine/local.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/trace.h"
#include "hone/engine/recall.h"
#include "hone/engine/workbench.h"
#include "hone/target/cpu.h"

namespace hone::engine {

std::string machine_json() {
  const target::CpuInfo& cpu = target::cpu_info();
  return nlohmann::json{{"model", cpu.model},       {"isa", cpu.isa},           {"threads", cpu.threads},
                        {"l1_bytes", cpu.l1_bytes}, {"l2_bytes", cpu.l2_bytes}, {"l3_bytes", cpu.l3_bytes},
                        {"memory_bytes", cpu.memory_bytes}}
      .dump();
}

namespace {

/// Of a run's time, for diagnoses where they take a profiler's seconds each.
constexpr double kDiagnosisShare = 0.15;

/// Of a time budget, for the rounds of a promotion that has no time of its own.
constexpr double kSamplingShare = 0.3;

evaluate::EvaluatorOptions evaluator_options(const RunOptions& options, const std::function<bool()>& hurried) {
  evaluate::EvaluatorOptions evaluator;
  evaluator.interrupted = hurried;
  evaluator.facts = evaluate::cached_facts();
  if (options.sampling_seconds > 0) evaluator.sampling_seconds = options.sampling_seconds;
  else if (options.budget_seconds > 0) evaluator.sampling_seconds = kSamplingShare * options.budget_seconds;
  return evaluator;
}

/// The kernel given, where there is one, as the first seed, and an opponent where there is a clock.
Status add_start(const RunOptions& options, const Workbench& bench, Services& services) {
  if (options.start_source.empty()) return {};
  HONE_TRY(kernel::Kernel start, kernel::parse_kernel(options.start_source, "start kernel"));
  HONE_TRY_VOID(bench.takes(start));
  start.author = "user";
  // A champion of a larger device may be tuned for what this one does not have.
  start.config = kernel::fitted(start.header, std::move(start.config), bench.limits());
  services.seeds.push_back({start, "start", "the kernel given"});
  if (!bench.target().has_clock()) return {};
  evaluate::Opponent opponent;
  opponent.name = "start";
  opponent.kernel = std::move(start);
  services.opponents.push_back(std::move(opponent));
  return {};
}

/// What a run begins with: the library's kernels, most promising first. Plain loops come behind the first of them where they cost little
/// more (`plain_too`): for small shapes they may be what is fastest. Else only where there is nothing else, or nothing else is accepted.
void add_library(const task::Task& task, const Workbench& bench, bool plain_too, Services& services) {
  const Alternatives library = bench.library(task);
  services.last_resort = bench.plain(task);
  const bool given = !services.seeds.empty();
  services.seeds.insert(services.seeds.end(), library.seeds.begin(), library.seeds.end());
  if (services.last_resort && !given && (plain_too || library.seeds.empty()))
    services.seeds.insert(services.seeds.begin() + (library.seeds.empty() ? 0 : 1), *services.last_resort);
  // Compilers differ by more than most tunables: each pattern's first offer once more with the other one.
  for (const std::string& compiler : library.compilers) {
    std::set<std::string> twins;
    for (const search::Seed& seed : library.seeds)
      if (twins.insert(seed.pattern).second)
        services.seeds.push_back(seed_of({kernel::with_compiler(seed.kernel, compiler), seed.pattern, fmt::format("{}, built by {}", seed.action, compiler)}));
  }
}

}  // namespace

Result<Services> local_services(const task::Task& task, archive::Store& store, const std::shared_ptr<Workbench>& bench, const RunOptions& options,
                                const std::filesystem::path& home, std::function<bool()> hurried) {
  Services services;
  services.clock = &base::system_clock();
  services.store = &store;
  services.target = bench->place().target;
  services.toolchain = bench->place().toolchain;
  services.device = bench->place().device;
  services.machine_json = machine_json();
  services.champions = home / "champions";
  services.limits = bench->limits();
  services.languages = bench->languages();
  // Every card has a kernel, and the next is built.
  services.batch = std::max(bench->batch(), 2 * static_cast<int>(targets_of(options.target).size()));
  services.timed = bench->target().has_clock();
  services.builds_aside = bench->builds_aside();
  const auto evaluator_on = [&task, options, hurried = std::move(hurried)](const std::shared_ptr<Workbench>& place) {
    return [&task, place, options, hurried] { return place->evaluator(task, evaluator_options(options, hurried)); };
  };
  services.evaluator = evaluator_on(bench);
  HONE_TRY(const auto beside, workbenches_beside(*bench, options));
  for (const std::shared_ptr<Workbench>& place : beside) services.beside.push_back({place->place().target, evaluator_on(place)});
  services.place_facts = [bench] { return bench->facts(); };
  services.timing = bench->timing();
  if (bench->builds_aside())
    services.prebuild = [&task, bench](const kernel::Kernel& kernel) {
      const base::Span span("build");
      (void)bench->toolchain()->build(kernel, task, task.workloads.front().bindings, {});
    };
  if (bench->target().has_clock()) {
    services.examine = [&task, bench](evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, bool thorough) {
      return bench->examine(evaluator, kernel, task, {}, thorough);
    };
    if (bench->target().card() && options.budget_seconds > 0)
      services.examine = within_seconds(std::move(services.examine), base::system_clock(), kDiagnosisShare * options.budget_seconds);
    services.peaks = [bench] { return bench->peaks(); };
  }
  if (!bench->target().card() && bench->target().has_clock())
    services.microbenchmark = [bench](const Snippet& snippet) { return time_snippet(*bench->toolchain(), snippet); };
  HONE_TRY(services.opponents, bench->opponents(task, options.opponents));
  if (!options.recall.empty()) {
    HONE_TRY(const archive::KernelRow row, store.kernel(options.recall));
    HONE_TRY(kernel::Kernel known, kernel_from(row));
    const std::string pattern = known.header.pattern;
    services.seeds.push_back({std::move(known), pattern, "recalled from the archive"});
    return services;
  }
  HONE_TRY_VOID(add_start(options, *bench, services));
  const bool tune = options.strategy == search::StrategyKind::kTune;
  if (!services.seeds.empty() && tune && bench->target().has_clock()) {
    services.last_resort = bench->plain(task);
    return services;
  }
  add_library(task, *bench, !tune && !bench->builds_aside() && bench->target().has_clock(), services);
  if (services.seeds.empty())
    return fail(ErrorCode::kUnavailable, fmt::format("the library writes no kernels in {}", kernel::name_of(bench->languages().front())),
                "give a kernel to begin from with --start KERNEL");
  return services;
}

Result<RunResult> optimize(const task::Task& task, const LocalOptions& options) {
  const std::filesystem::path file = options.archive.empty() ? archive::default_archive() : options.archive;
  HONE_TRY(archive::Store store, archive::Store::open(file));
  HONE_TRY(const std::shared_ptr<Workbench> bench, workbench_of(options.run));
  HONE_TRY(Services services, local_services(task, store, bench, options.run, file.parent_path(), {}));
  services.progress = options.progress;
  services.interrupted = options.interrupted;
  return start_run(task, options.run, services);
}

}  // namespace hone::engine
