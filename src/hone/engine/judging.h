// One look at a kernel by an evaluator: what a run writes down of it. No state: what the run knew when it asked is in the order.
#pragma once
#include <optional>
#include <string>

#include "hone/engine/event/run_events.h"
#include "hone/evaluate/evaluator.h"
#include "hone/kernel/kernel.h"

namespace hone::engine {

/// The yardstick is replaced when the leader is this much better: ratios near one are sharpest.
inline constexpr double kYardstickGain = 1.15;

/// A kernel to be looked at, and what is known as that begins.
struct LookOrder {
  kernel::Kernel kernel;
  bool built_only = false;            ///< it is built, and that is all there is to see of it (a recalled kernel)
  bool awaited = false;               ///< a model waits for it
  bool explained = false;             ///< there are models, who are told of the verdict
  std::optional<kernel::Kernel> yardstick;
  double yardstick_score = 1, best_score = 0;   ///< best_score: 0 where nothing was accepted
};

struct Judgement {
  evaluate::Screening screening = evaluate::unknown_screening();
  double score = 0;                   ///< over the run's first accepted kernel; 0: refused
  std::optional<double> first_score;  ///< of the first of two looks
  std::optional<event::Told> told;
};

/// `evaluator` times against the order's yardstick already.
[[nodiscard]] Result<Judgement> judge(evaluate::Evaluator& evaluator, const LookOrder& order);

}  // namespace hone::engine
