// From a CUDA or HIP kernel to the translation unit that the emulator's toolchain compiles. Text only: nothing
// here runs anything. Thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/call_error.h"
#include "hone/task/task.h"

namespace hone::target {

/// The header that every unit of the language begins with, below hone's headers.
[[nodiscard]] std::string_view simt_prelude(kernel::Language language);

/// The source and behind it one function for each launch, on a line of its own of "calls.cc", that calls the kernel as one
/// thread does. No macro of the source reaches these. kInput: a launch names what there is not, or the source has what the
/// emulator has no meaning for (inline assembly), with its line.
[[nodiscard]] Result<std::string> simt_unit(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings);

/// The unit of its own, in C, in which the emulator runs the launches: the source has no say in it.
[[nodiscard]] std::string simt_entries(const kernel::Kernel& kernel);

/// Where simt_unit()'s calls are, for what compilers say of them (call_error.h).
inline const CallsFile kSimtCalls{"calls.cc", 1};

/// kInput with the line of inline assembly, which is hone::prim's alone to use: on a real GPU too.
[[nodiscard]] Status refuse_assembly(const std::string& source, const std::string& file);

/// `extern __shared__ T name[];` with the linker's name of the launch's dynamic shared memory; nothing else
/// changes, lines stay where they were. kInput with the line of inline assembly.
[[nodiscard]] Result<std::string> simt_rewrite(const std::string& source, const std::string& file);

}  // namespace hone::target
