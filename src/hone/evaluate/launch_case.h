// What a process that a tool watches is given to launch: a kernel bound to one workload, with drawn inputs in files.
#pragma once
#include <filesystem>

#include "hone/evaluate/verify/inputs.h"
#include "hone/kernel/kernel.h"
#include "hone/target/gpu/launch.h"

namespace hone::evaluate {

/// The inputs of `task` at `bindings`, a file each in `folder` (named after `name`), and its outputs. Deterministic in
/// (family, seed). kExhausted where they cannot be written; kInput where the task makes no sense at these shapes.
[[nodiscard]] Result<std::vector<target::LaunchTensor>> write_tensors(const task::Task& task, const task::Bindings& bindings, Family family,
                                                                      uint64_t seed, const std::filesystem::path& folder,
                                                                      const std::string& name);

}  // namespace hone::evaluate
