// hone tune KERNEL TASK --strategy all: measures a kernel's whole space.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/gzip.h"
#include "hone/base/json.h"
#include "hone/engine/sweep.h"
#include "hone/evaluate/compare/statistics.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/commands.h"
#include "hone/face/cli/context.h"

namespace hone::face {
namespace {

namespace tuner = search::tune;

constexpr size_t kMostCacheBytes = size_t{1} << 30;
constexpr int kRounds = 8;

Status check_measuring(const TuneArguments& a) {
  if (a.kernel.empty()) return fail(ErrorCode::kUsage, "nothing to do", "hone tune --replay CACHE, or hone tune KERNEL TASK --strategy all --cache FILE");
  if (a.strategy != "all")
    return fail(ErrorCode::kUsage, a.strategy.empty() ? "--strategy is missing" : fmt::format("unknown strategy \"{}\"", a.strategy),
                "--strategy all measures every configuration; hone optimize --strategy tune searches");
  if (a.cache.empty()) return fail(ErrorCode::kUsage, "--cache is missing", "the file that the measurements go to: --cache FILE.json.gz");
  if (a.jobs < 0 || a.jobs > 1024) return fail(ErrorCode::kUsage, fmt::format("--jobs {}: expected 1 to 1024", a.jobs));
  if (a.repetitions < 1 || a.repetitions > 1000) return fail(ErrorCode::kUsage, fmt::format("--repetitions {}: expected 1 to 1000", a.repetitions));
  if (a.rounds < 0 || a.rounds > a.repetitions)
    return fail(ErrorCode::kUsage, fmt::format("--rounds {}: expected 1 to {}, the timings of a configuration", a.rounds, a.repetitions));
  return check_threads(a.threads);
}

Result<std::optional<tuner::TuningCache>> known_of(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::optional<tuner::TuningCache>();
  HONE_TRY(std::string text, base::read_file(file));
  if (base::is_gzip(text)) {
    HONE_TRY(text, base::gunzip(text, kMostCacheBytes, file));
  }
  HONE_TRY(tuner::TuningCache cache, tuner::parse_cache(text, file));
  return std::optional(std::move(cache));
}

}  // namespace

Result<int> measure_space(const TuneArguments& arguments) {
  HONE_TRY_VOID(check_measuring(arguments));
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  HONE_TRY(const kernel::Kernel kernel, kernel_of(arguments.kernel, nullptr));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, workbench_for("cpu", kernel, arguments.threads));
  HONE_TRY(const auto known, known_of(arguments.cache));
  engine::RunOptions budget;
  if (arguments.budget.empty()) budget.budget_seconds = 0;
  else HONE_TRY_VOID(parse_budget(arguments.budget, budget));
  if (budget.budget_evaluations > 0) return fail(ErrorCode::kUsage, "a space is measured as a whole: its budget is a time");
  const std::shared_ptr<target::Toolchain> toolchain = bench->toolchain();
  watch_interrupts();
  engine::SweepOptions options;
  options.threads = arguments.threads;
  options.jobs = arguments.jobs;
  options.seconds = budget.budget_seconds;
  options.timings = arguments.repetitions;
  options.rounds = arguments.rounds > 0 ? arguments.rounds : std::min(kRounds, arguments.repetitions);
  options.seed = arguments.seed;
  options.interrupted = interrupted;
  const bool live = isatty(STDERR_FILENO) != 0;
  options.progress = [&](const engine::SweepProgress& p) {
    if (live) fmt::print(stderr, "\rround {}: {} of {} configurations, best {:.3f} ms ", p.round, p.known, p.total, p.best_ms);
  };
  options.keep = [&](const tuner::TuningCache& cache) {
    const std::string text = tuner::cache_text(cache);
    return base::write_file_atomic(arguments.cache, arguments.cache.ends_with(".gz") ? base::gzip(text) : text);
  };
  const std::string name = std::filesystem::path(arguments.kernel).stem().string();
  HONE_TRY(const engine::SweepResult result, engine::sweep(kernel, name, task, toolchain, options, known));
  if (live) fmt::print(stderr, "\n");

  std::vector<double> costs, timings;
  for (const tuner::Measured& m : result.cache.measured)
    if (m.cost) costs.push_back(*m.cost), timings.push_back(static_cast<double>(m.times.size()));
  std::sort(costs.begin(), costs.end());
  base::Json line = {{"kernel", name}, {"device", result.cache.device}, {"configurations", result.total}, {"known", result.cache.points.size()},
                     {"worked", costs.size()}, {"rounds", result.rounds}, {"seconds", result.seconds}, {"jobs", result.jobs}, {"beside", result.beside}, {"first_refusal", result.first_refusal},
                     {"control_ms", result.control_ms}};
  if (!costs.empty()) {
    line["best_ms"] = costs.front(), line["median_ms"] = evaluate::median_of_sorted(costs), line["worst_ms"] = costs.back();
    line["timings"] = evaluate::median(timings);
  }
  std::FILE* const out = arguments.json ? stderr : stdout;
  fmt::print(out, "{}: {} of {} configurations measured, {} of them work, {} of {} rounds; {:.0f} s, {} builds side by side {}\n", name,
             result.cache.points.size(), result.total, costs.size(), result.rounds, options.rounds, result.seconds, result.jobs, result.beside ? "on cores of their own" : "in turn with the measuring");
  if (!result.first_refusal.empty()) fmt::print(out, "  the first that does not: {}\n", result.first_refusal);
  if (!costs.empty())
    fmt::print(out, "  best {:.3f} ms, median {:.3f}, worst {:.3f}; {:.0f} timings each (median)\n", costs.front(), evaluate::median_of_sorted(costs), costs.back(),
               evaluate::median(timings));
  if (!result.control_ms.empty()) {
    const auto [low, high] = std::minmax_element(result.control_ms.begin(), result.control_ms.end());
    fmt::print(out, "  one of them, timed {} times from beginning to end: {:.3f} to {:.3f} ms\n", result.control_ms.size(), *low, *high);
  }
  if (arguments.json) fmt::print("{}\n", base::canonical_json(line));
  if (interrupted()) return 130;
  return result.rounds == options.rounds ? 0 : 1;
}

}  // namespace hone::face
