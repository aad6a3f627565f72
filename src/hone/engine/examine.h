// One kernel profiled and diagnosed: what the command line, hone mcp and runs do alike. The evaluator times it, its code
// and its plan are read, the rules conclude.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hone/base/clock.h"
#include "hone/diagnose/profile/cache_model.h"
#include "hone/diagnose/profile/card.h"
#include "hone/diagnose/rules.h"
#include "hone/evaluate/evaluator.h"
#include "hone/pattern/library.h"
#include "hone/search/strategy.h"

namespace hone::engine {

/// What a diagnosis may propose besides tunables.
struct Alternatives {
  std::vector<search::Seed> seeds;     ///< the library's kernels for the task; the kernel's own is passed over
  std::vector<std::string> compilers;  ///< others than the default
};

struct Examined {
  evaluate::Verdict verdict;                ///< not accepted: nothing else is set
  std::vector<diagnose::Profile> profiles;  ///< a workload each
  std::string workload;                     ///< the one with most to win, which the diagnosis is of
  diagnose::Diagnosis diagnosis;
};

/// An offer of the library's, whose configuration was chosen.
[[nodiscard]] search::Seed seed_of(pattern::Offer offer);

/// For a kernel that was accepted. `thorough`: on one thread too, and the compiler is asked what it could not vectorise.
/// `counters`: for kernels on a card, which the evaluator times. `caches`: models a CPU kernel's caches too, which takes seconds.
/// kUnavailable where the evaluator has no clock.
[[nodiscard]] Result<Examined> examine(evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, const task::Task& task,
                                       const kernel::Limits& limits, const Alternatives& alternatives, bool thorough,
                                       diagnose::CardCounters* counters = nullptr, diagnose::CacheModel* caches = nullptr);

/// How a run has a kernel looked at.
using ExamineInRun = std::function<Result<Examined>(evaluate::Evaluator&, const kernel::Kernel&, bool thorough)>;
/// `examine` until what is not thorough has taken `seconds` by `clock`: from then on kUnavailable, which leaves kernels without a
/// diagnosis and the rest of the budget to the search. A card's profiler takes seconds however small the kernel.
[[nodiscard]] ExamineInRun within_seconds(ExamineInRun examine, base::Clock& clock, double seconds);

/// "rows: one pass over memory": how actions name a kernel of the library.
[[nodiscard]] std::string name_of(const search::Seed& seed);

/// The kernel that an action makes of this one; nothing for a rewrite, or where it would be the same.
[[nodiscard]] std::optional<kernel::Kernel> take(const diagnose::Action& action, const kernel::Kernel& kernel,
                                                 const Alternatives& alternatives);

}  // namespace hone::engine
