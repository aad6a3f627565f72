// An ordinary Triton or TileLang kernel, whose header says only grid and arguments, made one of hone's: what @triton.autotune lists
// become tunables, constants are given by name. Thread-safe.
#pragma once
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::target {

/// The kernel as it is where every parameter is given. Else its launches' arguments are those of run time, in order, and
/// constants (tl.constexpr) are taken from a tunable of their name: the header's, or one made of the values that the autotune
/// configurations have. num_warps and num_stages become WARPS and STAGES. The first configuration is the default. An output that
/// reset_to_zero names is cleared by a launch before the first that takes it, whose size only `task` says. kInput: a
/// constant of which nothing is said, an input in restore_value, no task where one is needed; kUnavailable without Triton.
[[nodiscard]] Result<kernel::Kernel> complete_triton(kernel::Kernel kernel, std::string_view path, const task::Task* task = nullptr);

/// Likewise of TileLang, whose constants are the parameters of the function that makes the T.prim_func. What no tunable, no
/// configuration of @tilelang.autotune and no default gives is a symbol of the task.
[[nodiscard]] Result<kernel::Kernel> complete_tilelang(kernel::Kernel kernel, std::string_view path);

}  // namespace hone::target
