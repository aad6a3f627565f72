#include "hone/face/evidence/replay.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/clock.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/version.h"
#include "hone/kernel/write_header.h"

namespace hone::face::evidence {
namespace {

using State = Line::State;

Result<Binary> binary_of(evaluate::Evaluator& evaluator, const std::string& of, const kernel::Kernel& kernel) {
  HONE_TRY(const target::BuildOutcome outcome, evaluator.build(kernel));
  if (const auto* failure = std::get_if<target::BuildFailure>(&outcome)) return Binary{of, "", "", "", failure->reason};
  const auto& build = std::get<target::Build>(outcome);
  Binary binary{of, build.hash, build.code, "", build.command};
  if (const auto content = base::read_file(build.artifact)) binary.content = base::content_hash(*content);
  return binary;
}

bool took_part(const evaluate::Promotion& promotion, const std::string& opponent) {
  return std::any_of(promotion.workloads.begin(), promotion.workloads.end(), [&](const evaluate::WorkloadResult& workload) {
    return std::any_of(workload.opponents.begin(), workload.opponents.end(), [&](const evaluate::OpponentResult& o) { return o.opponent == opponent; });
  });
}

/// Of the kernel, and of opponents that are kernels of ours and took part.
Result<std::vector<Binary>> binaries_of(const engine::Workbench& bench, evaluate::Evaluator& evaluator, const task::Task& task, const kernel::Kernel& kernel,
                                        const evaluate::Promotion& promotion) {
  std::vector<Binary> binaries;
  HONE_TRY(Binary own, binary_of(evaluator, "kernel", kernel));
  binaries.push_back(std::move(own));
  if (!bench.target().has_clock()) return binaries;
  HONE_TRY(const auto opponents, bench.opponents(task, "naive"));
  for (const evaluate::Opponent& opponent : opponents) {
    if (!opponent.kernel || !took_part(promotion, opponent.name)) continue;
    HONE_TRY(Binary binary, binary_of(evaluator, opponent.name, *opponent.kernel));
    binaries.push_back(std::move(binary));
  }
  return binaries;
}

Result<evaluate::Promotion> judged(evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, const std::vector<evaluate::Opponent>& opponents) {
  HONE_TRY(const evaluate::Screening screening, evaluator.screen(kernel));
  if (screening.verdict.accepted()) return evaluator.promote(kernel, opponents);
  evaluate::Promotion refused;
  refused.verdict = screening.verdict;
  return refused;
}

Evidence basis(const task::Task& task, const kernel::Kernel& kernel, const target::Place& place, const evaluate::Promotion& promotion) {
  Evidence evidence;
  evidence.hone = base::kVersion;
  evidence.unix_ms = base::system_clock().unix_ms();
  evidence.task = task.name, evidence.task_hash = task.hash(), evidence.task_toml = task.to_toml();
  evidence.kernel_hash = kernel.hash(), evidence.source = kernel::with_config(kernel, kernel.config), evidence.plan = kernel::header_comment(kernel.header);
  evidence.place = place;
  evidence.promotion = promotion;
  return evidence;
}

Line compared(const std::string& what, const std::string& there, const std::string& here, State otherwise) {
  if (there == here) return {State::kHolds, what, here};
  return {otherwise, what, fmt::format("{}, here {}", there, here)};
}

/// Machine code is compared where the same compiler made it.
Line binary_line(const Binary& there, const Binary& here, bool same_toolchain) {
  const std::string what = "binary of " + there.of;
  const std::string& mine = here.code.empty() ? here.content : here.code;
  const std::string& theirs = here.code.empty() ? there.content : there.code;
  if (here.build.empty()) return {State::kDiffers, what, "it does not build here: " + here.command};
  if (theirs == mine) return {State::kHolds, what, fmt::format("the same machine code, {}", base::short_hash(mine))};
  return {same_toolchain ? State::kDiffers : State::kElsewhere, what,
          fmt::format("{}, here {}{}", base::short_hash(theirs), base::short_hash(mine), same_toolchain ? "" : ", of another compiler or device")};
}

const evaluate::OpponentResult* find(const evaluate::Promotion& promotion, const std::string& workload, const std::string& opponent) {
  for (const evaluate::WorkloadResult& w : promotion.workloads)
    for (const evaluate::OpponentResult& o : w.opponents)
      if (w.workload == workload && o.opponent == opponent) return &o;
  return nullptr;
}

std::string interval(const evaluate::Ratio& ratio) { return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.median, ratio.low, ratio.high); }
bool overlap(const evaluate::Ratio& a, const evaluate::Ratio& b) { return a.low <= b.high && b.low <= a.high; }

std::vector<Line> ratio_lines(const evaluate::Promotion& there, const evaluate::Promotion& here, bool asked, bool same_device) {
  std::vector<Line> lines;
  for (const evaluate::WorkloadResult& workload : there.workloads)
    for (const evaluate::OpponentResult& opponent : workload.opponents) {
      const std::string what = fmt::format("ratio to {} at {}", opponent.opponent, workload.workload);
      const evaluate::OpponentResult* mine = find(here, workload.workload, opponent.opponent);
      if (!mine) {
        lines.push_back({State::kElsewhere, what, fmt::format("{}, not timed here{}", interval(opponent.ratio), asked ? "" : " (--opponents)")});
        continue;
      }
      const std::string both = fmt::format("{}, here {}", interval(opponent.ratio), interval(mine->ratio));
      if (mine->ratio.low <= 0 || !std::isfinite(mine->ratio.high)) lines.push_back({State::kElsewhere, what, both + ", which says nothing: too few pairs for this noise"});
      else if (overlap(opponent.ratio, mine->ratio)) lines.push_back({State::kHolds, what, both});
      else lines.push_back({same_device ? State::kDiffers : State::kElsewhere, what, both + (same_device ? "" : ", on another device")});
    }
  return lines;
}

}  // namespace

