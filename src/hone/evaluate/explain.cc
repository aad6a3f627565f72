#include "hone/evaluate/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/base/trace.h"
#include "hone/evaluate/error_kind.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/sanitize.h"
#include "hone/evaluate/shape_search.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

constexpr Family kExplainingFamilies[] = {Family::kNormal, Family::kSparse, Family::kLarge, Family::kShifted, Family::kMantissa};
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

/// One call a family at one shape; nothing where the kernel is right there.
Result<std::optional<Explanation>> fails_at(const kernel::Kernel& kernel, const task::Bindings& bindings, Loader& loader) {
  StageOptions options;
  const auto tensors = static_cast<int>(loader.task().inputs.size() + loader.task().outputs.size());
  options.calls = options.contents = std::clamp(kMostEdgeRegions / tensors, 1, static_cast<int>(std::size(kExplainingFamilies)));
  options.edge = true;
  options.threads = target::cpu_info().threads;
  options.card = loader.card();
  auto made = Stage::create(loader.task(), bindings, options);
  if (!made) {
    if (made.error().code == ErrorCode::kInput) return std::optional<Explanation>();
    return tl::unexpected(made.error());
  }
  Stage& stage = **made;
  std::vector<int> slots;
  for (int slot = 0; slot < stage.calls(); ++slot) {
    stage.draw(stage.content_of(slot), kExplainingFamilies[static_cast<size_t>(slot)], base::secret_seed());
    slots.push_back(slot);
  }
  const std::string where = task::bindings_text(bindings);
  HONE_TRY(const Loaded loaded, loader.load(kernel, stage));
  if (!loaded.session) return std::optional(Explanation{fmt::format("at {}: {}", where, loaded.verdict.reason), loaded.verdict.detail, true});
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) calls.push_back(stage.call(slot));
  const target::BatchOutcome outcome = loaded.session->run(calls, kExplainDeadline);
  if (outcome.how != target::BatchOutcome::How::kDone)
    return std::optional(Explanation{fmt::format("at {}: {}", where, verdict_of(outcome).reason), outcome.output, true});
  for (const int slot : slots) {
    const Verdict verdict = stage.check(slot);
    if (verdict.accepted()) continue;
    Explanation found{fmt::format("at {}, {} inputs: {}", where, name_of(kExplainingFamilies[static_cast<size_t>(slot)]), name_of(verdict.kind)), verdict.reason, true};
    for (size_t output = 0; output < loader.task().outputs.size(); ++output) {
      const WrongOutput wrong = stage.beside(slot, output, slot > 0 ? std::optional(slot - 1) : std::nullopt);
      if (std::find(wrong.wrong.begin(), wrong.wrong.end(), true) == wrong.wrong.end()) continue;
      found.detail += fmt::format("\n{}: {}", loader.task().outputs[output].first, kind_of_error(wrong));
    }
    return std::optional(std::move(found));
  }
  return std::optional<Explanation>();
}

bool says_itself(VerdictKind kind) { return kind == VerdictKind::kDoesNotCompile || kind == VerdictKind::kDoesNotApply; }

std::string bounded_report(const std::string& text) {
  return text.size() > kReportShown ? fmt::format("{}\n…", std::string_view(text).substr(0, kReportShown)) : text;
}

}  // namespace

Explanation told(const Verdict& verdict) {
  if (says_itself(verdict.kind)) return {verdict.reason, verdict.detail, true};
  switch (verdict.kind) {
    case VerdictKind::kAccepted: return {};
    case VerdictKind::kWrong: return {"answers are wrong on secret inputs", "", false};
    case VerdictKind::kLessAccurate:
      return {verdict.accuracy ? fmt::format("the error of output {} is {:.3g} times what it may be", verdict.accuracy->output,
                                             verdict.accuracy->candidate / std::max(verdict.accuracy->bound, 1e-300))
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
  for (const task::Bindings& bindings : shapes) {
    HONE_TRY(auto found, fails_at(kernel, bindings, loader));
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
  return Explanation{plain.reason, fmt::format("It did not show again on {} shapes and inputs made to explain it: mind odd and large extents, large and special values, "
                                               "sums of many terms.", shapes.size()), false};
}

}  // namespace hone::evaluate
