#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/archive/locks.h"
#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/base/version.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/face/bench/apart.h"
#include "hone/face/bench/join.h"
#include "hone/face/bench/keep.h"
#include "hone/face/bench/page.h"
#include "hone/face/bench/suite.h"
#include "hone/face/bench/summary.h"
#include "hone/face/bench/work.h"
#include "hone/face/cli/bench_display.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/target/card.h"

namespace hone::face {
namespace {

/// Seconds of search below which a diagnosis, itself a second or two, costs more evaluations than its advice saves.
constexpr double kDiagnosedSearch = 20;

/// Of a promotion, in seconds, however short the search: some ten processes of PyTorch on 128 MiB, so that its interval
/// says something. And as a share of the budget.
constexpr double kLeastSampling = 10, kSamplingShare = 0.5;

std::string new_id() { return fmt::format("{:012x}", base::secret_seed() >> 16); }

Result<bench::Asked> asked_of(const BenchArguments& arguments) {
  HONE_TRY_VOID(check_threads(arguments.threads));
  bench::Asked asked;
  HONE_TRY_VOID(parse_budget(arguments.budget, asked.options));
  if (asked.options.budget_seconds > 0) asked.options.sampling_seconds = std::max(kLeastSampling, kSamplingShare * asked.options.budget_seconds);
  asked.options.diagnose = asked.options.budget_seconds <= 0 || asked.options.budget_seconds >= kDiagnosedSearch;
  asked.options.target = arguments.target;
  HONE_TRY_VOID(engine::check_targets(engine::targets_of(asked.options.target)));
  asked.options.languages = arguments.languages;
  asked.options.threads = arguments.threads;
  asked.options.opponents = arguments.opponents;
  asked.only = arguments.only;
  asked.workloads = arguments.task.workloads;
  asked.track = arguments.task.track;
  asked.cold = arguments.cold;
  for (const std::string& name : arguments.suite) {
    const std::filesystem::path path = std::filesystem::absolute(name).lexically_normal();
    asked.suite.push_back((path.has_filename() ? path : path.parent_path()).string());
  }
  return asked;
}

bool wants_compiler(const std::string& opponents) { return opponents == "all" || opponents.find("compile") != std::string::npos || opponents.find("autotune") != std::string::npos; }
bool wants_pytorch(const std::string& opponents) { return wants_compiler(opponents) || opponents.find("pytorch") != std::string::npos; }

Result<bench::Conditions> find_conditions(const bench::Asked& asked) {
  bench::Conditions conditions;
  for (const std::string& name : engine::targets_of(asked.options.target)) {
    engine::RunOptions there = asked.options;
    there.target = name;
    HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::workbench_of(there));
    const engine::Place& place = bench->place();
    if (conditions.place.target.empty()) conditions.place = place;
    else HONE_TRY_VOID(engine::check_alike(conditions.place, place));
  }
  conditions.place.target = asked.options.target;
  conditions.machine_json = engine::machine_json();
  conditions.hone = base::kVersion;
  if (wants_pytorch(asked.options.opponents) && target::has_clock(engine::targets_of(asked.options.target).front()))
    if (const auto& torch = evaluate::find_pytorch()) conditions.pytorch = torch->torch_version;
  return conditions;
}

/// Asked in another process, as this one may start no program before those that do the work.
Result<bench::Conditions> conditions_of(const bench::Asked& asked) {
  const auto find = [&] { return find_conditions(asked).map([](const bench::Conditions& c) { return bench::to_text(c); }); };
  HONE_TRY(const bench::Ended ended, bench::apart(find, interrupts_so_far));
  if (!ended.died_of.empty()) return fail(ErrorCode::kInternal, "the process that asked for compiler and PyTorch was " + ended.died_of);
  HONE_TRY(const std::string text, ended.said);
  return bench::conditions_from(text);
}

/// What would be wrong with every task is wrong with the command.
Status check_options(const std::vector<bench::Entry>& entries, const bench::Asked& asked) {
  std::optional<Error> unknown;
  for (const bench::Entry& entry : entries) {
    const auto task = bench::task_of(entry, asked);
    if (task) return engine::check_opponents(engine::targets_of(asked.options.target).front(), asked.options.opponents);
    if (task.error().code == ErrorCode::kUsage && !unknown) unknown = task.error();
  }
  if (unknown) return tl::unexpected(*unknown);
  return {};
}

/// An unfinished bench that asks the same here, or a new one.
bench::State state_for(bench::State wanted) {
  for (bench::State& old : bench::all_kept(home())) {
    if (old.finished() || !bench::same_bench(old.asked, old.conditions, wanted.asked, wanted.conditions)) continue;
    old.entries = bench::carried_over(std::move(wanted.entries), old.entries);
    return std::move(old);
  }
  return wanted;
}

Result<bench::State> new_or_unfinished(const BenchArguments& arguments) {
  bench::State state;
  HONE_TRY(state.asked, asked_of(arguments));
  if (arguments.drawn.empty()) {
    HONE_TRY(state.entries, bench::read_entries(state.asked));
  } else {
    HONE_TRY(const bench::DrawnSuite drawn, bench::drawn_suite(arguments.drawn, arguments.mix, arguments.only));
    state.asked.drawn = drawn.says;
    state.entries = bench::drawn_entries(drawn.tasks);
  }
  HONE_TRY_VOID(check_options(state.entries, state.asked));
  HONE_TRY(state.conditions, conditions_of(state.asked));
  state.command = arguments.command;
  state.id = new_id();
  state.created_unix_ms = state.updated_unix_ms = base::system_clock().unix_ms();
  return state_for(std::move(state));
}

Result<bench::State> to_resume(const std::string& id) {
  HONE_TRY(bench::State state, bench::find_kept(home(), id));
  if (state.finished()) return state;
  HONE_TRY(const bench::Conditions now, conditions_of(state.asked));
  const engine::Place& here = now.place;
  const engine::Place& there = state.conditions.place;
  if (here.device != there.device || here.toolchain != there.toolchain)
    return fail(ErrorCode::kInput, fmt::format("bench {} was begun on {} with {}; here is {} with {}", state.id, there.device, there.toolchain,
                                               here.device, here.toolchain),
                "rows of two machines make no table: start it anew with the same command");
  return state;
}

/// A bench that was killed a moment ago is held until its processes are gone.
Result<std::unique_ptr<archive::RunLock>> hold(const std::string& id) {
  HONE_TRY_VOID(open_archive().map([](const auto&) {}));
  for (int tries = 0;; ++tries) {
    auto lock = archive::take_run_lock(archive::default_archive(), id);
    if (lock || lock.error().code != ErrorCode::kUnavailable) return lock;
    if (tries == 40) return fail(ErrorCode::kUnavailable, fmt::format("another process works on bench {}", id), "wait for it, or end it");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// Imported once for all tasks: before the first of them is timed, or beside the first search where a card is timed.
void start_pytorch(const engine::RunOptions& options) {
  using Readiness = evaluate::PytorchHost::Readiness;
  if (!wants_pytorch(options.opponents) || !target::has_clock(options.target)) return;
  // Where there is none, each task's row says so.
  if (!target::card_ordinal(options.target))
    (void)evaluate::PytorchHost::shared(options.threads, false, Readiness::kCompiler);
  else
    (void)evaluate::PytorchHost::shared(0, true, wants_compiler(options.opponents) ? Readiness::kModules : Readiness::kImported);
}

bench::Work work_of(BenchDisplay& display, const engine::RunOptions& asked) {
  bench::Work work;
  work.home = home();
  work.open_archive = open_archive;
  work.interrupts = interrupts_so_far;
  work.progress = [&](const bench::Progress& p) { display.update(p); };
  work.services = [asked](archive::Store& store, const std::string& target) -> Result<bench::Services> {
    engine::RunOptions here = asked;
    here.target = target;
    start_pytorch(here);
    // Held from task to task: a card with its context and the workers that wait.
    HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::workbench_of(here));
    bench::Services services;
    services.clock = &base::system_clock();
    services.new_run_id = new_id;
    services.run = [&store, bench](const task::Task& task, const engine::RunOptions& options) -> Result<engine::Services> {
      HONE_TRY(engine::Services run, engine::local_services(task, store, bench, options, home(), hurried));
      // The first Ctrl-C ends the bench after this task, the second at once.
      run.interrupted = hurried;
      return run;
    };
    return services;
  };
  return work;
}

std::string summary_text(const bench::State& state, const bench::Summary& summary) {
  std::string text = fmt::format("{} of {} tasks accepted", summary.accepted, state.entries.size());
  if (const size_t left = state.left(); left > 0) text += fmt::format(", {} not done", left);
  text += fmt::format("; against the strongest opponent of each: {} faster, {} slower, {} inconclusive; {} of work\n", summary.calls.faster,
                      summary.calls.slower, summary.calls.inconclusive, duration_text(summary.seconds));
  text += "  " + bench::plain_line(summary) + "\n";
  if (summary.ratios.empty()) return text;
  Table table({"against", "geometric mean", "median", "without dispatch", "median", "tasks"});
  for (const auto& [name, ratios] : summary.ratios) {
    const bench::Ratios& less = summary.ratios_without_dispatch.at(name);
    table.add({name == bench::kBest ? "the strongest" : name, fmt::format("{:.2f}x", ratios.geomean), fmt::format("{:.2f}x", ratios.median),
               fmt::format("{:.2f}x", less.geomean), fmt::format("{:.2f}x", less.median), fmt::format("{}", ratios.rows)});
  }
  text += "\n" + table.to_string() + "\n  a failure counts as 1x\n";
  if (const std::string line = bench::dispatch_line(summary); !line.empty()) text += "  " + line + "\n";
  return text;
}

/// Both pages, beside the record where that is not kept anyway; where they are, or why not, for people.
std::string write_pages(const bench::State& state, const std::string& output, bool with_record) {
  const std::filesystem::path folder = output.empty() ? bench::folder_of(home(), state.id) : std::filesystem::path(output);
  const auto write = [&]() -> Status {
    HONE_TRY_VOID(base::make_directories(folder));
    if (with_record) HONE_TRY_VOID(bench::keep_at(folder, state));
    HONE_TRY_VOID(base::write_file_atomic(folder / "bench.html", bench::html_page(state)));
    return base::write_file_atomic(folder / "bench.md", bench::markdown_page(state));
  };
  if (const Status written = write(); !written) return fmt::format("  no pages: {}\n", written.error().to_string());
  return fmt::format("\n  pages: {}, bench.md beside it\n", (folder / "bench.html").string());
}

int finish_bench(const bench::State& state, const BenchArguments& arguments) {
  const bench::Summary summary = bench::summary_of(state.rows());
  const bool joined = !arguments.join.empty();
  const std::string pages = write_pages(state, arguments.output, joined);
  std::FILE* out = arguments.json ? stderr : stdout;
  fmt::print(out, "\nbench {}: {}", state.id, summary_text(state, summary));
  fmt::print(out, "{}", pages);
  if (!state.finished() && !joined) fmt::print(out, "  hone bench --resume {} goes on with it\n", state.id);
  if (arguments.json) fmt::print("{}\n", base::canonical_json(bench::result_json(state.rows())));
  return state.finished() && summary.accepted == summary.total ? 0 : 1;
}

Result<int> join_benches(const BenchArguments& arguments) {
  if (!arguments.suite.empty() || !arguments.drawn.empty() || !arguments.resume.empty())
    return fail(ErrorCode::kUsage, "--join works on benches that were made before", "give neither a suite nor --resume with it");
  std::vector<bench::State> states;
  for (const std::string& name : arguments.join) {
    std::error_code ignored;
    HONE_TRY(bench::State state, std::filesystem::exists(name, ignored) ? bench::kept_at(name) : bench::find_kept(home(), name));
    states.push_back(std::move(state));
  }
  HONE_TRY(const bench::State all, bench::joined(std::move(states)));
  return finish_bench(all, arguments);
}

}  // namespace

Result<int> draw_suite(const std::string& wanted, const std::string& mix, const std::string& folder) {
  HONE_TRY(const bench::DrawnSuite drawn, bench::drawn_suite(wanted, mix, ""));
  if (folder.empty()) {
    for (const auto& task : drawn.tasks) fmt::print("{}\n", task.toml);
    return 0;
  }
  HONE_TRY_VOID(base::make_directories(folder));
  for (const auto& task : drawn.tasks) HONE_TRY_VOID(base::write_file_atomic(std::filesystem::path(folder) / (task.name + ".toml"), task.toml));
  fmt::print("{} tasks in {}: {}\n", drawn.tasks.size(), folder, drawn.says);
  return 0;
}

Result<int> run_bench(const BenchArguments& arguments) {
  if (!arguments.join.empty()) return join_benches(arguments);
  if (!arguments.mix.empty() && arguments.drawn.empty())
    return fail(ErrorCode::kUsage, "--mix says what --drawn draws from", "for example hone bench --drawn 7:40 --mix mine.toml");
  const int given = (arguments.suite.empty() ? 0 : 1) + (arguments.drawn.empty() ? 0 : 1) + (arguments.resume.empty() ? 0 : 1);
  if (given == 0)
    return fail(ErrorCode::kUsage, "which tasks? Give a folder or a list of task files, or have some drawn",
                "for example hone bench tasks/kernelbench/level1, or hone bench --drawn 7:40");
  if (given > 1 && !arguments.resume.empty())
    return fail(ErrorCode::kUsage, "--resume goes on with a bench as it was begun", "give either tasks or --resume");
  if (given > 1) return fail(ErrorCode::kUsage, "a bench is over task files or over drawn tasks", "give either a suite or --drawn; two benches can be joined: --join");
  HONE_TRY(bench::State state, arguments.resume.empty() ? new_or_unfinished(arguments) : to_resume(arguments.resume));
  HONE_TRY(const auto lock, hold(state.id));
  const size_t done = state.entries.size() - state.left();
  fmt::print(stderr, "bench {}: {} tasks{}\n", state.id, state.entries.size(), done > 0 ? fmt::format(", {} done before", done) : "");
  watch_interrupts();
  BenchDisplay display(engine::targets_of(state.asked.options.target).size());
  HONE_TRY_VOID(bench::work_through(state, work_of(display, state.asked.options)).map([](bool) {}));
  return finish_bench(state, arguments);
}

}  // namespace hone::face
