#include <cmath>
#include <cstdio>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/engine/transcript.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/display.h"
#include "hone/face/cli/refusals.h"
#include "hone/face/cli/text.h"
#include "hone/face/program/optimise.h"
#include "hone/face/report/report.h"

namespace hone::face {
namespace {

/// Everything the terminal gets at the end of a run; its exit status.
Result<int> finish_run(const engine::RunResult& result, const task::Task& task, archive::Store& store, bool as_json) {
  HONE_TRY(const archive::RunInfo info, store.run(result.run));
  const std::filesystem::path page = home() / "reports" / (result.run + ".html");
  std::string written;
  const auto write_report = [&]() -> Status {
    HONE_TRY(const std::string html, run_report(store, info));
    HONE_TRY_VOID(base::make_directories(page.parent_path()));
    return base::write_file_atomic(page, html);
  };
  if (const Status report = write_report(); report) written = page.string();
  else fmt::print(stderr, "hone: no report: {}\n", report.error().to_string());
  std::FILE* out = as_json ? stderr : stdout;
  HONE_TRY(const auto events, store.events(result.run));
  if (result.champion.empty()) {
    fmt::print(out, "\n{}: no champion, run {} ended by {}: {}\n{}  hone show {} lists what was tried\n", task.name, result.run, result.reason,
               result.promotion ? result.promotion->verdict.reason : "no candidate was accepted", refusals_text(events), result.run);
  } else {
    const auto summary = nlohmann::json::parse(result.summary_json);
    fmt::print(out, "\n{}: champion {}, run {} ended by {}\n\n{}", task.name, base::short_hash(result.champion), result.run,
               result.reason, promotion_text(*result.promotion, task));
    // What no pairs were taken of is said as what it is.
    const auto gain = summary.value("gain", nlohmann::json());
    const std::string won = gain.is_object() ? fmt::format("{} over {}", ratio_text({gain.value("median", 1.0), gain.value("low", 0.0), gain["high"].is_number() ? gain["high"].get<double>() : std::numeric_limits<double>::infinity()}), gain.value("over", ""))
                                             : fmt::format("about {:.1f}x the first correct kernel by quick looks", summary.value("quick_looks_over_first", summary.value("gain_over_first", 1.0)));
    fmt::print(out, "  {}; {} candidates considered, {} evaluated, {} refused in {:.0f} s\n", won, summary.value("considered", 0), summary.value("evaluations", 0),
               summary.value("refused", 0), summary["seconds"].value("total", 0.0));
    fmt::print(out, "\n  kernel: {}\n", summary["champion"].value("path", ""));
  }
  HONE_TRY(const engine::RunOptions options, engine::RunOptions::from_json(info.options_json));
  if (const std::string text = start_text(events, options.start_source) + models_text(events); !text.empty()) fmt::print(out, "\n{}", text);
  if (!written.empty()) fmt::print(out, "  report: {}\n", written);
  if (result.reason == "interrupted") fmt::print(out, "  hone resume {} goes on with the search\n", result.run);
  const auto summary = nlohmann::json::parse(result.summary_json, nullptr, false);
  if (summary.is_object() && summary.contains("predictions")) {
    const auto& predictions = summary["predictions"];
    fmt::print(out, "  predictions of diagnoses: {} of {} gained at least a third of what was predicted\n",
               predictions.value("held", 0), predictions.value("tried", 0));
    for (const auto& row : predictions["rows"])
      fmt::print(out, "    {} ({}): predicted {:.2f}x, {}\n", row.value("action", ""), row.value("cause", ""), row.value("predicted", 0.0),
                 row["gained"].is_number() ? fmt::format("gained {:.2f}x", row["gained"].get<double>()) : "refused");
  }
  if (summary.is_object() && summary.contains("models")) {
    const auto& ledger = summary["models"];
    fmt::print(out, "  models: {} calls, {} tokens, ${:.4f}\n", ledger.value("calls", 0), ledger.value("tokens", int64_t{0}), ledger.value("dollars", 0.0));
    for (const auto& row : ledger["models"])
      fmt::print(out, "    {}: {} calls, {} kernels, {} accepted, {} answers unusable, best made {:.2f}x faster, {} tokens, ${:.4f}, {:.0f} s\n", row.value("model", ""),
                 row.value("calls", 0), row.value("kernels", 0), row.value("accepted", 0), row.value("unusable", 0), std::exp(row.value("gain", 0.0)),
                 row.value("tokens", int64_t{0}), row.value("dollars", 0.0), row.value("seconds", 0.0));
    for (const auto& answer : ledger.value("answers", nlohmann::json::array()))
      fmt::print(out, "    {} {} by {}: {}{}\n", answer.value("kernel", "").substr(0, 12), answer.value("action", ""), answer.value("name", ""), answer.value("verdict", ""),
                 answer.contains("best_score") ? fmt::format(", {:.2f}x the first with the best of {} settings{}", answer.value("best_score", 0.0), answer.value("settings", 0),
                                                             answer.value("raced", false) ? "" : ", not raced: the run ended before")
                                               : "");
  }
  if (as_json) fmt::print("{}\n", result.summary_json);
  return result.champion.empty() ? 1 : 0;
}

/// A transcript, once more: it has all that it needs with it.
Result<int> replay_file(const std::string& file, bool as_json) {
  HONE_TRY(const std::string text, read_text(file, "transcript"));
  HONE_TRY(const engine::TranscriptReplay replay, engine::replay_transcript(text));
  fmt::print(as_json ? stderr : stdout, "transcript of run {} replayed: {} events, {} questions, {} kernels of models, the same decisions, {}\n", replay.result.run,
             replay.events, replay.questions, replay.kernels,
             replay.result.champion.empty() ? "no champion" : "champion " + base::short_hash(replay.result.champion));
  if (as_json) fmt::print("{}\n", replay.result.summary_json);
  return 0;
}

/// A finished run's record, once more.
Result<int> replay(const std::string& what, bool as_json) {
  if (what.ends_with(".jsonl")) return replay_file(what, as_json);
  HONE_TRY(archive::Store store, open_archive());
  HONE_TRY(const archive::RunInfo info, store.run(what));
  HONE_TRY(const task::Task task, task::parse_task(info.task_toml, "run " + info.id));
  HONE_TRY(const engine::RunOptions options, engine::RunOptions::from_json(info.options_json));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::workbench_of(options));
  HONE_TRY(const engine::Services services, engine::local_services(task, store, bench, options, home(), {}));
  HONE_TRY(const engine::RunResult result, engine::replay_run(info, task, services));
  HONE_TRY(const auto events, store.events(info.id));
  fmt::print(as_json ? stderr : stdout, "run {} replayed: {} events, the same decisions, {}\n", info.id, events.size(),
             result.champion.empty() ? "no champion" : "champion " + base::short_hash(result.champion));
  if (as_json) fmt::print("{}\n", result.summary_json);
  return 0;
}

}  // namespace

