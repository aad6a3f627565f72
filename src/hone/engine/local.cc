#include "hone/engine/local.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/trace.h"
#include "hone/engine/briefing.h"
#include "hone/engine/champion.h"
#include "hone/engine/examine.h"
#include "hone/engine/recall.h"
#include "hone/evaluate/baseline/library_opponents.h"
#include "hone/evaluate/baseline/pytorch_opponents.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/target/calibrate/peaks.h"
#include "hone/target/card.h"
#include "hone/target/cpu.h"
#include "hone/target/simt_device.h"

namespace hone::engine {
namespace {

evaluate::Opponent opponent_of(const std::string& name, kernel::Kernel kernel) {
  evaluate::Opponent opponent;
  opponent.name = name;
  opponent.kernel = std::move(kernel);
  return opponent;
}

/// What a list may name, in the order of "all".
using Known = std::vector<std::pair<std::string, std::function<evaluate::Opponent()>>>;

/// "all", "none" or a list; each once, as it is first named.
Result<std::vector<evaluate::Opponent>> opponents_named(const std::string& names, const Known& known) {
  std::vector<std::string> all;
  for (const auto& [name, make] : known) all.push_back(name);
  if (names == "none") return std::vector<evaluate::Opponent>{};
  std::stringstream list(names == "all" ? fmt::format("{}", fmt::join(all, ",")) : names.empty() ? "," : names);
  std::vector<evaluate::Opponent> found;
  std::set<std::string> seen;
  for (std::string name; std::getline(list, name, ',');) {
    if (!seen.insert(name).second) continue;
    const auto it = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == name; });
    if (it == known.end())
      return fail(ErrorCode::kUsage, fmt::format("unknown opponent \"{}\"", name), fmt::format("a list of {}; or all, or none", fmt::join(all, ", ")));
    found.push_back(it->second());
  }
  return found;
}

}  // namespace

Result<std::vector<evaluate::Opponent>> cpu_opponents(const task::Task& task, const std::string& names, int threads) {
  const auto pytorch = evaluate::pytorch_opponents(task, threads);
  const auto libraries = evaluate::library_opponents(task, threads);
  return opponents_named(names, {{"naive", [&] { return opponent_of("naive", pattern::naive_cpp(task)); }},
                                 {"pytorch", [&] { return pytorch.at(0); }},
                                 {"compile", [&] { return pytorch.at(1); }},
                                 {"openblas", [&] { return libraries.at(0); }},
                                 {"onednn", [&] { return libraries.at(1); }}});
}

Result<std::vector<evaluate::Opponent>> card_opponents(const task::Task& task, const std::string& names, const target::CardInfo& card) {
  const auto pytorch = evaluate::pytorch_opponents(task, card);
  return opponents_named(names, {{"naive", [&] { return opponent_of("naive", pattern::plain_gpu(task, kernel::Language::kCuda)); }},
                                 {"pytorch", [&] { return pytorch.at(0); }},
                                 {"compile", [&] { return pytorch.at(1); }}});
}

std::string machine_json() {
  const target::CpuInfo& cpu = target::cpu_info();
  return nlohmann::json{{"model", cpu.model},       {"isa", cpu.isa},           {"threads", cpu.threads},
                        {"l1_bytes", cpu.l1_bytes}, {"l2_bytes", cpu.l2_bytes}, {"l3_bytes", cpu.l3_bytes},
                        {"memory_bytes", cpu.memory_bytes}}
      .dump();
}

