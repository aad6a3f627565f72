// Plans launched once each by a process of ours that a tool watches (Nsight Compute, compute-sanitizer). The process
// holds no host code of a candidate, so neither does the tool. Nothing here touches a Card: the process has a context and
// memory of its own. Blocking; thread-safe.
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

/// NVIDIA's tool `name` ("ncu", "compute-sanitizer"): the variable's program (or "none"), the PATH's, /usr/local/cuda's.
/// kUnavailable where there is none.
[[nodiscard]] Result<std::filesystem::path> find_card_tool(const std::string& name, const char* variable);

}  // namespace hone::target
