// A task under names of ours. Names in a task are its user's: "float", "row", "graph" and "THREADS" are fine there and would
// be none in a kernel. So patterns write for the same task with every name prefixed (in_x, out_y, n_B), and only the launch
// plan, a value, says which tensor and symbol of the user's each one is. Made once, where a task enters the library. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/pattern/library.h"
#include "hone/task/task.h"

namespace hone::pattern {

class Names {
 public:
  explicit Names(const task::Task& task);

  /// The task as patterns see it. No name in it is another one with "_…" behind, so that names made of names stay apart.
  [[nodiscard]] const task::Task& task() const { return task_; }

  /// A kernel written for task(), with a plan for the user's. Workspaces and tunables step aside for the user's names.
  [[nodiscard]] kernel::Kernel given(const kernel::Kernel& kernel) const;
  [[nodiscard]] std::vector<Offer> given(std::vector<Offer> offers) const;

 private:
  task::Task task_;
  std::map<std::string, std::string, std::less<>> tensors_, symbols_;  ///< ours -> the user's
};

}  // namespace hone::pattern
