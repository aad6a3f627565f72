#include "hone/evaluate/explain.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/error_kind.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/repeat.h"
#include "hone/evaluate/sanitize.h"
#include "hone/evaluate/shape_search.h"
#include "hone/evaluate/verify/telling.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

/// A shape costs tens of milliseconds on a CPU and a second on the emulator.
constexpr size_t kShapesTried = 6, kSidesTried = 4;
constexpr std::chrono::seconds kExplainDeadline{30};
constexpr int64_t kMostElementsExplained = 1 << 13;
constexpr double kMostOperationsExplained = 1 << 20;
constexpr size_t kReportShown = 3000;

/// Shapes for this alone: small and odd ones, and the sides of what the kernel's plan tells apart.
std::vector<task::Bindings> own_shapes(const kernel::Kernel& kernel, Loader& loader, const std::set<task::Bindings>& secret) {
  const task::Task& task = loader.task();
  const kernel::Limits limits = loader.limits_for(kernel);
  const uint64_t seed = base::secret_seed();
  std::vector<task::Bindings> all;
  const auto add = [&](task::Bindings bindings) {
    for (const std::string& symbol : kernel.header.specialise)
      if (const auto it = task.workloads.front().bindings.find(symbol); it != task.workloads.front().bindings.end()) bindings[symbol] = it->second;
    const auto fits = kernel::applies(kernel, bindings, limits);
    if (fits && *fits && !secret.contains(bindings) && std::find(all.begin(), all.end(), bindings) == all.end()) all.push_back(std::move(bindings));
  };
  for (task::Bindings& bindings : hidden_shapes(task, seed, kMostElementsExplained, kMostElementsExplained))
    if (all.size() < kShapesTried) add(std::move(bindings));
  ShapeSearch search;
  search.most = kSidesTried;
  search.most_elements = kMostElementsExplained;
  search.most_operations = kMostOperationsExplained;
  for (task::Bindings& bindings : untried_sides(kernel, task, limits, all, seed + 1, search)) add(std::move(bindings));
  // The workloads are nobody's secret.
  for (const task::Workload& workload : task.workloads)
    if (is_small(task, workload.bindings, kMostElementsExplained * 16, kMostOperationsExplained * 16)) add(workload.bindings);
  return all;
}

/// In which order families are tried: the one that the verdict names first.
std::vector<Family> families_of(const task::Task& task, const Verdict& verdict) {
  std::vector<Family> all(std::begin(kAllFamilies), std::end(kAllFamilies));
  if (task.nan_policy) all.push_back(Family::kNonFinite);
  const std::string first = verdict.clue ? verdict.clue->inputs : verdict.accuracy ? verdict.accuracy->family : "";
  std::ranges::stable_partition(all, [&](Family family) { return first.starts_with(name_of(family)); });
  return all;
}

/// Draws what a hidden trial may draw besides its families; nothing of that kind for this task: false.
bool draw_otherwise(Stage& stage, int content, size_t way, const kernel::Kernel& kernel, bool denormals) {
  const uint64_t seed = base::secret_seed();
  if (way == 1) return stage.draw_telling(content, seed, numbers_in(kernel.source), denormals);
  if (way == 2) return stage.draw_lines(content, seed, denormals);
  stage.draw_alike(content, seed);
  return true;
}
constexpr size_t kOtherWays = 3;

/// What was drawn for the slots is played, blocks in every order; nothing where the kernel is right. `inputs`: how each was drawn.
Result<std::optional<Explanation>> fails_on(const std::vector<int>& slots, const std::vector<std::string>& inputs, Stage& stage, target::Session& session, const task::Task& task) {
  const std::string where = task::bindings_text(stage.bindings());
  base::Rng rng(base::secret_seed());
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) {
    calls.push_back(stage.call(slot));
    if (calls.size() == 1) continue;
    calls.back().order = target::kBlockOrders[rng.below(std::size(target::kBlockOrders))];
    calls.back().order_seed = rng.next_u64();
  }
  const target::BatchOutcome outcome = session.run(calls, kExplainDeadline);
  if (outcome.how != target::BatchOutcome::How::kDone)
    return std::optional(Explanation{fmt::format("at {}: {}", where, verdict_of(outcome).reason), outcome.output, true});
  for (size_t i = 0; i < slots.size(); ++i) {
    const int slot = slots[i];
    const Verdict verdict = stage.check(slot);
    if (verdict.accepted()) continue;
    Explanation found{fmt::format("at {}, {} inputs: {}", where, inputs[i], name_of(verdict.kind)), verdict.reason, true};
    for (size_t output = 0; output < task.outputs.size(); ++output) {
      const WrongOutput wrong = stage.beside(slot, output, std::span(slots).first(i));
      if (std::find(wrong.wrong.begin(), wrong.wrong.end(), true) == wrong.wrong.end()) continue;
      found.detail += fmt::format("\n{}: {}", task.outputs[output].first, kind_of_error(wrong));
    }
    if (calls[i].order != target::BlockOrder::kUsual && is_right_in_usual_order(stage, session, slot, kExplainDeadline)) found.detail += fmt::format("\n{}", kHangsOnOrder);
    return std::optional(std::move(found));
  }
  return std::optional<Explanation>();
}

