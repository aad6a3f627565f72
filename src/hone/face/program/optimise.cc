#include "hone/face/program/optimise.h"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/version.h"
#include "hone/face/cli/budget.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/face/program/program_run.h"

namespace hone::face {
namespace {

using base::Json;

/// The whole against one of PyTorch's compilers; `absent`: why it did not take part.
struct Compiled {
  std::string mode;              ///< as Session.times() takes it; "compile": the default one
  Duel duel;
  std::string absent;
};

/// What the whole of it came to.
struct Whole {
  Duel eager, steps;             ///< steps: as one recording against step by step, on a card
  std::string not_recorded;
  std::vector<Compiled> compiled;
};

class FileRun : public ProgramRun {
 public:
  FileRun(OpenedProgram opened, evaluate::ProgramSource source, const OptimizeArguments& arguments, engine::RunOptions options)
      : ProgramRun(std::move(opened), std::move(options), arguments.opponents, {}, arguments.json), source_(std::move(source)), arguments_(arguments) {}

  Result<int> run() {
    HONE_TRY_VOID(keep_cut());
    say(cut_text(opened_));
    HONE_TRY_VOID(look_at_steps());
    HONE_TRY_VOID(check_cut());
    HONE_TRY_VOID(begin_or_go_on());
    HONE_TRY_VOID(optimise_tasks());
    if (hurried()) return fail(ErrorCode::kInterrupted, "interrupted before the kernels were put in their places", "the same command goes on from here");
    HONE_TRY_VOID(put_in_place());
    HONE_TRY_VOID(check_and_choose());
    if (options_.target != "cpu") HONE_TRY_VOID(choose_recording());
    HONE_TRY_VOID(measure());
    HONE_TRY_VOID(write_plan(json()));
    if (!arguments_.package.empty()) HONE_TRY_VOID(export_to(arguments_.package));
    report();
    std::error_code ignored;
    if (!interrupted()) std::filesystem::remove(progress_file(), ignored);
    return kernels_in_use() > 0 ? 0 : 1;
  }

 private:
  [[nodiscard]] std::filesystem::path progress_file() const { return folder_ / (opened_.program.name + ".progress.json"); }

  Status begin_or_go_on() {
    const Json asked = {{"budget_seconds", options_.budget_seconds}, {"hone", base::kVersion}, {"memory", options_.memory}, {"opponents", arguments_.opponents},
                        {"seed", options_.seed}, {"target", options_.target}, {"threads", options_.threads}};
    progress_ = read_progress(progress_file(), asked, results_.size());
    if (progress_) {
      say("  going on with the search that was interrupted\n");
      return {};
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    progress_ = Progress{std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), shares()};
    return write_progress(progress_file(), asked, *progress_);
  }

  /// All kernels are checked in their places, slow ones too: what is wrong there is said of each. What is then left of them is checked again.
  Status check_and_choose() {
    HONE_TRY_VOID(check());
    const std::string checked = checked_;
    const size_t all = kernels_in_use();
    HONE_TRY_VOID(keep_faster());
    if (const size_t left = kernels_in_use(); left == 0 || left == all) return {};
    HONE_TRY_VOID(check());
    checked_ = checked;
    return {};
  }

  Status measure() {
    HONE_TRY(const auto pairs, opened_.session->times("eager", 60, 10));
    whole_.eager = duel_of(pairs);
    if (whole_.eager.comparison == evaluate::Comparison::kSlower && kernels_in_use() > 0) {
      for (TaskResult& result : results_) {
        if (result.used) result.note += fmt::format("; the whole is slower with it ({})", whole_.eager.to_string());
        result.used = false;
      }
      HONE_TRY_VOID(use({}));
      HONE_TRY(const auto without, opened_.session->times("eager", 60, 10));
      whole_.eager = duel_of(without);
    }
    for (const std::string& mode : modes()) {
      Compiled& compiled = whole_.compiled.emplace_back();
      compiled.mode = mode;
      if (interrupted()) {
        compiled.absent = "not met: interrupted";
        continue;
      }
      const auto times = opened_.session->times(mode, 60, 10);
      if (times) compiled.duel = duel_of(*times);
      else compiled.absent = times.error().message;
    }
    return {};
  }

