// What the compiler says of loops that it did not vectorise. Runs the compiler once more, in its jail, on the kernel's
// source alone; reading what it says is pure.
#pragma once
#include <string_view>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::diagnose {

/// Lines of kernel.cc with a loop that g++ (-fopt-info-vec-missed) or clang (-Rpass-missed) gave up on, each counted once.
[[nodiscard]] int count_missed_loops(std::string_view remarks);

/// For a C++ kernel and the build that was made of it. kUnavailable for other languages, and where the compiler does not say.
[[nodiscard]] Result<int> missed_loops(const kernel::Kernel& kernel, const task::Bindings& bindings, const target::Build& build);

}  // namespace hone::diagnose
