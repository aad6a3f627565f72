// Promotion on one workload: the candidate against its opponents in fresh processes, on inputs that
// nobody has seen, and what is measured beside it (speed of light, hot time, determinism).
#pragma once
#include <functional>
#include <vector>

#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/measure/contest.h"
#include "hone/evaluate/measure/workload.h"

namespace hone::evaluate {

struct PromotionOptions {
  double seconds = 20;                ///< of sampling on this workload
  int max_pairs = 200;
  std::function<bool()> interrupted;
  std::function<void()> peaks_again;  ///< measures the CPU's peaks anew and updates the workloads' compute_ns
};

/// Adds refusals, absent opponents, seeds and time to `promotion`. Where its verdict is no longer accepted,
/// the result means nothing.
[[nodiscard]] Result<WorkloadResult> promote_on(Playing& play, const kernel::Kernel& kernel,
                                                const std::vector<Opponent>& opponents, Loader& loader,
                                                const PromotionOptions& options, base::Rng& rng,
                                                Promotion& promotion);

}  // namespace hone::evaluate
