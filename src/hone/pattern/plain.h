// Plain kernels: every graph of the task language as straightforward C++, one function for each operation
// that does not simply go element by element. Trusted, not fast: the kernel that a search starts from where
// nothing better is known, the plain opponent, and what mutation tests mutate. Pure; cannot fail.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::pattern {

/// What could stand in a kernel by mistake, and the mistake it would be ("the last term left out").
struct Mistake {
  std::string what;
  std::string text;
};

/// Asked at every place of a kernel where a mistake is easily made: gets what is right and what is not,
/// gives what to write. For tests of the evaluator only.
using Misprint = std::function<std::string(const std::string& right, const std::vector<Mistake>& wrong)>;

/// A plain kernel's parts: `name = "type"` of its workspaces, the header's [[launch]] tables, the functions.
struct PlainText {
  std::string workspaces, launches, functions;
};
[[nodiscard]] PlainText plain_text(const task::Task& task, const Misprint& misprint = {});

[[nodiscard]] kernel::Kernel plain_cpp(const task::Task& task, const Misprint& misprint = {});

/// The same in Triton: a lane an element, sums in float64.
[[nodiscard]] kernel::Kernel plain_triton(const task::Task& task);

// Within the library, for a task under names of ours (names.h).
[[nodiscard]] kernel::Kernel plain_kernel(const task::Task& task, const Misprint& misprint = {});
[[nodiscard]] kernel::Kernel plain_kernel(const task::Task& task, kernel::Language language);  ///< kCuda or kHip
[[nodiscard]] kernel::Kernel plain_triton_kernel(const task::Task& task);
/// One function where the task is one loop nest, else plain_kernel.
[[nodiscard]] kernel::Kernel naive_kernel(const task::Task& task);

}  // namespace hone::pattern
