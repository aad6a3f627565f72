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
#include "hone/target/cpu.h"

namespace hone::face {
namespace {

using nlohmann::json;

/// Of a trial of an action: differences are small.
constexpr int kTrialRepetitions = 9;

struct ProfileBench {
  std::shared_ptr<engine::Workbench> place;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  engine::Alternatives alternatives;
  std::unique_ptr<diagnose::CacheModel> caches;        ///< null: not asked for
};

/// Opens the place, and finds the kernel: a file or hash; "naive": plain loops; "pattern:N": the library's N-th kernel, from 0.
Result<kernel::Kernel> open_for(const KernelArguments& arguments, const task::Task& task, ProfileBench& bench) {
  const std::string& name = arguments.kernels.front();
  std::error_code ignored;
  std::optional<kernel::Kernel> kernel;
  // Said before anything is opened: the card may not be here.
  const std::vector<kernel::Language> languages = target::languages_of(arguments.target);
  if (arguments.caches && !languages.empty() && std::find(languages.begin(), languages.end(), kernel::Language::kCpp) == languages.end())
    return fail(ErrorCode::kUsage, "--caches models a CPU's caches", "on a card Nsight Compute reads the counters themselves");
  if (arguments.target.empty() && std::filesystem::exists(name, ignored)) {
    HONE_TRY(kernel, known_kernel(name, &task));
    HONE_TRY(bench.place, workbench_for("", *kernel, arguments.threads));
  } else {
    HONE_TRY_VOID(check_threads(arguments.threads));
    HONE_TRY(bench.place, engine::Workbench::open(arguments.target.empty() ? "cpu" : arguments.target, {arguments.threads, {}}));
    if (!std::filesystem::exists(name, ignored)) {
      HONE_TRY(kernel, bench.place->named(name, task));
    }
    if (!kernel) {
      HONE_TRY(kernel, known_kernel(name, &task));
    }
    HONE_TRY_VOID(bench.place->takes(*kernel));
  }
  if (!bench.place->target().has_clock())
    return fail(ErrorCode::kUsage, "kernels for GPUs are not profiled here: the emulator knows no time",
                "--target cuda:0 profiles them on a card, where there is one; hone build says what their binaries need");
  if (arguments.caches) bench.caches = std::make_unique<diagnose::CacheModel>(bench.place->toolchain());
  bench.alternatives = bench.place->library(task);
  return std::move(*kernel);
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
  ProfileBench bench;
  HONE_TRY(kernel::Kernel kernel, open_for(arguments, task, bench));
  if (!arguments.config.empty()) HONE_TRY_VOID(set_config(kernel, arguments.config, bench.place->limits()));
  watch_interrupts();
  evaluate::EvaluatorOptions options = looking();
  options.repetitions = kTrialRepetitions;
  HONE_TRY(bench.evaluator, bench.place->evaluator(task, options));
  HONE_TRY(const evaluate::Screening screening, bench.evaluator->screen(kernel));
  engine::Examined examined;
  examined.verdict = screening.verdict;
  if (examined.verdict.accepted()) {
    HONE_TRY(examined, bench.place->examine(*bench.evaluator, kernel, task, bench.alternatives, true, bench.caches.get()));
    if (!bench.place->target().card() && !bench.caches)
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
