// The evaluator: the only one who says whether a kernel is right and how fast it is. Screening is the
// quick look that a search asks for many times; promotion is the full trial that makes a champion.
// One thread drives it, but build() may be called from several at once. An Error means that the
// evaluator could not do its work; whatever the candidate does wrong is a verdict.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "hone/evaluate/conditions.h"
#include "hone/evaluate/explain.h"
#include "hone/evaluate/stage.h"
#include "hone/evaluate/verdict.h"
#include "hone/kernel/kernel.h"
#include "hone/target/device/session.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::evaluate {

/// What speed is compared with: a kernel of ours, or something that knows how to start itself.
struct Opponent {
  std::string name;
  std::optional<kernel::Kernel> kernel;
  /// A fresh process, each time.
  using Starter = std::function<Result<std::unique_ptr<target::Session>>()>;
  /// Used when there is no kernel: gets ready for a workload, once; on a CPU possibly in a thread of its own, beside
  /// other opponents and the evaluator's checks. The starter is used while the stage lives. An Error (kUnavailable) makes the opponent absent, with its message.
  std::function<Result<Starter>(const Stage& stage)> prepare;
};

/// What the speed of light of a workload is made of.
struct LightBound {
  double bytes = 0, flops = 0;  ///< minimal: of inputs read and outputs written, once each; arithmetic operations
  double memory_ns = 0;         ///< the fastest kernel that moves those bytes and computes nothing, measured here
  double compute_ns = 0;        ///< the least multiply-adds at the machine's measured peak; 0: none
  template <class F>
  void fields(F& f) {
    f("bytes", bytes, "least bytes: of inputs read and outputs written, once each");
    f("flops", flops, "least arithmetic operations");
    f("memory_ns", memory_ns, "what moving those bytes takes at best, measured");
    f("compute_ns", compute_ns, "what the multiply-adds take at the measured peak; 0: none");
  }
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  [[nodiscard]] virtual Result<target::BuildOutcome> build(const kernel::Kernel& kernel) = 0;

  /// Verifies on pooled inputs and hidden shapes; when right, times a few repetitions interleaved with
  /// the yardstick. Without a yardstick ratios are 1.
  [[nodiscard]] virtual Result<Screening> screen(const kernel::Kernel& kernel) = 0;

  /// The same with as many pairs as tell a kernel that is a little faster from one that is a little slower: before somebody's work
  /// is given up.
  [[nodiscard]] virtual Result<Screening> screen_closely(const kernel::Kernel& kernel) { return screen(kernel); }

  /// Why screen() refused a kernel, for whoever is to mend it while the run lives: found again on shapes and inputs made for that.
  [[nodiscard]] virtual Result<Explanation> explain([[maybe_unused]] const kernel::Kernel& kernel, const Verdict& verdict) { return told(verdict); }

  /// The kernel that screening times candidates against from now on; must have been accepted.
  [[nodiscard]] virtual Status set_yardstick(const kernel::Kernel& kernel) = 0;

  /// Fresh secret inputs, fresh processes, every opponent interleaved.
  [[nodiscard]] virtual Result<Promotion> promote(const kernel::Kernel& kernel,
                                                  const std::vector<Opponent>& opponents) = 0;

  /// The same, where two kernels are to be told apart: so many seconds of rounds, over all workloads, and no cap on pairs.
  [[nodiscard]] virtual Result<Promotion> promote_for(const kernel::Kernel& kernel, const std::vector<Opponent>& opponents, [[maybe_unused]] double seconds) {
    return promote(kernel, opponents);
  }

  /// Times of an accepted kernel under several conditions, a workload each. `thorough`: on one thread too, which takes as
  /// many times longer as there are threads. kUnavailable where there is no clock to believe.
  [[nodiscard]] virtual Result<std::vector<Conditions>> conditions([[maybe_unused]] const kernel::Kernel& kernel, [[maybe_unused]] bool thorough) {
    return fail(ErrorCode::kUnavailable, "times under several conditions are not measured here");
  }

  /// Speed of light of each workload (nanoseconds), from peaks as known before the run: a prior.
  [[nodiscard]] virtual std::vector<double> bounds_ns() const = 0;
  /// What those are made of, a workload each; empty where nobody knows.
  [[nodiscard]] virtual std::vector<LightBound> light_bounds() const { return {}; }
};

struct EvaluatorOptions {
  int threads = 0;              ///< 0: all
  int repetitions = 3;          ///< paired, in screening
  int max_pairs = 200;          ///< a workload and opponent, in promotion
  /// Of a promotion's rounds, over all workloads; checks, and preparing opponents, come on top. Each opponent
  /// gets a first look at each workload whatever it costs.
  double sampling_seconds = 20;
  std::function<bool()> interrupted;  ///< polled between steps; true ends with kInterrupted
  std::shared_ptr<const Facts> facts; ///< what is known of tasks; none: everything is found out anew
};

/// For the CPU we run on. Draws the input pool, tests the task (a task that lets degenerate answers
/// through is refused, kInput, saying which), measures what an empty batch costs.
[[nodiscard]] Result<std::unique_ptr<Evaluator>> cpu_evaluator(const task::Task& task,
                                                               std::shared_ptr<target::Toolchain> toolchain,
                                                               const EvaluatorOptions& options);

/// The same for kernels on a card; `toolchain` builds for it.
[[nodiscard]] Result<std::unique_ptr<Evaluator>> card_evaluator(const task::Task& task,
                                                                std::shared_ptr<target::Toolchain> toolchain,
                                                                std::shared_ptr<target::Card> card,
                                                                const EvaluatorOptions& options);

/// For GPU kernels on the emulator: verdicts, and no times anywhere. Screenings have ratio 1 and promotions no
/// workloads.
[[nodiscard]] Result<std::unique_ptr<Evaluator>> emulated_evaluator(const task::Task& task,
                                                                    std::shared_ptr<target::Toolchain> toolchain,
                                                                    const EvaluatorOptions& options);

}  // namespace hone::evaluate