/// One call a family at one shape, then inputs of other kinds; nothing where the kernel is right there.
Result<std::optional<Explanation>> fails_at(const kernel::Kernel& kernel, const task::Bindings& bindings, std::span<const Family> families, Loader& loader) {
  StageOptions options;
  const auto tensors = static_cast<int>(loader.task().inputs.size() + loader.task().outputs.size());
  options.calls = options.contents = std::clamp(kMostEdgeRegions / tensors, 1, static_cast<int>(families.size()));
  options.edge = true;
  options.threads = target::cpu_info().threads;
  options.card = loader.card();
  auto made = Stage::create(loader.task(), bindings, options);
  if (!made) {
    if (made.error().code == ErrorCode::kInput) return std::optional<Explanation>();
    return tl::unexpected(made.error());
  }
  Stage& stage = **made;
  HONE_TRY(const Loaded loaded, loader.load(kernel, stage));
  if (!loaded.session) return std::optional(Explanation{fmt::format("at {}: {}", task::bindings_text(bindings), loaded.verdict.reason), loaded.verdict.detail, true});
  std::vector<int> slots;
  std::vector<std::string> inputs;
  for (int slot = 0; slot < stage.calls(); ++slot) {
    const Family family = families[static_cast<size_t>(slot)];
    stage.draw(stage.content_of(slot), family, stage.telling_seed(family));
    slots.push_back(slot);
    inputs.emplace_back(name_of(family));
  }
  HONE_TRY(auto found, fails_on(slots, inputs, stage, *loaded.session, loader.task()));
  if (found) return found;
  slots.clear(), inputs.clear();
  const bool denormals = !loader.card() && !loader.emulates(kernel);
  for (size_t way = 0; way < kOtherWays; ++way) {
    const auto slot = static_cast<int>(slots.size());
    if (slot == stage.calls() || !draw_otherwise(stage, stage.content_of(slot), way, kernel, denormals)) continue;
    slots.push_back(slot);
    inputs.emplace_back(std::array{"sorted or repeating", "telling", "lines of one kind in"}[way]);
  }
  return fails_on(slots, inputs, stage, *loaded.session, loader.task());
}

bool says_itself(VerdictKind kind) { return kind == VerdictKind::kDoesNotCompile || kind == VerdictKind::kDoesNotApply; }

std::string bounded_report(const std::string& text) {
  return text.size() > kReportShown ? fmt::format("{}\n…", std::string_view(text).substr(0, kReportShown)) : text;
}

Explanation told_of_wrong(const std::optional<Clue>& clue) {
  if (!clue) return {"answers are wrong on secret inputs", "", false};
  std::string reason = fmt::format("output {} is wrong", clue->output);
  reason += clue->workload.empty() ? " at a secret shape" : fmt::format(" at workload {}", clue->workload);
  if (!clue->inputs.empty()) reason += fmt::format(", on secret inputs ({})", clue->inputs);
  return {std::move(reason), clue->looks.empty() ? "" : fmt::format("{}: {}", clue->output, clue->looks), false};
}

}  // namespace

Explanation told(const Verdict& verdict) {
  if (says_itself(verdict.kind)) return {verdict.reason, verdict.detail, true};
  switch (verdict.kind) {
    case VerdictKind::kAccepted: return {};
    case VerdictKind::kWrong: return told_of_wrong(verdict.clue);
    case VerdictKind::kLessAccurate:
      return {verdict.accuracy ? fmt::format("the error of output {} is {:.3g} times what it may be, on {} inputs", verdict.accuracy->output,
                                             verdict.accuracy->candidate / std::max(verdict.accuracy->bound, 1e-300), verdict.accuracy->family)
                               : "errors are larger than they may be", "", false};
    case VerdictKind::kOutOfBounds: return {"it touches memory outside its tensors, on secret inputs", "", false};
    case VerdictKind::kDoesNotFinish: return {"it does not finish, on secret inputs", "", false};
    case VerdictKind::kNotRepeatable: return {"two calls on equal inputs give different answers", "", false};
    case VerdictKind::kCheating: return {"it does what no kernel has to do: system calls, or telling when it is watched", "", false};
    default: return {"it ends before it is done, on secret inputs", "", false};
  }
}

Result<Explanation> explain(const kernel::Kernel& kernel, const Verdict& verdict, Loader& loader, const std::set<task::Bindings>& secret, Spent& spent) {
  const base::Span span("explain a refusal");
  const Explanation plain = told(verdict);
  if (says_itself(verdict.kind) || verdict.accepted()) return plain;
  const Stopwatch watch(spent.verify);
  const std::vector<task::Bindings> shapes = own_shapes(kernel, loader, secret);
  const std::vector<Family> families = families_of(loader.task(), verdict);
  for (const task::Bindings& bindings : shapes) {
    HONE_TRY(auto found, fails_at(kernel, bindings, families, loader));
    if (!found) continue;
    // Where it fails a sanitizer may name the line; a wrong answer too may come of a step out of bounds. A card has no such build.
    if (!loader.card()) {
      HONE_TRY(const Sanitized watched, sanitize(kernel, {&bindings, 1}, loader, spent));
      const std::string finding = first_finding(watched.verdict.detail);
      if (!finding.empty()) found->detail = fmt::format("built with sanitizers: {}\n{}\n{}", finding, finding_frames(watched.verdict.detail), found->detail);
    }
    found->detail = bounded_report(found->detail);
    return std::move(*found);
  }
  // What only shows under sanitizers.
  if (!loader.card() && !shapes.empty()) {
    HONE_TRY(const Sanitized watched, sanitize(kernel, shapes, loader, spent));
    if (const std::string finding = first_finding(watched.verdict.detail); !watched.verdict.accepted() && !finding.empty())
      return Explanation{"built with sanitizers: " + finding, bounded_report(finding_frames(watched.verdict.detail)), true};
  }
  std::string detail = plain.detail.empty() ? "" : plain.detail + "\n";
  detail += fmt::format("It did not show again on {} shapes and inputs made to explain it", shapes.size());
  // Without a clue, what it mostly is.
  detail += verdict.clue ? ": it is rare, or needs other extents." : ": mind odd and large extents, large and special values, sums of many terms.";
  return Explanation{plain.reason, std::move(detail), false};
}

}  // namespace hone::evaluate
