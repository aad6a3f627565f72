#include "hone/engine/local.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/engine/champion.h"
#include "hone/engine/examine.h"
#include "hone/engine/recall.h"
#include "hone/evaluate/baseline/library_opponents.h"
#include "hone/evaluate/baseline/pytorch_opponents.h"
#include "hone/pattern/gpu_matmul.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/target/card.h"
#include "hone/target/cpu.h"
#include "hone/target/simt_device.h"

namespace hone::engine {
namespace {

evaluate::Opponent naive_opponent(const task::Task& task) {
  evaluate::Opponent opponent;
  opponent.name = "naive";
  opponent.kernel = pattern::naive_cpp(task);
  return opponent;
}

}  // namespace

Result<std::vector<evaluate::Opponent>> cpu_opponents(const task::Task& task, const std::string& names, int threads) {
  std::vector<evaluate::Opponent> all;
  std::vector<evaluate::Opponent> pytorch = evaluate::pytorch_opponents(task, threads);
  std::vector<evaluate::Opponent> libraries = evaluate::library_opponents(task, threads);
  std::stringstream list(names == "all" ? "naive,pytorch,compile,openblas,onednn" : names == "none" ? "" : names.empty() ? "," : names);
  std::set<std::string> seen;
  for (std::string name; std::getline(list, name, ',');) {
    if (!seen.insert(name).second) continue;
    if (name == "naive") {
      all.push_back(naive_opponent(task));
    } else if (name == "pytorch") {
      all.push_back(pytorch.at(0));
    } else if (name == "compile") {
      all.push_back(pytorch.at(1));
    } else if (name == "openblas" || name == "onednn") {
      all.push_back(libraries.at(name == "openblas" ? 0 : 1));
    } else {
      return fail(ErrorCode::kUsage, fmt::format("unknown opponent \"{}\"", name),
                  "a list of naive, pytorch, compile, openblas, onednn; or all, or none");
    }
  }
  return all;
}

std::string machine_json() {
  const target::CpuInfo& cpu = target::cpu_info();
  return nlohmann::json{{"model", cpu.model},       {"isa", cpu.isa},           {"threads", cpu.threads},
                        {"l1_bytes", cpu.l1_bytes}, {"l2_bytes", cpu.l2_bytes}, {"l3_bytes", cpu.l3_bytes},
                        {"memory_bytes", cpu.memory_bytes}}
      .dump();
}

namespace {

/// What a run on a GPU begins with: the patterns' kernels, most promising first. Plain loops, which take no advantage
/// of a GPU, only where there are none.
void add_gpu_seeds(const task::Task& task, kernel::Language language, Services& services) {
  std::vector<std::string> why_not;
  for (auto offers : {pattern::gpu_matmul_offers(task, language), pattern::offers_gpu(task, language, why_not)})
    for (pattern::Offer& offer : offers) services.seeds.push_back({std::move(offer.kernel), std::move(offer.pattern), std::move(offer.action)});
  if (services.seeds.empty()) services.seeds.push_back({pattern::plain_gpu(task, language), "plain", "plain loops"});
}

/// A GPU that is emulated: verdicts only, so nothing to race and nothing to tune.
Result<Services> emulator_services(const task::Task& task, archive::Store& store, const target::SimtDevice& device,
                                   const RunOptions& options, const std::filesystem::path& home, std::function<bool()> hurried) {
  HONE_TRY(std::shared_ptr<target::Toolchain> toolchain, target::simt_toolchain());
  Services services;
  services.clock = &base::system_clock();
  services.store = &store;
  services.limits = target::simt_limits(device);
  services.target = options.target;
  services.toolchain = toolchain->name();
  services.device = emulator_place(device, toolchain->name()).device;
  services.machine_json = machine_json();
  services.champions = home / "champions";
  services.evaluator = [&task, toolchain, hurried = std::move(hurried)]() {
    evaluate::EvaluatorOptions evaluator;
    evaluator.interrupted = hurried;
    return evaluate::emulated_evaluator(task, toolchain, evaluator);
  };
  if (!options.start_source.empty()) {
    HONE_TRY(kernel::Kernel start, kernel::parse_kernel(options.start_source, "start kernel"));
    if (start.header.language != device.language)
      return fail(ErrorCode::kInput, fmt::format("the start kernel is written in {}, which is not what the target {} takes",
                                                 kernel::name_of(start.header.language), options.target));
    start.author = "user";
    services.seeds.push_back({std::move(start), "start", "the kernel given"});
  }
  add_gpu_seeds(task, device.language, services);
  return services;
}

/// A card: the whole loop, with its clock.
Result<Services> card_services(const task::Task& task, archive::Store& store, int ordinal, const RunOptions& options,
                               const std::filesystem::path& home, std::function<bool()> hurried) {
  HONE_TRY(const std::shared_ptr<target::Card> card, target::Card::open(ordinal));
  HONE_TRY(std::shared_ptr<target::Toolchain> toolchain, target::cuda_toolchain(card->info().arch));
  Services services;
  services.clock = &base::system_clock();
  services.store = &store;
  services.limits = target::card_limits(card->info());
  services.target = options.target;
  services.toolchain = toolchain->name();
  services.device = card_place(card->info(), toolchain->name()).device;
  services.machine_json = machine_json();
  services.champions = home / "champions";
  // Builds need cores, not the card: as many at a time as leave one for us.
  services.batch = std::clamp(target::cpu_info().threads - 1, 2, 16);
  services.evaluator = [&task, toolchain, card, options, hurried = std::move(hurried)]() {
    evaluate::EvaluatorOptions evaluator;
    evaluator.interrupted = hurried;
    if (options.budget_seconds > 0) evaluator.sampling_seconds = 0.3 * options.budget_seconds;
    return evaluate::card_evaluator(task, toolchain, card, evaluator);
  };
  HONE_TRY(services.opponents, card_opponents(task, options.opponents, card->info()));
  if (!options.start_source.empty()) {
    HONE_TRY(kernel::Kernel start, kernel::parse_kernel(options.start_source, "start kernel"));
    if (start.header.language != kernel::Language::kCuda)
      return fail(ErrorCode::kInput, fmt::format("the start kernel is written in {}, which is not what the target {} takes",
                                                 kernel::name_of(start.header.language), options.target));
    start.author = "user";
    evaluate::Opponent opponent;
    opponent.name = "start";
    opponent.kernel = start;
    services.opponents.push_back(std::move(opponent));
    services.seeds.push_back({std::move(start), "start", "the kernel given"});
    if (options.strategy == search::StrategyKind::kTune) return services;
  }
  add_gpu_seeds(task, kernel::Language::kCuda, services);
  return services;
}

}  // namespace

Result<std::vector<evaluate::Opponent>> card_opponents(const task::Task& task, const std::string& names, const target::CardInfo& card) {
  std::vector<evaluate::Opponent> all;
  std::vector<evaluate::Opponent> pytorch = evaluate::pytorch_opponents(task, card);
  std::stringstream list(names == "all" ? "naive,pytorch,compile" : names == "none" ? "" : names.empty() ? "," : names);
  std::set<std::string> seen;
  for (std::string name; std::getline(list, name, ',');) {
    if (!seen.insert(name).second) continue;
    if (name == "naive") {
      evaluate::Opponent opponent;
      opponent.name = "naive";
      opponent.kernel = pattern::plain_gpu(task, kernel::Language::kCuda);
      all.push_back(std::move(opponent));
    } else if (name == "pytorch") {
      all.push_back(pytorch.at(0));
    } else if (name == "compile") {
      all.push_back(pytorch.at(1));
    } else {
      return fail(ErrorCode::kUsage, fmt::format("unknown opponent \"{}\"", name), "a list of naive, pytorch, compile; or all, or none");
    }
  }
  return all;
}

Result<Services> local_services(const task::Task& task, archive::Store& store,
                              std::shared_ptr<target::Toolchain> toolchain, const RunOptions& options,
                              const std::filesystem::path& home,
                              std::function<bool()> hurried) {
  if (const target::SimtDevice* const device = target::simt_device_of(options.target))
    return emulator_services(task, store, *device, options, home, std::move(hurried));
  if (const auto ordinal = target::card_ordinal(options.target))
    return card_services(task, store, *ordinal, options, home, std::move(hurried));
  Services services;
  services.clock = &base::system_clock();
  services.store = &store;
  services.limits = target::cpu_limits(target::cpu_info());
  const int threads = options.threads > 0 ? options.threads : target::cpu_info().threads;
  services.limits["THREADS"] = threads;
  services.target = options.target;
  services.toolchain = toolchain->name();
  const bool opencl = options.target == "opencl";
  if (opencl) {
    HONE_TRY(const auto pocl, target::opencl_toolchain());
    services.toolchain = pocl->name();
  }
  services.device = cpu_place(services.toolchain, threads).device;
  services.machine_json = machine_json();
  services.champions = home / "champions";
  services.evaluator = [&task, toolchain, options, hurried = std::move(hurried)]() {
    evaluate::EvaluatorOptions evaluator;
    evaluator.threads = options.threads;
    evaluator.interrupted = hurried;
    if (options.budget_seconds > 0) evaluator.sampling_seconds = 0.3 * options.budget_seconds;
    return evaluate::cpu_evaluator(task, toolchain, evaluator);
  };
  services.examine = [&task, limits = services.limits](evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, bool thorough) {
    return examine(evaluator, kernel, task, limits, {}, thorough);
  };
  HONE_TRY(services.opponents, cpu_opponents(task, options.opponents, threads));
  if (!options.recall.empty()) {
    HONE_TRY(const archive::KernelRow row, store.kernel(options.recall));
    HONE_TRY(kernel::Kernel known, kernel_from(row));
    const std::string pattern = known.header.pattern;
    services.seeds.push_back({std::move(known), pattern, "recalled from the archive"});
    return services;
  }
  const bool tune = options.strategy == search::StrategyKind::kTune;
  if (!options.start_source.empty()) {
    HONE_TRY(kernel::Kernel start, kernel::parse_kernel(options.start_source, "start kernel"));
    start.author = "user";
    evaluate::Opponent opponent;
    opponent.name = "start";
    opponent.kernel = start;
    services.opponents.push_back(std::move(opponent));
    const bool fits = (start.header.language == kernel::Language::kOpenCl) == opencl;
    if (!fits)
      return fail(ErrorCode::kInput, fmt::format("the start kernel is written in {}, which is not what the target {} takes",
                                                 kernel::name_of(start.header.language), options.target),
                  opencl ? "--target cpu takes C++" : "--target opencl takes OpenCL C");
    services.seeds.push_back({std::move(start), "start", "the kernel given"});
    if (tune || opencl) return services;
  }
  if (opencl)
    return fail(ErrorCode::kUnavailable, "there are no built-in patterns in OpenCL C yet",
                "give a kernel to begin from with --start KERNEL.cl; hone tunes its tunables");
  std::vector<std::string> why_not;
  auto offers = pattern::offers_cpp(task, why_not);
  // Plain loops are where a run begins, and what its gain is counted from; tuning alone refines the
  // most promising offer at once.
  if (options.start_source.empty() && (!tune || offers.empty()))
    services.seeds.push_back({pattern::naive_cpp(task), "naive", "plain loops"});
  for (const pattern::Offer& offer : offers) services.seeds.push_back({offer.kernel, offer.pattern, offer.action});
  // Compilers differ by more than most tunables: each pattern's first offer once more with the other one.
  for (const std::string& compiler : toolchain->other_compilers()) {
    std::set<std::string> twins;
    for (const pattern::Offer& offer : offers)
      if (twins.insert(offer.pattern).second)
        services.seeds.push_back({kernel::with_compiler(offer.kernel, compiler), offer.pattern,
                                  fmt::format("{}, built by {}", offer.action, compiler)});
  }
  if (services.seeds.empty())
    return fail(ErrorCode::kUnavailable, fmt::format("no built-in pattern covers this task yet ({})", fmt::join(why_not, "; ")),
                "give a kernel to begin from with --start KERNEL.cc; hone tunes its tunables");
  return services;
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
