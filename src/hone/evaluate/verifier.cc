#include "hone/evaluate/verifier.h"

#include <numeric>

#include <fmt/format.h>

#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/measure/workload.h"
#include "hone/evaluate/repeat.h"
#include "hone/evaluate/settle.h"
#include "hone/kernel/check_names.h"
#include "hone/evaluate/verify/near_bound.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

/// As many as screening looks at.
constexpr int kHiddenShapes = 3;

target::BuildOptions build_options(const VerifierOptions& options) {
  target::BuildOptions build;
  build.optimisation = options.optimisation;
  return build;
}

}  // namespace

Verifier::Verifier(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, const VerifierOptions& options)
    : options_(options), loader_(task, std::move(toolchain), target::cpu_info().threads, build_options(options)),
      hidden_(loader_) {}

Result<std::unique_ptr<Verifier>> Verifier::create(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain,
                                                   const VerifierOptions& options) {
  std::unique_ptr<Verifier> verifier(new Verifier(task, std::move(toolchain), options));
  for (const task::Workload& workload : task.workloads) {
    std::vector<Family> families(std::begin(kTimedFamilies), std::end(kTimedFamilies));
    if (options.all_families) families.insert(families.end(), untimed_families(task).begin(), untimed_families(task).end());
    StageOptions stage;
    stage.calls = stage.contents = static_cast<int>(families.size());
    stage.threads = target::cpu_info().threads;
    HONE_TRY(auto made, Stage::create(task, workload.bindings, stage));
    for (int c = 0; c < made->contents(); ++c) made->draw(c, families[static_cast<size_t>(c)], made->telling_seed(families[static_cast<size_t>(c)]));
    verifier->stages_.push_back(std::move(made));
  }
  return verifier;
}

Result<target::BuildOutcome> Verifier::build(const kernel::Kernel& kernel) {
  return loader_.build(kernel, loader_.task().workloads.front().bindings);
}

Result<Verdict> Verifier::verify_on(Stage& stage, const kernel::Kernel& kernel) {
  const auto fits = kernel::applies(kernel, stage.bindings(), loader_.limits_for(kernel));
  if (!fits) return Verdict{VerdictKind::kLaunchFails, fits.error().message, {}, {}};
  if (!*fits) return Verdict{VerdictKind::kDoesNotApply, "its requirements exclude a workload", {}, {}};
  HONE_TRY(const Loaded loaded, loader_.load(kernel, stage));
  if (!loaded.session) return loaded.verdict;
  std::vector<int> slots(static_cast<size_t>(stage.calls()));
  std::iota(slots.begin(), slots.end(), 0);
  stage.poison(slots);
  std::vector<target::Call> calls;
  for (const int slot : slots) calls.push_back(stage.call(slot));
  const auto outcome = loaded.session->run(calls, options_.deadline);
  if (outcome.how != target::BatchOutcome::How::kDone) return verdict_of(outcome);
  Verdict closest;
  std::vector<NearVerdict> near;
  for (const int slot : slots) {
    Verdict verdict = stage.check(slot);
    if (is_near_bound(verdict)) {
      near.push_back({stage.content_of(slot), verdict});
      continue;
    }
    if (!verdict.accepted()) return verdict;
    if (nearer(verdict, closest)) closest = std::move(verdict);
  }
  if (Verdict verdict = check_repeated(stage, *loaded.session, slots, 1, options_.deadline); !verdict.accepted()) return verdict;
  Verdict verdict = settle(stage, *loaded.session, near, options_.deadline);
  if (!verdict.accepted() || nearer(verdict, closest)) closest = std::move(verdict);
  return closest;
}

Result<Sanitized> Verifier::sanitize(const kernel::Kernel& kernel, int most, Spent& spent) {
  const std::vector<task::Bindings> shapes = hidden_.admitted(kernel, most);
  return evaluate::sanitize(kernel, shapes, loader_, spent);
}

Result<Explanation> Verifier::explain(const kernel::Kernel& kernel, const Verdict& verdict) {
  Spent spent;
  return evaluate::explain(kernel, verdict, loader_, hidden_.secret(), spent);
}

Result<Verdict> Verifier::verify(const kernel::Kernel& kernel) {
  if (const Status named = kernel::check_names(kernel, loader_.task(), loader_.limits_for(kernel)); !named)
    return Verdict{VerdictKind::kLaunchFails, named.error().message, named.error().hint, {}};
  const auto outcome = build(kernel);
  if (!outcome) {
    if (outcome.error().code != ErrorCode::kInput) return tl::unexpected(outcome.error());
    return Verdict{VerdictKind::kLaunchFails, outcome.error().message, {}, {}};
  }
  if (const auto* failure = std::get_if<target::BuildFailure>(&*outcome))
    return Verdict{VerdictKind::kDoesNotCompile, failure->reason, failure->log, {}};
  Spent spent;
  HONE_TRY(Verdict closest, hidden_.check(kernel, kHiddenShapes, options_.thorough, spent));
  for (const auto& stage : stages_) {
    if (!closest.accepted()) break;
    HONE_TRY(Verdict verdict, verify_on(*stage, kernel));
    if (!verdict.accepted() || nearer(verdict, closest)) closest = std::move(verdict);
  }
  return closest;
}

}  // namespace hone::evaluate
