// What compilers say of the calls that hone generates for a kernel's launches, said of the kernel's own lines: its author never saw
// those calls. Pure.
#pragma once
#include <string>

#include "hone/kernel/kernel.h"

namespace hone::target {

/// The file of generated calls, as compilers name it: so many lines a launch, in order.
struct CallsFile {
  std::string name;   ///< "calls.cc"
  int lines = 1;
};

/// "kernel.cc:5", where the header names the function of that launch (from 0); "the header" where that is not found. `file`: the kernel's, as compilers name it.
[[nodiscard]] std::string launch_line(const kernel::Kernel& kernel, size_t launch, const std::string& file);

/// One line, where the first error of a compiler's log is in a generated call: the launch has no such function, or one that takes other arguments. Else empty.
[[nodiscard]] std::string call_error(const std::string& log, const kernel::Kernel& kernel, const CallsFile& calls, const std::string& file);

/// The log with generated lines named by the launches that they are of.
[[nodiscard]] std::string without_calls(const std::string& log, const kernel::Kernel& kernel, const CallsFile& calls, const std::string& file);

}  // namespace hone::target
