// Verification alone: the checks that screening makes (hidden shapes, the workloads with every timed family),
// and no clock. For questions of correctness about many kernels, such as mutation tests. One thread, but
// build() may be called from several at once.
#pragma once
#include <memory>

#include "hone/evaluate/explain.h"
#include "hone/evaluate/hidden_trial.h"
#include "hone/evaluate/loader.h"
#include "hone/evaluate/sanitize.h"
#include "hone/evaluate/verdict.h"

namespace hone::evaluate {

struct VerifierOptions {
  std::string optimisation = "-O3";  ///< of builds: lower ones compile sooner
  /// For a workload's calls together, beside what their traffic takes; slow kernels need it.
  std::chrono::seconds deadline{20};
  bool all_families = false;  ///< at the workloads too, as a promotion has it
  /// As a promotion looks for hidden shapes: dozens at which a plan takes other ways, on the emulator long ones, and calls that come again.
  /// Without, as screening does on a CPU, which takes a fraction of the time.
  bool thorough = true;
};

class Verifier {
 public:
  /// Draws inputs. The task must outlive the verifier; tests of the task itself are the caller's
  /// (self_test).
  [[nodiscard]] static Result<std::unique_ptr<Verifier>> create(const task::Task& task,
                                                                std::shared_ptr<target::Toolchain> toolchain,
                                                                const VerifierOptions& options);

  /// An Error means that the verifier could not do its work; whatever the kernel does wrong is a verdict.
  [[nodiscard]] Result<Verdict> verify(const kernel::Kernel& kernel);
  [[nodiscard]] Result<target::BuildOutcome> build(const kernel::Kernel& kernel);
  /// Why verify() refused a kernel (explain.h).
  [[nodiscard]] Result<Explanation> explain(const kernel::Kernel& kernel, const Verdict& verdict);
  /// As HiddenTrial::only_at(), of the kernel that was verified last.
  [[nodiscard]] std::vector<std::string> only_at() const { return hidden_.only_at(); }
  /// Built with sanitizers, on up to `most` hidden shapes. For a kernel that verify() accepts.
  [[nodiscard]] Result<Sanitized> sanitize(const kernel::Kernel& kernel, int most, Spent& spent);

 private:
  Verifier(const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, const VerifierOptions& options);
  [[nodiscard]] Result<Verdict> verify_on(Stage& stage, const kernel::Kernel& kernel);

  VerifierOptions options_;
  Loader loader_;
  HiddenTrial hidden_;
  std::vector<std::unique_ptr<Stage>> stages_;  ///< of each workload
};

}  // namespace hone::evaluate
