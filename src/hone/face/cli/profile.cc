// hone profile and hone diagnose: what is known of a kernel's speed, and what to do about it.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"
#include "hone/engine/examine.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/search/advice.h"
#include "hone/target/card.h"
#include "hone/target/cpu.h"

namespace hone::face {
namespace {

using nlohmann::json;

/// Of a trial of an action: differences are small.
constexpr int kTrialRepetitions = 9;

struct ProfileBench {
  std::shared_ptr<target::Toolchain> toolchain;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  engine::Alternatives alternatives;
  kernel::Limits limits;
  std::shared_ptr<target::Card> card;                  ///< null: the CPU
  std::unique_ptr<diagnose::CardCounters> counters;
  std::unique_ptr<diagnose::CacheModel> caches;        ///< null: not asked for
};

Result<ProfileBench> bench_on(const KernelArguments& arguments, const task::Task& task, std::optional<int> card) {
  ProfileBench bench;
  if (card) {
    HONE_TRY(bench.card, target::Card::open(*card));
    HONE_TRY(bench.toolchain, target::cuda_toolchain(bench.card->info().arch));
    bench.alternatives = engine::card_alternatives(task);
    bench.limits = target::card_limits(bench.card->info());
    bench.counters = std::make_unique<diagnose::CardCounters>(bench.card->info(), bench.toolchain);
    return bench;
  }
  HONE_TRY(bench.toolchain, target::local_toolchain());
  bench.alternatives = engine::cpu_alternatives(task, *bench.toolchain);
  bench.limits = target::cpu_limits(target::cpu_info());
  if (arguments.threads > 0) bench.limits["THREADS"] = arguments.threads;
  if (arguments.caches) bench.caches = std::make_unique<diagnose::CacheModel>(bench.toolchain);
  return bench;
}

/// A file or hash; "naive": plain loops; "pattern:N": the library's N-th kernel for the task, from 0.
Result<kernel::Kernel> kernel_named(const std::string& name, const task::Task& task, const engine::Alternatives& alternatives, bool on_card) {
  if (std::error_code ignored; !std::filesystem::exists(name, ignored)) {
    HONE_TRY(auto ours, engine::library_kernel(name, task, alternatives, on_card ? kernel::Language::kCuda : kernel::Language::kCpp));
    if (ours) return *std::move(ours);
  }
  HONE_TRY(kernel::Kernel kernel, known_kernel(name));
  if (on_card) return kernel;
  if (kernel.header.language != kernel::Language::kCpp && kernel.header.language != kernel::Language::kOpenCl)
    return fail(ErrorCode::kUsage, "kernels for GPUs are not profiled here: the emulator knows no time",
                "--target cuda:0 profiles them on a card, where there is one; hone build says what their binaries need");
  return kernel;
}

/// "A=1,B=2"
Status set_config(kernel::Kernel& kernel, const std::string& text, const kernel::Limits& limits) {
  std::stringstream list(text);
  for (std::string part; std::getline(list, part, ',');) {
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const auto tunable = std::find_if(kernel.header.tunables.begin(), kernel.header.tunables.end(),
                                      [&](const kernel::Tunable& t) { return t.name == name; });
    int64_t value = 0;
    const char* const end = part.data() + part.size();
    if (tunable == kernel.header.tunables.end() || equals == std::string::npos ||
        std::from_chars(part.data() + equals + 1, end, value).ptr != end ||
        std::find(tunable->values.begin(), tunable->values.end(), value) == tunable->values.end())
      return fail(ErrorCode::kUsage, fmt::format("--config {}: the kernel has no such tunable or value", part),
                  "A=1,B=2, of those its header lists");
    kernel.config[name] = value;
  }
  HONE_TRY(const bool fine, kernel::allowed(kernel.header, kernel.config, limits));
  if (!fine) return fail(ErrorCode::kUsage, fmt::format("--config {}: the kernel's constraints exclude it", text));
  return {};
}

std::string value_text(const diagnose::Metric& metric) {
  if (metric.origin == diagnose::Origin::kAbsent) return "-";
  if (metric.name.ends_with("_ns") && !metric.name.ends_with("per_ns")) return time_text(metric.value);
  return metric.value == std::floor(metric.value) && std::abs(metric.value) < 1e9 ? fmt::format("{:.0f}", metric.value)
                                                                                  : fmt::format("{:.3g}", metric.value);
}

void print_profiles(std::FILE* out, const std::vector<diagnose::Profile>& profiles) {
  for (const diagnose::Profile& profile : profiles) {
    fmt::print(out, "{} ({})\n\n", profile.workload, task::bindings_text(profile.bindings));
    Table table({"metric", "value", "", "what it is"});
    for (const diagnose::Metric& m : profile.metrics.all())
      table.add({m.name, value_text(m), std::string(diagnose::name_of(m.origin)), m.about});
    fmt::print(out, "{}\n", table.to_string());
  }
}

void print_diagnosis(std::FILE* out, const engine::Examined& examined) {
  const diagnose::Diagnosis& d = examined.diagnosis;
  fmt::print(out, "bottleneck: {} (on workload {})\n  {}\n\n", d.bottleneck, examined.workload, d.says);
  if (!d.evidence.empty()) {
    Table table({"evidence", "value", ""});
    for (const diagnose::Metric& m : d.evidence) table.add({m.name, value_text(m), std::string(diagnose::name_of(m.origin))});
    fmt::print(out, "{}\n", table.to_string());
  }
  if (d.bottleneck == diagnose::kLight) return;
  if (!d.actions.empty()) {
    Table table({"action", "predicted", "cause", "reckoning"});
    for (size_t i = 0; i < d.actions.size() && i < 8; ++i)
      table.add({d.actions[i].to_string(), fmt::format("{:.2f}x", d.actions[i].gain), d.actions[i].cause, d.actions[i].why});
    fmt::print(out, "{}\n", table.to_string());
  }
  fmt::print(out, "  {}\n", d.redesign ? "redesign: no retuning promises much" : "retune");
}

json profile_json(const diagnose::Profile& profile) {
  return {{"workload", profile.workload},
          {"bindings", profile.bindings},
          {"weight", profile.weight},
          {"metrics", diagnose::to_json(profile.metrics)}};
}

/// Takes the best action that hone can take by itself and measures it beside the kernel.
Result<json> try_first(ProfileBench& bench, const kernel::Kernel& kernel, const diagnose::Diagnosis& diagnosis, std::FILE* out) {
  for (const diagnose::Action& action : diagnosis.actions) {
    const auto next = engine::take(action, kernel, bench.alternatives);
    if (!next) continue;
    HONE_TRY_VOID(bench.evaluator->set_yardstick(kernel));
    HONE_TRY(const evaluate::Screening after, bench.evaluator->screen(*next));
    json tried = {{"action", action.to_string()},
                  {"kind", diagnose::name_of(action.kind)},
                  {"cause", action.cause},
                  {"predicted", action.gain},
                  {"gained", after.verdict.accepted() ? json(after.score) : json()},
                  {"verdict", evaluate::name_of(after.verdict.kind)}};
    tried["held"] = after.verdict.accepted() && search::held(action.gain, after.score);
    fmt::print(out, "\n  tried {}: predicted {:.2f}x, {}\n", action.to_string(), action.gain,
               after.verdict.accepted() ? fmt::format("gained {:.2f}x", after.score) : "refused: " + after.verdict.reason);
    return tried;
  }
  fmt::print(out, "\n  there is no action that hone could take by itself\n");
  return json();
}

}  // namespace

Result<int> profile_kernel(const KernelArguments& arguments, bool diagnosing) {
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  HONE_TRY_VOID(check_threads(arguments.threads));
  if (!arguments.target.empty()) HONE_TRY_VOID(check_target(arguments.target));
  const std::optional<int> card = target::card_ordinal(arguments.target);
  if (card && arguments.caches)
    return fail(ErrorCode::kUsage, "--caches models a CPU's caches", "on a card Nsight Compute reads the counters themselves");
  HONE_TRY(ProfileBench bench, bench_on(arguments, task, card));
  HONE_TRY(kernel::Kernel kernel, kernel_named(arguments.kernels.front(), task, bench.alternatives, card.has_value()));
  HONE_TRY_VOID(check_target_of(arguments.target, kernel));
  if (!arguments.config.empty()) HONE_TRY_VOID(set_config(kernel, arguments.config, bench.limits));
  watch_interrupts();
  evaluate::EvaluatorOptions options;
  options.threads = arguments.threads;
  options.interrupted = interrupted;
  options.facts = evaluate::cached_facts();
  options.repetitions = kTrialRepetitions;
  if (bench.card) {
    HONE_TRY(bench.evaluator, evaluate::card_evaluator(task, bench.toolchain, bench.card, options));
  } else {
    HONE_TRY(bench.evaluator, evaluate::cpu_evaluator(task, bench.toolchain, options));
  }
  HONE_TRY(const evaluate::Screening screening, bench.evaluator->screen(kernel));
  engine::Examined examined;
  examined.verdict = screening.verdict;
  if (examined.verdict.accepted()) {
    HONE_TRY(examined, engine::examine(*bench.evaluator, kernel, task, bench.limits, bench.alternatives, true, bench.counters.get(),
                                        bench.caches.get()));
    if (!bench.card && !bench.caches)
      for (diagnose::Profile& profile : examined.profiles) diagnose::no_cache_model("not asked for: --caches models it", profile.metrics);
  }
  std::FILE* const out = arguments.json ? stderr : stdout;
  const evaluate::Verdict& verdict = examined.verdict;
  json line = {
      {"kernel", kernel.hash()}, {"verdict", evaluate::name_of(verdict.kind)}, {"reason", verdict.reason}, {"workloads", json::array()}};
  if (!verdict.accepted())
    fmt::print(out, "{}: {}\n{}", evaluate::name_of(verdict.kind), verdict.reason, verdict.detail.empty() ? "" : verdict.detail + "\n");
  for (const diagnose::Profile& profile : examined.profiles) line["workloads"].push_back(profile_json(profile));
  if (verdict.accepted() && !diagnosing) print_profiles(out, examined.profiles);
  if (diagnosing) {
    line["diagnosis"] = nullptr;
    line["workload"] = nullptr;
    line["tried"] = nullptr;
  }
  if (verdict.accepted() && diagnosing) {
    print_diagnosis(out, examined);
    line["diagnosis"] = diagnose::to_json(examined.diagnosis);
    line["workload"] = examined.workload;
    if (arguments.try_first) {
      HONE_TRY(line["tried"], try_first(bench, kernel, examined.diagnosis, out));
    }
  }
  if (arguments.json) fmt::print("{}\n", base::canonical_json(line));
  return verdict.accepted() ? 0 : 1;
}

}  // namespace hone::face
