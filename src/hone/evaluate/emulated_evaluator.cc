// Judging without a device: a kernel for a GPU runs on the emulator, which knows right from wrong and nothing
// of time. Everything that has to do with time is absent from what this evaluator says.
#include <algorithm>

#include "hone/evaluate/check_task.h"
#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/sanitize.h"
#include "hone/evaluate/verifier.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

constexpr int kEmulatedShapesSanitized = 3;
/// For a workload's calls together.
constexpr std::chrono::seconds kEmulatedRunDeadline{300};

/// Of languages whose kernels the emulator runs otherwise than a card does: what its verdict says nothing of.
struct Unchecked {
  kernel::Language language;
  const char* what;
};
constexpr Unchecked kUnchecked[] = {
    {kernel::Language::kTriton, "a check of the layouts, pipelines and machine code that Triton makes of its TTIR, which is what ran"},
    {kernel::Language::kTileLang, "a check of matrix units (and their TF32), swizzled shared memory, asynchronous copies and producer warps: "
                                  "what ran is a plain lowering of the tile program"},
};

class EmulatedEvaluator final : public Evaluator {
 public:
  EmulatedEvaluator(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, EvaluatorOptions options,
                    std::unique_ptr<Verifier> verifier)
      : task_(task), toolchain_(std::move(toolchain)), options_(std::move(options)), verifier_(std::move(verifier)) {}

  Result<target::BuildOutcome> build(const kernel::Kernel& kernel) override { return verifier_->build(kernel); }

  Result<Screening> screen(const kernel::Kernel& kernel) override {
    if (options_.interrupted && options_.interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    Screening screening;
    {
      const Stopwatch watch(screening.spent.build);
      const auto built = build(kernel);
      if (built)
        if (const auto* build = std::get_if<target::Build>(&*built)) screening.build_hash = build->hash, screening.toolchain = build->toolchain;
    }
    const Stopwatch watch(screening.spent.verify);
    HONE_TRY(screening.verdict, verifier_->verify(kernel));
    if (!screening.verdict.accepted()) return screening;
    screening.ratio.assign(task_.workloads.size(), 1);
    screening.score = 1;
    return screening;
  }

  Result<Explanation> explain(const kernel::Kernel& kernel, const Verdict& verdict) override { return verifier_->explain(kernel, verdict); }
  Status set_yardstick(const kernel::Kernel&) override { return {}; }

  Result<Promotion> promote(const kernel::Kernel& kernel, const std::vector<Opponent>&) override {
    Promotion promotion;
    const Stopwatch watch(promotion.spent.verify);
    // Fresh inputs, fresh hidden shapes, fresh processes.
    VerifierOptions options = verifier_options();
    options.all_families = true;
    HONE_TRY(const auto fresh, Verifier::create(task_, toolchain_, options));
    HONE_TRY(promotion.verdict, fresh->verify(kernel));
    promotion.only_at = fresh->only_at();
    if (!promotion.verdict.accepted()) return promotion;
    HONE_TRY(const Sanitized sanitized, fresh->sanitize(kernel, kEmulatedShapesSanitized, promotion.spent));
    promotion.sanitized_shapes = sanitized.shapes;
    promotion.sanitizers_absent = sanitized.unavailable;
    if (!sanitized.verdict.accepted()) promotion.verdict = sanitized.verdict;
    promotion.absent.emplace_back("all opponents: nothing is timed on the emulator");
    for (const Unchecked& its : kUnchecked)
      if (its.language == kernel.header.language) promotion.absent.emplace_back(its.what);
    return promotion;
  }

  std::vector<double> bounds_ns() const override { return std::vector<double>(task_.workloads.size(), 0); }

  static VerifierOptions verifier_options() {
    VerifierOptions options;
    options.deadline = kEmulatedRunDeadline;
    return options;
  }

 private:
  const task::Task& task_;
  std::shared_ptr<target::Toolchain> toolchain_;
  EvaluatorOptions options_;
  std::unique_ptr<Verifier> verifier_;
};

}  // namespace

Result<std::unique_ptr<Evaluator>> emulated_evaluator(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain,
                                                      const EvaluatorOptions& options) {
  HONE_TRY_VOID(check_task(task, options.facts.get()));
  HONE_TRY(auto verifier, Verifier::create(task, toolchain, EmulatedEvaluator::verifier_options()));
  return std::unique_ptr<Evaluator>(std::make_unique<EmulatedEvaluator>(task, std::move(toolchain), options, std::move(verifier)));
}

}  // namespace hone::evaluate