namespace {

/// Of a run's time, for diagnoses on a card.
constexpr double kDiagnosisShare = 0.15;

/// What a run on a GPU begins with: the patterns' kernels, most promising first. Plain loops, which take no advantage
/// of a GPU, only where there are none.
void add_gpu_seeds(const task::Task& task, kernel::Language language, Services& services) {
  for (search::Seed& seed : card_alternatives(task, language).seeds) services.seeds.push_back(std::move(seed));
  if (services.seeds.empty()) services.seeds.push_back({pattern::plain_gpu(task, language), "plain", "plain loops"});
}

/// What a run on any target has: clock, archive, the place it is on, the folder for champions.
Services services_on(const Place& place, archive::Store& store, const std::filesystem::path& home) {
  Services services;
  services.clock = &base::system_clock();
  services.store = &store;
  services.target = place.target;
  services.toolchain = place.toolchain;
  services.device = place.device;
  services.machine_json = machine_json();
  services.champions = home / "champions";
  return services;
}

/// Of a time budget, for the rounds of a promotion that has no time of its own.
constexpr double kSamplingShare = 0.3;

evaluate::EvaluatorOptions evaluator_options(const RunOptions& options, const std::function<bool()>& hurried) {
  evaluate::EvaluatorOptions evaluator;
  evaluator.threads = options.threads;
  evaluator.interrupted = hurried;
  evaluator.facts = evaluate::cached_facts();
  if (options.sampling_seconds > 0) evaluator.sampling_seconds = options.sampling_seconds;
  else if (options.budget_seconds > 0) evaluator.sampling_seconds = kSamplingShare * options.budget_seconds;
  return evaluator;
}

/// The kernel given, where there is one, as the first seed. kInput where its language is not the target's.
Status add_start(const RunOptions& options, std::initializer_list<kernel::Language> languages, const char* hint, Services& services) {
  if (options.start_source.empty()) return {};
  HONE_TRY(kernel::Kernel start, kernel::parse_kernel(options.start_source, "start kernel"));
  if (std::find(languages.begin(), languages.end(), start.header.language) == languages.end())
    return fail(ErrorCode::kInput, fmt::format("the start kernel is written in {}, which is not what the target {} takes",
                                               kernel::name_of(start.header.language), options.target), hint);
  start.author = "user";
  services.seeds.push_back({std::move(start), "start", "the kernel given"});
  return {};
}

/// It is an opponent too, where there is a clock.
void add_start_opponent(Services& services) {
  if (!services.seeds.empty()) services.opponents.push_back(opponent_of("start", services.seeds.front().kernel));
}

/// A GPU that is emulated: verdicts only, so nothing to race and nothing to tune.
Result<Services> emulator_services(const task::Task& task, archive::Store& store, const target::SimtDevice& device,
                                   const RunOptions& options, const std::filesystem::path& home, std::function<bool()> hurried) {
  HONE_TRY(std::shared_ptr<target::Toolchain> toolchain, target::emulator_toolchain(device.language));
  Services services = services_on(emulator_place(device, toolchain->name()), store, home);
  services.limits = target::simt_limits(device);
  services.evaluator = [&task, toolchain, hurried = std::move(hurried)]() {
    evaluate::EvaluatorOptions evaluator;
    evaluator.interrupted = hurried;
    evaluator.facts = evaluate::cached_facts();
    return evaluate::emulated_evaluator(task, toolchain, evaluator);
  };
  HONE_TRY_VOID(add_start(options, {device.language}, "", services));
  if (device.language == kernel::Language::kTriton) {
    if (!services.seeds.empty()) return services;
    return fail(ErrorCode::kUnavailable, "no built-in pattern writes Triton yet", "give a kernel to begin from with --start KERNEL.py");
  }
  add_gpu_seeds(task, device.language, services);
  return services;
}

/// A card: the whole loop, with its clock.
Result<Services> card_services(const task::Task& task, archive::Store& store, int ordinal, const RunOptions& options,
                               const std::filesystem::path& home, std::function<bool()> hurried) {
  HONE_TRY(const std::shared_ptr<target::Card> card, target::Card::open(ordinal));
  HONE_TRY(std::shared_ptr<target::Toolchain> toolchain, target::cuda_toolchain(card->info().arch));
  Services services = services_on(card_place(card->info(), toolchain->name()), store, home);
  services.target = options.target;
  services.limits = target::card_limits(card->info());
  // Builds need cores, not the card. A screening takes a fifth of a build: more proposals on their way would only know less.
  services.batch = std::clamp(target::cpu_info().threads - 1, 2, 12);
  services.builds_aside = true;
  services.prebuild = [&task, toolchain](const kernel::Kernel& kernel) {
    const base::Span span("build");
    (void)toolchain->build(kernel, task, task.workloads.front().bindings, {});
  };
  services.evaluator = [&task, toolchain, card, options, hurried = std::move(hurried)]() {
    return evaluate::card_evaluator(task, toolchain, card, evaluator_options(options, hurried));
  };
  const auto counters = std::make_shared<diagnose::CardCounters>(card->info(), toolchain);
  services.examine = [&task, counters, limits = services.limits](evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, bool thorough) {
    return examine(evaluator, kernel, task, limits, {}, thorough, counters.get());
  };
  if (options.budget_seconds > 0)
    services.examine = within_seconds(std::move(services.examine), base::system_clock(), kDiagnosisShare * options.budget_seconds);
  HONE_TRY(services.opponents, card_opponents(task, options.opponents, card->info()));
  HONE_TRY_VOID(add_start(options, {kernel::Language::kCuda, kernel::Language::kTriton}, "", services));
  add_start_opponent(services);
  if (!services.seeds.empty() && options.strategy == search::StrategyKind::kTune) return services;
  add_gpu_seeds(task, kernel::Language::kCuda, services);
  return services;
}

/// What a run in C++ begins with. Plain loops are where its gain is counted from; tuning alone refines the most
/// promising offer at once. Empty seeds are kUnavailable.
Status add_cpp_seeds(const task::Task& task, const target::Toolchain& toolchain, bool tune, Services& services) {
  std::vector<std::string> why_not;
  auto offers = pattern::offers_cpp(task, why_not);
  if (services.seeds.empty() && (!tune || offers.empty())) services.seeds.push_back({pattern::naive_cpp(task), "naive", "plain loops"});
  for (const pattern::Offer& offer : offers) services.seeds.push_back(seed_of(offer));
  // Compilers differ by more than most tunables: each pattern's first offer once more with the other one.
  for (const std::string& compiler : toolchain.other_compilers()) {
    std::set<std::string> twins;
    for (const pattern::Offer& offer : offers)
      if (twins.insert(offer.pattern).second)
        services.seeds.push_back(seed_of({kernel::with_compiler(offer.kernel, compiler), offer.pattern, fmt::format("{}, built by {}", offer.action, compiler)}));
  }
  if (services.seeds.empty())
    return fail(ErrorCode::kUnavailable, fmt::format("no built-in pattern covers this task yet ({})", fmt::join(why_not, "; ")),
                "give a kernel to begin from with --start KERNEL.cc; hone tunes its tunables");
  return {};
}

/// Likewise in OpenCL C, where there is always something: plain loops take every task.
void add_opencl_seeds(const task::Task& task, bool tune, Services& services) {
  std::vector<std::string> why_not;
  const auto offers = pattern::offers_opencl(task, why_not);
  if (services.seeds.empty() && (!tune || offers.empty())) services.seeds.push_back({pattern::plain_opencl(task), "plain", "plain loops"});
  for (const pattern::Offer& offer : offers) services.seeds.push_back(seed_of(offer));
}

/// The CPU, in C++ or OpenCL C.
Result<Services> cpu_services(const task::Task& task, archive::Store& store, std::shared_ptr<target::Toolchain> toolchain,
                              const RunOptions& options, const std::filesystem::path& home, std::function<bool()> hurried) {
  const bool opencl = options.target == "opencl";
  const int threads = options.threads > 0 ? options.threads : target::cpu_info().threads;
  std::string compilers = toolchain->name();
  if (opencl) {
    HONE_TRY(const auto pocl, target::opencl_toolchain());
    compilers = pocl->name();
  }
  Services services = services_on(cpu_place(compilers, threads), store, home);
  services.target = options.target;
  services.limits = target::cpu_limits(target::cpu_info());
  services.limits["THREADS"] = threads;
  services.evaluator = [&task, toolchain, options, hurried = std::move(hurried)]() {
    return evaluate::cpu_evaluator(task, toolchain, evaluator_options(options, hurried));
  };
  services.examine = [&task, limits = services.limits](evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, bool thorough) {
    return examine(evaluator, kernel, task, limits, {}, thorough);
  };
  services.peaks = [threads] { return target::to_json(target::cpu_peaks(threads)); };
  // In C++, whatever the kernels are written in: what is asked is what the machine does.
  services.microbenchmark = [toolchain](const Snippet& snippet) { return time_snippet(*toolchain, snippet); };
  services.place_facts = [toolchain, threads, opencl] {
    // PoCL's compiler is not one of ours.
    return cpu_facts(opencl ? std::string() : toolchain->extensions(), target::cpu_peaks(threads));
  };
  HONE_TRY(services.opponents, cpu_opponents(task, options.opponents, threads));
  if (!options.recall.empty()) {
    HONE_TRY(const archive::KernelRow row, store.kernel(options.recall));
    HONE_TRY(kernel::Kernel known, kernel_from(row));
    const std::string pattern = known.header.pattern;
    services.seeds.push_back({std::move(known), pattern, "recalled from the archive"});
    return services;
  }
  HONE_TRY_VOID(add_start(options, {opencl ? kernel::Language::kOpenCl : kernel::Language::kCpp},
                          opencl ? "--target cpu takes C++" : "--target opencl takes OpenCL C", services));
  add_start_opponent(services);
  const bool tune = options.strategy == search::StrategyKind::kTune;
  if (!services.seeds.empty() && tune) return services;
  if (opencl) add_opencl_seeds(task, tune, services);
  else HONE_TRY_VOID(add_cpp_seeds(task, *toolchain, tune, services));
  return services;
}

}  // namespace

Result<Services> local_services(const task::Task& task, archive::Store& store, std::shared_ptr<target::Toolchain> toolchain,
                                const RunOptions& options, const std::filesystem::path& home, std::function<bool()> hurried) {
  if (const target::SimtDevice* const device = target::simt_device_of(options.target))
    return emulator_services(task, store, *device, options, home, std::move(hurried));
  if (const auto ordinal = target::card_ordinal(options.target))
    return card_services(task, store, *ordinal, options, home, std::move(hurried));
  return cpu_services(task, store, std::move(toolchain), options, home, std::move(hurried));
}

Result<RunResult> optimize(const task::Task& task, const LocalOptions& options) {
  const std::filesystem::path file = options.archive.empty() ? archive::default_archive() : options.archive;
  HONE_TRY(archive::Store store, archive::Store::open(file));
  HONE_TRY(std::shared_ptr<target::Toolchain> toolchain, target::local_toolchain());
  HONE_TRY(Services services, local_services(task, store, toolchain, options.run, file.parent_path(), {}));
  services.progress = options.progress;
  services.interrupted = options.interrupted;
  return start_run(task, options.run, services);
}

}  // namespace hone::engine