  /// Of torch.compile; on a card the one with CUDA graphs too, as the program is one itself.
  [[nodiscard]] std::vector<std::string> modes() const {
    const auto asked = [&](const char* name) { return arguments_.opponents.find(name) != std::string::npos; };
    std::vector<std::string> all;
    if (arguments_.opponents == "all" || asked("compile")) {
      all.emplace_back("compile");
      if (options_.target != "cpu") all.emplace_back("reduce-overhead");
    }
    if (asked("autotune")) all.emplace_back("max-autotune");
    return all;
  }

  /// A recording copies arguments and results, which a program of few large steps does not win back.
  Status choose_recording() {
    HONE_TRY(const auto recording, opened_.session->record(true));
    whole_.not_recorded = recording.why;
    if (!recording.on) return {};
    HONE_TRY(const auto pairs, opened_.session->times("steps", 60, 5));
    whole_.steps = duel_of(pairs);
    if (whole_.steps.comparison != evaluate::Comparison::kSlower) return {};
    whole_.not_recorded = "it is slower so";
    record_ = false;
    HONE_TRY([[maybe_unused]] const auto off, opened_.session->record(false));
    return {};
  }

  [[nodiscard]] Json json() const {
    Json all = {{"program", opened_.program.name}, {"tasks", tasks_json()}, {"checked", checked_}, {"bound_ns", opened_.least_ns()}, {"covered", opened_.covered_share()},
                {"eager", whole_.eager.to_json()}, {"folder", folder_.string()}};
    all["compile"] = Json();
    all["compile_absent"] = "not among the opponents";
    all["modes"] = Json::object();
    for (const Compiled& compiled : whole_.compiled) {
      const Json met = compiled.absent.empty() ? compiled.duel.to_json() : Json(), absent = compiled.absent.empty() ? Json() : Json(compiled.absent);
      if (compiled.mode == "compile") all["compile"] = met, all["compile_absent"] = absent;
      else all["modes"][compiled.mode] = compiled.absent.empty() ? met : absent;
    }
    all["steps"] = whole_.steps.ours_ns > 0 ? whole_.steps.to_json() : Json();
    all["not_recorded"] = whole_.not_recorded.empty() ? Json() : Json(whole_.not_recorded);
    return all;
  }

  Status export_to(const std::filesystem::path& folder) {
    std::map<int, ProgramKernel> used;
    for (const auto& [i, kernel] : kernels_)
      if (results_[static_cast<size_t>(i)].used) used.emplace(i, kernel);
    notes_ = {fmt::format("Measured where it was made ({}), against eager: {}", opened_.session->description(), whole_.eager.to_string())};
    for (size_t i = 0; i < results_.size(); ++i) notes_.push_back(fmt::format("\n- {} x{}: {}", task(i).name, opened_.plan.tasks[i].steps.size(), results_[i].note));
    if (arguments_.as != "kernelbench") {
      HONE_TRY(const auto files, package(package_name(), used));
      return write(files, folder);
    }
    HONE_TRY(const std::string text, base::read_file(source_.file));
    const std::vector<std::string> whole = left_whole();
    const ProgramPackage package{package_name(), used, {}, {whole.begin(), whole.end()}, constants_, notes_, record_};
    HONE_TRY(const ExportedFile file, program_file(opened_.program, opened_.plan, package, {text, source_.function}));
    return write({{folder.filename().string(), file.content}}, folder.has_parent_path() ? folder.parent_path() : ".");
  }

