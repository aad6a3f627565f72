// A CPU kernel's plan launched on one thread by a process of ours (hone-walk) that a tool watches (valgrind). In the
// compilers' jail: the tool writes files, so the candidate could too, into one folder that is thrown away. What the tool
// says is therefore a model of the candidate and no evidence for it. Blocking; thread-safe.
#pragma once
#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hone/base/process/process.h"
#include "hone/target/gpu/launch.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// Runs `tool` (a program and its options, which may name files of `folder`) with `folder` as its working folder and the
/// one place it may write to. `tensors` as of LaunchTensor: inputs, then outputs, their files inside `folder`. `calls`: of
/// the plan; 0 loads it and ends. The exit is the tool's. kInput for a plan that the program cannot hold, kUnavailable where
/// the tool cannot be started.
[[nodiscard]] Result<base::Exit> walk_under(const std::vector<std::string>& tool, const Build& build, const kernel::BoundPlan& plan,
                                            std::span<const LaunchTensor> tensors, int calls, const std::filesystem::path& folder,
                                            std::chrono::seconds deadline);

}  // namespace hone::target
