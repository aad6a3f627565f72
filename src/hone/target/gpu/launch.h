// Plans launched by a process of ours: once each, watched by a tool (Nsight Compute, compute-sanitizer), or several times by the
// clock, whatever they compute. The process holds no host code of a candidate, so neither does the tool. Nothing here touches a
// Card: the process has a context and memory of its own. Blocking; thread-safe.
#pragma once
#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hone/base/process/process.h"
#include "hone/target/card.h"

namespace hone::target {

/// One input or output of a plan.
struct LaunchTensor {
  int64_t bytes = 0;
  std::filesystem::path contents = {};  ///< of an input: a file of that many bytes; empty: an output
};

struct LaunchJob {
  Build build;
  kernel::BoundPlan plan;
  std::vector<LaunchTensor> tensors;    ///< inputs, then outputs
};

struct Launched {
  base::Exit exit;                      ///< of the tool; what it printed is in `out` and `err`
  /// A job each: empty where its plan ran to the end, else why not.
  std::vector<std::string> problems;
};

/// `tool`: the program that watches and its options, before the command that it starts. With `poison` outputs and
/// workspaces begin as NaN; without they are what was allocated, so that a checker sees who reads what nobody wrote.
/// kUnavailable where the tool cannot be started; kInput for a plan that no card takes.
[[nodiscard]] Result<Launched> launch_under(const CardInfo& card, const std::vector<std::string>& tool, std::span<const LaunchJob> jobs,
                                            bool poison, std::chrono::seconds deadline);

struct TimedJob {
  LaunchJob job;
  std::string image = {};               ///< PTX, or a cubin, in place of the build's own; its functions have the same names
  int rounds = 0;                       ///< 0: once, not timed
};

struct TimedPlan {
  double ns = 0;                        ///< median of the rounds, caches cold; 0: not timed
  std::vector<uint64_t> counts;         ///< the module's `hone_counts`, summed over what was launched; empty where it has none
  std::string problem;                  ///< empty where its plan ran to the end, else why not
};

/// One after the other on the card, which nobody else may be using, `slack` bytes behind each tensor being nobody's. A job that
/// faults or does not end within `each` costs the others nothing but time.
[[nodiscard]] Result<std::vector<TimedPlan>> time_plans(const CardInfo& card, std::span<const TimedJob> jobs, int64_t slack, std::chrono::seconds each);

}  // namespace hone::target
