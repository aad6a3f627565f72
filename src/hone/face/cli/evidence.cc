// hone evidence: what a claim about a kernel rests on, as one file; and what of such a file holds here.
#include <cstdio>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/engine/run.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/face/evidence/replay.h"
#include "hone/face/report/run_log.h"

namespace hone::face {
namespace {

evaluate::EvaluatorOptions looking_for(double seconds) {
  evaluate::EvaluatorOptions options = looking();
  if (seconds > 0) options.sampling_seconds = seconds;
  return options;
}

/// Of a run's champion: kernel, task and promotion as the archive has them.
Result<evidence::Evidence> from_run(const EvidenceArguments& arguments) {
  HONE_TRY(archive::Store store, read_archive());
  HONE_TRY(const archive::RunInfo run, store.run(arguments.subject));
  if (run.champion.empty()) return fail(ErrorCode::kInput, fmt::format("run {} has no champion", run.id), "hone evidence KERNEL TASK -o FILE takes any kernel");
  HONE_TRY(const task::Task task, task::parse_task(run.task_toml, "run " + run.id));
  HONE_TRY(const kernel::Kernel kernel, kernel_of(run.champion, &store));
  HONE_TRY(const auto events, store.events(run.id));
  const report::RunLog log = report::read_log(run, events);
  const report::PromotionEvent* promoted = log.champion_promotion();
  if (!promoted) return fail(ErrorCode::kInput, fmt::format("run {} holds no promotion of its champion", run.id), "hone resume goes on with it");
  HONE_TRY(const engine::RunOptions options, engine::RunOptions::from_json(run.options_json));
  HONE_TRY(const auto bench, workbench_for(run.target, kernel, options.threads));
  const target::Place there{run.target, log.device, log.toolchain};
  watch_interrupts();
  HONE_TRY(evidence::Evidence made, evidence::evidence_of_run(*bench, task, kernel, promoted->promotion, there, run.id, looking_for(arguments.seconds)));
  made.threads = options.threads;
  return made;
}

Result<evidence::Evidence> from_kernel(const EvidenceArguments& arguments) {
  HONE_TRY(const task::Task task, runnable_task_of(arguments.task));
  HONE_TRY(const kernel::Kernel kernel, known_kernel(arguments.subject));
  HONE_TRY(const auto bench, workbench_for(arguments.target, kernel, arguments.threads));
  watch_interrupts();
  return evidence::make_evidence(*bench, task, kernel, arguments.opponents.empty() ? "all" : arguments.opponents, arguments.threads, looking_for(arguments.seconds));
}

Result<int> write_evidence(const EvidenceArguments& arguments) {
  if (arguments.output.empty()) return fail(ErrorCode::kUsage, "-o FILE is needed: where the evidence is to be written", "see hone evidence --help");
  const bool run = arguments.task.file.empty() && arguments.task.expression.empty();
  HONE_TRY(const evidence::Evidence made, run ? from_run(arguments) : from_kernel(arguments));
  HONE_TRY_VOID(base::write_file_atomic(arguments.output, evidence::to_text(made)));
  const evaluate::Verdict& verdict = made.promotion.verdict;
  fmt::print("{}: {}{}\n", arguments.output, evaluate::name_of(verdict.kind), verdict.accepted() ? "" : ", " + verdict.reason);
  return verdict.accepted() ? 0 : 1;
}

Result<int> check_evidence(const EvidenceArguments& arguments) {
  HONE_TRY(const std::string text, read_text(arguments.check, "evidence"));
  HONE_TRY(const evidence::Evidence given, evidence::evidence_from(text, arguments.check));
  std::vector<evidence::Line> lines = evidence::check_parts(given);
  const auto kernel = kernel::parse_kernel(given.source, arguments.check);
  const auto task = task::parse_task(given.task_toml, arguments.check);
  if (kernel && task) {
    HONE_TRY_VOID(check_fits(*task, arguments.check));
    HONE_TRY(const auto bench, workbench_for(arguments.target.empty() ? given.place.target : arguments.target, *kernel, arguments.threads > 0 ? arguments.threads : given.threads));
    watch_interrupts();
    HONE_TRY(const auto more, evidence::replay(given, *bench, arguments.opponents.empty() ? "none" : arguments.opponents, looking_for(arguments.seconds)));
    lines.insert(lines.end(), more.begin(), more.end());
  }
  Table table({"", "what", "there, and here"});
  for (const evidence::Line& line : lines) table.add({std::string(evidence::name_of(line.state)), line.what, line.says});
  const bool all = evidence::all_hold(lines);
  fmt::print(arguments.json ? stderr : stdout, "{}\n{}\n", table.to_string(), all ? "What can be told here holds." : "Not all of it holds here.");
  if (arguments.json) fmt::print("{}\n", base::canonical_json(evidence::to_json(lines)));
  return all ? 0 : 1;
}

}  // namespace

Result<int> evidence_of(const EvidenceArguments& arguments) {
  if (arguments.subject.empty() == arguments.check.empty())
    return fail(ErrorCode::kUsage, "a kernel with its task, a run, or --check FILE", "for example hone evidence last -o softmax.evidence.json");
  return arguments.check.empty() ? write_evidence(arguments) : check_evidence(arguments);
}

}  // namespace hone::face
