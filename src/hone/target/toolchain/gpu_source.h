// The translation unit of a kernel built for a real GPU. Pure.
#pragma once
#include <string>

#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::target {

/// The prelude that the emulator gives too (fixed-width integers, 16-bit types), tunables and specialised shapes as
/// macros, the kernel's source under its own line numbers ("kernel.cu", "kernel.hip"). kInput, as on the emulator:
/// inline assembly (with its line), an argument that is no tensor of the task, "shared", a symbol that is no shape's.
/// `nvrtc`: with the prelude for NVRTC instead of nvcc's.
[[nodiscard]] Result<std::string> gpu_unit(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, bool nvrtc = false);

}  // namespace hone::target