  void report() const {
    Table table({"task", "times", "eager", "kernel", "ratio", "least", ""});
    for (size_t i = 0; i < results_.size(); ++i) {
      const TaskResult& result = results_[i];
      const bool tried = result.time.kernel_ns > 0 && !result.champion.empty();
      table.add({task(i).name, fmt::format("{}", opened_.plan.tasks[i].steps.size()), time_text(result.time.eager_ns), tried ? time_text(result.time.kernel_ns) : "-",
                 tried ? fmt::format("{:.2f}x", result.time.eager_ns / result.time.kernel_ns) : "-", time_text(opened_.prices[i].least_ns * opened_.multiplicity(i)),
                 (result.used ? "used: " : "PyTorch's: ") + result.note});
    }
    say("\n{}: in place, all steps of a task together\n{}", opened_.program.name, table.to_string());
    say("\n  right: {}, as accurate as PyTorch's own\n", checked_);
    say("  eager: {}\n", whole_.eager.to_string());
    for (const Compiled& compiled : whole_.compiled)
      say("  torch.compile{}: {}\n", compiled.mode == "compile" ? "" : fmt::format(" ({})", compiled.mode), compiled.absent.empty() ? compiled.duel.to_string() : compiled.absent);
    if (whole_.steps.ours_ns > 0) say("  as one CUDA graph: {}, step by step\n", whole_.steps.to_string());
    if (!whole_.not_recorded.empty()) say("  no CUDA graph: {}\n", whole_.not_recorded);
    say("  plan: {}\n", (folder_ / (opened_.program.name + ".plan.json")).string());
    if (!arguments_.package.empty()) say("  package: {}\n", arguments_.package);
    if (interrupted()) say("  interrupted: the same command goes on with the search\n");
    if (arguments_.json) fmt::print("{}\n", base::canonical_json(json()));
  }

  const evaluate::ProgramSource source_;
  const OptimizeArguments& arguments_;
  Whole whole_;
};

Result<evaluate::ProgramSource> with_workload(evaluate::ProgramSource source, const TaskArguments& arguments) {
  if (arguments.workloads.size() > 1 || (arguments.workloads.size() == 1 && source.file.extension() != ".json"))
    return fail(ErrorCode::kUsage, arguments.workloads.size() > 1 ? "a program is optimised for one workload at a time" : "a program has the shapes of its inputs, and no workloads",
                "give one -w, of a definition in JSON");
  if (!arguments.workloads.empty()) source.workload = arguments.workloads.front();
  return source;
}

}  // namespace

Result<int> optimize_program(const evaluate::ProgramSource& source, const OptimizeArguments& arguments) {
  engine::RunOptions options;
  HONE_TRY_VOID(for_target(arguments.target, options));
  options.seed = arguments.seed;
  options.memory = !arguments.no_memory;
  options.threads = arguments.threads;
  HONE_TRY_VOID(check_threads(arguments.threads));
  HONE_TRY_VOID(parse_budget(arguments.budget, options));
  if (options.budget_seconds <= 0) return fail(ErrorCode::kUsage, "a program's budget is a time", "for example --budget 5m");
  options.budget_evaluations = 0;
  if (arguments.as != "package" && arguments.as != "kernelbench")
    return fail(ErrorCode::kUsage, fmt::format("there is no form \"{}\" of a program", arguments.as), "package or kernelbench");
  if (arguments.as == "kernelbench" && (source.file.extension() != ".py" || !arguments.package.ends_with(".py")))
    return fail(ErrorCode::kUsage, "ModelNew is one Python file, of a program in one", "hone optimize model.py --export model_new.py --as kernelbench");
  watch_interrupts();
  HONE_TRY(evaluate::ProgramSource with_threads, with_workload(source, arguments.task));
  with_threads.threads = arguments.threads;
  with_threads.train = arguments.train;
  with_threads.target = arguments.target;
  HONE_TRY(auto session, evaluate::ProgramSession::start(with_threads));
  HONE_TRY(OpenedProgram opened, open_program(std::move(session), options));
  return FileRun(std::move(opened), std::move(with_threads), arguments, std::move(options)).run();
}

Result<int> explain_program(const evaluate::ProgramSource& source, const ExplainArguments& arguments) {
  HONE_TRY(evaluate::ProgramSource asked, with_workload(source, arguments.task));
  asked.train = arguments.train;
  engine::RunOptions options;
  HONE_TRY_VOID(for_target(arguments.target, options));
  HONE_TRY(auto session, evaluate::ProgramSession::start(asked));
  HONE_TRY(const OpenedProgram opened, open_program(std::move(session), options));
  if (!arguments.save.empty()) HONE_TRY_VOID(write_cut(opened, arguments.save));
  if (arguments.json) fmt::print("{}\n", base::canonical_json(cut_json(opened)));
  else fmt::print("{}", cut_text(opened));
  return 0;
}

}  // namespace hone::face