Result<Evidence> make_evidence(const engine::Workbench& bench, const task::Task& task, const kernel::Kernel& kernel, const std::string& opponents, int threads,
                               const evaluate::EvaluatorOptions& options) {
  HONE_TRY(const std::vector<evaluate::Opponent> against, bench.opponents(task, opponents));
  HONE_TRY(const std::unique_ptr<evaluate::Evaluator> evaluator, bench.evaluator(task, options));
  HONE_TRY(const evaluate::Promotion promotion, judged(*evaluator, kernel, against));
  Evidence evidence = basis(task, kernel, bench.place(), promotion);
  evidence.threads = threads;
  HONE_TRY(evidence.binaries, binaries_of(bench, *evaluator, task, kernel, promotion));
  return evidence;
}

Result<Evidence> evidence_of_run(const engine::Workbench& bench, const task::Task& task, const kernel::Kernel& champion, const evaluate::Promotion& promotion,
                                 const target::Place& there, const std::string& run, const evaluate::EvaluatorOptions& options) {
  const target::Place& here = bench.place();
  if (there.device != here.device || there.toolchain != here.toolchain)
    return fail(ErrorCode::kInput, fmt::format("run {} was made on {} with {}; here is {} with {}", run, there.device, there.toolchain, here.device, here.toolchain),
                "have the evidence written where the run was made, or the kernel judged here: hone evidence KERNEL TASK -o FILE");
  HONE_TRY(const std::unique_ptr<evaluate::Evaluator> evaluator, bench.evaluator(task, options));
  Evidence evidence = basis(task, champion, there, promotion);
  evidence.run = run;
  HONE_TRY(evidence.binaries, binaries_of(bench, *evaluator, task, champion, promotion));
  return evidence;
}

std::string_view name_of(Line::State state) {
  switch (state) {
    case Line::kHolds: return "holds";
    case Line::kDiffers: return "differs";
    case Line::kElsewhere: return "not told";
  }
  return "";
}

bool all_hold(const std::vector<Line>& lines) {
  return std::none_of(lines.begin(), lines.end(), [](const Line& line) { return line.state == Line::kDiffers; });
}

nlohmann::json to_json(const std::vector<Line>& lines) {
  nlohmann::json all = nlohmann::json::array();
  for (const Line& line : lines) all.push_back({{"state", name_of(line.state)}, {"what", line.what}, {"says", line.says}});
  return {{"holds", all_hold(lines)}, {"lines", all}};
}

std::vector<Line> check_parts(const Evidence& evidence) {
  std::vector<Line> lines;
  lines.push_back(evidence.sealed ? Line{State::kHolds, "file", "as it was written"} : Line{State::kDiffers, "file", "it was changed after it was written"});
  const auto task = task::parse_task(evidence.task_toml, "task");
  lines.push_back(task ? compared("task", evidence.task_hash, task->hash(), State::kDiffers) : Line{State::kDiffers, "task", task.error().to_string()});
  const auto kernel = kernel::parse_kernel(evidence.source, "source");
  lines.push_back(kernel ? compared("source", evidence.kernel_hash, kernel->hash(), State::kDiffers) : Line{State::kDiffers, "source", kernel.error().to_string()});
  if (kernel && kernel::header_comment(kernel->header) != evidence.plan) lines.push_back({State::kDiffers, "plan", "it is not the source's"});
  return lines;
}

Result<std::vector<Line>> replay(const Evidence& evidence, const engine::Workbench& bench, const std::string& opponents, const evaluate::EvaluatorOptions& options) {
  HONE_TRY(const task::Task task, task::parse_task(evidence.task_toml, "task"));
  HONE_TRY(const kernel::Kernel kernel, kernel::parse_kernel(evidence.source, "source"));
  const target::Place& here = bench.place();
  const bool same_device = evidence.place.device == here.device;
  const bool same_toolchain = same_device && evidence.place.toolchain == here.toolchain;
  std::vector<Line> lines;
  lines.push_back(compared("hone", evidence.hone, base::kVersion, State::kElsewhere));
  lines.push_back(compared("device", evidence.place.device, here.device, State::kElsewhere));
  lines.push_back(compared("toolchain", evidence.place.toolchain, here.toolchain, State::kElsewhere));
  HONE_TRY(const std::vector<evaluate::Opponent> against, bench.opponents(task, opponents));
  HONE_TRY(const std::unique_ptr<evaluate::Evaluator> evaluator, bench.evaluator(task, options));
  HONE_TRY(const std::vector<Binary> binaries, binaries_of(bench, *evaluator, task, kernel, evidence.promotion));
  for (const Binary& there : evidence.binaries) {
    const auto mine = std::find_if(binaries.begin(), binaries.end(), [&](const Binary& b) { return b.of == there.of; });
    if (mine != binaries.end()) lines.push_back(binary_line(there, *mine, same_toolchain));
    else lines.push_back({State::kElsewhere, "binary of " + there.of, "it is not built here"});
  }
  HONE_TRY(const evaluate::Promotion promotion, judged(*evaluator, kernel, against));
  Line verdict = compared("verdict", std::string(evaluate::name_of(evidence.promotion.verdict.kind)), std::string(evaluate::name_of(promotion.verdict.kind)), State::kDiffers);
  if (!promotion.verdict.accepted()) verdict.says += ": " + promotion.verdict.reason;
  lines.push_back(std::move(verdict));
  const std::vector<Line> ratios = ratio_lines(evidence.promotion, promotion, opponents != "none", same_device);
  lines.insert(lines.end(), ratios.begin(), ratios.end());
  return lines;
}

}  // namespace hone::face::evidence
