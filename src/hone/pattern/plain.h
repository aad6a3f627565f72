// Plain kernels: every graph of the task language as straightforward C++ (or OpenCL C, plain_gpu.h), one function for each operation
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

enum class Dialect : uint8_t { kCpp, kOpenCl };

/// A plain kernel's parts: `name = "type"` of its workspaces, the header's [[launch]] tables, the functions.
struct PlainText {
  std::string workspaces, launches, functions;
};
[[nodiscard]] PlainText plain_text(const task::Task& task, const Misprint& misprint = {}, Dialect dialect = Dialect::kCpp);

[[nodiscard]] kernel::Kernel plain_cpp(const task::Task& task, const Misprint& misprint = {});

}  // namespace hone::pattern