Result<int> optimize(const OptimizeArguments& arguments) {
  if (!arguments.replay.empty()) {
    if (!arguments.task.file.empty() || !arguments.task.expression.empty())
      return fail(ErrorCode::kUsage, "both a task and a run to replay are given", "the run has its task with it: hone optimize --replay RUN");
    return replay(arguments.replay, arguments.json);
  }
  if (const auto program = evaluate::program_source(arguments.task.file)) return optimize_program(*program, arguments);
  HONE_TRY_VOID(engine::check_targets(engine::targets_of(arguments.target)));
  engine::RunOptions options;
  options.target = arguments.target;
  const auto strategy = search::strategy_from(arguments.strategy);
  if (!strategy) return fail(ErrorCode::kUsage, fmt::format("unknown strategy \"{}\"", arguments.strategy), "one of beam, greedy, evolution, tune");
  options.strategy = *strategy;
  options.seed = arguments.seed;
  options.memory = !arguments.no_memory;
  options.shuffle_memory = arguments.shuffle_memory;
  HONE_TRY_VOID(check_threads(arguments.threads));
  options.threads = arguments.threads;
  options.languages = arguments.languages;
  options.opponents = arguments.opponents;
  HONE_TRY_VOID(parse_budget(arguments.budget, options));
  HONE_TRY(options.models_json, models_json_of(arguments.models));
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  if (!arguments.save.empty()) HONE_TRY_VOID(base::write_file_atomic(arguments.save, task.to_toml()));
  std::string start = arguments.start;
  if (start.empty() && task.start)
    start = (std::filesystem::path(arguments.task.file).parent_path() / *task.start).string();
  HONE_TRY(archive::Store store, open_archive());
  std::optional<kernel::Kernel> given;
  if (!start.empty()) {
    HONE_TRY(given, kernel_of(start, &store, &task));
    options.start_source = kernel::with_config(*given, given->config);
  }
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::workbench_of(options));
  HONE_TRY(engine::Services services, engine::local_services(task, store, bench, options, home(), hurried));
  HONE_TRY(services.models, model_services(options.models_json));
  if (given) say_where_verified(*given, start, task, {services.target, services.device, services.toolchain});
  services.interrupted = interrupted;
  if (!options.models_json.empty()) fmt::print(arguments.json ? stderr : stdout, "{}\n", models_line(options.models_json));
  Display display;
  services.progress = [&](const engine::Progress& p) { display.update(p); };
  watch_interrupts();
  HONE_TRY(const engine::RunResult result, engine::start_run(task, options, services));
  return finish_run(result, task, store, arguments.json);
}

Result<int> write_transcript(const std::string& run, const std::string& output) {
  HONE_TRY(archive::Store store, open_archive());
  HONE_TRY(const archive::RunInfo info, store.run(run));
  HONE_TRY(const std::string text, engine::transcript_of(store, info));
  if (output.empty()) fmt::print("{}", text);
  else HONE_TRY_VOID(base::write_file_atomic(output, text));
  return 0;
}

Result<int> resume(const std::string& run, bool as_json) {
  HONE_TRY(archive::Store store, open_archive());
  HONE_TRY(const archive::RunInfo info, store.run(run));
  HONE_TRY(const task::Task task, task::parse_task(info.task_toml, "run " + info.id));
  HONE_TRY(const engine::RunOptions options, engine::RunOptions::from_json(info.options_json));
  HONE_TRY(const std::shared_ptr<engine::Workbench> bench, engine::workbench_of(options));
  HONE_TRY(engine::Services services, engine::local_services(task, store, bench, options, home(), hurried));
  HONE_TRY(services.models, model_services(options.models_json));
  services.interrupted = interrupted;
  Display display;
  services.progress = [&](const engine::Progress& p) { display.update(p); };
  watch_interrupts();
  HONE_TRY(const engine::RunResult result, engine::resume_run(info, task, services));
  return finish_run(result, task, store, as_json);
}

}  // namespace hone::face
