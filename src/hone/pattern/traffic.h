// What a C++ kernel's launch plan moves through memory, launch by launch: the evidence that fusion is done. A model
// of the plan, not a measurement. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// Bytes of the tensors that a launch's function uses in its body, each counted once: what it goes over again
/// is supposed to lie in a cache, as patterns for long rows see to (each of their passes is a launch). What is
/// `const` to the function is read, an output is written, a workspace is written by whoever names it first. Of a tensor
/// that a launch uses a part of, all counts.
struct LaunchTraffic {
  std::string function;
  double read = 0, written = 0;
};

struct Traffic {
  std::vector<LaunchTraffic> launches;
  double inputs = 0;          ///< bytes of the task's inputs, as often as a launch reads them
  double outputs = 0;         ///< of its outputs, read back by a later launch or written
  double workspaces = 0;      ///< of what launches hand to each other, written and read
  [[nodiscard]] double all() const { return inputs + outputs + workspaces; }
};

/// At one workload. Fails (kInput) where the plan does not bind, or a launch's function is not found in the source.
[[nodiscard]] Result<Traffic> traffic_of(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                                         const kernel::Limits& limits);

}  // namespace hone::pattern
