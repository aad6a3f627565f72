// Who judges the kernels of tests that ask for right answers: in `make check` a verifier with the hidden shapes of a screening,
// in `make check-long` one with those of a promotion, or, of kernels for a CPU, the evaluator, which takes times too.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/verifier.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::pattern::judge_testing {

/// Of verifiers that emulators run for.
inline evaluate::VerifierOptions emulated_options() {
  evaluate::VerifierOptions options;
  options.deadline = std::chrono::seconds(300);
  options.thorough = base::testing::in_long_part();
  return options;
}

/// The task must outlive it.
class Judge {
 public:
  /// Of kernels in C++.
  [[nodiscard]] static Result<Judge> create(const task::Task& task) {
    Judge judge;
    std::shared_ptr<target::Toolchain> toolchain = target::cpp_toolchain().value();
    if (base::testing::in_long_part()) {
      evaluate::EvaluatorOptions options;
      options.repetitions = 1;
      HONE_TRY(judge.evaluator_, evaluate::cpu_evaluator(task, std::move(toolchain), options));
    } else {
      evaluate::VerifierOptions options;
      options.thorough = false;
      HONE_TRY(judge.verifier_, evaluate::Verifier::create(task, std::move(toolchain), options));
    }
    return judge;
  }

  /// Of kernels that an emulator runs.
  [[nodiscard]] static Result<Judge> create(const task::Task& task, std::shared_ptr<target::Toolchain> emulator) {
    Judge judge;
    HONE_TRY(judge.verifier_, evaluate::Verifier::create(task, std::move(emulator), emulated_options()));
    return judge;
  }

  [[nodiscard]] Result<evaluate::Verdict> verdict_of(const kernel::Kernel& kernel) const {
    if (verifier_) return verifier_->verify(kernel);
    HONE_TRY(evaluate::Screening screening, evaluator_->screen(kernel));
    return std::move(screening.verdict);
  }

  /// `what`: how a failure calls the kernel.
  void expect_accepted(const kernel::Kernel& kernel, const std::string& what) const {
    const auto verdict = verdict_of(kernel);
    ASSERT_TRUE(verdict) << verdict.error().to_string();
    EXPECT_TRUE(verdict->accepted()) << what << ": " << evaluate::name_of(verdict->kind) << ": " << verdict->reason << "\n"
                                     << verdict->detail << "\n" << kernel::with_config(kernel, kernel.config);
  }

 private:
  std::unique_ptr<evaluate::Evaluator> evaluator_;
  std::unique_ptr<evaluate::Verifier> verifier_;
};

}  // namespace hone::pattern::judge_testing
