// Promotion on one workload: the candidate against its opponents in fresh processes, on inputs that
// nobody has seen, and what is measured beside it (speed of light, hot time, determinism).
#pragma once
#include <functional>
#include <future>
#include <vector>

#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/measure/contest.h"
#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {

/// What each opponent's prepare() gives; nothing for kernels of ours.
using Preparations = std::vector<std::future<Result<Opponent::Starter>>>;

/// Begins to prepare all opponents for a workload. At once: side by side, while the caller does what needs no quiet machine,
/// and who throws them away waits for them. Else when each is asked for: on a card, which one at a time may use, and where
/// somebody wants an end.
[[nodiscard]] Preparations begin_preparing(const std::vector<Opponent>& opponents, const Playing& play, bool at_once);

struct PromotionOptions {
  double seconds = 20;                ///< of sampling on this workload
  int max_pairs = 200;
  std::function<bool()> interrupted;
  std::function<void()> peaks_again;  ///< measures the CPU's peaks anew and updates the workloads' compute_ns
};

/// `preparations`: of the same opponents and workload. Adds refusals, absent opponents, seeds and time to `promotion`. Where its verdict is no longer accepted,
/// the result means nothing.
[[nodiscard]] Result<WorkloadResult> promote_on(Playing& play, const kernel::Kernel& kernel,
                                                const std::vector<Opponent>& opponents, Preparations preparations, Loader& loader,
                                                const PromotionOptions& options, base::Rng& rng,
                                                Promotion& promotion);

}  // namespace hone::evaluate
