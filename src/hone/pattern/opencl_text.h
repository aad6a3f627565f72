// Text in OpenCL C that its patterns share: elements in memory, parameters, names, helpers. Pure.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "hone/pattern/expression.h"
#include "hone/task/task.h"

namespace hone::pattern::opencl {

/// OpenCL C type of stored elements: "float", "ushort" for bf16, "half", "uchar" for bool, …
[[nodiscard]] std::string storage(task::DType dtype);

/// Element `at` of `pointer` as a value of the way's type. kLanes: VEC elements from there on, of 32 bits at most.
[[nodiscard]] std::string loaded(task::DType dtype, const std::string& pointer, const std::string& at, Way way);
/// The statement that stores a value there.
[[nodiscard]] std::string stored(task::DType dtype, const std::string& pointer, const std::string& at, const std::string& value, Way way);

/// Keywords, types and functions of OpenCL C, and names that hone's helpers have: no tensor may be called so.
[[nodiscard]] bool is_taken(const std::string& name);
/// A tensor's name in the text: its own, or with "_" behind it; different ones for different tensors.
[[nodiscard]] std::string name_of(const std::string& tensor);

/// Integers of 32 bits serve as indices of everything that `task` reads and writes at each of its workloads. Then its
/// kernel requires that they do (`requirements`), and symbols are passed as i32.
[[nodiscard]] bool is_narrow(const task::Task& task);
[[nodiscard]] std::vector<std::string> narrow_requirements(const task::Task& task);
/// A task's tensors and symbols as a kernel's parameters, as what these are called in it ("x, y, B"), and as plan arguments.
[[nodiscard]] std::string parameters_of(const task::Task& task, bool narrow);
[[nodiscard]] std::string names_of(const task::Task& task);
[[nodiscard]] std::string arguments_of(const task::Task& task, bool narrow);
/// Some symbol has a name that OpenCL C has taken: only plain loops rename those.
[[nodiscard]] bool has_taken_symbol(const task::Task& task);

/// The blocks of patterns/opencl/helpers.cl that `text` needs, in the file's order, between two marks.
[[nodiscard]] std::string helpers_for(const std::string& text);
/// A kernel's text with the helpers put where it says `kHelpersHere`.
[[nodiscard]] std::string with_helpers(std::string text);
inline constexpr std::string_view kHelpersHere = "// (helpers)\n";
inline constexpr std::string_view kHelpersBegin = "// ---- helpers ----\n", kHelpersEnd = "// ---- end of helpers ----\n";
inline constexpr std::string_view kHelperEnd = "\n\n";   ///< of each; none has an empty line in itself

/// C++ as the writers of plain loops and IntExpr::to_cpp() make it, spelled in OpenCL C: casts, names of types, limits.
[[nodiscard]] std::string spelled(std::string text);

}  // namespace hone::pattern::opencl
